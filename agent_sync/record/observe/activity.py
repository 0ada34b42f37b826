"""Finds commits and pushes since the last look, in reflogs and refs, and adds the checkpoints that they ask for.

A push to a bare address (`git push <url>`) leaves nothing behind in the clone, so nothing is found of it. Worktrees
share the logs of the remotes' branches: a push is the task's own if it went to a branch of the task's name, or brought
a commit that was made, or is checked out, in this worktree.
"""

import os
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from agent_sync.lazy_dataclasses import dataclass
from agent_sync.record.machine.model import Record, ReflogPosition
from agent_sync.record.machine.states import TERMINAL, CheckpointCause
from agent_sync.record.observe.checkpoints import (
    KEPT,
    SHORT,
    NewCheckpoint,
    Randomness,
    interval_due,
    is_wanted,
    known_keys,
    with_checkpoints,
    with_files_touched,
)
from agent_sync.record.observe.reflogs import (
    EntryKind,
    Portion,
    ReflogEntry,
    end_of,
    kind_of,
    portion_of,
    sha_of,
    subject_in,
    without_log,
)
from agent_sync.settings import Settings
from agent_sync.system import git_history
from agent_sync.system.git import Git
from agent_sync.system.git_history import Commit
from agent_sync.worktree import Place

HEAD = "HEAD"
_REMOTES = "refs/remotes"
# A fetch may touch thousands of logs; a push that just happened is in one of the newest.
_NEWEST_LOGS = 32
# A tool may write the log a moment after it made the commit.
_MOMENT = 2


class Push(NamedTuple):
    """A commit that arrived at a remote, by the ref that follows it."""

    ref: str
    sha: str


class Pushes(NamedTuple):
    """Pushes, and how far the logs that tell of them were read."""

    pushes: tuple[Push, ...]
    reflogs: dict[str, ReflogPosition]


@dataclass(frozen=True)
class Activity:
    """What happened, oldest first, and how far every reflog has been read by now."""

    commits: tuple[Commit, ...]
    pushes: tuple[Push, ...]
    reflogs: dict[str, ReflogPosition]


@dataclass(frozen=True)
class _Walk:
    """How one ref has moved: by its log, and where the log has a gap."""

    entries: tuple[ReflogEntry, ...]
    seen: ReflogPosition
    # The commit after which only the commits themselves can be asked; None where the log has no gap.
    gap_after: str | None = None
    # Whether that gap comes before the entries of the log, and not after them.
    is_gap_first: bool = False


def with_git_activity(  # noqa: PLR0913  # the record, the world, and what only the caller knows
    record: Record,
    git: Git,
    place: Place,
    settings: Settings,
    now: datetime,
    *,
    is_at_work: bool = True,
    randomness: Randomness = os.urandom,
) -> Record:
    """Return the record with what git has seen since; the very same record where that is nothing.

    The first time the present state of the repository is the start: nothing from before the task is reported. While
    nobody is at work the mere passing of time is no progress.
    """
    if record.state in TERMINAL:
        return record
    seen = git_activity(record, git, place)
    wanted = tuple(new for new in _new_checkpoints(seen, git) if is_wanted(new.trigger, settings.record))
    fresh = tuple(new for new in wanted if new.key not in known_keys(record))
    after = with_checkpoints(record, git, fresh, now, randomness)
    if seen.commits and not fresh:
        after = with_files_touched(after, git)
    if is_at_work and interval_due(after, settings.record, now):
        periodic = NewCheckpoint(CheckpointCause.INTERVAL, f"Periodic checkpoint at {now:%H:%M:%S}")
        after = with_checkpoints(after, git, (periodic,), now, randomness)
    return after if after.reflogs == seen.reflogs else after.model_copy(update={"reflogs": seen.reflogs})


def git_activity(record: Record, git: Git, place: Place) -> Activity:
    """Return what happened since the record last looked; the first look only takes note of where things are."""
    branch = record.branch or git.current_branch() or ""
    refs = git_history.refs_of_branch(git, branch)
    local = {HEAD: git_history.head_commit(git)} | {
        ref: sha for ref, sha in refs.items() if ref.startswith("refs/heads/")
    }
    if branch:
        local.setdefault(f"refs/heads/{branch}", "")
    tracking = {ref: sha for ref, sha in refs.items() if ref not in local}
    if not record.reflogs:
        return Activity((), (), {ref: _position(place, ref, sha) for ref, sha in (local | tracking).items()})
    walks = {ref: _walk(record, place, ref, sha) for ref, sha in local.items()}
    commits = _new_commits(record, git, walks, local)
    made = _known_commits(record) | {commit.sha for commit in commits}
    found = _new_pushes(record, place, tracking, made=made, heads=frozenset(local.values()))
    return Activity(commits, found.pushes, {ref: walk.seen for ref, walk in walks.items()} | found.reflogs)


def _new_checkpoints(seen: Activity, git: Git) -> Iterator[NewCheckpoint]:
    """Yield what happened in a readable order: a push comes right after the commit it brought."""
    remotes = git.remotes() if seen.pushes else ()
    by_commit: dict[str, list[Push]] = {}
    for push in seen.pushes:
        by_commit.setdefault(push.sha, []).append(push)
    for commit in seen.commits:
        key = f"{CheckpointCause.COMMIT}:{commit.sha}"
        yield NewCheckpoint(CheckpointCause.COMMIT, f"Commit: {commit.subject}", key, commit.sha)
        yield from (_push_checkpoint(push, remotes) for push in by_commit.pop(commit.sha, ()))
    yield from (_push_checkpoint(push, remotes) for pushes in by_commit.values() for push in pushes)


def _push_checkpoint(push: Push, remotes: tuple[str, ...]) -> NewCheckpoint:
    name = push.ref.removeprefix(f"{_REMOTES}/")
    # Both names may hold slashes, so only the clone's own list tells where one ends.
    remote = max((remote for remote in remotes if name.startswith(f"{remote}/")), key=len, default=name.split("/")[0])
    description = f"Push: {name[len(remote) + 1 :]} → {remote} {push.sha[:SHORT]}"
    return NewCheckpoint(CheckpointCause.PUSH, description, f"{CheckpointCause.PUSH}:{push.sha}:{push.ref}", push.sha)


def _position(place: Place, ref: str, sha: str) -> ReflogPosition:
    end = end_of(_log_of(place, ref))
    return end.seen(sha) if end else without_log(sha)


def _walk(record: Record, place: Place, ref: str, sha: str) -> _Walk:
    seen = record.reflogs.get(ref)
    if seen is None:
        # Another branch than before: what HEAD did there is in HEAD's own log, the rest is not this task's.
        return _Walk((), _position(place, ref, sha))
    last = sha_of(seen)
    portion = portion_of(_log_of(place, ref), seen)
    if portion is None:
        return _Walk((), without_log(sha), gap_after=last if last != sha else None)
    if not portion.is_continuous:
        entries = tuple(entry for entry in portion.entries if entry.time >= _began(record))
        return _Walk(entries, portion.seen(sha), gap_after=last, is_gap_first=True)
    reached = portion.entries[-1].new if portion.entries else last
    return _Walk(portion.entries, portion.seen(sha), gap_after=reached if reached != sha else None)


def _new_commits(record: Record, git: Git, walks: dict[str, _Walk], local: dict[str, str]) -> tuple[Commit, ...]:
    """Return the commits that are new; of very many the last ones, since no more would be kept."""
    known = _known_commits(record)
    entries = tuple(entry for walk in walks.values() for entry in walk.entries if entry.new not in known)
    earlier: list[Commit] = []
    later: list[Commit] = []
    for ref, walk in walks.items():
        beyond = _commits_beyond(git, walk.gap_after, local[ref], since=_began(record))
        (earlier if walk.is_gap_first else later).extend(beyond)
    found = {commit.sha: commit for commit in (*earlier, *_commits_made(git, entries), *later)}
    return tuple(commit for commit in found.values() if commit.sha not in known)[-KEPT:]


def _commits_made(git: Git, entries: tuple[ReflogEntry, ...]) -> Iterator[Commit]:
    """Yield the commits that these movements made, the last ones of very many."""
    first: dict[str, ReflogEntry] = {}
    for entry in entries:
        if kind_of(entry) in {EntryKind.COMMIT, EntryKind.UNKNOWN}:
            first.setdefault(entry.new, entry)
    candidates = tuple(first.values())[-KEPT:]
    there = git_history.commits_by_sha(git, (entry.new for entry in candidates))
    for entry in candidates:
        commit = there.get(entry.new)
        if kind_of(entry) is EntryKind.COMMIT or (commit and 0 <= entry.time - commit.time <= _MOMENT):
            # An amended commit may be gone for good; its entry still says what it was.
            yield commit or Commit(entry.new, entry.time, subject_in(entry))


def _commits_beyond(git: Git, base: str | None, head: str, *, since: int) -> tuple[Commit, ...]:
    """Return the commits between two states of a ref, oldest first, for what no log has.

    Without a log a new commit and one that was merely switched to look the same: those from before `since` are not
    counted.
    """
    if base is None or not head or base == head:
        return ()
    return tuple(one for one in git_history.commits_between(git, base, head, most=KEPT) if one.time >= since)


def _new_pushes(
    record: Record, place: Place, tracking: dict[str, str], *, made: frozenset[str], heads: frozenset[str]
) -> Pushes:
    """Return the pushes to the task's branch since the last look, and of the task's commits to any other."""
    pushes: dict[Push, None] = {}
    reflogs: dict[str, ReflogPosition] = {}
    for ref, sha in tracking.items():
        portion = portion_of(_log_of(place, ref), record.reflogs.get(ref, ReflogPosition()))
        found = _logged_pushes(record, ref, portion)
        if not portion or not portion.is_continuous:
            found += _push_by_position(record, ref, sha, made=made, heads=heads)
        pushes |= dict.fromkeys(found)
        reflogs[ref] = portion.seen(sha) if portion else without_log(sha)
    elsewhere = _pushes_elsewhere(record, place, frozenset(tracking), made | heads)
    return Pushes((*pushes, *elsewhere.pushes), reflogs | elsewhere.reflogs)


def _pushes_elsewhere(record: Record, place: Place, apart: frozenset[str], shas: frozenset[str]) -> Pushes:
    """Return the task's commits that went to branches of other names; only logs that had any are remembered."""
    pushes: list[Push] = []
    reflogs: dict[str, ReflogPosition] = {}
    for ref in _remote_logs_since(place, _began(record)):
        portion = (
            portion_of(_log_of(place, ref), record.reflogs.get(ref, ReflogPosition())) if ref not in apart else None
        )
        found = [push for push in _logged_pushes(record, ref, portion) if push.sha in shas]
        if portion and (found or ref in record.reflogs):
            reflogs[ref] = portion.seen(found[-1].sha if found else sha_of(record.reflogs[ref]))
        pushes += found
    return Pushes(tuple(pushes), reflogs)


def _logged_pushes(record: Record, ref: str, portion: Portion | None) -> tuple[Push, ...]:
    """Return the pushes in a log; where it may hold earlier ones too, those of the task's time."""
    if portion is None:
        return ()
    is_exact = portion.is_continuous and ref in record.reflogs
    pushed = [entry for entry in portion.entries if kind_of(entry) is EntryKind.PUSH]
    return tuple(Push(ref, entry.new) for entry in pushed if is_exact or entry.time >= _began(record))


def _push_by_position(
    record: Record, ref: str, sha: str, *, made: frozenset[str], heads: frozenset[str]
) -> tuple[Push, ...]:
    """Return the push that a ref without a usable log must have had: it is at a commit that came from here."""
    seen = record.reflogs.get(ref)
    own = made if seen is None else made | heads
    return (Push(ref, sha),) if sha in own and (seen is None or sha_of(seen) != sha) else ()


def _remote_logs_since(place: Place, since: int) -> tuple[str, ...]:
    """Return the refs of the remotes whose logs were written last, oldest first, if not before `since`."""
    logs = Path(place.common_dir, "logs")
    # The remote's own HEAD only points at a branch, which has a log itself.
    paths = (Path(folder, name) for folder, _, names in os.walk(logs / _REMOTES) for name in names if name != HEAD)
    written = sorted((_write_time(path), path.relative_to(logs).as_posix()) for path in paths)
    return tuple(ref for time, ref in written if time >= since)[-_NEWEST_LOGS:]


def _write_time(file: Path) -> float:
    try:
        return file.stat().st_mtime
    except OSError:
        return 0


def _log_of(place: Place, ref: str) -> Path:
    """Return where the log of a ref is kept: HEAD's belongs to the worktree, all others to the clone."""
    return Path(place.git_dir if ref == HEAD else place.common_dir, "logs", ref)


def _known_commits(record: Record) -> frozenset[str]:
    """Return the commits that are known to have been made during the task."""
    prefix = f"{CheckpointCause.COMMIT}:"
    return frozenset(key.removeprefix(prefix) for key in known_keys(record) if key.startswith(prefix))


def _began(record: Record) -> int:
    return int(record.created_at.timestamp())
