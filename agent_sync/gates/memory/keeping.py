"""Keeps the gate's own files in the git directory: for the user alone, whatever the umask."""

import contextlib
import shutil
from pathlib import Path

from agent_sync.system import files
from agent_sync.system.disk import AfterPowerCut


def keep(path: Path, content: bytes) -> None:
    """Replace one of our files; what a power cut takes costs a repeated run, nothing else."""
    files.state_directory(path.parent)
    files.write_atomic(path, content, after_cut=AfterPowerCut.ANY)


def holds(path: Path, content: bytes) -> bool:
    """Tell whether one of our files holds exactly this already."""
    try:
        return files.read_own(path, largest=len(content)) == content
    except (files.NotPlain, OSError):
        return False


def prune(home: Path, most: int) -> None:
    """Delete all but the newest entries of a directory; failing to is no harm."""
    with contextlib.suppress(OSError):
        kept = sorted(home.iterdir(), key=lambda path: path.lstat().st_mtime, reverse=True)
        for old in kept[most:]:
            shutil.rmtree(old, ignore_errors=True)
