"""Keeps secrets out of logs while programs write them: tokens by their shape, and values of the environment."""

import contextlib
import os
import re
import select
import threading
from collections.abc import Iterator, Mapping
from typing import IO

from agent_sync.masking import masked

# Shorter values are words that stand in any text.
SHORTEST = 8
# A line may be held back this long before it is written in pieces; no token is longer than the overlap.
LONGEST_LINE = 1 << 18
OVERLAP = 1 << 14
# What is still read once the program has ended; more comes only from something that outlived it.
DRAIN_S = 2.0
MOST_LATE = 1 << 20
_CHUNK = 1 << 16
_PAUSE_MS = 100
_NAMES = re.compile(r"(?:^|_)(?:TOKEN|KEY|SECRET|PASSWORD|PASSWD)$|PASSWORD")
_SEPARATOR = re.compile(r"[^A-Za-z0-9_.~+/=-]")


def secrets_of(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Return the values that must not be written, the longest first; of a key in several lines, each line."""
    values = (value for name, value in environment.items() if _NAMES.search(name.upper()))
    lines = {line.strip() for value in values for line in value.splitlines()}
    return tuple(sorted((line for line in lines if len(line) >= SHORTEST), key=len, reverse=True))


def without(text: str, secrets: tuple[str, ...]) -> str:
    """Return `text` with these values, and whatever looks like a token, replaced."""
    for secret in secrets:
        text = text.replace(secret, "***")
    return masked(text)


class Masker:
    """Masks a stream that comes in pieces: a token cut in two is masked all the same."""

    def __init__(self, secrets: tuple[str, ...]) -> None:
        self._secrets = secrets
        self._held = b""

    def feed(self, piece: bytes) -> bytes:
        """Take the next piece; return what can be written now, which is whole lines."""
        self._held += piece
        end = self._held.rfind(b"\n") + 1
        if not end and len(self._held) > LONGEST_LINE:
            end = self._inside_a_line()
        ready, self._held = self._held[:end], self._held[end:]
        return self._masked(ready)

    def rest(self) -> bytes:
        """Return what was held back, now that nothing follows."""
        ready, self._held = self._held, b""
        return self._masked(ready)

    def _inside_a_line(self) -> int:
        """Return where an endless line can be cut: between two words, and through none of the values."""
        text = self._held.decode("latin-1")
        cut = len(text) - OVERLAP
        found = [match.end() for match in _SEPARATOR.finditer(text, cut)]
        cut = found[0] if found else cut
        for secret in (one.encode("utf-8", "surrogateescape").decode("latin-1") for one in self._secrets):
            at = text.find(secret, max(0, cut - len(secret) + 1), cut + len(secret) - 1)
            cut = at if 0 <= at < cut else cut
        return cut

    def _masked(self, ready: bytes) -> bytes:
        text = ready.decode("utf-8", "surrogateescape")
        return without(text, self._secrets).encode("utf-8", "surrogateescape")


@contextlib.contextmanager
def masked_into(log: IO[bytes], secrets: tuple[str, ...], *, copy: IO[bytes] | None = None) -> Iterator[IO[bytes]]:
    """Hand out a pipe for a program's output; what comes through is masked into `log`, and as it is into `copy`.

    A log that cannot be written is an error once the program has ended, not before: it is never held up.
    """
    reading, writing = os.pipe()
    reader = _Reader(reading, log, Masker(secrets), copy)
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

    def __init__(self, descriptor: int, log: IO[bytes], masker: Masker, copy: IO[bytes] | None) -> None:
        super().__init__(name="log", daemon=True)
        self._descriptor = descriptor
        self._log, self._masker, self._copy = log, masker, copy
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
            self._write(self._masker.feed(piece), piece)
        self._write(self._masker.rest(), b"")

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
