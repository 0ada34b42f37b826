"""Runs a command itself and keeps, masks, hashes and shows what it prints: the only source of what receipts say."""

import array
import contextlib
import errno
import fcntl
import hashlib
import os
import selectors
import shlex
import termios
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import field
from pathlib import Path
from types import TracebackType
from typing import IO, NamedTuple, Self

from agent_sync.errors import AgentSyncError, BadInput
from agent_sync.lazy_dataclasses import dataclass
from agent_sync.record.receipts.receipt import CommandRun
from agent_sync.system import clock
from agent_sync.system.masking import secrets_of
from agent_sync.system.masking_stream import StreamMask
from agent_sync.system.processes import Processes, Watch

_CHUNK = 1 << 16


@dataclass
class Outlet:
    """Where a person watches; once it is closed it is not written to again, and the command continues."""

    output: IO[bytes]
    errors: IO[bytes]


class OutputHashes(NamedTuple):
    """The SHA-256 of each stream, as far as it was kept."""

    stdout: str
    stderr: str


@dataclass
class _Line:
    """One pipe, the file it ends in, and the hash of what was kept there."""

    source: int
    file: IO[bytes]
    shown: IO[bytes] | None
    mask: StreamMask
    digest: "hashlib._Hash" = field(default_factory=hashlib.sha256)

    def take(self, limit: int = _CHUNK) -> int:
        """Pass on what is there, at most `limit` bytes, and return how much it was."""
        chunk = os.read(self.source, limit)
        self._keep(self.mask.feed(chunk))
        if self.shown and chunk:
            self._show(self.shown, chunk)
        return len(chunk)

    def _keep(self, content: bytes) -> None:
        self.digest.update(content)
        self.file.write(content)
        # A kill of this process must not take what was printed with it.
        self.file.flush()

    def _show(self, shown: IO[bytes], chunk: bytes) -> None:
        try:
            shown.write(chunk)
            shown.flush()
        except (OSError, ValueError):
            self.shown = None

    def take_rest(self) -> None:
        """Pass on what had been written by now; whoever still holds the pipe open is not waited for."""
        waiting = array.array("i", [0])
        fcntl.ioctl(self.source, termios.FIONREAD, waiting)
        left = waiting[0]
        while left > 0:
            left -= self.take(min(left, _CHUNK)) or left

    def finish(self) -> None:
        """Make the file durable: a receipt never outlives its artifact."""
        self._keep(self.mask.end())
        os.fsync(self.file.fileno())


class Tee:
    """Two pipes for a command to write to, and the thread that empties them."""

    def __init__(self, stdout: Path, stderr: Path, shown: Outlet | None, secrets: tuple[str, ...] = ()) -> None:
        self._closing = contextlib.ExitStack()
        with contextlib.ExitStack() as undo:
            undo.callback(self._closing.close)
            out, self.output = self._pipe()
            err, self.errors = self._pipe()
            self._lines = (
                _Line(out, self._file(stdout), shown.output if shown else None, StreamMask(secrets)),
                _Line(err, self._file(stderr), shown.errors if shown else None, StreamMask(secrets)),
            )
            self._awake, self._wake = self._pipe()
            undo.pop_all()
        self._failure: OSError | None = None
        self._thread = threading.Thread(target=self._pump, name="tee", daemon=True)

    @property
    def hashes(self) -> OutputHashes:
        """The SHA-256 of what was kept of all that was printed, and of all that was complained about."""
        stdout, stderr = (line.digest.hexdigest() for line in self._lines)
        return OutputHashes(stdout, stderr)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # Closing our end wakes the thread; the command has ended, and so has whatever it left in its group.
        self._wake.close()
        self._thread.join()
        self._closing.close()
        if self._failure and error is None:
            raise self._failure

    def _file(self, path: Path) -> IO[bytes]:
        return self._closing.enter_context(_made(path))

    def _pipe(self) -> tuple[int, IO[bytes]]:
        reading, writing = os.pipe()
        self._closing.callback(os.close, reading)
        return reading, self._closing.enter_context(os.fdopen(writing, "wb", buffering=0))

    def _pump(self) -> None:
        try:
            self._pass_on()
            for line in self._lines:
                line.take_rest()
                line.finish()
        except OSError as failure:
            self._failure = failure
            self._discard()

    def _pass_on(self) -> None:
        with selectors.DefaultSelector() as selector:
            selector.register(self._awake, selectors.EVENT_READ)
            for line in self._lines:
                selector.register(line.source, selectors.EVENT_READ, line)
            while True:
                ready = [key.data for key, _ in selector.select()]
                for line in filter(None, ready):
                    line.take()
                if None in ready:
                    return

    def _discard(self) -> None:
        """Empty the pipes to the end, so that the command is not stuck; its run will not count."""
        with selectors.DefaultSelector() as selector:
            for source in (self._awake, *(line.source for line in self._lines)):
                selector.register(source, selectors.EVENT_READ)
            while True:
                ready = [key.fd for key, _ in selector.select()]
                if self._awake in ready:
                    return
                for source in ready:
                    os.read(source, _CHUNK)


def _made(path: Path) -> IO[bytes]:
    # What an interrupted run left under this name is no artifact of any receipt.
    path.unlink(missing_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    return os.fdopen(descriptor, "wb")


# What shells and `timeout` say for these.
TIMED_OUT, NOT_EXECUTABLE, NOT_FOUND, SIGNALLED = 124, 126, 127, 128
_REFUSED = frozenset({errno.EACCES, errno.ENOEXEC, errno.E2BIG, errno.ENOTDIR})


@dataclass(frozen=True)
class Artifacts:
    """Where the output of one command is kept."""

    directory: Path
    receipt_id: str

    @property
    def stdout(self) -> Path:
        """What it printed."""
        return self.directory / f"{self.receipt_id}.stdout"

    @property
    def stderr(self) -> Path:
        """What it complained about."""
        return self.directory / f"{self.receipt_id}.stderr"


@dataclass(frozen=True)
class RunSettings:
    """What a command runs in: its directory and variables, who ends it, and who may watch."""

    cwd: Path
    environment: Mapping[str, str]
    processes: Processes
    timeout: float | None = None
    watch: Watch | None = None


def run(
    command: str | Sequence[str], surroundings: RunSettings, artifacts: Artifacts, *, shown: Outlet | None = None
) -> CommandRun:
    """Run a shell line or an argument list to its end, keep and hash all it prints, and show it where asked."""
    argv = _argv_of(command)
    _refuse_unusable(argv, surroundings.cwd)
    started, began = clock.now(), time.monotonic()
    exit_code, hashes = _execute(argv, surroundings, artifacts, shown)
    return CommandRun(
        command=_text(command if isinstance(command, str) else shlex.join(argv)),
        argv=tuple(_text(word) for word in argv),
        cwd=_text(str(surroundings.cwd)),
        exit_code=exit_code,
        started_at=started,
        completed_at=clock.now(),
        duration_ms=int((time.monotonic() - began) * 1000),
        stdout_hash=hashes.stdout,
        stderr_hash=hashes.stderr,
    )


def _execute(
    argv: tuple[str, ...], surroundings: RunSettings, artifacts: Artifacts, shown: Outlet | None
) -> tuple[int, OutputHashes]:
    try:
        artifacts.directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        with Tee(artifacts.stdout, artifacts.stderr, shown, secrets_of(surroundings.environment)) as tee:
            exit_code = _status(argv, surroundings, tee)
    except InterruptedError:
        # Programs are being ended because this process leaves: that is nobody's failure.
        raise
    except OSError as error:
        message = f"The command could not be run, or its output not be kept: {error.strerror or error}."
        attempted = f"writing to {artifacts.directory}"
        raise AgentSyncError(f"{message} No receipt was made.", attempted=attempted) from error
    return exit_code, tee.hashes


def _status(argv: tuple[str, ...], surroundings: RunSettings, tee: Tee) -> int:
    try:
        status = surroundings.processes.stream(
            argv,
            directory=str(surroundings.cwd),
            environment=surroundings.environment,
            output=tee.output,
            errors=tee.errors,
            timeout=surroundings.timeout,
            watch=surroundings.watch,
        )
    except TimeoutError:
        return TIMED_OUT
    except FileNotFoundError:
        return NOT_FOUND
    except OSError as error:
        # Anything else is trouble of the machine and says nothing about the command.
        if error.errno not in _REFUSED:
            raise
        return NOT_EXECUTABLE
    return status if status >= 0 else SIGNALLED - status


def _argv_of(command: str | Sequence[str]) -> tuple[str, ...]:
    argv = ("sh", "-c", command) if isinstance(command, str) else tuple(command)
    if not command or not "".join(command).strip():
        raise BadInput("There is no command to run.")
    return argv


def _refuse_unusable(argv: tuple[str, ...], cwd: Path) -> None:
    try:
        has_nul = any(b"\0" in os.fsencode(word) for word in argv)
    except UnicodeEncodeError as error:
        raise BadInput("The command contains a character that cannot be encoded.") from error
    if has_nul:
        raise BadInput("The command contains a NUL character.")
    if not cwd.is_dir():
        raise BadInput(f"The directory {cwd} does not exist.", attempted=f"running {_text(argv[0])}")


def _text(given: str) -> str:
    """Return text that can be signed: bytes that are no characters are spelled out."""
    return os.fsencode(given).decode("utf-8", "backslashreplace")
