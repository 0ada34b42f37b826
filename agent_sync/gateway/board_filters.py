"""Writes the board's own filters: names and texts can never become other filters than they are meant to be."""

from collections.abc import Sequence

from agent_sync.lazy_patterns import pattern

_MARKS = pattern(r'["\\]')


def column_filter(field: str, name: str, repository: str = "") -> str:
    """Return the filter for the issues of one column, of one repository or of all."""
    return " ".join(filter(None, ["is:issue", repository_filter(repository), field_filter(field, [name])]))


def field_filter(field: str, names: Sequence[str]) -> str:
    """Return the filter for items that show one of these names in a field."""
    # The filter knows no way to write a quotation mark; a star stands for it.
    choices = ",".join(f'"{_MARKS.sub("*", name)}"' for name in names)
    return f"{field_word(field)}:{choices}"


def empty_filter(field: str) -> str:
    """Return the filter for items that show nothing in a field."""
    return f"no:{field_word(field)}"


def repository_filter(repository: str) -> str:
    """Return the filter for one repository's items; none for all."""
    return f"repo:{repository}" if repository else ""


def title_filter(text: str, repository: str = "") -> str:
    """Return the filter for issues with all of this in their title; we look again ourselves."""
    pieces = (piece.strip() for piece in _MARKS.split(text))
    quoted = [f'"{piece}"' for piece in pieces if piece]
    return " ".join(filter(None, ["is:issue", repository_filter(repository), *quoted]))


def field_word(field: str) -> str:
    """Return a field's name as the filter writes it, with dashes for spaces."""
    return field.lower().replace(" ", "-")
