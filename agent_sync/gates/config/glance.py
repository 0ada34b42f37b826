"""The few settings a stop needs before it runs anything, kept between stops so that no YAML has to be read."""

import contextlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from agent_sync import __version__
from agent_sync.gates.config.model import CONFIG_DIR, LOG_DIR
from agent_sync.gates.config.user_config import hook_settings, read_user, user_files
from agent_sync.gates.memory import keeping
from agent_sync.quiet import answer as quiet
from agent_sync.system import files
from agent_sync.worktree import Place


@dataclass(frozen=True)
class Glance:
    """Where the logs are, whether the hook is on, how many minutes lie between runs, and what is odd about it."""

    log_dir: str
    is_enabled: bool
    interval_minutes: int
    warnings: tuple[str, ...] = ()


def glance(place: Place, root: Path, environment: Mapping[str, str], *, directory: Path | None = None) -> Glance:
    """Return the settings as last read if no file has changed since, else read them.

    Definitions that do not lie in the work tree itself are read every time.
    """
    if directory is not None:
        return _read(root, environment, directory)
    look = _look(root, environment)
    file = Path(place.state_dir) / "gauntlet-glance.json"
    known = _kept(file, look)
    if known is not None:
        return known
    found = _read(root, environment, None)
    with contextlib.suppress(OSError):
        keeping.keep(file, json.dumps({"look": look, "glance": asdict(found)}).encode(errors="replace"))
    return found


def _look(root: Path, environment: Mapping[str, str]) -> str:
    paths = [root / CONFIG_DIR / "config.yml", *user_files(environment)]
    own = {name: value for name, value in environment.items() if name.startswith("GAUNTLET_")}
    return "\0".join([__version__, json.dumps(own, sort_keys=True), *(f"{p} {quiet.state_of(str(p))}" for p in paths)])


def _kept(file: Path, look: str) -> Glance | None:
    try:
        values = json.loads(files.read_own(file) or b"null")
        if values["look"] != look:
            return None
        return Glance(**{**values["glance"], "warnings": tuple(values["glance"]["warnings"])})
    except (files.NotPlain, OSError, ValueError, TypeError, KeyError):
        return None


def _read(root: Path, environment: Mapping[str, str], directory: Path | None) -> Glance:
    from agent_sync.gates.config.project import load_project

    loaded = load_project(root, directory)
    hook = hook_settings(read_user(environment), loaded.project.hook_enabled, environment)
    log_dir = loaded.project.log_dir
    return Glance(
        str(log_dir if log_dir.is_absolute() else root / LOG_DIR),
        hook.enabled,
        hook.interval_minutes,
        tuple(str(problem) for problem in hook.problems),
    )
