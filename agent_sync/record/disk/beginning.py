"""Begins the record of a new task, with an id and a number of its own, and moves an unusable one out of its way."""

import contextlib
import json
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from agent_sync.errors import AgentSyncError, BadRecord, RecordUnavailable
from agent_sync.plain.json_reading import read_json
from agent_sync.record.disk.cleanup import clean_workspace
from agent_sync.record.disk.recorder import (
    Home,
    Recorder,
    point,
    pointed_store,
    slug,
    task_summary,
    unpoint,
    workspace_of,
)
from agent_sync.record.disk.store import OpenRecord, RecordStore, disk_errors, hold_lock
from agent_sync.record.machine.machine import with_move
from agent_sync.record.machine.model import Record
from agent_sync.record.machine.states import TERMINAL, RecordMove
from agent_sync.record.machine.templates import TaskStart, first_record, ready_record, steps_of
from agent_sync.system import disk, files
from agent_sync.system.masking import masked
from agent_sync.worktree import ATLAS_HOME, Place


def begin_task(
    recorder: Recorder, task: TaskStart, now: datetime, prepare: Callable[[], object] | None = None
) -> OpenRecord | None:
    """Begin the record of a task; a claim is worked on at once, other tasks wait for their first step.

    What `prepare` raises fails the task, and is raised again.
    """
    if recorder.home is None:
        return None
    steps = task.steps or steps_of(task.template, recorder.settings)
    workspace, root, owner = workspace_of(recorder.place), recorder.place.root, recorder.owner(task.session_id)
    limit = recorder.settings.record.max_attempts
    wanted = issue_task(task.issue_number) if task.issue_number else text_task(masked(task.description))

    def first(task_id: str, index: int) -> Record:
        named = {"task_id": task_id, "workspace": workspace, "task_index": index, "worktree": root, "owner": owner}
        record = first_record(task, steps, now, **named)
        # What has nothing to prepare is ready at once, in one write.
        return record if prepare else ready_record(record, limit, now)

    _clean_up(recorder, recorder.home, workspace, now)
    store, record = begin_record(recorder.home, workspace, wanted, first)
    point(recorder.place, record)
    if prepare is None:
        return OpenRecord(store, record)
    try:
        prepare()
    except AgentSyncError as error:
        reason = error.happened
        store.update(lambda new: with_move(new, RecordMove.SETUP_FAILED, now, reason=reason), now)
        unpoint(recorder.place)
        raise
    return OpenRecord(store, store.update(lambda new: ready_record(new, limit, now), now))


def _clean_up(recorder: Recorder, home: Home, workspace: str, now: datetime) -> None:
    """Delete records whose time is over, as a new task begins; trouble with them is left to `cleanup`."""
    if not recorder.settings.record.clean:
        return
    path = home.root / "workspaces" / workspace
    with contextlib.suppress(AgentSyncError, OSError):
        clean_workspace(path, lambda task: home.store(workspace, task.name).read(), recorder.settings.record, now)


def begin_record(home: Home, workspace: str, wanted: str, make: Callable[[str, int], Record]) -> OpenRecord:
    """Write the first record of a new task: `make` gets its id, numbered if taken, and its index.

    The index is written first, so that a crash leaves a gap and never the same index twice.
    """
    with disk_errors("making the home of the records"):
        make_home(home.root)
    with hold_lock(home.root / "index.lock", "beginning a task"):
        task_id = _free_id(home, workspace, wanted)
        with disk_errors("counting the tasks"):
            index = _next_index(home)
            files.write_atomic(home.root / "index.json", json.dumps({"next": index + 1}).encode() + b"\n")
        store = home.store(workspace, task_id)
        return OpenRecord(store, store.create(make(task_id, index)))


def move_unusable_aside(recorder: Recorder, now: datetime) -> Path | None:
    """Move a record that cannot be used out of the way of a new one; return where to, None where there is none."""
    store = _unusable_store(recorder.place, recorder.home) if recorder.home else None
    if store is None:
        return None
    directory = store.directory
    aside = directory.parent.parent / "damaged" / f"{directory.name}-{now:%Y%m%dT%H%M%S%fZ}"
    with disk_errors("putting a damaged record aside"):
        files.make_directory(aside.parent, mode=0o700)
        directory.rename(aside)
        disk.sync_directory(aside.parent)
        disk.sync_directory(directory.parent)
    unpoint(recorder.place)
    return aside


def make_home(root: Path) -> None:
    """Make the directory, private; one that the user has named and made keeps its mode."""
    files.make_directory(root, mode=files.PRIVATE_DIRECTORY)
    if root.name == ATLAS_HOME:
        files.tighten(root)


def issue_task(number: int) -> str:
    """Return the id wanted for the task of an issue."""
    return f"issue-{number}"


def text_task(text: str) -> str:
    """Return the id wanted for a task that was described in words."""
    return slug(text) or "task"


def _unusable_store(place: Place, home: Home) -> RecordStore | None:
    """Return the record that would be the worktree's, could it be read."""
    workspace = workspace_of(place)
    pointed = pointed_store(place, home)
    own = (home.store(workspace, task_id) for task_id in home.tasks(workspace))
    stores = [*([pointed] if pointed else []), *(store for store in own if _is_open(store, place))]
    return next((store for store in stores if not _is_readable(store)), None)


def _is_open(store: RecordStore, place: Place) -> bool:
    """Tell by task.json alone whether a task belongs to the worktree and has not ended."""
    summary = task_summary(store)
    return summary.get("outcome") not in set(TERMINAL) and summary.get("worktree", place.root) == place.root


def _is_readable(store: RecordStore) -> bool:
    try:
        store.read()
    except BadRecord:
        return False
    return True


def _free_id(home: Home, workspace: str, wanted: str) -> str:
    taken = set(home.tasks(workspace))
    numbered = (f"{wanted}-{number}" for number in range(2, len(taken) + 3))
    return wanted if wanted not in taken else next(name for name in numbered if name not in taken)


def _next_index(home: Home) -> int:
    """Return the index that follows the last; where the file is lost, the records themselves are asked."""
    try:
        values = read_json(files.read_own(home.root / "index.json") or b"null")
        found = values["next"]
    except (ValueError, TypeError, KeyError):
        found = None
    return found if isinstance(found, int) and found >= 0 else _highest_index(home) + 1


def _highest_index(home: Home) -> int:
    found = [-1]
    for workspace in home.workspaces():
        for task_id in home.tasks(workspace):
            try:
                record = home.store(workspace, task_id).read()
            except (BadRecord, RecordUnavailable):
                continue
            found.append(record.task_index if record else -1)
    return max(found)
