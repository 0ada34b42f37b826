"""Reads the settings files of Claude Code at every level, and the hooks in them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agent_sync.lazy_dataclasses import dataclass
from agent_sync.quiet.plugin import settings_files, settings_here
from agent_sync.setup.install.entries import hook_of, shell_line
from agent_sync.setup.install.jsonc import NotJson, read
from agent_sync.system import files

OLD_SCRIPT = "agent-sync.sh"


@dataclass(frozen=True)
class Handler:
    """One registered hook: in which file, for which event, and what it says."""

    file: str
    event: str
    matcher: str
    says: dict[str, Any]

    @property
    def hook(self) -> str | None:
        """Which of our hooks it runs."""
        return hook_of(self.says)

    @property
    def is_old_script(self) -> bool:
        """Whether it runs the shell script that agent-sync replaces."""
        return OLD_SCRIPT in shell_line(self.says)

    @property
    def is_waited_for(self) -> bool:
        """Whether the session stands still while it runs."""
        return not (self.says.get("async") or self.says.get("asyncRewake"))


@dataclass(frozen=True)
class Level:
    """One settings file: what it holds, or what is wrong with it."""

    file: str
    values: dict[str, Any]
    trouble: str = ""

    @property
    def handlers(self) -> list[Handler]:
        """Every handler in it, whatever else is in its place."""
        hooks = self.values.get("hooks")
        return [
            Handler(self.file, event, str(group.get("matcher") or ""), handler)
            for event, groups in (hooks.items() if isinstance(hooks, dict) else ())
            for group in _objects(groups)
            for handler in _objects(group.get("hooks"))
        ]

    @property
    def plugins(self) -> dict[str, Any]:
        """Which plugins it switches on or off."""
        enabled = self.values.get("enabledPlugins")
        return enabled if isinstance(enabled, dict) else {}


def levels(root: Path, main: Path, environment: Mapping[str, str]) -> list[Level]:
    """Return the settings files that are there: the project's, the local one, the main checkout's, the user's."""
    named = settings_files(str(root), str(main), environment)
    return [_level(name, Path(path)) for name, path in named.items() if Path(path).is_file()]


def is_registered(hook: str) -> bool:
    """Tell whether a settings file of this hook's session registers it."""
    found = [_level(path, Path(path)) for path in settings_here() if Path(path).is_file()]
    return any(handler.hook == hook for level in found for handler in level.handlers)


def _level(name: str, file: Path) -> Level:
    try:
        # The user's own may be a link; whatever it is, only so much of it is read.
        values = read((files.read_plain(file, may_be_link=True) or b"").decode()).value
    except (files.NotPlain, UnicodeDecodeError, NotJson, RecursionError) as error:
        return Level(name, {}, str(error))
    return Level(name, values) if isinstance(values, dict) else Level(name, {}, "it holds no object")


def _objects(values: Any) -> list[dict[str, Any]]:
    return [value for value in values if isinstance(value, dict)] if isinstance(values, list) else []
