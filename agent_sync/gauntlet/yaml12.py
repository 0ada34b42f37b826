"""Reads YAML 1.2 into plain values that remember their lines; a key written twice is an error."""

import re
from dataclasses import dataclass
from typing import Any

# Aliases can make a small text unfold without end.
MOST_NODES = 20_000
DEEPEST = 40
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

    try:
        root = YAML(typ="safe", pure=True).compose(text)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise BadYaml(mark.line + 1 if mark else 1, error.problem or error.context or "not YAML") from error
    except (YAMLError, ValueError, RecursionError) as error:
        raise BadYaml(1, " ".join(str(error).split())) from error
    return _Unfolding().node(root, 0) if root is not None else Node(None, 1)


class _Unfolding:
    """Turns the parser's nodes into ours, and stops where that would not end."""

    def __init__(self) -> None:
        self._count = 0

    def node(self, raw: Any, depth: int) -> Node:
        line = raw.start_mark.line + 1
        self._count += 1
        if self._count > MOST_NODES or depth > DEEPEST:
            raise BadYaml(line, "the document unfolds without end")
        if raw.id == "scalar":
            return Node(_scalar(raw), line)
        if raw.id == "sequence":
            return Node(tuple(self.node(item, depth + 1) for item in raw.value), line)
        return Node(self._mapping(raw, depth), line)

    def _mapping(self, raw: Any, depth: int) -> dict[str, Node]:
        found: dict[str, Node] = {}
        for raw_key, raw_value in raw.value:
            line = raw_key.start_mark.line + 1
            if raw_key.id != "scalar":
                raise BadYaml(line, "a key must be a plain word")
            key = raw_key.value
            if key in found:
                raise BadYaml(line, f"`{key}` is written twice; first on line {found[key].line}")
            value = self.node(raw_value, depth + 1)
            # Messages about a value point at its key, which is where a reader looks first.
            found[key] = Node(value.value, line)
        return found


def _scalar(raw: Any) -> Scalar:
    text: str = raw.value
    tag = str(raw.ctag if hasattr(raw, "ctag") else raw.tag)
    is_plain = raw.style is None and tag.removeprefix(_TAG) != "str"
    if not is_plain:
        return text
    if text in _NULL:
        return None
    if text in _BOOL:
        return _BOOL[text]
    if _INT.fullmatch(text):
        return int(text, 0) if text.startswith(("0o", "0x")) else int(text)
    return float(text) if _FLOAT.fullmatch(text) else text
