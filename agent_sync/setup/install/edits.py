"""Insertions into a text, kept so that they can be taken out again to the byte."""

from collections.abc import Iterable

from agent_sync.lazy_dataclasses import dataclass


@dataclass(frozen=True)
class Edit:
    """Some text that was put in at a place."""

    at: int
    text: str


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """Put every edit in, one after the other."""
    for edit in edits:
        text = text[: edit.at] + edit.text + text[edit.at :]
    return text


def undone(text: str, edits: Iterable[Edit]) -> str:
    """Take every edit out, the last one first; they must be there as they were put in."""
    for edit in reversed(tuple(edits)):
        end = edit.at + len(edit.text)
        if text[edit.at : end] != edit.text:
            raise ValueError("the text is not what the edits made of it")
        text = text[: edit.at] + text[end:]
    return text
