"""Loads the settings: environment over the user's file over the repository's, which decides alone what it may."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Any

from agent_sync.lazy_dataclasses import dataclass
from agent_sync.plain.fields import Refused
from agent_sync.settings.approvals import ApprovalRequest, Approvals
from agent_sync.settings.authority import needs_approval
from agent_sync.settings.problems import UnknownSetting, known_only, settings_error, unknown_in
from agent_sync.settings.sources import (
    Tables,
    from_environment,
    from_text,
    repository_tables,
    set_by_checkout,
    set_by_variables,
    setting_of,
    unknown_variables,
    user_file,
    user_tables,
)
from agent_sync.settings.tables import Settings
from agent_sync.worktree import SETTINGS_NAME, Place

_NO_PROXY = ("no_proxy", "NO_PROXY")


class Origin(StrEnum):
    """Where the value of a setting comes from, weakest first."""

    DEFAULT = "default"
    REPOSITORY = "repository"
    USER = "user"
    ENVIRONMENT = "environment"


@dataclass(frozen=True)
class LoadedSettings:
    """The settings that count, where each was set, and what the repository's files ask of the user."""

    settings: Settings
    # The process's environment without the variables that are held back.
    environment: Mapping[str, str]
    origins: Mapping[str, Origin]
    approved: tuple[ApprovalRequest, ...] = ()
    held_back: tuple[ApprovalRequest, ...] = ()
    # What this version does not know, and ignores.
    unknown: tuple[UnknownSetting, ...] = ()

    def origin(self, key: str) -> Origin:
        """Return where a setting was set."""
        return self.origins.get(key, Origin.DEFAULT)


def environment() -> dict[str, str]:
    """Return the process's environment."""
    return dict(os.environ)


def load(place: Place, environment: Mapping[str, str]) -> LoadedSettings:
    """Read every source, and hold back what the user has not approved and what is not known."""
    theirs = repository_tables(place)
    asked = (*_requests_of_variables(place, environment), *requests_in(theirs, source=SETTINGS_NAME))
    approvals = Approvals(place) if asked else None
    approved = tuple(one for one in asked if approvals and approvals.holds(one))
    held_back = tuple(one for one in asked if one not in approved)
    own = _without_variables(environment, held_back)
    mine = user_tables(own)
    files = {Origin.REPOSITORY: place.settings_file, Origin.USER: str(user_file(own))}
    if held_back:
        # What is wrong is said as such, not offered for approval.
        validated_settings({Origin.REPOSITORY: known_only(theirs)}, files)
    layers = {
        Origin.REPOSITORY: known_only(_without(theirs, held_back)),
        Origin.USER: known_only(mine),
        Origin.ENVIRONMENT: from_environment(own),
    }
    unknown = (
        *unknown_in(theirs, file=files[Origin.REPOSITORY]),
        *unknown_in(mine, file=files[Origin.USER]),
        *unknown_variables(own),
    )
    origins = {key: origin for origin, tables in layers.items() for key, _ in _keys(tables)}
    return LoadedSettings(validated_settings(layers, files, own), own, origins, approved, held_back, unknown)


def own_environment(place: Place, environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment without what the checkout has put there unapproved, whatever the settings hold."""
    approvals = Approvals(place)
    asked = _requests_of_variables(place, environment)
    return _without_variables(environment, tuple(one for one in asked if not approvals.holds(one)))


def withdraw(held_back: tuple[ApprovalRequest, ...]) -> None:
    """Take variables that are held back out of the process's environment, which libraries read by themselves."""
    for one in held_back:
        os.environ.pop(one.variable, None)


@contextmanager
def without_proxy(is_wanted: bool) -> Iterator[None]:  # noqa: FBT001  # the only question
    """Keep libraries that read the process's environment by themselves from asking a proxy, if that is wanted."""
    before = {name: os.environ.get(name) for name in _NO_PROXY}
    if is_wanted:
        os.environ.update(dict.fromkeys(_NO_PROXY, "*"))
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            os.environ.update({} if value is None else {name: value})


def requests_in(tables: Tables, *, source: str) -> Iterator[ApprovalRequest]:
    """Return what a file's tables ask for that only the user may decide."""
    for key, value in _keys(tables):
        why = needs_approval(key, value)
        if why:
            yield ApprovalRequest(key, value, source, why)


def _requests_of_variables(place: Place, environment: Mapping[str, str]) -> Iterator[ApprovalRequest]:
    """Return the variables that a settings file of the checkout sets and that only the user may."""
    # From a linked worktree the client reads the main checkout's settings, too.
    main = str(Path(place.common_dir).parent)
    directories = (place.root, main, environment.get("CLAUDE_PROJECT_DIR", ""))
    for name, file in set_by_checkout(environment, directories).items():
        value: object = environment[name]
        setting = setting_of(name)
        key = ".".join(setting) if setting else name
        if setting:
            value = from_text(*setting, environment[name])
        why = needs_approval(key, value) if setting else "what agent-sync, git and requests are steered by"
        if why:
            yield ApprovalRequest(key, value, file, why, variable=name)


def _without_variables(environment: Mapping[str, str], held_back: tuple[ApprovalRequest, ...]) -> dict[str, str]:
    names = {one.variable for one in held_back}
    return {name: value for name, value in environment.items() if name not in names}


def _keys(tables: Tables) -> Iterator[tuple[str, Any]]:
    """Return every setting in a file by its full name; templates count as one, and so does what is no table."""
    for table, section in tables.items():
        if not isinstance(section, dict) or table == "templates":
            yield table, section
            continue
        for key, value in section.items():
            yield f"{table}.{key}", value


def _without(tables: Tables, held_back: tuple[ApprovalRequest, ...]) -> Tables:
    names = {one.key for one in held_back if one.source == SETTINGS_NAME}
    return {
        table: {key: value for key, value in section.items() if f"{table}.{key}" not in names}
        if isinstance(section, dict)
        else section
        for table, section in tables.items()
    }


def validated_settings(
    layers: Mapping[Origin, Tables], files: Mapping[Origin, str], environment: Mapping[str, str] | None = None
) -> Settings:
    """Return the settings that the layers make up, each over the one before; an error names the file or variable."""
    merged: Tables = {}
    for tables in layers.values():
        for table, section in tables.items():
            below = merged.get(table, {})
            if not isinstance(below, dict):
                # It is wrong, whatever a stronger layer sets.
                continue
            merged[table] = below | section if isinstance(section, dict) else section
    try:
        return Settings.model_validate(_with_floats(merged))
    except Refused as error:
        sources = {key: files[origin] for origin in files for key in _names(layers.get(origin, {}))}
        sources |= {".".join(setting): name for name, setting in set_by_variables(environment or {}).items()}
        raise settings_error(error, sources) from error


def _names(tables: Tables) -> Iterator[str]:
    """Return every setting in a file by its full name, templates one by one."""
    yield from (key for key, _ in _keys(tables))
    templates = tables.get("templates")
    yield from (f"templates.{name}" for name in templates) if isinstance(templates, dict) else ()


def _with_floats(tables: Tables) -> Tables:
    """Let `120` stand for `120.0`, which strict reading would refuse."""
    return {
        table: {key: _as_float(key, value) for key, value in section.items()} if isinstance(section, dict) else section
        for table, section in tables.items()
    }


def _as_float(key: str, value: object) -> object:
    try:
        return float(value) if key.endswith("_s") and type(value) is int else value
    except OverflowError:
        return value
