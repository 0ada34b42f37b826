"""Explains what is wrong with the settings: which file and line or variable, which key, and the nearest known key."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from agent_sync.errors import BadConfig
from agent_sync.lazy_dataclasses import dataclass
from agent_sync.lazy_patterns import pattern
from agent_sync.plain.fields import Refused
from agent_sync.settings.approvals import MOST_NAMED, printable
from agent_sync.settings.tables import Settings, Template
from agent_sync.system import files

# More names would hide the message; a command lists them.
MOST_KNOWN = 20
_HEADER = pattern(r"\s*\[\[?\s*([^\]]+?)\s*\]")
_KEY = pattern(r"\s*([\w.\"' -]+?)\s*=")


@dataclass(frozen=True)
class UnknownSetting:
    """A key, section or variable that sets nothing."""

    name: str
    # The nearest name that is known, as a sentence.
    guess: str
    # The file and line; "" for a variable.
    where: str = ""

    @property
    def text(self) -> str:
        """Say that it is not known, and what was perhaps meant."""
        return f"{self._subject} is not a setting.{self.guess}"

    @property
    def warning(self) -> str:
        """Say that it is ignored, in fewer words."""
        return f"{self._subject} is not a setting and is ignored.{self.guess if '?' in self.guess else ''}"

    @property
    def _subject(self) -> str:
        return f"{self.where}: {printable(self.name)}" if self.where else printable(self.name)


def ignored_line(unknown: tuple[UnknownSetting, ...]) -> str:
    """Say in one line which settings are ignored."""
    rest = len(unknown) - MOST_NAMED
    more = f" {rest} more: `agent-sync doctor` lists them." if rest > 0 else ""
    return " ".join(one.warning for one in unknown[:MOST_NAMED]) + more


def refuse_unknown(unknown: tuple[UnknownSetting, ...]) -> None:
    """Stop a command that looks after settings where some are not known."""
    if unknown:
        raise BadConfig(" ".join(one.text for one in unknown), helps="correct or remove what is named")


def unknown_in(tables: Mapping[str, Any], *, file: str) -> Iterator[UnknownSetting]:
    """Return every key and section of a file that sets nothing."""
    for table, section in tables.items():
        if table not in Settings.model_fields:
            yield UnknownSetting(table, nearest(table, list(Settings.model_fields)), where(file, table))
        elif isinstance(section, dict):
            for path in _unknown_below(table, section):
                name = ".".join(path)
                near = nearest(path[-1], list(_fields(table)), within=".".join(path[:-1]))
                yield UnknownSetting(name, near, where(file, name))


def _unknown_below(table: str, section: dict[str, Any]) -> Iterator[tuple[str, ...]]:
    known = _fields(table)
    if table != "templates":
        yield from ((table, key) for key in section if key not in known)
        return
    for name, template in section.items():
        yield from ((table, name, key) for key in template if isinstance(template, dict) and key not in known)


def known_only(tables: Mapping[str, Any]) -> dict[str, Any]:
    """Return the tables without what is not known; what is no table is left to be refused."""
    return {table: _known_below(table, section) for table, section in tables.items() if table in Settings.model_fields}


def _known_below(table: str, section: Any) -> Any:
    if not isinstance(section, dict):
        return section
    if table == "templates":
        return {name: _known_keys(table, template) for name, template in section.items()}
    return _known_keys(table, section)


def _known_keys(table: str, values: Any) -> Any:
    known = _fields(table)
    return {key: value for key, value in values.items() if key in known} if isinstance(values, dict) else values


def _fields(table: str) -> Mapping[str, Any]:
    section = Template if table == "templates" else Settings.model_fields[table].annotation
    fields: Mapping[str, Any] = section.model_fields
    return fields


# More names than this are for `agent-sync config list`.
MOST_LISTED = 20


def settings_error(error: Refused, sources: Mapping[str, str]) -> BadConfig:
    """Return the error with every problem by name; `sources` says which file or variable set a key."""
    found = []
    for detail in error.details:
        path = [str(part) for part in detail["loc"]]
        name = ".".join(part[:60] for part in path)
        source = sources.get(".".join(path[:2])) or sources.get(path[0], "settings")
        blamed = where(source, name) if "/" in source else source
        found.append(f"{blamed}: {name}: {detail['msg']}")
    return BadConfig("; ".join(found) + ".", helps="agent-sync doctor")


def where(file: str, key: str) -> str:
    """Return a file with the line in which it sets a key, or the table around it."""
    try:
        text = (files.read_plain(Path(file), may_be_link=True) or b"").decode()
    except (files.NotPlain, UnicodeDecodeError):
        return file
    while key:
        line = _line_of(text, key)
        if line:
            return f"{file}:{line}"
        key = key.rpartition(".")[0]
    return file


def _line_of(text: str, key: str) -> int:
    """Return the first line that sets a key or opens its table; 0 where it is written in another way."""
    table = ""
    for number, line in enumerate(text.splitlines(), start=1):
        header = _HEADER.match(line)
        set_here = None if header else _KEY.match(line)
        if header:
            table = name = _bare(header[1])
        elif set_here:
            name = ".".join(filter(None, (table, _bare(set_here[1]))))
        else:
            continue
        if f"{name}.".startswith(f"{key}."):
            return number
    return 0


def _bare(name: str) -> str:
    return ".".join(part.strip(" \"'") for part in name.split("."))


def nearest(name: str, known: list[str], *, within: str = "") -> str:
    """Return as a sentence what was perhaps meant by a name that is not known; "" where nothing is near."""
    import difflib

    close = difflib.get_close_matches(name[:200], known, n=1, cutoff=0.6)
    if close:
        return f" Did you mean {f'{within}.' if within else ''}{close[0]}?"
    return f" Known: {', '.join(sorted(known))}." if len(known) <= MOST_KNOWN else ""
