"""Reads one mapping of a configuration file key by key, noting what is wrong or unknown instead of stopping."""

import difflib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from agent_sync.gates.config.model import Problem
from agent_sync.gates.config.yaml12 import BadYaml, Node, load
from agent_sync.system import files

LARGEST = 1 << 20


class Notes:
    """The problems found so far."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []

    def error(self, file: Path, line: int, message: str) -> None:
        """Note what makes a file unusable."""
        self.problems.append(Problem(file, line, message))

    def warn(self, file: Path, line: int, message: str) -> None:
        """Note what is only worth a word."""
        self.problems.append(Problem(file, line, message, is_error=False))


class Table:
    """One mapping: every key that is read becomes known, `finish` warns about the others."""

    def __init__(self, file: Path, node: Node, notes: Notes, *, where: str = "") -> None:
        self.file = file
        self.line = node.line
        self.notes = notes
        self._where = where
        self._known: list[str] = []
        self._values: dict[str, Node] = {}
        if isinstance(node.value, dict):
            self._values = node.value
        elif node.value is not None:
            notes.error(file, node.line, f"{where or 'the document'} must be a mapping, not {_kind(node.value)}")

    def __contains__(self, key: str) -> bool:
        return key in self._values

    def line_of(self, key: str) -> int:
        """Return the line a key stands on."""
        return self._values[key].line if key in self._values else self.line

    def error(self, key: str, message: str) -> None:
        """Note an error about one key."""
        self.notes.error(self.file, self.line_of(key), f"{self._path(key)} {message}")

    def warn(self, key: str, message: str) -> None:
        """Note a warning about one key."""
        self.notes.warn(self.file, self.line_of(key), f"{self._path(key)} {message}")

    def text(self, key: str, default: str = "", *, required: bool = False) -> str:
        """Return a word or sentence that is not empty."""
        found: str = self._typed(key, str, "text", default)
        if key in self._values and isinstance(self._values[key].value, str) and not found.strip():
            self.error(key, "must not be empty")
        if required and key not in self._values:
            self.error(key, "is missing")
        return found

    def flag(self, key: str, *, default: bool) -> bool:
        """Return true or false."""
        found: bool = self._typed(key, bool, "true or false", default)
        return found

    def whole(self, key: str, default: int, *, least: int = 0, most: int) -> int:
        """Return a whole number within its limits."""
        found = self.number(key, default, least=least, most=most)
        if found is None or found != int(found):
            self.error(key, "must be a whole number")
            return default
        return int(found)

    def number(self, key: str, default: float | None = None, *, least: float = 0, most: float) -> float | None:
        """Return a number within its limits."""
        found: float | None = self._typed(key, (int, float), "a number", default)
        if found is not None and found < least:
            self.error(key, f"must be at least {least:g}, not {found:g}")
            return default
        if found is not None and found > most:
            self.error(key, f"must be at most {most:g}, not {found:g}")
            return default
        return found

    def choice(self, key: str, allowed: tuple[str, ...], default: str) -> str:
        """Return one of the allowed words."""
        found = self.text(key, default)
        if found not in allowed and found != default:
            self.error(key, f"must be one of {', '.join(allowed)}, not `{found}`")
            return default
        return found

    def texts(self, key: str) -> tuple[str, ...]:
        """Return a list of words."""
        items = self._items(key)
        wrong = [item for item in items if not isinstance(item.value, str) or not item.value]
        for item in wrong:
            self.notes.error(self.file, item.line, f"{self._path(key)} holds {_kind(item.value)}, not text")
        return tuple(item.value for item in items if isinstance(item.value, str) and item.value)

    def table(self, key: str) -> "Table":
        """Return a mapping below this one; an empty one where there is none."""
        return Table(self.file, self._node(key) or Node(None, self.line), self.notes, where=self._path(key))

    def tables(self, key: str) -> tuple["Table", ...]:
        """Return a list of mappings below this one."""
        found = self._items(key)
        return tuple(
            Table(self.file, item, self.notes, where=f"{self._path(key)}[{number}]")
            for number, item in enumerate(found)
        )

    def named(self) -> dict[str, "Table"]:
        """Return every key as a mapping of its own: the keys are names."""
        return {key: self.table(key) for key in self._values}

    def ignore(self, *keys: str) -> None:
        """Accept keys that mean nothing here."""
        self._known.extend(keys)

    def finish(self) -> None:
        """Warn about every key nobody asked for."""
        for key in self._values.keys() - set(self._known):
            close = difflib.get_close_matches(key, self._known, n=1, cutoff=0.5)
            hint = f"did you mean `{close[0]}`?" if close else f"known: {', '.join(sorted(self._known))}"
            self.warn(key, f"is not known and is ignored; {hint}")

    def _typed(self, key: str, kind: Any, said: str, default: Any) -> Any:
        node = self._node(key)
        if node is None or node.value is None:
            return default
        is_wrong_bool = isinstance(node.value, bool) and kind is not bool
        if not isinstance(node.value, kind) or is_wrong_bool:
            self.error(key, f"must be {said}, not {_kind(node.value)}")
            return default
        return node.value

    def _items(self, key: str) -> tuple[Node, ...]:
        node = self._node(key)
        if node is None or node.value is None:
            return ()
        if not isinstance(node.value, tuple):
            self.error(key, f"must be a list, not {_kind(node.value)}")
            return ()
        return node.value

    def _node(self, key: str) -> Node | None:
        self._known.append(key)
        return self._values.get(key)

    def _path(self, key: str) -> str:
        return f"`{self._where.replace('`', '')}.{key}`" if self._where else f"`{key}`"


def read_table(
    file: Path, notes: Notes, *, text: str | None = None, offset: int = 0, may_be_link: bool = False
) -> Table | None:
    """Return the mapping a file holds, or None after noting why not; `offset` lines stand before `text`."""
    content = read_text(file, notes.error, may_be_link=may_be_link) if text is None else text
    if content is None:
        return None
    try:
        node = load(content)
    except BadYaml as error:
        notes.error(file, error.line + offset, f"is not valid YAML: {error}")
        return None
    return Table(file, _shifted(node, offset) if offset else node, notes)


def read_text(file: Path, complain: Callable[[Path, int, str], None], *, may_be_link: bool = False) -> str | None:
    """Return a small text file, or None after saying why not; only a user's own file may be a link."""
    try:
        content = files.read_plain(file, largest=LARGEST, may_be_link=may_be_link)
        if content is not None:
            return content.decode("utf-8-sig")
        complain(file, 1, "cannot be read: it does not exist")
    except files.NotPlain as reason:
        complain(file, 1, f"cannot be read: {reason}")
    except OSError as error:
        complain(file, 1, f"cannot be read: {error.strerror}")
    except UnicodeDecodeError as error:
        complain(file, 1, f"is not UTF-8: {error.reason} at byte {error.start}")
    return None


def _shifted(node: Node, offset: int) -> Node:
    match node.value:
        case dict():
            return Node({key: _shifted(value, offset) for key, value in node.value.items()}, node.line + offset)
        case tuple():
            return Node(tuple(_shifted(value, offset) for value in node.value), node.line + offset)
        case _:
            return Node(node.value, node.line + offset)


def _kind(value: object) -> str:
    match value:
        case None:
            return "nothing"
        case bool():
            return "true" if value else "false"
        case str():
            return f"the text `{value[:40]}`"
        case int() | float():
            return f"the number {value}"
        case tuple():
            return "a list"
        case _:
            return "a mapping"
