"""Reads the part of YAML 1.2 that gate files ordinarily use, without a YAML library; whatever else there is it refuses.

Block mappings and sequences, one-line scalars, flow collections of scalars on one line, literal blocks and comments.
Where it answers, the answer is that of `yaml12.py`.
"""

from agent_sync.gates.config.yaml_values import NotOrdinary, Plain
from agent_sync.lazy_patterns import pattern

# Small enough to be within every bound of `yaml12.py`.
LARGEST = 16 << 10
FARTHEST = 20
# What neither breaks a line nor is refused anywhere: ASCII, Latin letters, dashes and quotation marks.
_CHARACTERS = pattern("[\n -~\u00a1-\u024f\u2010-\u2027]*")
_KEY = "([A-Za-z][A-Za-z0-9_-]*)"
_ENTRY = pattern(rf" *{_KEY}:(?: +(.*))?")
_QUOTED = r"""'((?:[^']|'')*)'|"((?:[^"\\]|\\["\\nt])*)\""""
_REST = r" *(?: #.*)?"
_ALONE = pattern(rf"(?:{_QUOTED}){_REST}")
_IN_FLOW = r"([A-Za-z0-9_/$.](?:[A-Za-z0-9_/$.*+=@ -]*[A-Za-z0-9_/$.*+=@-])?)"
_FLOW_ITEM = pattern(rf" *(?:{_KEY}: +)?(?:{_QUOTED}|{_IN_FLOW}) *(,|[\]}}]{_REST}$)")
_NO_ITEMS = pattern(rf"\[ *\]{_REST}")
_TEXT = pattern(r"[A-Za-z_/$(]|\.(?:$|/|[A-Za-z])")
_WHOLE = pattern("0|[1-9][0-9]{0,8}")
_FRACTION = pattern(r"(?:0|[1-9][0-9]{0,8})\.[0-9]{1,9}")
_ESCAPE = pattern(r"\\(.)")
_ESCAPES = {'"': '"', "\\": "\\", "n": "\n", "t": "\t"}
_WORDS = {"true": True, "false": False, "null": None}
# What some version of YAML, or some spelling of it, takes for something else than text.
_UNCERTAIN = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n", ".inf", ".nan"})


def read(text: str) -> Plain:
    """Return what an ordinary text says."""
    if len(text) > LARGEST or not _CHARACTERS.fullmatch(text):
        raise NotOrdinary
    return _Reader(text).document()


class _Reader:
    """Goes through the lines once."""

    def __init__(self, text: str) -> None:
        self._lines = text.split("\n")
        self._at = 0

    def document(self) -> Plain:
        value = self._mapping(0) if self._indent() >= 0 else None
        if self._indent() >= 0:
            raise NotOrdinary
        return value

    def _indent(self) -> int:
        """Go to the next line that is neither blank nor a comment; return how far it is indented, -1 at the end."""
        while self._at < len(self._lines):
            line = self._lines[self._at]
            content = line.lstrip(" ")
            if content and content[0] != "#":
                return len(line) - len(content)
            self._at += 1
        return -1

    def _mapping(self, indent: int) -> Plain:
        found: dict[str, Plain] = {}
        while self._indent() == indent and (entry := _ENTRY.fullmatch(self._lines[self._at])):
            key = _new_key(entry[1], found)
            self._at += 1
            found[key] = self._value(entry[2] or "", indent)
        if not found or indent > FARTHEST:
            raise NotOrdinary
        return found

    def _sequence(self, indent: int) -> Plain:
        found: list[Plain] = []
        while self._indent() == indent and self._is_item(indent):
            item = self._lines[self._at][indent + 1 :].lstrip(" ")
            column = len(self._lines[self._at]) - len(item)
            if _ENTRY.fullmatch(item):
                # The mapping begins on the dash's line.
                self._lines[self._at] = " " * column + item
                found.append(self._mapping(column))
            else:
                self._at += 1
                found.append(self._here(item, indent))
        return tuple(found)

    def _is_item(self, indent: int) -> bool:
        return self._lines[self._at].startswith("- ", indent)

    def _value(self, text: str, indent: int) -> Plain:
        """Return what a key has: on its own line, or below it."""
        if text and text[0] != "#":
            return self._here(text, indent)
        below = self._indent()
        if below >= indent and self._is_item(below):
            return self._sequence(below)
        return self._mapping(below) if below > indent else None

    def _here(self, text: str, indent: int) -> Plain:
        value = self._literal(text.rstrip(" "), indent) if text[:1] == "|" else _one_line(text)
        if self._indent() > indent:
            # Text goes on in the next line.
            raise NotOrdinary
        return value

    def _literal(self, header: str, indent: int) -> str:
        first = self._lines[self._at] if self._at < len(self._lines) else ""
        width = len(first) - len(first.lstrip(" "))
        found: list[str] = []
        while self._at < len(self._lines) and (line := self._lines[self._at])[:width].strip(" ") == "":
            if line and not line.strip(" "):
                raise NotOrdinary
            found.append(line[width:])
            self._at += 1
        ends = self._at < len(self._lines) or self._lines[-1] == ""
        if header not in {"|", "|-"} or width <= indent or not ends:
            raise NotOrdinary
        return "\n".join(found).rstrip("\n") + "\n" * (header == "|")


def _new_key(key: str, known: dict[str, Plain]) -> str:
    if key in known or key.lower() in _UNCERTAIN:
        raise NotOrdinary
    return key


def _one_line(text: str) -> Plain:
    if text[:1] in {"[", "{"}:
        return () if _NO_ITEMS.fullmatch(text) else _flow(text)
    if quoted := _ALONE.fullmatch(text):
        return _unquoted(quoted[1], quoted[2])
    value = text.partition(" #")[0].rstrip(" ")
    if ": " in value or value.endswith(":"):
        raise NotOrdinary
    return _word(value)


def _flow(text: str) -> Plain:
    """Return a list or a mapping of scalars that begins and ends on one line."""
    items: list[Plain] = []
    entries: dict[str, Plain] = {}
    at, end = 1, ","
    while end == ",":
        found = _FLOW_ITEM.match(text, at)
        if found is None or (found[1] is None) == (text[0] == "{"):
            raise NotOrdinary
        value = _word(found[4]) if found[4] else _unquoted(found[2], found[3])
        if found[1]:
            entries[_new_key(found[1], entries)] = value
        items.append(value)
        at, end = found.end(), found[5]
    if text[0] + end[0] not in {"[]", "{}"}:
        raise NotOrdinary
    return entries or tuple(items)


def _unquoted(single: str | None, double: str | None) -> str:
    if single is not None:
        return single.replace("''", "'")
    return _ESCAPE.sub(lambda escape: _ESCAPES[escape[1]], double or "")


def _word(value: str) -> Plain:
    """Return a scalar without quotation marks."""
    if value in _WORDS:
        return _WORDS[value]
    if _WHOLE.fullmatch(value):
        return int(value)
    if _FRACTION.fullmatch(value):
        return float(value)
    if not _TEXT.match(value) or value.lower() in _UNCERTAIN:
        raise NotOrdinary
    return value
