"""Reads and writes files so that a crash leaves the complete old or the complete new one."""

import contextlib
import fcntl
import os
import stat
import time
from collections.abc import Iterator
from pathlib import Path

from agent_sync.errors import LockHeld

LARGEST = 1 << 20
_PAUSE = 0.01


class NotPlain(Exception):
    """A path that should be our own plain file is something else; the text says what."""


class LockToken:
    """Proof that a lock is held: functions that need the lock ask for it, and only `locked` makes one."""

    __slots__ = ("_held", "path")

    def __init__(self, path: Path) -> None:
        self.path = path
        self._held = True

    def proven(self, path: Path) -> None:
        """Stop a caller that holds another lock, or has let go of this one."""
        if not self._held or path != self.path:
            raise AssertionError(f"{path} must be locked here")

    def expire(self) -> None:
        """Make the token worthless, because the lock is being let go."""
        self._held = False


def read_own(path: Path) -> bytes | None:
    """Return the bytes of our own plain file, or None where there is none."""
    try:
        # A link is not followed and a pipe is not waited for.
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except OSError as error:
        if path.is_symlink():
            raise NotPlain("it is a symbolic link") from error
        raise NotPlain(error.strerror or str(error)) from error
    with os.fdopen(descriptor, "rb") as file:
        _refuse_strange(os.fstat(descriptor))
        return file.read(LARGEST + 1)


def _refuse_strange(found: os.stat_result) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise NotPlain("it is not a plain file")
    if found.st_uid != os.geteuid():
        raise NotPlain(f"it belongs to user {found.st_uid}, not to you")
    if found.st_size > LARGEST:
        raise NotPlain(f"it is larger than {LARGEST} bytes")


def write_atomic(path: Path, content: bytes, *, mode: int = 0o644) -> None:
    """Replace `path` by `content`, durably: it never holds a part, and after the return it survives a power cut."""
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, mode)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    sync_directory(path.parent)


def delete(path: Path) -> None:
    """Delete `path` durably; it may be gone already."""
    path.unlink(missing_ok=True)
    sync_directory(path.parent)


def sync_directory(directory: Path) -> None:
    """Make renames and deletions in `directory` durable."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sweep_temporaries(token: LockToken, path: Path) -> None:
    """Delete what killed writers of `path` left; under the lock none of them lives."""
    token.proven(token.path)
    for left in path.parent.glob(f"{path.name}.*.tmp"):
        left.unlink(missing_ok=True)


def state_directory(directory: Path) -> Path:
    """Make a directory of ours, which says in one line what it is."""
    if not directory.is_dir():
        directory.mkdir(parents=True, exist_ok=True)
        readme = "Working state of agent-sync. Safe to delete.\n"
        (directory / "README").write_text(readme, encoding="utf-8")
    return directory


@contextlib.contextmanager
def locked(path: Path, *, wait: float, doing: str) -> Iterator[LockToken]:
    """Hold the lock file `path` and hand out the proof; the file itself is never deleted."""
    state_directory(path.parent)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        _take(descriptor, path, wait=wait, doing=doing)
        token = LockToken(path)
        try:
            yield token
        finally:
            token.expire()
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def locked_if_free(path: Path) -> Iterator[bool]:
    """Hold the lock file `path` if nobody does, and tell whether that is so: the loser steps back."""
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(locked(path, wait=0, doing=""))
        except LockHeld:
            yield False
        else:
            yield True


def _take(descriptor: int, path: Path, *, wait: float, doing: str) -> None:
    give_up = time.monotonic() + wait
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= give_up:
                message = f"Another agent-sync process holds {path.name}."
                raise LockHeld(message, attempted=doing, helps="agent-sync status") from None
            time.sleep(_PAUSE)
        else:
            return
