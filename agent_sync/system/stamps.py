"""Leaves the stamps that the quiet path reads, for the user alone."""

import contextlib
from collections.abc import Iterable
from pathlib import Path

from agent_sync.quiet.answer import Stamp
from agent_sync.system import disk, files

# A file written within this time could be written again without a new time stamp (kernel clock ticks).
SETTLED_S = 0.05


def leave_stamp(path: str, stamp: Stamp) -> None:
    """Write a stamp; only speed is lost without it, so a read-only git directory is no reason to complain."""
    target = Path(path)
    with contextlib.suppress(OSError):
        files.state_directory(target.parent)
        disk.sweep(target)
        temporary = disk.temporary_of(target)
        temporary.touch(files.PRIVATE)
        temporary.write_text(stamp.text(), encoding="utf-8", errors="surrogateescape")
        temporary.replace(target)


def are_settled(paths: Iterable[str], moment: float, *, with_inodes: bool = False) -> bool:
    """Tell whether none of these files is so new at a moment that its next change might not show."""
    return all(_changed_at(path, with_inode=with_inodes) <= moment - SETTLED_S for path in paths)


def _changed_at(path: str, *, with_inode: bool) -> float:
    try:
        found = Path(path).lstat()
    except OSError:
        return 0.0
    return max(found.st_mtime, found.st_ctime) if with_inode else found.st_mtime
