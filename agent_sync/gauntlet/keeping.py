"""Keeps the gate's own files in the git directory: for the user alone, whatever the umask."""

import contextlib
import os
import shutil
from pathlib import Path

from agent_sync import files
from agent_sync.place import STATE_NAME

_FILE, _DIRECTORY = 0o600, 0o700


def keep(path: Path, content: bytes) -> None:
    """Replace one of our files."""
    directory(path.parent)
    files.write_atomic(path, content, mode=_FILE, is_exact=True)


def holds(path: Path, content: bytes) -> bool:
    """Tell whether one of our files holds exactly this already."""
    try:
        return files.read_own(path, largest=len(content)) == content
    except (files.NotPlain, OSError):
        return False


def directory(path: Path) -> Path:
    """Make a directory of ours and those above it up to the state directory; a looser one is tightened."""
    if path.name != STATE_NAME and STATE_NAME in path.parent.parts:
        directory(path.parent)
        path.mkdir(mode=_DIRECTORY, exist_ok=True)
    else:
        files.state_directory(path)
    found = path.stat()
    if found.st_mode & 0o077 and found.st_uid == os.geteuid():
        path.chmod(_DIRECTORY)
    return path


def prune(home: Path, most: int) -> None:
    """Delete all but the newest entries of a directory; failing to is no harm."""
    with contextlib.suppress(OSError):
        kept = sorted(home.iterdir(), key=lambda path: path.lstat().st_mtime, reverse=True)
        for old in kept[most:]:
            shutil.rmtree(old, ignore_errors=True)
