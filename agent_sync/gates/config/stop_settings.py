"""When the stop hook runs: the user's own file, the environment and, for on or off, the project.

What a stop needs before it runs anything is kept between stops, so that no YAML has to be read.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from agent_sync.gates.config.model import LONGEST_INTERVAL, Problem
from agent_sync.lazy_dataclasses import dataclass
from agent_sync.quiet import answer as quiet
from agent_sync.quiet.answer import Stamp
from agent_sync.system import files
from agent_sync.system.stamps import leave_stamp
from agent_sync.worktree import GATE_CONFIG, GATE_LOG_DIR, GATE_SETTINGS_STAMP, Place

DEFAULT_INTERVAL = 10
LONGEST_NUMBER = 18
_FLAGS = {"true": True, "1": True, "false": False, "0": False}


@dataclass(frozen=True)
class StopSettings:
    """Where the logs are, whether the hook is on, how many minutes lie between runs, and what is odd about it."""

    log_dir: str
    is_enabled: bool
    interval_minutes: int
    warnings: tuple[str, ...] = ()


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
    from agent_sync.gates.config.reading import Notes, read_config
    from agent_sync.gates.config.tables import UserFile

    notes = Notes()
    # The user's own file may be a link, as dotfiles often are.
    text = read_config(file, notes, may_be_link=True)
    table = text.table(UserFile) if text else None
    hook = table.stop_hook if table else None
    softened = tuple(
        Problem(found.file, found.line, f"{found.message}; the default is used", is_error=False)
        for found in notes.problems
    )
    return HookSettings(hook.enabled, hook.run_interval_minutes, softened) if hook else HookSettings(problems=softened)


def hook_settings(user: HookSettings, project_enabled: bool | None, environment: Mapping[str, str]) -> HookSettings:  # noqa: FBT001  # three-valued: unset is not off
    """Lay project and environment over the user's file; words the environment does not know are ignored."""
    enabled = user.enabled if project_enabled is None else project_enabled
    enabled = _FLAGS.get(environment.get("GAUNTLET_STOP_HOOK_ENABLED", ""), enabled)
    given = environment.get("GAUNTLET_STOP_HOOK_INTERVAL_MINUTES", "")
    is_number = given.isascii() and given.isdigit() and len(given) <= LONGEST_NUMBER
    interval = min(int(given), LONGEST_INTERVAL) if is_number else user.interval_minutes
    return HookSettings(enabled, interval, user.problems)


def is_ci(environment: Mapping[str, str]) -> bool:
    """Tell whether this is a CI run."""
    return environment.get("CI") == "true" or environment.get("GITHUB_ACTIONS") == "true"


def stop_settings(
    place: Place, root: Path, environment: Mapping[str, str], *, directory: Path | None = None
) -> StopSettings:
    """Return the settings as last read if no file has changed since, else read them.

    Definitions that do not lie in the work tree itself are read every time.
    """
    if directory is not None:
        return _read_settings(root, environment, directory)
    look = _picture(root, environment)
    file = Path(place.state_dir) / GATE_SETTINGS_STAMP
    known = _settings_in_stamp(file, look)
    if known is not None:
        return known
    found = _read_settings(root, environment, None)
    leave_stamp(str(file), Stamp(quiet.NEVER, (json.dumps(asdict(found)),), look))
    return found


def _picture(root: Path, environment: Mapping[str, str]) -> str:
    paths = [str(root / GATE_CONFIG), *(str(path) for path in user_files(environment))]
    return quiet.picture([str(root)], ("GAUNTLET_",), paths, environment)


def _settings_in_stamp(file: Path, look: str) -> StopSettings | None:
    try:
        stamp = quiet.parse_stamp((files.read_own(file) or b"").decode("utf-8", "surrogateescape"))
        values = json.loads(stamp.details[0]) if stamp.seen == look else None
        return StopSettings(**{**values, "warnings": tuple(values["warnings"])}) if values else None
    except (files.NotPlain, OSError, ValueError, TypeError, KeyError, IndexError, RecursionError):
        return None


def _read_settings(root: Path, environment: Mapping[str, str], directory: Path | None) -> StopSettings:
    from agent_sync.gates.config.project import load_project

    loaded = load_project(root, directory)
    hook = hook_settings(read_user(environment), loaded.project.hook_enabled, environment)
    log_dir = loaded.project.log_dir
    return StopSettings(
        str(log_dir if log_dir.is_absolute() else root / GATE_LOG_DIR),
        hook.enabled,
        hook.interval_minutes,
        tuple(str(problem) for problem in hook.problems),
    )
