"""Locks records, and turns what the disk refuses into an error its reader can act on."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

from agent_sync.errors import RecordUnavailable
from agent_sync.system import files
from agent_sync.system.files import LockToken

LOCK_WAIT = 5.0


@contextlib.contextmanager
def disk(doing: str) -> Iterator[None]:
    """Raise RecordUnavailable for a disk that is full, broken, read-only or not ours."""
    try:
        yield
    except (OSError, files.NotPlain) as error:
        reason = getattr(error, "strerror", None) or str(error)
        where = f" ({error.filename})" if isinstance(error, OSError) and error.filename else ""
        message = f"The disk refused: {reason}{where}."
        raise RecordUnavailable(message, attempted=doing, helps="agent-sync doctor") from error


@contextlib.contextmanager
def held(lock: Path, doing: str, *, wait: float = LOCK_WAIT) -> Iterator[LockToken]:
    """Hold a lock of the records and hand out the proof; LockHeld where it is not let go of in time."""
    stack = contextlib.ExitStack()
    with disk(doing):
        token = stack.enter_context(files.locked(lock, wait=wait, doing=doing))
    try:
        yield token
    finally:
        with disk(doing):
            stack.close()
