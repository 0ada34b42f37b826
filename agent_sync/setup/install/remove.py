"""Takes elements out of JSON text with their comma and line, and leaves every other byte."""

from agent_sync.lazy_patterns import pattern
from agent_sync.setup.install.jsonc import Element, JsonNode

Span = tuple[int, int]
_NOTHING_MORE = pattern(r"[ \t]*(?://[^\r\n]*)?(?:\r|\n)")


def without(text: str, node: JsonNode, place: int) -> str:
    """Return the text without one element of an array or object."""
    element = node.elements[place]
    before = node.elements[place - 1] if place else None
    spans = _on_own_line(text, element, before) or _inline(text, element, before)
    for start, end in sorted(spans, reverse=True):
        text = text[:start] + text[end:]
    return text


def _on_own_line(text: str, element: Element, before: Element | None) -> list[Span]:
    """Return what to cut where the element begins a line: that line's beginning, the element and one comma."""
    start = _line_break_before(text, element.start)
    end = element.end if element.comma is None else element.comma + 1
    # The line before may end in a comment that would swallow what follows, so the break goes only with a whole line.
    is_whole = _NOTHING_MORE.match(text, end) and not text[element.end : end].strip(", \t")
    if start is None or not is_whole:
        return []
    return [(start, element.end), *_comma(element, before)]


def _inline(text: str, element: Element, before: Element | None) -> list[Span]:
    """Return what to cut inside a line: the element, one comma and the blanks between."""
    if element.comma is not None:
        return [(element.start, element.end), (element.comma, _past_blanks(text, element.comma + 1))]
    start = element.start
    while text[start - 1] in " \t":
        start -= 1
    return [(start if before else element.start, element.end), *_comma(element, before)]


def _comma(element: Element, before: Element | None) -> list[Span]:
    """Return the comma that goes with an element: its own, or the one before the last."""
    if element.comma is not None:
        return [(element.comma, element.comma + 1)]
    return [(before.comma, before.comma + 1)] if before and before.comma is not None else []


def _line_break_before(text: str, at: int) -> int | None:
    while at and text[at - 1] in " \t":
        at -= 1
    if not at or text[at - 1] != "\n":
        return None
    return at - 2 if text[at - 2 : at] == "\r\n" else at - 1


def _past_blanks(text: str, at: int) -> int:
    while text[at : at + 1] in {" ", "\t"}:
        at += 1
    return at
