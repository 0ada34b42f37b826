"""Reads YAML 1.2 into plain values that remember their lines; a key written twice is an error, and so is any excess."""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

# Far above any real configuration, and low enough that reading up to the limit takes a fraction of a second.
LARGEST = 64 << 10
# Aliases can make a small text unfold without end.
MOST_NODES = 20_000
DEEPEST = 40
LONGEST_NUMBER = 40
_TAG = "tag:yaml.org,2002:"
_BOOL = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_NULL = frozenset({"", "~", "null", "Null", "NULL"})
_INT = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")

Scalar = str | int | float | bool | None


class BadYaml(Exception):
    """The text is not YAML we can use."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line


@dataclass(frozen=True)
class Node:
    """A value and the line it begins on; mappings hold nodes by key, lists hold nodes."""

    value: "Scalar | tuple[Node, ...] | dict[str, Node]"
    line: int


def load(text: str) -> Node:
    """Return the one document in `text`."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    if len(text) > LARGEST:
        raise BadYaml(1, f"it is longer than {LARGEST} characters")
    try:
        # Events come one by one, so reading ends at the first that is too much.
        return _Reading(YAML(typ="safe", pure=True).parse(text)).document()
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise BadYaml(mark.line + 1 if mark else 1, error.problem or error.context or "not YAML") from error
    except (YAMLError, ValueError, RecursionError) as error:
        raise BadYaml(1, " ".join(str(error).split())) from error


class _Reading:
    """Turns the parser's events into nodes, and stops where that would not end."""

    def __init__(self, events: Iterator[Any]) -> None:
        self._events = events
        self._count = 0
        self._named: dict[str, tuple[Node, int]] = {}

    def document(self) -> Node:
        found: Node | None = None
        for event in self._events:
            if _is(event, "DocumentStart"):
                if found is not None:
                    raise BadYaml(_line(event), "there is more than one document")
                found = self._node(next(self._events), 0)
        return found or Node(None, 1)

    def _node(self, event: Any, depth: int) -> Node:
        line = _line(event)
        before = self._count
        self._counted(1, line, depth)
        if _is(event, "Alias"):
            return self._repeated(event, line, depth)
        if _is(event, "Scalar"):
            node = Node(_scalar(event, line), line)
        elif _is(event, "SequenceStart"):
            node = Node(tuple(self._items(depth)), line)
        else:
            node = Node(self._mapping(depth), line)
        if event.anchor:
            self._named[event.anchor] = node, self._count - before
        return node

    def _repeated(self, event: Any, line: int, depth: int) -> Node:
        if event.anchor not in self._named:
            raise BadYaml(line, f"there is no anchor `{event.anchor}` before this alias")
        node, size = self._named[event.anchor]
        self._counted(size, line, depth)
        return node

    def _counted(self, nodes: int, line: int, depth: int) -> None:
        self._count += nodes
        if self._count > MOST_NODES:
            raise BadYaml(line, "the document unfolds without end")
        if depth > DEEPEST:
            raise BadYaml(line, f"the document is nested more than {DEEPEST} levels deep")

    def _items(self, depth: int) -> Iterator[Node]:
        for event in self._events:
            if _is(event, "SequenceEnd"):
                return
            yield self._node(event, depth + 1)

    def _mapping(self, depth: int) -> dict[str, Node]:
        found: dict[str, Node] = {}
        for event in self._events:
            if _is(event, "MappingEnd"):
                break
            line = _line(event)
            if not _is(event, "Scalar"):
                raise BadYaml(line, "a key must be a plain word")
            key: str = event.value
            if key in found:
                raise BadYaml(line, f"`{key[:40]}` is written twice; first on line {found[key].line}")
            # Messages about a value point at its key, which is where a reader looks first.
            found[key] = Node(self._node(next(self._events), depth + 1).value, line)
        return found


def _is(event: Any, kind: str) -> bool:
    return type(event).__name__ == f"{kind}Event"


def _line(event: Any) -> int:
    line: int = event.start_mark.line
    return line + 1


def _scalar(event: Any, line: int) -> Scalar:
    text: str = event.value
    is_plain = event.style is None and str(event.ctag).removeprefix(_TAG) != "str"
    if not is_plain:
        return text
    if text in _NULL:
        return None
    if text in _BOOL:
        return _BOOL[text]
    if _INT.fullmatch(text) or _FLOAT.fullmatch(text):
        return _number(text, line)
    return text


def _number(text: str, line: int) -> int | float:
    if len(text) > LONGEST_NUMBER:
        raise BadYaml(line, f"a number has more than {LONGEST_NUMBER} characters")
    if _INT.fullmatch(text):
        return int(text, 0) if text.startswith(("0o", "0x")) else int(text)
    found = float(text)
    if not math.isfinite(found):
        raise BadYaml(line, f"the number {text} is too large")
    return found
