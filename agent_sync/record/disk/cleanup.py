"""Deletes records whose time is over, and whole workspaces, each leaving one line behind."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from agent_sync.errors import AgentSyncError, BadRecord, IllegalMove
from agent_sync.record.disk import tombstones
from agent_sync.record.disk.retention import Retention
from agent_sync.record.disk.task_directory import TaskDirectory, tasks_in
from agent_sync.record.machine.model import Owner, Record
from agent_sync.record.machine.states import TERMINAL, Standing, State

Read = Callable[[Path], Record | None]


@dataclass(frozen=True)
class Due:
    """A record whose time is over."""

    directory: Path
    state: State
    ended: datetime
    kept: timedelta


def due(records: Mapping[Path, Record], now: datetime, retention: Retention) -> tuple[Due, ...]:
    """Return which of the records, by where they lie, are to be deleted, the oldest first."""
    found = []
    for directory, record in records.items():
        kept = retention.of(record.state)
        if kept is not None and now - record.updated_at >= kept:
            found.append(Due(directory, record.state, record.updated_at, kept))
    return tuple(sorted(found, key=lambda one: (one.ended, str(one.directory))))


def records_in(workspaces: Iterable[Path], read: Read) -> dict[Path, Record]:
    """Return every record that can be read, by where it lies; a damaged one is nobody's to delete by its age."""
    found = {}
    for workspace in workspaces:
        for task in tasks_in(workspace):
            try:
                record = read(task.path)
            except BadRecord:
                continue
            if record is not None:
                found[task.path] = record
    return found


def clean(listed: Iterable[Due], read: Read, now: datetime, retention: Retention) -> tuple[Due, ...]:
    """Delete what is listed and is still due once nobody else can write it; return what was deleted."""
    return tuple(one for one in listed if _delete_due(one, read, now, retention))


def destroy(
    workspace: Path, read: Read, standing: Callable[[Owner], Standing], now: datetime, *, is_forced: bool = False
) -> tuple[Path, ...]:
    """Delete every record of a workspace, whatever its state; refuse, before anything, while one is worked on."""
    tasks = [task for task in tasks_in(workspace) if task.holds_record]
    if not is_forced:
        for task in tasks:
            _refuse_if_alive(task, read, standing)
    for task in tasks:
        with task.locked():
            if not is_forced:
                _refuse_if_alive(task, read, standing)
            _delete(task, _readable(task, read), "workspace destroyed", now)
    return tuple(task.path for task in tasks)


def _delete_due(listed: Due, read: Read, now: datetime, retention: Retention) -> bool:
    task = TaskDirectory(listed.directory)
    if not task.path.is_dir():
        return False
    with task.locked():
        record = _readable(task, read)
        if record is None or not due({task.path: record}, now, retention):
            return False
        _delete(task, record, f"kept for {listed.kept.total_seconds() / 86400:g} days after it was {record.state}", now)
        return True


def _delete(task: TaskDirectory, record: Record | None, reason: str, now: datetime) -> None:
    # The line is durable before anything is gone: a crash in between only means to delete again.
    tombstones.keep(task.workspace, tombstones.tombstone(task.path, record, reason, now))
    task.delete_files()


def _refuse_if_alive(task: TaskDirectory, read: Read, standing: Callable[[Owner], Standing]) -> None:
    attempted = f"destroying the workspace {task.workspace.name}"
    helps = "agent-sync record status"
    try:
        record = read(task.path)
    except BadRecord as error:
        message = f"The record of {task.path.name} cannot be read, so it may be in use."
        raise IllegalMove(message, attempted=attempted, helps=helps) from error
    if record and record.state not in TERMINAL and standing(record.owner) is Standing.ALIVE:
        message = f"Process {record.owner.pid} is working on {task.path.name}."
        raise IllegalMove(message, attempted=attempted, helps=helps)


def _readable(task: TaskDirectory, read: Read) -> Record | None:
    try:
        return read(task.path)
    except AgentSyncError:
        return None
