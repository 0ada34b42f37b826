"""What is left of a deleted record: one line that keeps the head of its history."""

import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from agent_sync.record.machine.chain import head_of
from agent_sync.record.machine.model import Record
from agent_sync.system import files
from agent_sync.system.json_reading import read_json

NAME = "tombstones.jsonl"
LOCK_NAME = "tombstones.lock"
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


def keep(workspace: Path, stone: Tombstone) -> None:
    """Append the line durably; one that a killed deletion has left is not written twice."""
    with files.locked(workspace / LOCK_NAME, wait=LOCK_WAIT, doing="noting what is deleted"):
        file = workspace / NAME
        if stone.head and any(kept.identity == stone.identity for kept in tombstones(workspace)):
            return
        descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "r+b") as opened:
            line = json.dumps(asdict(stone), ensure_ascii=True).encode() + b"\n"
            opened.write(line if _ends_whole(descriptor) else b"\n" + line)
            opened.flush()
            os.fsync(descriptor)
        files.sync_directory(workspace)


def tombstones(workspace: Path) -> Iterator[Tombstone]:
    """Return every line that is whole; half a line is what a crash has left."""
    try:
        lines = (workspace / NAME).read_bytes().splitlines()
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
