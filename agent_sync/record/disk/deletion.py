"""Deletes the record of one task: exactly what agent-sync wrote there, after one line was kept of it."""

import contextlib
import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

from agent_sync.lazy_dataclasses import dataclass
from agent_sync.plain.json_reading import read_json
from agent_sync.record.machine.machine import head_of
from agent_sync.record.machine.model import Record
from agent_sync.system import disk, files

TOMBSTONES = "tombstones.jsonl"
_TOMBSTONES_LOCK = "tombstones.lock"
LOCK_WAIT = 5.0


@dataclass(frozen=True)
class Tombstone:
    """A deleted record; one that could not be read any more has but its name."""

    task_id: str
    reason: str
    deleted: str
    state: str = "unreadable"
    created: str = ""
    ended: str = ""
    events: int = 0
    head: str = ""
    receipts: int = 0

    @property
    def identity(self) -> tuple[str, str, str]:
        """Tell the record apart from all others, also from a later one of the same name."""
        return self.task_id, self.created, self.head


def tombstone(directory: Path, record: Record | None, reason: str, now: datetime) -> Tombstone:
    """Return what is to be kept of the record in `directory`."""
    if record is None:
        return Tombstone(directory.name, reason, _text(now))
    return Tombstone(
        task_id=directory.name,
        reason=reason,
        deleted=_text(now),
        state=record.state.value,
        created=_text(record.created_at),
        ended=_text(record.updated_at),
        events=record.archive.events + len(record.history),
        head=head_of(record),
        receipts=record.receipts_total,
    )


def keep_tombstone(workspace: Path, stone: Tombstone) -> None:
    """Append the line durably; one that a killed deletion has left is not written twice."""
    with files.locked(workspace / _TOMBSTONES_LOCK, wait=LOCK_WAIT, doing="noting what is deleted"):
        file = workspace / TOMBSTONES
        if stone.head and any(kept.identity == stone.identity for kept in tombstones(workspace)):
            return
        descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "r+b") as opened:
            line = json.dumps(asdict(stone), ensure_ascii=True).encode() + b"\n"
            opened.write(line if _ends_whole(descriptor) else b"\n" + line)
            opened.flush()
            os.fsync(descriptor)
        disk.sync_directory(workspace)


def tombstones(workspace: Path) -> Iterator[Tombstone]:
    """Return every line that is whole; half a line is what a crash has left."""
    try:
        lines = (workspace / TOMBSTONES).read_bytes().splitlines()
    except FileNotFoundError:
        return
    for line in lines:
        try:
            yield Tombstone(**read_json(line))
        except (ValueError, TypeError):
            continue


def _ends_whole(descriptor: int) -> bool:
    size = os.fstat(descriptor).st_size
    return size == 0 or os.pread(descriptor, 1, size - 1) == b"\n"


def _text(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


# As in the store: whoever writes the record holds it.
LOCK_NAME = "hook.lock"
_ARTIFACTS = "artifacts"
_DERIVED = ("HOOK.md", "task.json", "task.log", "hook-history-*.jsonl")
_RECORD = "hook.json"


@dataclass(frozen=True)
class TaskDirectory:
    """Where one task's record is."""

    path: Path

    @property
    def workspace(self) -> Path:
        """Return the directory of the workspace the task belongs to."""
        return self.path.parent.parent

    @property
    def holds_record(self) -> bool:
        """Tell whether there is anything that could be read as a record."""
        return any(self.path.glob(f"{_RECORD}*"))

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Keep every writer of the record out; the lock's own file is never deleted."""
        with files.locked(self.path / LOCK_NAME, wait=LOCK_WAIT, doing=f"deleting the record of {self.path.name}"):
            yield

    def delete_files(self) -> None:
        """Delete the record with all that belongs to it; hook.json goes last, so that a rest is found again."""
        self._delete_artifacts()
        for name in _DERIVED:
            self._delete(name, f"{name}.*.tmp")
        self._delete(f"{_RECORD}.*")
        disk.sync_directory(self.path)
        files.delete(self.path / _RECORD)

    def _delete_artifacts(self) -> None:
        artifacts = self.path / _ARTIFACTS
        if artifacts.is_dir() and not artifacts.is_symlink():
            shutil.rmtree(artifacts)
        else:
            artifacts.unlink(missing_ok=True)

    def _delete(self, *patterns: str) -> None:
        for pattern in patterns:
            for file in self.path.glob(pattern):
                file.unlink(missing_ok=True)


def tasks_in(workspace: Path) -> tuple[TaskDirectory, ...]:
    """Return the tasks of a workspace; a link to somewhere else is none."""
    tasks = workspace / "tasks"
    if not tasks.is_dir() or tasks.is_symlink():
        return ()
    inside = (path for path in sorted(tasks.iterdir()) if path.is_dir() and not path.is_symlink())
    return tuple(TaskDirectory(path) for path in inside)
