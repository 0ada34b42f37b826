"""Prints how the cost of saving a recovery record grows with its history: it should not."""

import statistics
import tempfile
import time
from datetime import UTC, datetime
from functools import reduce
from pathlib import Path

from agent_sync.record.disk.store import RecordStore
from agent_sync.record.machine.machine import with_first_event, with_move
from agent_sync.record.machine.model import Record
from agent_sync.record.machine.states import CLAIM_TO_CLOSE, RecordMove, RecordState
from agent_sync.record.machine.templates import steps_of
from agent_sync.settings import Settings

FEW, MANY = 300, 10_000
STRIDE = 100
ROUNDS = 60
LIMIT = 2.0
NOW = datetime(2026, 1, 17, tzinfo=UTC)


def noted(record: Record) -> Record:
    """Add an event."""
    return with_move(record, RecordMove.CHECKPOINT, NOW, description="Added nil check for config.Server field")


def grown(directory: Path, events: int) -> RecordStore:
    """Make a record with a history."""
    record = Record(
        task_id=directory.name,
        workspace="bench",
        task_index=0,
        description="x",
        template=CLAIM_TO_CLOSE,
        created_at=NOW,
        updated_at=NOW,
        state=RecordState.INITIALIZING,
        steps=steps_of(CLAIM_TO_CLOSE, Settings()),
        worktree="/nowhere",
    )
    store = RecordStore(directory)
    record = store.create(with_first_event(record, NOW))
    while record.archive.events + len(record.history) < events:
        record = store.update(lambda one: reduce(lambda before, _: noted(before), range(STRIDE), one), NOW)
    return store


def seconds(store: RecordStore) -> float:
    """Time one save."""
    began = time.perf_counter()
    store.update(noted, NOW)
    return time.perf_counter() - began


def main() -> None:
    """Print the ratio, and fail where it is out of bounds."""
    with tempfile.TemporaryDirectory(prefix="agent-sync-bench-") as name:
        stores = {events: grown(Path(name) / str(events), events) for events in (FEW, MANY)}
        times: dict[int, list[float]] = {events: [] for events in stores}
        for _ in range(ROUNDS):
            for events, store in stores.items():
                times[events].append(seconds(store))
    ratio = statistics.median(times[MANY]) / statistics.median(times[FEW])
    print(f"saving at {MANY} events, over {FEW}      {ratio:5.2f}")
    if ratio > LIMIT:
        raise SystemExit(f"a long history makes saving more than {LIMIT:g} times as slow")


main()
