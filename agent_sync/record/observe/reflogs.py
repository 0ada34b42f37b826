"""Reads what git has added to a reflog since it was last read, at the cost of that part alone."""

import hashlib
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from agent_sync.record.machine.model import Seen

# A part longer than this is read from its end: nobody needs thousands of checkpoints at once.
LONGEST = 1 << 20
_CHUNK = 1 << 12
_FINGERPRINT = 256
_SHA = rb"([0-9a-f]{40}(?:[0-9a-f]{24})?)"
_LINE = re.compile(_SHA + rb" " + _SHA + rb" .*?> (-?\d+) [+-]\d{4}(?:\t(.*))?")


@dataclass(frozen=True)
class Entry:
    """One movement of a ref."""

    old: str
    new: str
    time: int
    message: str


@dataclass(frozen=True)
class Portion:
    """What a log has to tell, and up to where it was read.

    Where the log is not continuous (expired, rewritten, too long) its entries may have been read before.
    """

    entries: tuple[Entry, ...]
    offset: int
    fingerprint: str
    is_continuous: bool

    def seen(self, sha: str) -> Seen:
        """Return the place to go on from, with the commit that the ref is at."""
        return Seen(offset=self.offset, last=f"{sha} {self.fingerprint}".strip())


def sha_of(seen: Seen) -> str:
    """Return the commit that a ref was at when it was last looked at; empty where there was none."""
    return seen.last.partition(" ")[0] if _is_sha(seen.last) else ""


def without_log(sha: str) -> Seen:
    """Return the place in a log that is not there."""
    return Seen(last=sha)


def end_of(log: Path) -> Portion | None:
    """Return the end of a log without its entries; None where there is no log."""
    try:
        with log.open("rb") as file:
            end = _end_of_lines(file)
            return Portion((), end, _fingerprint_before(file, end), is_continuous=True)
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None


def portion_of(log: Path, seen: Seen) -> Portion | None:
    """Return what was added since `seen`; None where there is no log."""
    try:
        with log.open("rb") as file:
            return _continued(file, seen) or _found_again(file, seen)
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None


def _continued(file: IO[bytes], seen: Seen) -> Portion | None:
    """Return what follows the place last seen, if the log still is what it was up to there."""
    end = _end_of_lines(file)
    is_same = seen.offset <= end and _fingerprint_before(file, seen.offset) == _fingerprint_in(seen)
    if not is_same or end - seen.offset > LONGEST:
        return None
    file.seek(seen.offset)
    entries = tuple(_entries(file.read(end - seen.offset)))
    return Portion(entries, end, _fingerprint_before(file, end), is_continuous=True)


def _found_again(file: IO[bytes], seen: Seen) -> Portion:
    """Return what a log that was rewritten holds after the line last seen, or else all that is left of it."""
    end = _end_of_lines(file)
    file.seek(max(0, end - LONGEST))
    lines = file.read(end - file.tell()).split(b"\n")
    place = _place_of(seen, lines)
    entries = tuple(_entries(b"\n".join(lines[place:])))
    is_next = bool(entries) and entries[0].old == sha_of(seen) and end <= LONGEST
    return Portion(entries, end, _fingerprint_before(file, end), is_continuous=bool(place) or is_next)


def _place_of(seen: Seen, lines: list[bytes]) -> int:
    """Return behind which line to go on: the one last seen, or else the last that led to the same commit."""
    mark, sha = _fingerprint_in(seen), b" %b " % sha_of(seen).encode()
    numbered = tuple(enumerate(lines, 1))
    same = next((number for number, line in numbered if mark and _fingerprint(line) == mark), 0)
    return same or next((number for number, line in reversed(numbered) if sha.strip() and sha in line), 0)


def _entries(data: bytes) -> Iterator[Entry]:
    for line in data.split(b"\n"):
        found = _LINE.match(line)
        if found:
            message = (found[4] or b"").decode("utf-8", errors="replace")
            yield Entry(found[1].decode(), found[2].decode(), int(found[3]), message)


def _end_of_lines(file: IO[bytes]) -> int:
    """Return where the last whole line ends: one that is being written is left for the next time."""
    end = file.seek(0, os.SEEK_END)
    while end:
        start = max(0, end - _CHUNK)
        file.seek(start)
        line_end = file.read(end - start).rfind(b"\n")
        if line_end >= 0:
            return start + line_end + 1
        end = start
    return 0


def _fingerprint_before(file: IO[bytes], offset: int) -> str:
    """Return what tells the line that ends at `offset` from others; empty at the beginning of the log."""
    start = max(0, offset - _FINGERPRINT - 1)
    file.seek(start)
    return _fingerprint(file.read(offset - start).rpartition(b"\n")[0].rpartition(b"\n")[2]) if offset else ""


def _fingerprint(line: bytes) -> str:
    return hashlib.sha256(line[-_FINGERPRINT:]).hexdigest()[:16]


def _fingerprint_in(seen: Seen) -> str:
    return seen.last.partition(" ")[2] if _is_sha(seen.last) else seen.last


def _is_sha(last: str) -> bool:
    return re.match(r"[0-9a-f]{40}", last) is not None
