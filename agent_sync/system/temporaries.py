"""The files that a write goes through, and what is left of them where the writer was killed."""

import contextlib
import os
import re
import time
from pathlib import Path

_NAME = re.compile(r"(?P<name>.+)\.(?P<pid>[1-9][0-9]{0,9})\.tmp")
_WHILE = 60.0


def temporary_of(path: Path) -> Path:
    """Return the name under which this process writes what becomes `path`."""
    return path.with_name(f"{path.name}.{os.getpid()}.tmp")


def sweep(path: Path, *, is_locked: bool = False) -> None:
    """Delete what dead writers of `path` left beside it; the last part of `path` may be a pattern.

    Whoever holds the lock of `path` knows that no writer lives, whatever process has its number now.
    """
    # What cannot be swept now is swept later, and stops no write.
    with contextlib.suppress(OSError):
        for left in path.parent.glob(f"{path.name}.*.tmp"):
            if is_ours(left) and (is_locked or is_left(left)):
                left.unlink(missing_ok=True)


def sweep_old(directory: Path) -> None:
    """Delete what dead writers of any file left in a directory a while ago.

    A process of another container looks dead from here, and its write takes a moment: hence the while.
    """
    with contextlib.suppress(OSError):
        oldest = time.time() - _WHILE
        for left in directory.glob("*.tmp"):
            if left.lstat().st_mtime < oldest and is_ours(left) and is_left(left):
                left.unlink(missing_ok=True)


def is_ours(path: Path) -> bool:
    """Tell whether a file is named as our writers name theirs."""
    return _NAME.fullmatch(path.name) is not None and (path.is_symlink() or not path.is_dir())


def is_left(path: Path) -> bool:
    """Tell whether the writer of a file of ours is dead, or this very process."""
    found = _NAME.fullmatch(path.name)
    writer = int(found["pid"]) if found else os.getpid()
    return found is not None and (writer == os.getpid() or not _is_alive(writer))


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True
    except (ProcessLookupError, OverflowError):
        return False
    return True
