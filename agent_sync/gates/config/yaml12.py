"""Reads one YAML 1.2 document within bounds: a key written twice is an error, and so is any excess."""

import math
from collections.abc import Iterator
from typing import Any

from agent_sync.gates.config.yaml_values import BadYaml, KeyPath, Plain
from agent_sync.lazy_dataclasses import dataclass
from agent_sync.lazy_patterns import pattern

# Far above any real configuration, and low enough that reading up to the limit takes a fraction of a second.
LARGEST = 64 << 10
# Aliases can make a small text unfold without end.
MOST_NODES = 20_000
DEEPEST = 40
LONGEST_NUMBER = 40
_NUMBER = pattern(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")


@dataclass(frozen=True)
class YamlDocument:
    """The values of a document, and the loader's own tree of it, which knows the lines."""

    values: Plain
    tree: Any

    def line_of(self, path: KeyPath) -> int:
        """Return the line of what a path leads to, or of the nearest place above it that is there."""
        line, here = _line_in(self.tree, None), self.tree
        for part in path:
            found = _line_in(here, part)
            if found is None:
                break
            line, here = found, here[_key_in(here, part)]
        return line or 1


def load(text: str) -> YamlDocument:
    """Return the one document in `text`."""
    from ruamel.yaml.error import MarkedYAMLError

    if len(text) > LARGEST:
        raise BadYaml(1, f"it is longer than {LARGEST} characters")
    try:
        # Events come one by one, so reading ends at the first that is too much.
        _Bounds(_loader().parse(text)).check()
        tree = _loader().load(text)
    except BadYaml:
        raise
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise BadYaml(mark.line + 1 if mark else 1, error.problem or error.context or "not YAML") from error
    except Exception as error:
        # The loader meets odd documents with errors of many kinds.
        raise BadYaml(1, " ".join(str(error).split()) or type(error).__name__) from error
    return YamlDocument(_plain(tree), tree)


def _loader() -> Any:
    """Return a loader of YAML 1.2 that remembers lines; a time is the text it is written as."""
    from ruamel.yaml import YAML
    from ruamel.yaml.constructor import RoundTripConstructor

    class Constructor(RoundTripConstructor):
        """The loader's own values, without times."""

    Constructor.add_constructor("tag:yaml.org,2002:timestamp", lambda _, node: node.value)
    yaml = YAML(typ="rt", pure=True)
    yaml.Constructor = Constructor
    return yaml


def _plain(value: Any) -> Plain:
    match value:
        case None | bool():
            return value
        case dict():
            return {str(key): _plain(below) for key, below in value.items()}
        case int():
            return int(value)
        case float():
            return float(value)
        case list():
            return tuple(_plain(below) for below in value)
        case _:
            return str(getattr(value, "value", value))


def _key_in(container: Any, part: str | int) -> Any:
    """Return a key as the loader has it: one that is written as a number is a number there."""
    if isinstance(container, dict):
        return next((key for key in container if str(key) == part), None)
    return part if isinstance(container, list) and isinstance(part, int) and part < len(container) else None


def _line_in(container: Any, part: str | int | None) -> int | None:
    """Return the line of a container, or of a key or an item in it."""
    marks = getattr(container, "lc", None)
    # A value with a tag of its own has marks, and no line.
    if marks is None or (part is None and marks.line is None):
        return None
    if part is None:
        return int(marks.line) + 1
    key = _key_in(container, part)
    place = (marks.data or {}).get(key) if key is not None else None
    return int(place[0]) + 1 if place else None


class _Bounds:
    """Follows the parser's events, and stops where the document would not end."""

    def __init__(self, events: Iterator[Any]) -> None:
        self._events = events
        self._count = 0
        self._sizes: dict[str, int] = {}

    def check(self) -> None:
        """Go through all of the document."""
        has_document = False
        for event in self._events:
            if _is(event, "DocumentStart"):
                if has_document:
                    raise BadYaml(_line(event), "there is more than one document")
                has_document = True
                self._node(next(self._events), 0)

    def _node(self, event: Any, depth: int) -> None:
        before = self._count
        self._counted(1, event, depth)
        if _is(event, "Alias"):
            if event.anchor not in self._sizes:
                raise BadYaml(_line(event), f"there is no anchor `{event.anchor}` before this alias")
            self._counted(self._sizes[event.anchor], event, depth)
            return
        if _is(event, "Scalar"):
            _refuse_number(event)
        elif _is(event, "SequenceStart"):
            while not _is(item := next(self._events), "SequenceEnd"):
                self._node(item, depth + 1)
        else:
            self._mapping(depth)
        if event.anchor:
            self._sizes[event.anchor] = self._count - before

    def _mapping(self, depth: int) -> None:
        lines: dict[str, int] = {}
        while not _is(event := next(self._events), "MappingEnd"):
            if not _is(event, "Scalar"):
                raise BadYaml(_line(event), "a key must be a plain word")
            key: str = event.value
            if key in lines:
                raise BadYaml(_line(event), f"`{key[:40]}` is written twice; first on line {lines[key]}")
            lines[key] = _line(event)
            self._node(next(self._events), depth + 1)

    def _counted(self, nodes: int, event: Any, depth: int) -> None:
        self._count += nodes
        if self._count > MOST_NODES:
            raise BadYaml(_line(event), "the document unfolds without end")
        if depth > DEEPEST:
            raise BadYaml(_line(event), f"the document is nested more than {DEEPEST} levels deep")


def _refuse_number(event: Any) -> None:
    if event.style is not None or not _NUMBER.fullmatch(event.value):
        return
    if len(event.value) > LONGEST_NUMBER:
        raise BadYaml(_line(event), f"a number has more than {LONGEST_NUMBER} characters")
    if not math.isfinite(float(event.value)):
        raise BadYaml(_line(event), f"the number {event.value} is too large")


def _is(event: Any, kind: str) -> bool:
    return type(event).__name__ == f"{kind}Event"


def _line(event: Any) -> int:
    line: int = event.start_mark.line
    return line + 1
