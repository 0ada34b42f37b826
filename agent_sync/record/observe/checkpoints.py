"""Saves the present moment of a worktree as a checkpoint: when one is wanted, and which files it covers."""

import hashlib
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import assert_never

from agent_sync.lazy_dataclasses import dataclass
from agent_sync.lazy_patterns import pattern
from agent_sync.record.machine.machine import with_move
from agent_sync.record.machine.model import Checkpoint, FileSnapshot, Record
from agent_sync.record.machine.states import CheckpointCause, RecordMove, RecordState
from agent_sync.settings.tables import RecordSettings
from agent_sync.system import git_history
from agent_sync.system.git import Git
from agent_sync.system.masking import masked
from agent_sync.task.decision.outside_text import one_line

Randomness = Callable[[int], bytes]
KEPT = 64
MOST_FILES_TOUCHED = 200
MOST_SNAPSHOTS = 50
MOST_COMMITS_FOUND = 50
SHORT = 7
# Larger files are compared by size and time alone: a checkpoint must not take seconds.
LARGEST_HASHED = 10_000_000
_LONGEST_TEXT = 200
_RANDOM_BYTES = 4
_HASH_DIGITS = 16
_CHUNK = 1 << 16
_ESCAPED = pattern(rb"\\([0-7]{3}|.)", re.DOTALL)
_QUOTE = '"'
# As the output of programs is read: bytes that are no text come through.
_BYTES = ("utf-8", "surrogateescape")


@dataclass(frozen=True)
class NewCheckpoint:
    """What a checkpoint is about; without a commit of its own it is about the one that is checked out."""

    trigger: CheckpointCause
    description: str
    key: str = ""
    commit: str = ""
    artifacts: tuple[str, ...] = ()
    # The step it belongs to, where that is not the present one.
    step_index: int | None = None


@dataclass(frozen=True)
class TreeState:
    """The working tree: its branch (empty on a detached HEAD), commit, changes, and the tree of that commit."""

    branch: str
    head: str
    dirty: bool
    tree: str


def with_checkpoints(
    record: Record, git: Git, new: tuple[NewCheckpoint, ...], now: datetime, randomness: Randomness
) -> Record:
    """Return the record with these checkpoints, the files the step has touched, and their content's hashes.

    The files are as they are now, so only the last checkpoint describes them.
    """
    if not new:
        return record
    record = with_files_touched(record, git)
    state = working_tree_state(git)
    paths = record.current_step.files_touched if record.current_step else ()
    for number, item in enumerate(new, 1):
        files = snapshots(git.root, paths) if number == len(new) else ()
        name = checkpoint_id(_named(record, item) if item.key else randomness(_RANDOM_BYTES))
        record = with_checkpoint(record, _checkpoint(record, item, state, files, now=now, name=name))
    return record


def with_checkpoint(record: Record, checkpoint: Checkpoint) -> Record:
    """Return the record with one more checkpoint; one whose key is there already changes nothing."""
    if checkpoint.key and checkpoint.key in known_keys(record):
        return record
    after = with_move(
        record, RecordMove.CHECKPOINT, checkpoint.created_at, checkpoint=checkpoint.model_dump(mode="json")
    )
    step = after.current_step
    changes = {
        "checkpoints": (*record.checkpoints, checkpoint)[-KEPT:],
        "checkpoints_total": record.checkpoints_total + 1,
        "current_step": step and step.model_copy(update={"current_checkpoint_id": checkpoint.checkpoint_id}),
    }
    return after.model_copy(update=changes)


def with_files_touched(record: Record, git: Git) -> Record:
    """Return the record with the files its present step has touched by now."""
    step = record.current_step
    if step is None:
        return record
    with git.one_look():
        changed = git_history.tree_status(git).changed
        touched = step.model_copy(update={"files_touched": files_touched(git, step.base_commit)})
    uncommitted = tuple(sorted(quoted_path(name) for name in changed))[:MOST_FILES_TOUCHED]
    return record.model_copy(update={"current_step": touched, "uncommitted": uncommitted})


def branch_checkpoint(git: Git, base: str) -> tuple[NewCheckpoint, ...]:
    """Return the first checkpoint of a task on a branch that has commits since `base`: which they are."""
    found = git_history.commits_between(git, base, "HEAD", most=MOST_COMMITS_FOUND)[::-1]
    if not found:
        return ()
    more, many = " or more" if len(found) == MOST_COMMITS_FOUND else "", "" if len(found) == 1 else "s"
    about = f"{len(found)}{more} commit{many} found on the branch, the last: {found[0].subject}"
    lines = tuple(one_line(masked(f"{one.sha[:SHORT]} {one.subject}"), limit=_LONGEST_TEXT) for one in found)
    head = found[0].sha
    return (NewCheckpoint(CheckpointCause.COMMIT, about, f"{CheckpointCause.COMMIT}:{head}", head, artifacts=lines),)


def step_checkpoint(record: Record) -> tuple[NewCheckpoint, ...]:
    """Return the checkpoint of a step that is about to be completed."""
    step = record.current_step
    if step is None:
        return ()
    key = f"step:{step.step_name}:{record.steps[step.step_index].attempts}"
    return (NewCheckpoint(CheckpointCause.STEP_COMPLETE, f"Step {step.step_name} is complete", key),)


def _named(record: Record, item: NewCheckpoint) -> bytes:
    """Return the same bytes at every sight of the same commit, push or milestone of a task."""
    return hashlib.sha256(f"{record.task_id}\0{item.key}".encode()).digest()


def checkpoint_id(randomness: bytes) -> str:
    """Return the name of a new checkpoint, made of the first of these bytes."""
    if len(randomness) < _RANDOM_BYTES:
        raise ValueError(f"a checkpoint's name takes {_RANDOM_BYTES} random bytes")
    return f"ckpt-{randomness[:_RANDOM_BYTES].hex()}"


def known_keys(record: Record) -> frozenset[str]:
    """Return the keys of every checkpoint the record still knows, those that only its history has included."""
    return frozenset(key for key in (*(point.key for point in record.checkpoints), *_keys_in_history(record)) if key)


def is_wanted(trigger: CheckpointCause, settings: RecordSettings) -> bool:
    """Tell whether the settings ask for a checkpoint of this kind."""
    match trigger:
        case CheckpointCause.MANUAL:
            return True
        case CheckpointCause.COMMIT:
            return settings.on_commit
        case CheckpointCause.PUSH:
            return settings.on_push
        case CheckpointCause.PULL:
            return settings.on_pr
        case CheckpointCause.VALIDATION:
            return settings.on_validation
        case CheckpointCause.STEP_COMPLETE:
            return settings.on_step_complete
        case CheckpointCause.INTERVAL:
            return settings.interval_s > 0
        case _:
            assert_never(trigger)


def interval_due(record: Record, settings: RecordSettings, now: datetime) -> bool:
    """Tell whether a running step has gone for too long without a checkpoint.

    A checkpoint in the future was made by a clock that has been put right since: it counts as too old.
    """
    at = interval_at(record, settings)
    since = _last_sign(record)
    return at is not None and since is not None and not since <= now < at


def interval_at(record: Record, settings: RecordSettings) -> datetime | None:
    """Return when a running step asks for its next checkpoint by itself."""
    since = _last_sign(record)
    if (
        record.state is not RecordState.STEP_RUNNING
        or since is None
        or not is_wanted(CheckpointCause.INTERVAL, settings)
    ):
        return None
    return since + timedelta(seconds=settings.interval_s)


def files_touched(git: Git, base_commit: str) -> tuple[str, ...]:
    """Return the first files, by name, that differ from the commit the step began at, untracked ones included."""
    names = {*git_history.tree_status(git).changed, *git_history.files_committed_since(git, base_commit)}
    return tuple(sorted(quoted_path(name) for name in names))[:MOST_FILES_TOUCHED]


def working_tree_state(git: Git) -> TreeState:
    """Return branch, commit, whether anything is uncommitted, and the tree of the commit."""
    status = git_history.tree_status(git)
    return TreeState(status.branch, status.head, bool(status.changed), git_history.tree_of(git, status.head))


def snapshots(root: str, paths: Iterable[str]) -> tuple[FileSnapshot, ...]:
    """Return size, time and hash of the first files of `paths` in the worktree; those that are gone say so."""
    return tuple(_snapshot(root, path) for path in islice(paths, MOST_SNAPSHOTS))


def quoted_path(path: str) -> str:
    """Return a path as it is, or quoted as git does it, with octal escapes, where it holds odd characters."""
    if path.isprintable() and not path.startswith(_QUOTE):
        return path
    return _QUOTE + "".join(_escaped(char) for char in path) + _QUOTE


def unquoted_path(text: str) -> str:
    """Return the path that `quoted_path` was given."""
    if not (text.startswith(_QUOTE) and text.endswith(_QUOTE) and len(text) > 1):
        return text
    return _ESCAPED.sub(_byte, text[1:-1].encode(*_BYTES)).decode(*_BYTES)


def _checkpoint(  # noqa: PLR0913  # a checkpoint has as many sides
    record: Record, new: NewCheckpoint, state: TreeState, files: tuple[FileSnapshot, ...], *, now: datetime, name: str
) -> Checkpoint:
    step = record.current_step
    belongs = {"step_name": step.step_name, "step_index": step.step_index, "attempt": step.attempt} if step else {}
    if new.step_index is not None:
        own = record.steps[new.step_index]
        belongs = {"step_name": own.name, "step_index": new.step_index, "attempt": own.attempts}
    values: dict[str, object] = {
        **belongs,
        "checkpoint_id": name,
        "created_at": now,
        "description": one_line(masked(new.description), limit=_LONGEST_TEXT),
        "trigger": new.trigger,
        "git_branch": one_line(state.branch, limit=_LONGEST_TEXT),
        "git_commit": new.commit or state.head,
        "git_dirty": state.dirty,
        "artifacts": new.artifacts,
        "files_snapshot": files,
        "key": new.key,
    }
    return Checkpoint.model_validate(values)


def _last_sign(record: Record) -> datetime | None:
    """Return when the present attempt at the present step last left a checkpoint, or else when it began."""
    step = record.current_step
    if step is None:
        return None
    last = record.checkpoints[-1] if record.checkpoints else None
    if last and (last.step_index, last.attempt) == (step.step_index, step.attempt):
        return last.created_at
    return step.started_at


def _keys_in_history(record: Record) -> Iterator[str]:
    for event in record.history:
        made = event.details.get("checkpoint") if event.trigger is RecordMove.CHECKPOINT else None
        if isinstance(made, dict):
            yield str(made.get("key", ""))


def _snapshot(root: str, path: str) -> FileSnapshot:
    name = unquoted_path(path)
    # The record is a file that anybody may have edited: a name must stay in the worktree.
    is_inside = not name.startswith("/") and ".." not in name.split("/")
    file = os.path.join(root, name)  # noqa: PTH118  # names that are no text must stay what they are
    try:
        found = os.lstat(file) if is_inside else None
    except (OSError, ValueError):
        found = None
    if found is None:
        return FileSnapshot(path=path, exists=False)
    moment = datetime.fromtimestamp(int(found.st_mtime), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return FileSnapshot(path=path, size=found.st_size, mod_time=moment, sha256=_hash(file, found))


def _hash(file: str, found: os.stat_result) -> str:
    """Return the beginning of the hash; what is no file, too large or unreadable has none."""
    try:
        if stat.S_ISLNK(found.st_mode):
            # What a link says is its content, as it is for git; its target is not looked at.
            return hashlib.sha256(os.fsencode(os.readlink(file))).hexdigest()[:_HASH_DIGITS]  # noqa: PTH115
        if not stat.S_ISREG(found.st_mode) or found.st_size > LARGEST_HASHED:
            return ""
        return _content_hash(file)
    except OSError:
        return ""


def _content_hash(file: str) -> str:
    digest, left = hashlib.sha256(), LARGEST_HASHED
    # It may have become a link or a pipe since it was looked at; neither is followed or waited for.
    descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as content:
        while left > 0 and (chunk := content.read(_CHUNK)):
            digest.update(chunk)
            left -= len(chunk)
    return digest.hexdigest()[:_HASH_DIGITS]


def _escaped(char: str) -> str:
    if char.isprintable() and char not in {_QUOTE, "\\"}:
        return char
    return "".join(f"\\{byte:03o}" for byte in char.encode(*_BYTES))


def _byte(found: re.Match[bytes]) -> bytes:
    digits = found[1]
    return bytes([int(digits, 8) & 0xFF]) if digits.isdigit() else digits
