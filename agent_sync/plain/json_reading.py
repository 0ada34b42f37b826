"""Reads JSON so that whatever is wrong with it is a ValueError, and writes the one spelling that can be hashed."""

import json
from typing import Any, TypeVar

# Beyond this, readers that keep numbers as doubles see another number.
LARGEST_INTEGER = (1 << 53) - 1
_Value = TypeVar("_Value")


class NotCanonical(ValueError):
    """A value has no canonical form; the text says which and why."""


def read_json(content: bytes | str) -> Any:
    """Return the values of a JSON text."""
    try:
        return json.loads(content)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def canonical(value: object) -> bytes:
    """Return the JSON of a value as RFC 8785 writes it, for a value without floats and with ASCII keys."""
    _refuse_ambiguous(value, "the value")
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise NotCanonical("a text holds half a character") from error


def must_be_canonical(value: _Value) -> _Value:
    """Return a value that has a canonical form; raise NotCanonical for any other."""
    canonical(value)
    return value


def _refuse_ambiguous(value: object, where: str) -> None:
    match value:
        case None | bool() | str():
            pass
        case int():
            if abs(value) > LARGEST_INTEGER:
                raise NotCanonical(f"{where} is a number beyond {LARGEST_INTEGER}")
        case list():
            for number, item in enumerate(value):
                _refuse_ambiguous(item, f"{where}[{number}]")
        case dict():
            for key, item in value.items():
                _refuse_strange_key(key, where)
                _refuse_ambiguous(item, key)
        case _:
            raise NotCanonical(f"{where} is a {type(value).__name__}")


def _refuse_strange_key(key: object, where: str) -> None:
    # Beyond ASCII, sorting by character and sorting by UTF-16 unit differ.
    if not isinstance(key, str) or not key.isascii():
        raise NotCanonical(f"{where} has the key {key!r}, which is not ASCII text")
