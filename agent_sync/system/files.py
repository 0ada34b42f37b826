"""Reads and writes files so that a crash leaves the complete old or the complete new one."""

import contextlib
import errno
import fcntl
import os
import stat
import time
from collections.abc import Iterator
from pathlib import Path

from agent_sync.errors import LockHeld
from agent_sync.system import disk
from agent_sync.system.disk import AfterPowerCut, naming, sync_directory, write_all
from agent_sync.worktree import STATE_NAME

LARGEST = 1 << 20
# Our own state is nobody else's business, whatever the umask.
PRIVATE, PRIVATE_DIRECTORY = 0o600, 0o700
# What belongs to the repository is as open as the umask makes everything there.
REPOSITORY = 0o644
_OTHERS = 0o077
_PAUSE, _MOMENT = 0.01, 0.1
_LINK_REFUSED = frozenset({errno.ELOOP, errno.EMLINK})
# What file systems say that know no hard links.
_NO_SECOND_NAMES = frozenset({errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EMLINK})


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


def read_own(path: Path, *, largest: int = LARGEST) -> bytes | None:
    """Return the bytes of our own plain file, or None where there is none."""
    return _read(path, largest, is_own=True)


def read_plain(path: Path, *, largest: int = LARGEST, may_be_link: bool = False) -> bytes | None:
    """Return the bytes of a plain file that a checkout may have brought, whoever owns it, or None where there is none.

    Only a file of the user's own, outside of any checkout, may be a link.
    """
    return _read(path, largest, may_be_link=may_be_link)


def _read(path: Path, largest: int, *, is_own: bool = False, may_be_link: bool = False) -> bytes | None:
    follow = 0 if may_be_link else os.O_NOFOLLOW
    try:
        # A link is not followed and a pipe is not waited for.
        descriptor = os.open(path, os.O_RDONLY | follow | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        if error.errno in _LINK_REFUSED:
            raise NotPlain("it is a symbolic link") from error
        raise NotPlain(error.strerror or str(error)) from error
    with _closing(descriptor):
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise NotPlain("it is not a plain file")
        if is_own and found.st_uid != os.geteuid():
            raise NotPlain(f"it belongs to user {found.st_uid}, not to you")
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            # One byte more than allowed: a file can grow after it was measured, and some have no size at all.
            content = file.read(largest + 1)
    if len(content) > largest:
        raise NotPlain(f"it is larger than {largest} bytes")
    return content


def write_atomic(
    path: Path,
    content: bytes,
    *,
    mode: int = PRIVATE,
    previous: Path | None = None,
    after_cut: AfterPowerCut = AfterPowerCut.NEW,
) -> None:
    """Replace `path` by `content`: a kill leaves the old or the new file, and a power cut what `after_cut` says.

    The file is private unless another mode is given, which the umask restricts; `previous` keeps what is replaced.
    """
    with naming(path):
        disk.sweep(path)
        temporary = disk.temporary_of(path)
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, mode)
        try:
            with _closing(descriptor):
                _make_private(descriptor, mode)
                write_all(descriptor, content)
                if after_cut is not AfterPowerCut.ANY:
                    os.fsync(descriptor)
            if previous:
                _keep(path, previous)
            temporary.replace(path)
        except BaseException:
            _discard(temporary)
            raise
        if after_cut is AfterPowerCut.NEW:
            sync_directory(path.parent)


def append(path: Path, content: bytes, *, at: int, is_durable: bool) -> None:
    """Write `content` to our own private file from byte `at` on, in place of whatever a killed writer left there."""
    with naming(path):
        is_new = not path.exists()
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, PRIVATE)
        with _closing(descriptor):
            _make_private(descriptor, PRIVATE)
            if os.fstat(descriptor).st_size != at:
                os.ftruncate(descriptor, at)
            os.lseek(descriptor, at, os.SEEK_SET)
            try:
                write_all(descriptor, content)
            except BaseException:
                with contextlib.suppress(OSError):
                    os.ftruncate(descriptor, at)
                raise
            if is_durable:
                os.fsync(descriptor)
        if is_new and is_durable:
            sync_directory(path.parent)


def _make_private(descriptor: int, mode: int) -> None:
    if mode == PRIVATE and stat.S_IMODE(os.fstat(descriptor).st_mode) != PRIVATE:
        os.fchmod(descriptor, PRIVATE)


def _keep(path: Path, previous: Path) -> None:
    """Give what is about to be replaced a second name; neither name is missing at any moment."""
    second = disk.temporary_of(previous)
    second.unlink(missing_ok=True)
    try:
        second.hardlink_to(path)
    except FileNotFoundError:
        return
    except OSError as error:
        if error.errno not in _NO_SECOND_NAMES:
            raise
        write_atomic(previous, path.read_bytes())
        return
    second.replace(previous)
    # Renaming one name of a file to another name of it does nothing and leaves both.
    second.unlink(missing_ok=True)


def _discard(path: Path) -> None:
    # What cannot be deleted now is swept later; the error that brought us here is the one to report.
    with contextlib.suppress(OSError):
        path.unlink(missing_ok=True)


@contextlib.contextmanager
def _closing(descriptor: int) -> Iterator[None]:
    try:
        yield
    finally:
        os.close(descriptor)


def delete(path: Path, *, after_cut: AfterPowerCut = AfterPowerCut.NEW) -> None:
    """Delete `path`, with what killed writers of it left; it may be gone already."""
    with naming(path, could_not_be="deleted"):
        disk.sweep(path)
        path.unlink(missing_ok=True)
        if after_cut is AfterPowerCut.NEW:
            sync_directory(path.parent)


def sweep_temporaries(token: LockToken, path: Path) -> None:
    """Delete what killed writers of `path`, which may be a pattern, left; under the lock none of them lives."""
    token.proven(token.path)
    disk.sweep(path, is_locked=True)


def make_directory(directory: Path, *, mode: int) -> None:
    """Make a directory and those above it, durably; one that is there keeps its mode."""
    if directory.is_dir():
        return
    make_directory(directory.parent, mode=mode)
    directory.mkdir(mode=mode, exist_ok=True)
    sync_directory(directory.parent)


def state_directory(directory: Path) -> Path:
    """Make a directory of ours, private, which says in one line what it is; one that is too open is closed."""
    with naming(directory, could_not_be="made"):
        if not directory.is_dir():
            private_directory(directory)
            readme = directory / "README"
            readme.touch(PRIVATE)
            readme.write_text("Working state of agent-sync. Safe to delete.\n", encoding="utf-8")
        for path in _own_part(directory):
            tighten(path)
            disk.sweep_old(path)
    return directory


def _own_part(directory: Path) -> tuple[Path, ...]:
    """Return the directory and those above it, up to the one of ours in a git directory; none where there is none."""
    for number, path in enumerate((directory, *directory.parents)):
        if path.name == STATE_NAME and (path.parent / "HEAD").is_file():
            return (directory, *directory.parents)[: number + 1]
    return ()


def tighten(directory: Path) -> None:
    """Close a directory of ours that others may look into or write to; somebody else's is left as it is."""
    with contextlib.suppress(OSError):
        found = directory.lstat()
        is_ours = stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid()
        if is_ours and stat.S_IMODE(found.st_mode) & _OTHERS:
            directory.chmod(PRIVATE_DIRECTORY)


def private_directory(directory: Path) -> None:
    """Make a directory and those above it, which `mkdir` alone would make as open as the umask allows."""
    if not directory.is_dir():
        private_directory(directory.parent)
        directory.mkdir(mode=PRIVATE_DIRECTORY, exist_ok=True)


@contextlib.contextmanager
def locked(path: Path, *, wait: float, doing: str, number: int | None = None) -> Iterator[LockToken]:
    """Hold the lock file `path`, or one `number` in it, and hand out the proof; the file itself is never deleted."""
    state_directory(path.parent)
    with naming(path, could_not_be="locked"):
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, PRIVATE)
    try:
        with naming(path, could_not_be="locked"):
            _take(descriptor, path, wait=wait, doing=doing, number=number)
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


def lock_for_life(path: Path) -> int | None:
    """Hold the lock file `path` if nobody does, as long as this process lives; None where somebody does."""
    state_directory(path.parent)
    with naming(path, could_not_be="locked"):
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, PRIVATE)
        # Whoever only asks whether it is held holds it for a moment.
        with contextlib.suppress(LockHeld):
            _take(descriptor, path, wait=_MOMENT, doing="")
            return descriptor
    os.close(descriptor)
    return None


def _take(descriptor: int, path: Path, *, wait: float, doing: str, number: int | None = None) -> None:
    give_up = time.monotonic() + wait
    how = fcntl.LOCK_EX | fcntl.LOCK_NB
    while True:
        try:
            if number is None:
                fcntl.flock(descriptor, how)
            else:
                # One byte of the file: numbers are locked apart, and no file is needed for each.
                fcntl.lockf(descriptor, how, 1, number)
        except OSError as error:
            if error.errno not in {errno.EAGAIN, errno.EACCES}:
                raise
            if time.monotonic() >= give_up:
                message = f"Another agent-sync process holds {path.name}."
                raise LockHeld(message, attempted=doing, helps="agent-sync status") from None
            time.sleep(_PAUSE)
        else:
            return
