"""Adds to JSON text by insertion alone, in the indentation and line endings that are there."""

import json
from typing import Any

from agent_sync.lazy_patterns import pattern
from agent_sync.setup.install.edits import Edit
from agent_sync.setup.install.jsonc import JsonNode

DEFAULT_INDENT = "  "
# What may follow an element on its own line without belonging to the next one.
_REST_OF_LINE = pattern(r"(?:[ \t]+|/\*[^\r\n]*?\*/)*(?://[^\r\n]*)?")


def line_ending(text: str) -> str:
    """Return how the lines of the text end."""
    return "\r\n" if "\r\n" in text else "\n"


def append_edits(text: str, root: JsonNode, path: tuple[str, ...], item: Any) -> list[Edit]:
    """Return the edits that append `item` to the array at `path`; what is missing on the way is made."""
    node = root
    for depth, key in enumerate(path):
        below = node.member(key)
        if below is None:
            value: Any = [item]
            for missing in reversed(path[depth + 1 :]):
                value = {missing: value}
            return set_member(text, root, node, key=key, value=value)
        node = below
    return _append_edit(text, root, node, prefix="", value=item)


def set_member(text: str, root: JsonNode, node: JsonNode, *, key: str, value: Any) -> list[Edit]:
    """Return the edits that add a member to an object."""
    return _append_edit(text, root, node, prefix=f"{json.dumps(key, ensure_ascii=False)}: ", value=value)


def _append_edit(text: str, root: JsonNode, node: JsonNode, *, prefix: str, value: Any) -> list[Edit]:
    if node.elements and not _has_newline(text, node):
        return _inline(node, prefix + json.dumps(value, ensure_ascii=False))
    ending, unit = line_ending(text), indent_unit(text, root)
    outer = _line_indent(text, node.start)
    inner = _inner_indent(text, node, outer + unit)
    shown = json.dumps(value, ensure_ascii=False, indent=unit).replace("\n", ending + inner)
    return _on_own_line(text, node, entry=f"{ending}{inner}{prefix}{shown}", closing=ending + outer)


def _inline(node: JsonNode, entry: str) -> list[Edit]:
    """Stay on the line where everything else is."""
    last = node.elements[-1]
    return [Edit(last.end, f", {entry}")]


def _on_own_line(text: str, node: JsonNode, *, entry: str, closing: str) -> list[Edit]:
    """Put the entry on a line after the last element's, with the commas that takes."""
    last = node.elements[-1] if node.elements else None
    after = node.start + 1
    if last:
        after = last.end if last.comma is None else last.comma + 1
    place = _end_of_line(text, after, node.end - 1)
    if last and last.comma is not None:
        entry += ","
    # The closing bracket gets a line of its own, unless it has one.
    if "\n" not in text[place : node.end - 1]:
        entry += closing
    comma = [Edit(last.end, ",")] if last and last.comma is None else []
    return [Edit(place, entry), *comma]


def _end_of_line(text: str, after: int, limit: int) -> int:
    """Return where the line of `after` ends, past a comment that belongs to it."""
    found = _REST_OF_LINE.match(text, after, limit)
    end = found.end() if found else after
    return end if text[end : end + 1] in {"\r", "\n"} else after


def _has_newline(text: str, node: JsonNode) -> bool:
    return "\n" in text[node.start : node.end]


def indent_unit(text: str, root: JsonNode) -> str:
    """Return the indentation of one level, as the first member shows it."""
    if root.elements:
        found = _own_indent(text, root.elements[0].start)
        if found:
            return found
    return DEFAULT_INDENT


def _inner_indent(text: str, node: JsonNode, default: str) -> str:
    """Return the indentation of a container's elements."""
    for element in reversed(node.elements):
        found = _own_indent(text, element.start)
        if found is not None:
            return found
    return default


def _own_indent(text: str, at: int) -> str | None:
    """Return the blanks before something that is first on its line; None where it is not first."""
    before = text[text.rfind("\n", 0, at) + 1 : at]
    return before if "\n" in text[:at] and not before.strip(" \t") else None


def _line_indent(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]
