"""Reads what git has added to a reflog since it was last read, and tells commits, pushes and mere moves apart."""

import hashlib
import os
import re
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import IO

from agent_sync.lazy_dataclasses import dataclass
from agent_sync.lazy_patterns import pattern
from agent_sync.record.machine.model import ReflogPosition

# A part longer than this is read from its end: nobody needs thousands of checkpoints at once.
LONGEST = 1 << 20
_CHUNK = 1 << 12
_FINGERPRINT = 256
_SHA = rb"([0-9a-f]{40}(?:[0-9a-f]{24})?)"
_LINE = pattern(_SHA + rb" " + _SHA + rb" .*?> (-?\d+) [+-]\d{4}(?:\t(.*))?")


@dataclass(frozen=True)
class ReflogEntry:
    """One movement of a ref."""

    old: str
    new: str
    time: int
    message: str


@dataclass(frozen=True)
class Portion:
    """New entries of a log, and up to where it was read.

    Where the log is not continuous (expired, rewritten, too long) its entries may have been read before.
    """

    entries: tuple[ReflogEntry, ...]
    offset: int
    fingerprint: str
    is_continuous: bool

    def seen(self, sha: str) -> ReflogPosition:
        """Return where to continue reading, with the commit that the ref is at."""
        return ReflogPosition(offset=self.offset, last=f"{sha} {self.fingerprint}".strip())


def sha_of(seen: ReflogPosition) -> str:
    """Return the commit that a ref was at when it was last looked at; empty where there was none."""
    return seen.last.partition(" ")[0] if _is_sha(seen.last) else ""


def without_log(sha: str) -> ReflogPosition:
    """Return the place in a log that is not there."""
    return ReflogPosition(last=sha)


def end_of(log: Path) -> Portion | None:
    """Return the end of a log without its entries; None where there is no log."""
    try:
        with log.open("rb") as file:
            end = _end_of_lines(file)
            return Portion((), end, _fingerprint_before(file, end), is_continuous=True)
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None


def portion_of(log: Path, seen: ReflogPosition) -> Portion | None:
    """Return what was added since `seen`; None where there is no log."""
    try:
        with log.open("rb") as file:
            return _portion_after(file, seen) or _portion_found_again(file, seen)
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None


def _portion_after(file: IO[bytes], seen: ReflogPosition) -> Portion | None:
    """Return what follows the place last seen, if the log still is what it was up to there."""
    end = _end_of_lines(file)
    is_same = seen.offset <= end and _fingerprint_before(file, seen.offset) == _fingerprint_in(seen)
    if not is_same or end - seen.offset > LONGEST:
        return None
    file.seek(seen.offset)
    entries = tuple(_entries(file.read(end - seen.offset)))
    return Portion(entries, end, _fingerprint_before(file, end), is_continuous=True)


def _portion_found_again(file: IO[bytes], seen: ReflogPosition) -> Portion:
    """Return what a log that was rewritten holds after the line last seen, or else all that is left of it."""
    end = _end_of_lines(file)
    file.seek(max(0, end - LONGEST))
    lines = file.read(end - file.tell()).split(b"\n")
    place = _place_of(seen, lines)
    entries = tuple(_entries(b"\n".join(lines[place:])))
    is_next = bool(entries) and entries[0].old == sha_of(seen) and end <= LONGEST
    return Portion(entries, end, _fingerprint_before(file, end), is_continuous=bool(place) or is_next)


def _place_of(seen: ReflogPosition, lines: list[bytes]) -> int:
    """Return after which line to continue: the one last seen, or else the last that led to the same commit."""
    mark, sha = _fingerprint_in(seen), b" %b " % sha_of(seen).encode()
    numbered = tuple(enumerate(lines, 1))
    same = next((number for number, line in numbered if mark and _fingerprint(line) == mark), 0)
    return same or next((number for number, line in reversed(numbered) if sha.strip() and sha in line), 0)


def _entries(data: bytes) -> Iterator[ReflogEntry]:
    for line in data.split(b"\n"):
        found = _LINE.match(line)
        if found:
            message = (found[4] or b"").decode("utf-8", errors="replace")
            yield ReflogEntry(found[1].decode(), found[2].decode(), int(found[3]), message)


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


def _fingerprint_in(seen: ReflogPosition) -> str:
    return seen.last.partition(" ")[2] if _is_sha(seen.last) else seen.last


def _is_sha(last: str) -> bool:
    return re.match(r"[0-9a-f]{40}", last) is not None


class EntryKind(Enum):
    """What an entry of a reflog is about."""

    COMMIT = "a commit was made"
    PUSH = "a push arrived"
    MOVE = "something that was there already is pointed at"
    # Tools may write words of their own: its time says whether a commit was made.
    UNKNOWN = "words that git does not use"


_PICKS = r"\((?:pick|reword|edit|fixup|squash|continue|merge|amend)\)"
_COMMIT = pattern(
    r"commit(?: \([a-z-]+\))?: |(?:cherry-pick|revert|am)(?: -[^:]*)?: |merge .*: "
    rf"|pull\b[^:()]*: |(?:rebase|pull)\b[^:()]* {_PICKS}: |rebase(?: -i)?: "
)
_MOVE = pattern(r"(?:checkout|reset|branch|clone|fetch|bisect|worktree|HEAD)\b|(?:rebase|pull)\b")
_FORWARD = pattern(r".*: (?:fast-forward|Fast-forward|updating HEAD|returning to .*|checkout .*)")
_FINISHED = pattern(r"(?:rebase|pull)\b[^:()]* \(finish\): refs/heads/.* onto ([0-9a-f]{40,64})")
_PUSHED = "update by push"


def kind_of(entry: ReflogEntry) -> EntryKind:
    """Return what an entry is about."""
    if entry.message == _PUSHED:
        return EntryKind.PUSH
    finished = _FINISHED.fullmatch(entry.message)
    if entry.old == entry.new or entry.new.strip("0") == "":
        return EntryKind.MOVE
    if finished:
        # A branch's own log tells of a whole rebase in one line; without commits of its own it only moves.
        return EntryKind.MOVE if finished[1] == entry.new else EntryKind.COMMIT
    return _by_action(entry.message)


def subject_in(entry: ReflogEntry) -> str:
    """Return what the entry itself says about its commit."""
    return entry.message.partition(": ")[2]


def _by_action(message: str) -> EntryKind:
    made = _COMMIT.match(message)
    # Only actions that can do either end in git's words for it: the subject of a commit may be any text.
    if made and not message.startswith("commit") and _FORWARD.fullmatch(message):
        return EntryKind.MOVE
    if made:
        return EntryKind.COMMIT
    return EntryKind.MOVE if _MOVE.match(message) else EntryKind.UNKNOWN
