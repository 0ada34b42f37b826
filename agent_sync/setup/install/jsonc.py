"""Reads JSON, with comments and trailing commas allowed, and remembers where everything stands."""

import json
import re
from dataclasses import field
from typing import Any

from agent_sync.lazy_dataclasses import dataclass
from agent_sync.lazy_patterns import pattern

DEEPEST = 100
BOM = "\ufeff"
_BLANK = pattern(r"(?:[ \t\r\n]+|//[^\r\n]*|/\*.*?\*/)*", re.DOTALL)
_NUMBER = pattern(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?", re.ASCII)
_WORDS = {"true": True, "false": False, "null": None}
_DECODER = json.JSONDecoder()


class NotJson(Exception):
    """The text is not JSON; says in which line and why."""


@dataclass(frozen=True)
class Element:
    """One item of an array or member of an object: from its first character to its value's last."""

    start: int
    end: int
    node: "JsonNode"
    key: str | None = None
    comma: int | None = None


@dataclass(frozen=True)
class JsonNode:
    """A value and where it stands; `elements` for arrays and objects only."""

    start: int
    end: int
    value: Any
    elements: tuple[Element, ...] = field(default=())

    def member(self, key: str) -> "JsonNode | None":
        """Return a member's value; of two with the same key the last one counts."""
        return next((e.node for e in reversed(self.elements) if e.key == key and isinstance(self.value, dict)), None)


def read(text: str) -> JsonNode:
    """Return the one value of a whole text."""
    node = _value(text, _skip(text, 1 if text.startswith(BOM) else 0), 0)
    rest = _skip(text, node.end)
    if rest != len(text):
        raise _wrong(text, rest, "there is something after the end")
    return node


def _value(text: str, at: int, depth: int) -> JsonNode:
    if depth > DEEPEST:
        raise _wrong(text, at, "it is nested too deeply")
    match text[at : at + 1]:
        case "{" | "[":
            return _container(text, at, depth)
        case '"':
            value, end = _string(text, at)
            return JsonNode(at, end, value)
        case _:
            return _plain(text, at)


def _container(text: str, start: int, depth: int) -> JsonNode:
    is_object = text[start] == "{"
    closing = "}" if is_object else "]"
    elements: list[Element] = []
    at = _skip(text, start + 1)
    while text[at : at + 1] != closing:
        if elements and elements[-1].comma is None:
            raise _wrong(text, at, f"a comma or {closing} is missing")
        element = _element(text, at, depth, is_object=is_object)
        elements.append(element)
        at = _skip(text, element.end if element.comma is None else element.comma + 1)
    if is_object:
        return JsonNode(start, at + 1, {e.key: e.node.value for e in elements}, tuple(elements))
    return JsonNode(start, at + 1, [e.node.value for e in elements], tuple(elements))


def _element(text: str, start: int, depth: int, *, is_object: bool) -> Element:
    key, at = None, start
    if is_object:
        if text[at : at + 1] != '"':
            raise _wrong(text, at, "a key in quotation marks is missing")
        key, at = _string(text, at)
        at = _skip(text, at)
        if text[at : at + 1] != ":":
            raise _wrong(text, at, "a colon is missing")
        at = _skip(text, at + 1)
    node = _value(text, at, depth + 1)
    after = _skip(text, node.end)
    return Element(start, node.end, node, key, after if text[after : after + 1] == "," else None)


def _string(text: str, at: int) -> tuple[str, int]:
    try:
        value, end = _DECODER.raw_decode(text, at)
    except ValueError as error:
        reason = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
        raise _wrong(text, at, reason[0].lower() + reason[1:]) from error
    return str(value), end


def _plain(text: str, at: int) -> JsonNode:
    for word, value in _WORDS.items():
        if text.startswith(word, at):
            return JsonNode(at, at + len(word), value)
    number = _NUMBER.match(text, at)
    if number is None:
        raise _wrong(text, at, "a value is missing")
    try:
        return JsonNode(at, number.end(), json.loads(number[0]))
    except ValueError as error:
        raise _wrong(text, at, "a number has too many digits") from error


def _skip(text: str, at: int) -> int:
    """Return where the next thing stands, past blanks and comments."""
    found = _BLANK.match(text, at)
    return found.end() if found else at


def _wrong(text: str, at: int, reason: str) -> NotJson:
    line = text.count("\n", 0, at) + 1
    return NotJson(f"line {line}: {reason if at < len(text) else 'it ends too early'}")
