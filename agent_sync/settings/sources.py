"""Reads settings files: the repository's, which a checkout brings and is bounded, and the user's own."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agent_sync.errors import BadConfig
from agent_sync.system import files
from agent_sync.worktree import Place, user_settings_file

LARGEST = 64 * 1024
# A key has three parts at most; one of thousands would keep the parser busy for minutes.
MOST_DOTS = 200

Tables = dict[str, Any]


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


def parsed(content: bytes, *, file: str) -> Tables:
    """Return the tables in a file's bytes, or say what is wrong with them."""
    if any(line.count(b".") > MOST_DOTS for line in content.splitlines()):
        raise BadConfig(f"{file} cannot be used: a line has more than {MOST_DOTS} dots.", helps=f"correct {file}")
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
    return parsed(content, file=str(file)) if content else {}
