"""Recovery records for tests: a new one, ways to change it, and a machine whose processes are made up."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from agent_sync.record.crash.owner import Process, ProcessHidden
from agent_sync.record.disk.store import RecordStore
from agent_sync.record.machine.machine import with_first_event, with_move
from agent_sync.record.machine.model import Checkpoint, Record
from agent_sync.record.machine.states import CheckpointCause, RecordMove, RecordState
from agent_sync.record.machine.templates import steps_of
from agent_sync.record.receipts.receipt import Receipt
from agent_sync.settings import Settings

NOW = datetime(2026, 1, 17, 14, 30, 22, tzinfo=UTC)
LATER = NOW + timedelta(minutes=1)


def begun_record(**fields: Any) -> Record:
    """Return a record that has just been begun."""
    values: dict[str, Any] = {
        "task_id": "fix-null-pointer",
        "workspace": "demo-123456",
        "task_index": 0,
        "description": "fix null pointer in config",
        "template": "bugfix",
        "created_at": NOW,
        "updated_at": NOW,
        "state": RecordState.INITIALIZING,
        "steps": steps_of("bugfix", Settings()),
        "worktree": "/nowhere/demo",
    }
    return with_first_event(Record(**(values | fields)), NOW)


def stored(directory: Path, **fields: Any) -> RecordStore:
    """Return the store of a record that was just created and set up."""
    store = RecordStore(directory)
    store.create(begun_record(**fields))
    store.update(lambda record: with_move(record, RecordMove.SETUP_COMPLETE, NOW), NOW)
    return store


def noted(number: int = 0) -> Callable[[Record], Record]:
    """Return a change that adds one event, told apart by a number."""
    return lambda record: with_move(record, RecordMove.CHECKPOINT, LATER, number=number)


def with_events(count: int) -> Callable[[Record], Record]:
    """Return a change that adds many events at once."""

    def change(record: Record) -> Record:
        for number in range(count):
            record = with_move(record, RecordMove.CHECKPOINT, LATER, number=number)
        return record

    return change


def checkpoint(number: int) -> Checkpoint:
    """Return a checkpoint."""
    return Checkpoint(
        checkpoint_id=f"ckpt-{number:08x}", created_at=NOW, description="x", trigger=CheckpointCause.MANUAL
    )


def receipt(number: int, receipt_id: str = "") -> Receipt:
    """Return a receipt that nobody has signed."""
    texts = dict.fromkeys(name for name, field in Receipt.model_fields.items() if field.annotation is str)
    values: dict[str, Any] = dict.fromkeys(texts, "x") | {
        "receipt_id": receipt_id or f"rcpt-{number:03d}",
        "exit_code": 0,
        "duration_ms": 1,
        "argv": ("true",),
        "kind": "command",
        "attempt": 1,
        "git_dirty": False,
        "task_index": 0,
        "receipt_index": number,
        "algorithm": "ed25519",
        "signature": "",
    }
    return Receipt(**values)


@dataclass
class MadeUpProcesses:
    """A machine that has just the processes it is given."""

    processes: dict[int, Process] = field(default_factory=dict)
    own_pid: int = 100
    boot_id: str = "boot-1"
    host: str = "here"
    namespace: str = "pid:[1]"
    is_hidden: bool = False

    def process(self, pid: int) -> Process | None:
        """Return one of them."""
        if self.is_hidden:
            raise ProcessHidden("no")
        return self.processes.get(pid)


def family(*commands: str) -> MadeUpProcesses:
    """Return a machine on which this process, number 100, descends from the commands, the nearest first."""
    pids = [100, *range(90, 90 - len(commands), -1)]
    parents = [*pids[1:], 0]
    rows = zip(pids, parents, ("agent-sync on-stop", *commands), strict=True)
    return MadeUpProcesses({pid: Process(pid, parent, f"{pid}0", tuple(text.split())) for pid, parent, text in rows})


def full_store(directory: Path) -> RecordStore:
    """Return the store of a record whose next event moves an old one out of hook.json."""
    store = stored(directory)
    store.update(with_events(300), LATER)
    return store


def created_once(directory: Path) -> Record:
    """Save the first generation of a record."""
    return RecordStore(directory).create(begun_record())


def saved_once(directory: Path) -> Record:
    """Save a change that touches every file there is: an event, one archived, a receipt, and the outcome."""

    def change(record: Record) -> Record:
        ended = with_move(record, RecordMove.ABANDON, LATER, reason="x")
        return ended.model_copy(update={"receipts": (receipt(1),), "receipts_total": 1})

    return RecordStore(directory).update(change, LATER)
