"""Receipts to try things on, in a test's words."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from agent_sync.record.receipts.keys import MasterKey
from agent_sync.record.receipts.receipt import CommandRun, Receipt, ReceiptSlot, ReceiptSubject
from agent_sync.record.receipts.signing import sign

MASTER = MasterKey(bytes(range(32)))
OTHER_MASTER = MasterKey(bytes(range(1, 33)))
SLOT = ReceiptSlot("task-20261116-101500", 0, 2)
RAN = CommandRun(
    command="magex lint",
    argv=("sh", "-c", "magex lint"),
    cwd="/home/dev/project",
    exit_code=0,
    started_at=datetime(2026, 11, 16, 10, 15, tzinfo=UTC),
    completed_at=datetime(2026, 11, 16, 10, 15, 12, 345_678, tzinfo=UTC),
    duration_ms=12_345,
    stdout_hash="a1" * 32,
    stderr_hash="b2" * 32,
)
WORK = ReceiptSubject(
    step_name="analyze",
    attempt=1,
    kind="gate",
    label="lint",
    git_commit="c3" * 20,
    git_tree="d4" * 20,
    git_dirty=False,
    history_head="e5" * 32,
)


def receipt(exit_code: int = 0, *, slot: ReceiptSlot = SLOT, master: MasterKey = MASTER, **ran: Any) -> Receipt:
    """Return a signed receipt of a command that ended like this."""
    return sign(replace(RAN, exit_code=exit_code, **ran), WORK, slot, master)
