"""Keeps secrets out of logs while programs write them."""

import contextlib
import os
import select
import threading
from collections.abc import Iterator
from typing import IO

from agent_sync.system.masking_stream import StreamMask

# What is still read once the program has ended; more comes only from something that outlived it.
DRAIN_S = 2.0
MOST_LATE = 1 << 20
_CHUNK = 1 << 16
_PAUSE_MS = 100


@contextlib.contextmanager
def masked_into(log: IO[bytes], secrets: tuple[str, ...], *, copy: IO[bytes] | None = None) -> Iterator[IO[bytes]]:
    """Hand out a pipe for a program's output; what comes through is masked into `log`, and as it is into `copy`.

    A log that cannot be written is an error once the program has ended, not before: it is never held up.
    """
    reading, writing = os.pipe()
    reader = _Reader(reading, log, StreamMask(secrets), copy)
    try:
        with os.fdopen(writing, "wb", buffering=0) as pipe:
            reader.start()
            yield pipe
    finally:
        reader.finish()
    if reader.error:
        raise reader.error


class _Reader(threading.Thread):
    """Reads the pipe to its end; something that holds it open although its program has ended is not waited for."""

    def __init__(self, descriptor: int, log: IO[bytes], mask: StreamMask, copy: IO[bytes] | None) -> None:
        super().__init__(name="log", daemon=True)
        self._descriptor = descriptor
        self._log, self._mask, self._copy = log, mask, copy
        self._is_over = threading.Event()
        self.error: OSError | None = None

    def run(self) -> None:
        ready = select.poll()
        ready.register(self._descriptor, select.POLLIN)
        left = MOST_LATE
        while left > 0:
            if not ready.poll(_PAUSE_MS):
                if self._is_over.is_set():
                    break
                continue
            piece = os.read(self._descriptor, _CHUNK)
            if not piece:
                break
            left -= len(piece) if self._is_over.is_set() else 0
            self._write(self._mask.feed(piece), piece)
        self._write(self._mask.end(), b"")

    def _write(self, text: bytes, piece: bytes) -> None:
        try:
            if self._copy and piece:
                self._copy.write(piece)
            if text and not self.error:
                self._log.write(text)
                self._log.flush()
        except OSError as error:
            self.error = self.error or error

    def finish(self) -> None:
        """Wait for the end of what was written, and stop."""
        if self.ident is not None:
            self.join(DRAIN_S)
            self._is_over.set()
            self.join()
        os.close(self._descriptor)
