"""Reads a configuration file into its table, noting what is wrong or unknown with its line instead of stopping."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from agent_sync.gates.config.document import Document
from agent_sync.gates.config.model import Problem
from agent_sync.gates.config.yaml_values import BadYaml, KeyPath
from agent_sync.plain.fields import Refused
from agent_sync.system import files

if TYPE_CHECKING:
    from agent_sync.gates.config.tables import FileTable

LARGEST = 1 << 20
Table = TypeVar("Table", bound="FileTable")


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


class ConfigText:
    """One file as it was read: its values, and where each of them stands."""

    def __init__(self, file: Path, document: Document, notes: Notes, *, offset: int = 0) -> None:
        self.file = file
        self.notes = notes
        self._document = document
        self._offset = offset
        self._is_refused = False

    def __contains__(self, key: str) -> bool:
        return isinstance(self._document.values, dict) and key in self._document.values

    def error(self, path: KeyPath, message: str) -> None:
        """Note an error about one key."""
        self.notes.error(self.file, self._line(path), f"{spelled(path)} {message}")

    def warn(self, path: KeyPath, message: str) -> None:
        """Note a warning about one key."""
        self.notes.warn(self.file, self._line(path), f"{spelled(path)} {message}")

    def table(self, kind: type[Table]) -> Table:
        """Return the values as a table; what is wrong is noted and left out, so that the rest still counts."""
        values = _without_nothing(self._document.values)
        if not isinstance(values, dict):
            if values is not None:
                self.notes.error(self.file, self._line(()), f"the document must be a mapping, not {_kind(values)}")
            values = {}
        found, wrong = _validated(kind, values)
        for detail in sorted(wrong, key=lambda detail: self._line(_place(self._document.values, detail["loc"]))):
            self._note(detail["loc"], detail["type"], detail["input"], detail.get("ctx", {}))
        while found is None and _drop(values, {_place(values, detail["loc"]) for detail in wrong}):
            found, wrong = _validated(kind, values)
        if found is None:
            # Only keys of the document itself are missing now.
            found = _with_gaps(kind, _frozen(values))
        self._warn_of_strangers(found, ())
        return found

    def _line(self, path: KeyPath) -> int:
        try:
            return self._document.line_of(path) + self._offset
        except BadYaml as error:
            # Only the library that knows lines refuses it, as other readers of YAML would.
            line = error.line + self._offset
            if not self._is_refused:
                self._is_refused = True
                self.notes.error(self.file, line, f"is not valid YAML: {error}")
            return line

    def _note(self, path: KeyPath, kind: str, given: Any, context: dict[str, Any]) -> None:
        path = _place(self._document.values, path, with_last=kind == "missing")
        if path and isinstance(path[-1], int) and kind in {"string_type", "string_too_short"}:
            self.notes.error(self.file, self._line(path), f"{spelled(path[:-1])} holds {_kind(given)}, not text")
        else:
            self.error(path, _complaint(kind, given, context))

    def _warn_of_strangers(self, table: "FileTable", path: KeyPath) -> None:
        """Warn about every key that is not known."""
        known = list(type(table).model_fields)
        for key in table.model_extra:
            import difflib

            close = difflib.get_close_matches(key, known, n=1, cutoff=0.5)
            hint = f"did you mean `{close[0]}`?" if close else f"known: {', '.join(sorted(known))}"
            self.warn((*path, key), f"is not known and is ignored; {hint}")
        for below, value in _tables_in(table):
            self._warn_of_strangers(value, (*path, *below))


def read_config(
    file: Path, notes: Notes, *, text: str | None = None, offset: int = 0, may_be_link: bool = False
) -> ConfigText | None:
    """Return what a file says, or None after noting why not; `offset` lines stand before `text`."""
    content = read_text(file, notes.error, may_be_link=may_be_link) if text is None else text
    if content is None:
        return None
    try:
        return ConfigText(file, Document(content), notes, offset=offset)
    except BadYaml as error:
        notes.error(file, error.line + offset, f"is not valid YAML: {error}")
        return None


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


def spelled(path: KeyPath) -> str:
    """Return a path of keys as people write it: `entry_points[0].path`."""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).removeprefix(".")
    return f"`{text.replace('`', '')}`"


def _complaint(kind: str, given: Any, context: dict[str, Any]) -> str:
    match kind:
        case "missing":
            return "is missing"
        case "string_pattern_mismatch":
            return "must not be empty"
        case "greater_than_equal":
            return f"must be at least {context['ge']:g}, not {given:g}"
        case "less_than_equal":
            return f"must be at most {context['le']:g}, not {given:g}"
        case "literal_error" if isinstance(given, str):
            allowed = str(context["expected"]).replace("'", "").replace(" or ", ", ").removeprefix(", ")
            return f"must be one of {allowed}, not `{given}`"
        case "int_type" if isinstance(given, float):
            return "must be a whole number"
    return f"must be {_WANTED.get(kind, 'something else')}, not {_kind(given)}"


_WANTED = {
    "string_type": "text",
    "literal_error": "text",
    "bool_type": "true or false",
    "int_type": "a number",
    "float_type": "a number",
    "tuple_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
}


def _without_nothing(value: Any) -> Any:
    """Return values in which a key without a value is as good as missing."""
    match value:
        case dict():
            return {key: _without_nothing(below) for key, below in value.items() if below is not None}
        case tuple():
            return [_without_nothing(below) for below in value]
        case _:
            return value


def _place(values: Any, path: KeyPath, *, with_last: bool = False) -> KeyPath:
    """Return a path without what pydantic adds to it, such as the branch of a union."""
    found: list[str | int] = []
    here = values
    for number, part in enumerate(path):
        is_there = (isinstance(here, dict) and part in here) or (
            isinstance(here, list | tuple) and isinstance(part, int)
        )
        if is_there:
            here = here[part]
        elif not (with_last and number == len(path) - 1):
            break
        found.append(part)
    return tuple(found)


def _validated(kind: type[Table], values: Any) -> tuple[Table | None, list[Any]]:
    """Return the values as a table, or what is wrong with them."""
    try:
        return kind.model_validate(_frozen(values)), []
    except Refused as error:
        return None, error.details


def _with_gaps(kind: type[Table], values: dict[str, Any]) -> Table:
    """Return the values as a table in which the keys that must be there and are not are empty."""
    fields = {
        name: values.get(name, "" if one.is_required() else one.default) for name, one in kind.model_fields.items()
    }
    return kind.made_of(fields, {key: value for key, value in values.items() if key not in fields})


def _drop(values: Any, paths: set[KeyPath]) -> bool:
    """Delete what the paths lead to, the last of a list first, so that the others keep their numbers."""
    outer = [path for path in paths if path and not any(path[:count] in paths for count in range(1, len(path)))]
    for path in sorted(outer, key=_in_order, reverse=True):
        here = values
        for part in path[:-1]:
            here = here[part]
        del here[path[-1]]
    return bool(outer)


def _in_order(path: KeyPath) -> list[str]:
    return [f"{part:09}" if isinstance(part, int) else part for part in path]


def _frozen(values: Any) -> Any:
    match values:
        case dict():
            return {key: _frozen(below) for key, below in values.items()}
        case list():
            return tuple(_frozen(below) for below in values)
        case _:
            return values


def _tables_in(table: "FileTable") -> list[tuple[KeyPath, "FileTable"]]:
    """Return the tables below a table, each with the path to it."""
    found: list[tuple[KeyPath, FileTable]] = []
    for name in type(table).model_fields:
        value = getattr(table, name)
        items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, tuple) else ()
        found += [((name, key), below) for key, below in items if hasattr(below, "model_extra")]
        if hasattr(value, "model_extra"):
            found.append(((name,), value))
    return found


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
        case tuple() | list():
            return "a list"
        case _:
            return "a mapping"
