"""What hook.json holds itself: the newest events, checkpoints and receipts; older ones lie beside it."""

from agent_sync.record.machine.model import Archive, Event, Record

EVENTS = 256
CHECKPOINTS = 64
RECEIPTS = 64


def capped(record: Record) -> tuple[Record, tuple[Event, ...]]:
    """Return the record as hook.json may hold it, and the events that no longer have a place in it."""
    moved_out = record.history[:-EVENTS]
    changes: dict[str, object] = {}
    if moved_out:
        count = record.archive.events + len(moved_out)
        changes["archive"] = Archive(events=count, head=moved_out[-1].hash)
        changes["history"] = record.history[-EVENTS:]
    if len(record.checkpoints) > CHECKPOINTS:
        changes["checkpoints"] = record.checkpoints[-CHECKPOINTS:]
    if len(record.receipts) > RECEIPTS:
        changes["receipts"] = record.receipts[-RECEIPTS:]
    return (record.model_copy(update=changes) if changes else record), moved_out


def count_of(record: Record) -> int:
    """Return how many events the record has had, which is also the number of the next."""
    return record.archive.events + len(record.history)
