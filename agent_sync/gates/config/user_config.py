"""When the stop hook runs: the user's own file, the environment and, for on or off, the project."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from agent_sync.gates.config.model import LONGEST_INTERVAL, Problem
from agent_sync.gates.config.reading import Notes, read_table
from agent_sync.quiet import answer as quiet

DEFAULT_INTERVAL = 10
LONGEST_NUMBER = 18
_FLAGS = {"true": True, "1": True, "false": False, "0": False}


@dataclass(frozen=True)
class HookSettings:
    """Whether the hook is on, and how many minutes lie between two ordinary runs."""

    enabled: bool = True
    interval_minutes: int = DEFAULT_INTERVAL
    problems: tuple[Problem, ...] = ()


def user_files(environment: Mapping[str, str]) -> tuple[Path, ...]:
    """Return where a user's own configuration may be, the first that exists counts."""
    homes = []
    if environment.get("XDG_CONFIG_HOME", "").startswith("/"):
        homes.append(Path(environment["XDG_CONFIG_HOME"]))
    if environment.get("HOME"):
        homes.append(Path(environment["HOME"]) / ".config")
    return tuple(home / "agent-gauntlet" / "config.yml" for home in homes)


def read_user(environment: Mapping[str, str]) -> HookSettings:
    """Read the user's file; whatever is wrong with it is a warning and the default."""
    file = next((file for file in user_files(environment) if file.is_file()), None)
    if file is None:
        return HookSettings()
    notes = Notes()
    # The user's own file may be a link, as dotfiles often are.
    table = read_table(file, notes, may_be_link=True)
    if table is None:
        return HookSettings(problems=_softened(notes))
    hook = table.table("stop_hook")
    enabled = hook.flag("enabled", default=True)
    interval = hook.whole("run_interval_minutes", DEFAULT_INTERVAL, most=LONGEST_INTERVAL)
    hook.ignore("auto_push_pr", "auto_fix_pr")
    table.ignore("debug_log")
    hook.finish()
    table.finish()
    return HookSettings(enabled, interval, _softened(notes))


def hook_settings(user: HookSettings, project_enabled: bool | None, environment: Mapping[str, str]) -> HookSettings:  # noqa: FBT001  # three-valued: unset is not off
    """Lay project and environment over the user's file; words the environment does not know are ignored."""
    enabled = user.enabled if project_enabled is None else project_enabled
    enabled = _FLAGS.get(environment.get("GAUNTLET_STOP_HOOK_ENABLED", ""), enabled)
    given = environment.get("GAUNTLET_STOP_HOOK_INTERVAL_MINUTES", "")
    is_number = given.isascii() and given.isdigit() and len(given) <= LONGEST_NUMBER
    interval = min(int(given), LONGEST_INTERVAL) if is_number else user.interval_minutes
    return HookSettings(enabled, interval, user.problems)


def is_nested(environment: Mapping[str, str]) -> bool:
    """Tell whether this process runs inside a review of ours."""
    return quiet.has_marker(environment)


def is_ci(environment: Mapping[str, str]) -> bool:
    """Tell whether this is a CI run."""
    return environment.get("CI") == "true" or environment.get("GITHUB_ACTIONS") == "true"


def _softened(notes: Notes) -> tuple[Problem, ...]:
    return tuple(
        Problem(found.file, found.line, f"{found.message}; the default is used", is_error=False)
        for found in notes.problems
    )
