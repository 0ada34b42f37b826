"""Reads the settings files of Claude Code at every level, and the hooks in them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agent_sync.lazy_dataclasses import dataclass
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


def levels(root: Path, main: Path, environment: Mapping[str, str]) -> list[Level]:
    """Return the settings files that are there: the project's, the local one, the main checkout's, the user's."""
    home = environment.get("CLAUDE_CONFIG_DIR") or f"{environment.get('HOME', '')}/.claude"
    named = {
        ".claude/settings.json": root / ".claude/settings.json",
        ".claude/settings.local.json": root / ".claude/settings.local.json",
        # From a worktree the client reads the main checkout's local settings, too.
        f"{main}/.claude/settings.local.json": main / ".claude/settings.local.json",
        "~/.claude/settings.json": Path(home) / "settings.json",
    }
    if main == root:
        del named[f"{main}/.claude/settings.local.json"]
    return [_level(name, file) for name, file in named.items() if file.is_file()]


def _level(name: str, file: Path) -> Level:
    try:
        # The user's own may be a link; whatever it is, only so much of it is read.
        values = read((files.read_plain(file, may_be_link=True) or b"").decode()).value
    except (files.NotPlain, UnicodeDecodeError, NotJson, RecursionError) as error:
        return Level(name, {}, str(error))
    return Level(name, values) if isinstance(values, dict) else Level(name, {}, "it holds no object")


def _objects(values: Any) -> list[dict[str, Any]]:
    return [value for value in values if isinstance(value, dict)] if isinstance(values, list) else []
