"""Where records and keys are kept, as the environment says."""

from collections.abc import Mapping
from pathlib import Path

from agent_sync.errors import BadConfig
from agent_sync.system import files

_DEFAULT = ".atlas"


def atlas_home(environment: Mapping[str, str]) -> Path:
    """Return the directory of keys and records: $ATLAS_HOME, or ~/.atlas."""
    moved, home = environment.get("ATLAS_HOME", ""), environment.get("HOME", "")
    if not moved and not home:
        message = "Neither HOME nor ATLAS_HOME is set: records and keys need an absolute path."
        raise BadConfig(message, helps="set HOME")
    if moved.startswith("~/") and home:
        moved = home + moved[1:]
    named = Path(moved) if moved else Path(home) / _DEFAULT
    if not named.is_absolute():
        raise BadConfig(f"ATLAS_HOME must be an absolute path, not {str(named)!r}.", helps="unset ATLAS_HOME")
    return named


def make_home(root: Path) -> None:
    """Make the directory, private; one that the user has named and made keeps its mode."""
    files.make_directory(root, mode=files.PRIVATE_DIRECTORY)
    if root.name == _DEFAULT:
        files.tighten(root)
