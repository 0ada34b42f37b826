"""Says in plain words what is wrong with a disk: full, read-only, not permitted."""

import contextlib
import errno
import os
import shlex
from collections.abc import Iterator
from pathlib import Path

from agent_sync.errors import AgentSyncError, DiskTrouble

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
_REFUSED = frozenset({errno.EROFS, errno.EACCES, errno.EPERM})
_OTHER = frozenset({errno.EIO, errno.ESTALE, errno.ENAMETOOLONG, errno.EMFILE, errno.ENFILE, errno.EFBIG})


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
