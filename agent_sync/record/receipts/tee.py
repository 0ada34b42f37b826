"""Takes what a command prints through pipes into files, without secrets, hashes what is kept and shows it all."""

import array
import contextlib
import fcntl
import hashlib
import os
import selectors
import termios
import threading
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from agent_sync.system.masking_stream import StreamMask

_CHUNK = 1 << 16


@dataclass
class Outlet:
    """Where a person watches; one that went away is not written to again, and the command goes on."""

    output: IO[bytes]
    errors: IO[bytes]


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
        self.file.flush()
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
    def hashes(self) -> tuple[str, str]:
        """The SHA-256 of what was kept of all that was printed, and of all that was complained about."""
        return self._lines[0].digest.hexdigest(), self._lines[1].digest.hexdigest()

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
