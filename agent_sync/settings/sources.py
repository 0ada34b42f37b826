"""Where settings come from: files, AGENT_SYNC_ variables, and what a checkout has put into the environment."""

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Literal

from agent_sync.errors import BadConfig
from agent_sync.lazy_patterns import pattern
from agent_sync.settings.problems import UnknownSetting, nearest
from agent_sync.settings.tables import Settings
from agent_sync.system import files
from agent_sync.worktree import CLAUDE_SETTINGS, Place, user_settings_file

LARGEST = 64 * 1024
# A key has three parts at most; one of thousands would keep the parser busy for minutes.
MOST_DOTS = 200

Tables = dict[str, Any]


PREFIX = "AGENT_SYNC_"
# What TOML and JSON read alike.
_PLAIN = pattern(r"true|false|0|[1-9][0-9]{0,8}")
# Read by others: the test suite, the nesting marker of reviews, the quiet path.
NOT_SETTINGS = frozenset({"AGENT_SYNC_NESTED", "AGENT_SYNC_GITHUB_SCHEMAS", "AGENT_SYNC_PROVE"})
ALIASES = {
    "MOLTNET_PROJECT_NUMBER": "AGENT_SYNC_PROJECT_NUMBER",
    "MOLTNET_PROJECT_OWNER": "AGENT_SYNC_PROJECT_OWNER",
    "AGENT_SYNC_WORKER": "AGENT_SYNC_WORKER_NAME",
}
# Beside our own: where files of the user are looked for, what git runs, where requests go and whom they believe.
_PREFIXES = ("AGENT_SYNC_", "MOLTNET_", "GAUNTLET_", "GIT_", "ATLAS_", "XDG_", "SSL_CERT_", "SSH_ASKPASS")
_NAMES = frozenset(
    {
        "HOME",
        "GH_HOST",
        "GH_REPO",
        "GH_CONFIG_DIR",
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "ALL_PROXY",
        "REQUESTS_CA_BUNDLE",
        "CURL_CA_BUNDLE",
        # These would silence the hooks, and turn every command into a completion script.
        "CLAUDE_PLUGIN_ROOT",
        "_AGENT_SYNC_COMPLETE",
    }
)


def repository_tables(place: Place) -> Tables:
    """Return what the repository's file sets."""
    return _tables(Path(place.settings_file), may_be_link=False)


def user_file(environment: Mapping[str, str]) -> Path | None:
    """Return where the user's own file is, whether it is there or not; None without a home."""
    found = user_settings_file(environment.get("XDG_CONFIG_HOME", ""), environment.get("HOME", ""))
    return Path(found) if found else None


def user_tables(environment: Mapping[str, str]) -> Tables:
    """Return what the user's own file sets."""
    file = user_file(environment)
    return _tables(file, may_be_link=True) if file else {}


def parsed_toml(content: bytes, *, file: str) -> Tables:
    """Return the tables in a file's bytes, or say what is wrong with them."""
    if any(line.count(b".") > MOST_DOTS for line in content.splitlines()):
        raise BadConfig(f"{file} cannot be used: a line has more than {MOST_DOTS} dots.", helps=f"correct {file}")
    import tomllib

    try:
        return tomllib.loads(content.decode())
    except UnicodeDecodeError as error:
        raise BadConfig(f"{file} cannot be read: it is not UTF-8 text.", helps=f"correct {file}") from error
    except (ValueError, RecursionError) as error:
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise BadConfig(f"{file} is not valid TOML: {reason}.", helps="agent-sync doctor") from error


def _tables(file: Path, *, may_be_link: bool) -> Tables:
    try:
        content = files.read_plain(file, largest=LARGEST, may_be_link=may_be_link)
    except files.NotPlain as reason:
        raise BadConfig(f"{file} cannot be read: {reason}.", helps=f"replace {file.name} by a plain file") from reason
    return parsed_toml(content, file=str(file)) if content else {}


@cache
def variables() -> dict[str, tuple[str, str]]:
    """Map every environment variable that sets something to its table and key."""
    return {
        f"{PREFIX}{table}_{key}".upper(): (table, key)
        for table, section in Settings.model_fields.items()
        # Templates have names of the user's own: only a file can set them.
        if table != "templates"
        for key in section.annotation.model_fields
    }


def setting_of(name: str) -> tuple[str, str] | None:
    """Return the table and key that a variable sets, if it sets any."""
    return variables().get(ALIASES.get(name, name))


def from_environment(environment: Mapping[str, str]) -> dict[str, Any]:
    """Return what the variables set, as the tables of a settings file."""
    tables: dict[str, Any] = {}
    for name, (table, key) in set_by_variables(environment).items():
        tables.setdefault(table, {})[key] = from_text(table, key, environment[name])
    return tables


def set_by_variables(environment: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """Map every variable that counts here to the table and key it sets; the new name of one wins over the old."""
    known = variables()
    names = [*ALIASES, *(name for name in environment if name.startswith(PREFIX) and name not in ALIASES)]
    found = {ALIASES.get(name, name): name for name in names if environment.get(name)}
    return {name: known[current] for current, name in found.items() if current in known}


def unknown_variables(environment: Mapping[str, str]) -> Iterator[UnknownSetting]:
    """Return the variables of ours that set nothing."""
    known = variables()
    for name, value in environment.items():
        if name.startswith(PREFIX) and value and name not in {*known, *ALIASES, *NOT_SETTINGS}:
            yield UnknownSetting(name, nearest(name, list(known)))


def from_text(table: str, key: str, text: str) -> object:
    """Read a text as TOML would, and fall back to the text itself for words."""
    wanted = Settings.model_fields[table].annotation.model_fields[key].annotation
    if wanted is str or wanted in (Literal["now", "later"], Literal["remote", "clone"]):
        return text
    if _PLAIN.fullmatch(text):
        return json.loads(text)
    import tomllib

    try:
        return tomllib.loads(f"value = {text}")["value"]
    except (ValueError, RecursionError):
        return text


def set_by_checkout(environment: Mapping[str, str], directories: Iterable[str]) -> dict[str, str]:
    """Return the variables that matter here and that a settings file in these directories sets; name and file."""
    found: dict[str, str] = {}
    for directory in dict.fromkeys(filter(None, directories)):
        for name in CLAUDE_SETTINGS:
            content = _content(Path(directory) / name)
            found |= dict.fromkeys(_variables_named_in(content, environment), name) if content else {}
    return found


def named_in_checkout(directories: Iterable[str]) -> dict[str, str]:
    """Return the variables that only the user may set and that a settings file in these directories sets; and where."""
    found: dict[str, str] = {}
    for directory in dict.fromkeys(filter(None, directories)):
        for file in CLAUDE_SETTINGS:
            try:
                values = json.loads(_content(Path(directory) / file) or b"{}")
            except (ValueError, RecursionError):
                continue
            given = values.get("env") if isinstance(values, dict) else None
            found |= {name: file for name in given or () if isinstance(given, dict) and matters(name)}
    return found


def matters(name: str) -> bool:
    """Tell whether a variable is one that only the user may set."""
    return name.startswith(_PREFIXES) or name.upper() in _NAMES


def _content(file: Path) -> bytes:
    """Return the file's bytes; it is only looked at for what not to believe, so a link may be followed."""
    try:
        return files.read_plain(file, may_be_link=True) or b""
    except files.NotPlain:
        return b""


def _variables_named_in(content: bytes, environment: Mapping[str, str]) -> list[str]:
    """Return which variables have the value that a settings file gives them."""
    mattering = [name for name in environment if matters(name)]
    try:
        values = json.loads(content)
    except (ValueError, RecursionError):
        # Comments are allowed there: where it cannot be parsed, being named is enough to be doubted.
        text = content.decode(errors="replace")
        return [name for name in mattering if f'"{name}"' in text and '"env"' in text]
    given = values.get("env") if isinstance(values, dict) else None
    named = given if isinstance(given, dict) else {}
    return [name for name in mattering if name in named and _text(named[name]) == environment[name]]


def _text(value: object) -> str:
    """Return a value of JSON as the client writes it into the environment."""
    return value if isinstance(value, str) else json.dumps(value)
