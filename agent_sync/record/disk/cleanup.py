"""Deletes records whose time is over, and whole workspaces, each leaving one line behind."""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta
from pathlib import Path

from agent_sync.errors import AgentSyncError, BadInput, BadRecord, IllegalMove
from agent_sync.lazy_dataclasses import dataclass
from agent_sync.lazy_patterns import pattern
from agent_sync.record.disk.deletion import TaskDirectory, keep_tombstone, tasks_in, tombstone
from agent_sync.record.machine.model import Owner, Record
from agent_sync.record.machine.states import TERMINAL, OwnerStanding, RecordState
from agent_sync.settings.tables import RecordSettings

_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_LENGTH = pattern(r"([0-9]{1,6})([mhdw])")


@dataclass(frozen=True)
class Retention:
    """How long a record is kept after its task has ended, by how it ended; a task at work has no such time."""

    completed: timedelta
    failed: timedelta
    abandoned: timedelta

    def of(self, state: RecordState) -> timedelta | None:
        """Return how long a record in `state` is kept; None means for ever."""
        ends = {
            RecordState.COMPLETED: self.completed,
            RecordState.FAILED: self.failed,
            RecordState.ABANDONED: self.abandoned,
        }
        return ends.get(state)


def retention_of(settings: RecordSettings) -> Retention:
    """Return what the settings say."""
    return Retention(
        timedelta(days=settings.keep_completed_days),
        timedelta(days=settings.keep_failed_days),
        timedelta(days=settings.keep_abandoned_days),
    )


def uniform_retention(kept: timedelta) -> Retention:
    """Return one time for all, however a task ended."""
    return Retention(kept, kept, kept)


def parse_duration(text: str) -> timedelta:
    """Read a length of time like `30m`, `12h`, `7d`, `2w` or `0`."""
    if text == "0":
        return timedelta()
    found = _LENGTH.fullmatch(text)
    if not found:
        message = f"{text!r} is not a duration; write 0, or a number with m, h, d or w, such as 30m, 12h, 7d, 2w."
        raise BadInput(message, attempted="reading --retention", helps="agent-sync cleanup --help")
    return timedelta(**{_UNITS[found[2]]: int(found[1])})


Read = Callable[[Path], Record | None]


@dataclass(frozen=True)
class Due:
    """A record whose time is over."""

    directory: Path
    state: RecordState
    ended: datetime
    kept: timedelta


def due(records: Mapping[Path, Record], now: datetime, retention: Retention) -> tuple[Due, ...]:
    """Return which of the records, by their directories, are to be deleted, the oldest first."""
    found = []
    for directory, record in records.items():
        kept = retention.of(record.state)
        if kept is not None and now - record.updated_at >= kept:
            found.append(Due(directory, record.state, record.updated_at, kept))
    return tuple(sorted(found, key=lambda one: (one.ended, str(one.directory))))


def records_in(workspaces: Iterable[Path], read: Read) -> dict[Path, Record]:
    """Return every record that can be read, by its directory; a damaged one is not deleted by its age."""
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


def clean_workspace(workspace: Path, read: Read, settings: RecordSettings, now: datetime) -> tuple[Due, ...]:
    """Delete what is due in one workspace; records that were written lately are not even read."""
    retention = retention_of(settings)
    shortest = min(retention.completed, retention.failed, retention.abandoned)
    old = [task.path for task in tasks_in(workspace) if _was_written_before(task, now - shortest)]
    found = {path: record for path in old if (record := _readable(TaskDirectory(path), read))}
    return clean(due(found, now, retention), read, now, retention)


def _was_written_before(task: TaskDirectory, moment: datetime) -> bool:
    try:
        return (task.path / "hook.json").stat().st_mtime <= moment.timestamp()
    except OSError:
        return False


def destroy(
    workspace: Path, read: Read, standing: Callable[[Owner], OwnerStanding], now: datetime, *, is_forced: bool = False
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
    keep_tombstone(task.workspace, tombstone(task.path, record, reason, now))
    task.delete_files()


def _refuse_if_alive(task: TaskDirectory, read: Read, standing: Callable[[Owner], OwnerStanding]) -> None:
    attempted = f"destroying the workspace {task.workspace.name}"
    helps = "agent-sync record status"
    try:
        record = read(task.path)
    except BadRecord as error:
        message = f"The record of {task.path.name} cannot be read, so it may be in use; --force deletes it anyway."
        raise IllegalMove(message, attempted=attempted, helps="agent-sync workspace destroy --help") from error
    if record and record.state not in TERMINAL and standing(record.owner) is OwnerStanding.ALIVE:
        message = f"Process {record.owner.pid} is working on {task.path.name}."
        raise IllegalMove(message, attempted=attempted, helps=helps)


def _readable(task: TaskDirectory, read: Read) -> Record | None:
    try:
        return read(task.path)
    except AgentSyncError:
        return None
