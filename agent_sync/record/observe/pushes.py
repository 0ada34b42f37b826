"""Finds pushes in the logs of the refs that follow the remotes; a fetch leaves other words there.

Worktrees share these logs. A push is the task's own if it went to a branch of the task's name, or brought a commit
that was made, or is checked out, in this worktree.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from agent_sync.record.machine.model import Record, Seen
from agent_sync.record.observe.happened import Kind, kind_of
from agent_sync.record.observe.reflogs import Portion, portion_of, sha_of, without_log
from agent_sync.worktree import Place

_REMOTES = "refs/remotes"
# A fetch may touch thousands of logs; a push that just happened is in one of the newest.
_NEWEST = 32


@dataclass(frozen=True)
class Push:
    """A commit that arrived at a remote, by the ref that follows it."""

    ref: str
    sha: str


Found = tuple[tuple[Push, ...], dict[str, Seen]]


def pushes_since(
    record: Record, place: Place, tracking: dict[str, str], *, made: frozenset[str], heads: frozenset[str]
) -> Found:
    """Return the pushes since the last look, and how far the logs have been read."""
    pushes: dict[Push, None] = {}
    reflogs: dict[str, Seen] = {}
    for ref, sha in tracking.items():
        portion = portion_of(_log(place, ref), record.reflogs.get(ref, Seen()))
        found = _told(record, ref, portion)
        if not portion or not portion.is_continuous:
            found += _compared(record, ref, sha, made=made, heads=heads)
        pushes |= dict.fromkeys(found)
        reflogs[ref] = portion.seen(sha) if portion else without_log(sha)
    elsewhere, read = _elsewhere(record, place, frozenset(tracking), made | heads)
    return (*pushes, *elsewhere), reflogs | read


def _elsewhere(record: Record, place: Place, apart: frozenset[str], shas: frozenset[str]) -> Found:
    """Return the task's commits that went to branches of other names; only logs that had any are remembered."""
    pushes: list[Push] = []
    reflogs: dict[str, Seen] = {}
    for ref in _written_since(place, _since(record)):
        portion = portion_of(_log(place, ref), record.reflogs.get(ref, Seen())) if ref not in apart else None
        found = [push for push in _told(record, ref, portion) if push.sha in shas]
        if portion and (found or ref in record.reflogs):
            reflogs[ref] = portion.seen(found[-1].sha if found else sha_of(record.reflogs[ref]))
        pushes += found
    return tuple(pushes), reflogs


def _told(record: Record, ref: str, portion: Portion | None) -> tuple[Push, ...]:
    """Return the pushes a log tells of; where it may tell of earlier ones too, those of the task's time."""
    if portion is None:
        return ()
    is_exact = portion.is_continuous and ref in record.reflogs
    pushed = [entry for entry in portion.entries if kind_of(entry) is Kind.PUSH]
    return tuple(Push(ref, entry.new) for entry in pushed if is_exact or entry.time >= _since(record))


def _compared(record: Record, ref: str, sha: str, *, made: frozenset[str], heads: frozenset[str]) -> tuple[Push, ...]:
    """Return the push that a ref without a usable log must have had: it is at a commit that came from here."""
    seen = record.reflogs.get(ref)
    own = made if seen is None else made | heads
    return (Push(ref, sha),) if sha in own and (seen is None or sha_of(seen) != sha) else ()


def _written_since(place: Place, since: int) -> tuple[str, ...]:
    """Return the refs of the remotes whose logs were written last, if not before `since`."""
    written = sorted(
        ((when, ref) for when, ref in _logs(Path(place.common_dir, "logs")) if when >= since), reverse=True
    )
    return tuple(ref for _, ref in reversed(written[:_NEWEST]))


def _logs(logs: Path) -> Iterator[tuple[float, str]]:
    for directory, _, names in os.walk(logs / _REMOTES):
        for name in names:
            file = Path(directory, name)
            # The remote's own HEAD only points at a branch, which has a log itself.
            if name != "HEAD":
                yield _written(file), file.relative_to(logs).as_posix()


def _written(file: Path) -> float:
    try:
        return file.stat().st_mtime
    except OSError:
        return 0


def _log(place: Place, ref: str) -> Path:
    return Path(place.common_dir, "logs", ref)


def _since(record: Record) -> int:
    return int(record.created_at.timestamp())
