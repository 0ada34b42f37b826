"""The `AGENT_SYNC_*` variables: which setting each one sets, and how its text is read."""

import tomllib
from collections.abc import Mapping
from typing import Any, Literal

from agent_sync.errors import BadConfig
from agent_sync.settings.problems import nearest
from agent_sync.settings.tables import Settings

PREFIX = "AGENT_SYNC_"
# Read by others: the test suite, the nesting marker of reviews, the quiet path.
NOT_SETTINGS = frozenset({"AGENT_SYNC_NESTED", "AGENT_SYNC_GITHUB_SCHEMAS", "AGENT_SYNC_PROVE"})
ALIASES = {
    "MOLTNET_PROJECT_NUMBER": "AGENT_SYNC_PROJECT_NUMBER",
    "MOLTNET_PROJECT_OWNER": "AGENT_SYNC_PROJECT_OWNER",
    "AGENT_SYNC_WORKER": "AGENT_SYNC_WORKER_NAME",
}


def variables() -> dict[str, tuple[str, str]]:
    """Map every environment variable that sets something to its table and key."""
    return {
        f"{PREFIX}{table}_{key}".upper(): (table, key)
        for table, section in Settings.model_fields.items()
        # Templates have names of the user's own: only a file can set them.
        if table != "templates"
        for key in section.annotation.model_fields  # type: ignore[union-attr]  # every field is a Section
    }


def setting_of(name: str) -> tuple[str, str] | None:
    """Return the table and key that a variable sets, if it sets any."""
    return variables().get(ALIASES.get(name, name))


def from_environment(environment: Mapping[str, str]) -> dict[str, Any]:
    """Return what the variables set, as the tables of a settings file; a variable that sets nothing is an error."""
    known = variables()
    named = {ALIASES[name]: value for name, value in environment.items() if name in ALIASES}
    named |= {name: value for name, value in environment.items() if name.startswith(PREFIX) and name not in ALIASES}
    tables: dict[str, Any] = {}
    for name, value in named.items():
        if name in NOT_SETTINGS or not value:
            continue
        if name not in known:
            raise BadConfig(f"{name} is not a setting.{nearest(name, list(known))}", helps="agent-sync doctor")
        table, key = known[name]
        tables.setdefault(table, {})[key] = from_text(table, key, value)
    return tables


def from_text(table: str, key: str, text: str) -> object:
    """Read a text as TOML would, and fall back to the text itself for words."""
    wanted = Settings.model_fields[table].annotation.model_fields[key].annotation  # type: ignore[union-attr]
    if wanted is str or wanted in (Literal["now", "later"], Literal["remote", "clone"]):
        return text
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except (ValueError, RecursionError):
        return text
