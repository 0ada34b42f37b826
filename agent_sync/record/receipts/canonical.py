"""Turns values into the only bytes that may be signed for them: canonical JSON in a length-prefixed frame."""

import json

# Beyond these, readers that keep numbers as doubles see another number.
LARGEST = (1 << 53) - 1


class NotCanonical(ValueError):
    """A value has no canonical form; the text says which and why."""


def canonical(value: object) -> bytes:
    """Return the JSON of a value as RFC 8785 writes it, for a value without floats and with ASCII keys."""
    _refuse_ambiguous(value, "the value")
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise NotCanonical("a text holds half a character") from error


def pae(payload_type: str, body: bytes) -> bytes:
    """Return DSSE's pre-authentication encoding: no body of one type can be taken for one of another."""
    kind = payload_type.encode()
    return b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(body), body)


def _refuse_ambiguous(value: object, where: str) -> None:
    match value:
        case None | bool() | str():
            pass
        case int():
            if abs(value) > LARGEST:
                raise NotCanonical(f"{where} is a number beyond {LARGEST}")
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
