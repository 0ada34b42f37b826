"""What a disk refuses, in plain words, and what a writer that was killed, or a power cut, leaves on it."""

import contextlib
import errno
import fnmatch
import os
import shlex
import time
from collections.abc import Callable, Iterator
from enum import Enum
from pathlib import Path

from agent_sync.errors import AgentSyncError, DiskTrouble
from agent_sync.lazy_patterns import pattern

_NAME = pattern(r"(?P<name>.+)\.(?P<pid>[1-9][0-9]{0,9})\.tmp")
_WHILE = 60.0
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
_REFUSED = frozenset({errno.EROFS, errno.EACCES, errno.EPERM})
_OTHER = frozenset({errno.EIO, errno.ESTALE, errno.ENAMETOOLONG, errno.EMFILE, errno.ENFILE, errno.EFBIG})


class AfterPowerCut(Enum):
    """What of a change that has returned is there after a power cut; each needs one wait for the disk less."""

    NEW = "the new file"
    EITHER = "the whole new file, or the whole old one"
    ANY = "any of these, or an empty file: it is made again from something else"


@contextlib.contextmanager
def naming(path: Path, *, could_not_be: str = "written") -> Iterator[None]:
    """Raise DiskTrouble, which names the file, for whatever the disk refuses."""
    try:
        yield
    except AgentSyncError:
        raise
    except OSError as error:
        raise _trouble(error, path, could_not_be) from error


def disk_trouble(error: BaseException) -> DiskTrouble | None:
    """Return what an error says of the disk; None where it is about something else."""
    if isinstance(error, DiskTrouble):
        return error
    if not isinstance(error, OSError) or error.errno not in _FULL | _REFUSED | _OTHER:
        return None
    return _trouble(error, Path(error.filename or "a file"), "read or written")


def _trouble(error: OSError, path: Path, could_not_be: str) -> DiskTrouble:
    reason = error.strerror or os.strerror(error.errno or errno.EIO)
    message = f"{reason}: {path} could not be {could_not_be}. Nothing was lost."
    trouble = DiskTrouble(message, helps=_look_at(error.errno, path.parent))
    trouble.errno, trouble.strerror, trouble.filename = error.errno, reason, str(path)
    return trouble


def _look_at(number: int | None, directory: Path) -> str:
    where = shlex.quote(str(directory))
    if number in _FULL:
        return f"df -h {where}; df -i {where}"
    return f"ls -ld {where}" if number in _REFUSED else "agent-sync doctor"


def temporary_of(path: Path) -> Path:
    """Return the name under which this process writes what becomes `path`."""
    return path.with_name(f"{path.name}.{os.getpid()}.tmp")


def sweep(path: Path, *, is_locked: bool = False) -> None:
    """Delete what dead writers of `path` left beside it; the last part of `path` may be a pattern.

    Whoever holds the lock of `path` knows that no writer lives, whatever process has its number now.
    """
    # What cannot be swept now is swept later, and stops no write.
    with contextlib.suppress(OSError):
        for left in _temporaries(path.parent):
            if fnmatch.fnmatchcase(left.name, f"{path.name}.*.tmp") and is_ours(left) and (is_locked or is_left(left)):
                left.unlink(missing_ok=True)


def _temporaries(directory: Path) -> list[Path]:
    # Before every write, and mostly there are none: Path.glob would compile a pattern for it each time.
    with os.scandir(directory) as entries:
        return [Path(entry.path) for entry in entries if entry.name.endswith(".tmp")]


def sweep_old(directory: Path) -> None:
    """Delete what dead writers of any file left in a directory a while ago.

    A process of another container looks dead from here, and its write takes a moment: hence the while.
    """
    with contextlib.suppress(OSError):
        oldest = time.time() - _WHILE
        for left in _temporaries(directory):
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


def sync_directory(directory: Path) -> None:
    """Make renames and deletions in `directory` durable."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_all(descriptor: int, content: bytes, write: Callable[[int, memoryview], int] = os.write) -> None:
    """Write every byte, however few the system takes at a time, and make sure that it has them."""
    expected = os.fstat(descriptor).st_size + len(content)
    rest = memoryview(content)
    while rest:
        taken = write(descriptor, rest)
        if taken <= 0:
            raise OSError(errno.EIO, "nothing more was written")
        rest = rest[taken:]
    if os.fstat(descriptor).st_size != expected:
        raise OSError(errno.EIO, "fewer bytes were written than was said")
