"""The settings of one repository: `.agent-sync.toml`, overridden by `AGENT_SYNC_*`; reads the environment."""

import difflib
import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError

from agent_sync.errors import BadConfig
from agent_sync.sections import (
    Board,
    Checks,
    Gate,
    Git,
    GitHub,
    Hooks,
    Idle,
    Lease,
    Notify,
    Project,
    Pull,
    Record,
    Section,
    Template,
    Worker,
)

PREFIX = "AGENT_SYNC_"
# Read by others: the test suite, the nesting marker of reviews, the quiet path.
NOT_SETTINGS = frozenset({"AGENT_SYNC_NESTED", "AGENT_SYNC_GITHUB_SCHEMAS", "AGENT_SYNC_PROVE"})
ALIASES = {
    "MOLTNET_PROJECT_NUMBER": "AGENT_SYNC_PROJECT_NUMBER",
    "MOLTNET_PROJECT_OWNER": "AGENT_SYNC_PROJECT_OWNER",
    "AGENT_SYNC_WORKER": "AGENT_SYNC_WORKER_NAME",
}


class Settings(Section):
    """Everything that can be set for one repository."""

    project: Project = Project()
    board: Board = Board()
    pr: Pull = Pull()
    notify: Notify = Notify()
    checks: Checks = Checks()
    idle: Idle = Idle()
    hooks: Hooks = Hooks()
    gate: Gate = Gate()
    git: Git = Git()
    lease: Lease = Lease()
    worker: Worker = Worker()
    github: GitHub = GitHub()
    record: Record = Record()
    templates: dict[str, Template] = Field(default={})


def load(file: Path, environment: Mapping[str, str]) -> Settings:
    """Read the settings file, lay the environment over it, and refuse what is not known."""
    try:
        tables = tomllib.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        tables = {}
    except (OSError, UnicodeDecodeError) as error:
        raise BadConfig(f"{file} cannot be read: {error}.") from error
    except tomllib.TOMLDecodeError as error:
        raise BadConfig(f"{file} is not valid TOML: {error}.", helps="agent-sync doctor") from error
    return _validated(_overlaid(tables, environment), source=str(file))


def environment() -> dict[str, str]:
    """Return the process's environment."""
    return dict(os.environ)


def variables() -> dict[str, tuple[str, str]]:
    """Map every environment variable that sets something to its table and key."""
    return {
        f"{PREFIX}{table}_{key}".upper(): (table, key)
        for table, section in Settings.model_fields.items()
        # Templates have names of the user's own: only the file can set them.
        if table != "templates"
        for key in section.annotation.model_fields  # type: ignore[union-attr]  # every field is a Section
    }


def _overlaid(tables: dict[str, Any], environment: Mapping[str, str]) -> dict[str, Any]:
    known = variables()
    named = {ALIASES[name]: value for name, value in environment.items() if name in ALIASES}
    named |= {name: value for name, value in environment.items() if name.startswith(PREFIX) and name not in ALIASES}
    result = dict(tables)
    for name, value in named.items():
        if name in NOT_SETTINGS or not value:
            continue
        if name not in known:
            raise BadConfig(f"{name} is not a setting.{_nearest(name, list(known))}", helps="agent-sync doctor")
        table, key = known[name]
        section = result.get(table, {})
        if isinstance(section, dict):
            result[table] = {**section, key: _from_text(table, key, value)}
    return result


def _from_text(table: str, key: str, text: str) -> object:
    """Read a variable's text as TOML would, and fall back to the text itself for words."""
    wanted = Settings.model_fields[table].annotation.model_fields[key].annotation  # type: ignore[union-attr]
    if wanted is str or wanted == Literal["now", "later"]:
        return text
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def _validated(tables: dict[str, Any], *, source: str) -> Settings:
    try:
        return Settings.model_validate(_numbers_widened(tables))
    except ValidationError as error:
        problems = "; ".join(_problem(detail["loc"], detail["msg"], detail["type"]) for detail in error.errors())
        raise BadConfig(f"{source}: {problems}.", helps="agent-sync doctor") from error


def _numbers_widened(tables: dict[str, Any]) -> dict[str, Any]:
    """Let `120` stand for `120.0`, which strict reading would refuse."""
    return {
        table: {
            key: float(value) if key.endswith("_s") and type(value) is int else value for key, value in section.items()
        }
        if isinstance(section, dict)
        else section
        for table, section in tables.items()
    }


def _problem(where: tuple[int | str, ...], message: str, kind: str) -> str:
    name = ".".join(str(part) for part in where)
    if kind != "extra_forbidden":
        return f"{name}: {message}"
    section = Settings.model_fields[str(where[0])].annotation if len(where) > 1 else Settings
    section = Template if where[0] == "templates" else section
    known = list(section.model_fields)  # type: ignore[union-attr]
    return f"{name} is not a setting.{_nearest(str(where[-1]), known)}"


def _nearest(name: str, known: list[str]) -> str:
    close = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    return f" Did you mean {close[0]}?" if close else f" Known: {', '.join(sorted(known))}."
