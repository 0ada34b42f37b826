"""Finds out whether the plugin is enabled in Claude Code and installed here, from the client's own files."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from agent_sync.lazy_dataclasses import dataclass
from agent_sync.plain.json_reading import read_json
from agent_sync.setup.client.levels import Level, levels
from agent_sync.system import files
from agent_sync.worktree import Place

NAME = "agent-sync"
INSTALLED = "plugins/installed_plugins.json"


@dataclass(frozen=True)
class Plugin:
    """Our plugin where a settings file enables it: its id, that file, and the version that is installed, if any."""

    id: str
    file: str
    version: str

    @property
    def is_active(self) -> bool:
        """Whether the client runs its hooks: to be enabled is not enough."""
        return bool(self.version)


def plugin_at(place: Place, environment: Mapping[str, str]) -> Plugin | None:
    """Return the plugin that is enabled in a worktree."""
    root, main = Path(place.root), Path(place.common_dir).parent
    return enabled_plugin(levels(root, main, environment), root, main, environment)


def enabled_plugin(found: Sequence[Level], root: Path, main: Path, environment: Mapping[str, str]) -> Plugin | None:
    """Return the plugin that is enabled in `root`; an installed one before one that is only named."""
    installed = _installed(environment)
    plugins = [Plugin(id_, file, _version(installed.get(id_), {root, main})) for id_, file in enabled(found)]
    return next((plugin for plugin in plugins if plugin.is_active), plugins[0] if plugins else None)


def enabled(found: Sequence[Level]) -> list[tuple[str, str]]:
    """Return the ids under which the plugin is enabled, each with the file that decides: the narrowest naming it."""
    deciding: dict[str, Level] = {}
    for level in sorted(found, key=_breadth):
        for id_ in level.plugins:
            deciding.setdefault(id_, level)
    ours = {id_: level for id_, level in deciding.items() if id_.partition("@")[0] == NAME}
    return [(id_, level.file) for id_, level in ours.items() if level.plugins[id_] is True]


def _breadth(level: Level) -> int:
    """Order the levels as the client does: local before the project's before the user's."""
    if level.file.endswith("settings.local.json"):
        return 0
    return 2 if level.file.startswith("~") else 1


def _installed(environment: Mapping[str, str]) -> dict[str, Any]:
    home = environment.get("CLAUDE_CONFIG_DIR") or f"{environment.get('HOME', '')}/.claude"
    try:
        values = read_json(files.read_plain(Path(home) / INSTALLED, may_be_link=True) or b"{}")
        plugins = values.get("plugins")
    except (OSError, ValueError, AttributeError, files.NotPlain):
        return {}
    return plugins if isinstance(plugins, dict) else {}


def _version(entries: Any, roots: set[Path]) -> str:
    """Return the version installed for the user, or for one of these folders."""
    listed = [one for one in entries if isinstance(one, dict)] if isinstance(entries, list) else []
    here = [one for one in listed if one.get("scope") == "user" or Path(str(one.get("projectPath"))).resolve() in roots]
    return str(here[0].get("version") or "unknown") if here else ""
