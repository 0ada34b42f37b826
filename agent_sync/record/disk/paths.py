"""Names of files as text that JSON can hold: what is not printable UTF-8 is quoted as git quotes it."""

import re

_ESCAPED = re.compile(rb"\\([0-7]{3}|.)", re.DOTALL)
_QUOTE = '"'
# As the output of programs is read: bytes that are no text come through.
_BYTES = ("utf-8", "surrogateescape")


def shown(path: str) -> str:
    """Return a path as it is, or between quotation marks with octal escapes where it holds odd characters."""
    if path.isprintable() and not path.startswith(_QUOTE):
        return path
    return _QUOTE + "".join(_escaped(char) for char in path) + _QUOTE


def meant(text: str) -> str:
    """Return the path that `shown` has shown."""
    if not (text.startswith(_QUOTE) and text.endswith(_QUOTE) and len(text) > 1):
        return text
    return _ESCAPED.sub(_byte, text[1:-1].encode(*_BYTES)).decode(*_BYTES)


def _escaped(char: str) -> str:
    if char.isprintable() and char not in {_QUOTE, "\\"}:
        return char
    return "".join(f"\\{byte:03o}" for byte in char.encode(*_BYTES))


def _byte(found: re.Match[bytes]) -> bytes:
    digits = found[1]
    return bytes([int(digits, 8) & 0xFF]) if digits.isdigit() else digits
