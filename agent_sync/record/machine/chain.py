"""The hash chain of the history: an event that is edited, moved, inserted or taken out no longer fits."""

import hashlib
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from agent_sync.record.machine.model import Details, Event, Record
from agent_sync.record.machine.states import Move, State
from agent_sync.record.receipts.canonical import canonical
from agent_sync.system.masking import masked_values


def genesis(task_id: str, created_at: datetime) -> str:
    """Return what the first event is chained to: this task and no other."""
    return _hash({"task_id": task_id, "created_at": created_at.isoformat()})


def head_of(record: Record) -> str:
    """Return the hash that vouches for everything up to now."""
    if record.history:
        return record.history[-1].hash
    return record.archive.head or genesis(record.task_id, record.created_at)


def linked(  # noqa: PLR0913  # an event has as many sides
    record: Record, move: Move, *, to: State, before: State | None, now: datetime, step: str, details: Details
) -> Event:
    """Return the next event of the record's history."""
    seq = record.archive.events + len(record.history)
    values: dict[str, Any] = {
        "seq": seq,
        "timestamp": now,
        "from_state": before,
        "to_state": to,
        "trigger": move,
        "step_name": step,
        # An event can never be changed again, so no secret may get in.
        "details": masked_values(details),
        "prev": head_of(record),
        "hash": "0" * 64,
    }
    event = Event(**values)
    return event.model_copy(update={"hash": event_hash(event)})


def event_hash(event: Event) -> str:
    """Return the hash an event must carry."""
    return _hash(event.model_dump(mode="json", exclude={"hash"}))


def first_break(events: Iterable[Event], *, after: str, seq: int) -> int | None:
    """Return the number of the first event that does not fit behind the one whose hash is `after`."""
    for event in events:
        if event.seq != seq or event.prev != after or event.hash != event_hash(event):
            return seq
        after, seq = event.hash, seq + 1
    return None


def broken_at(record: Record, archived: Sequence[Event]) -> int | None:
    """Return where the whole history, archived events included, first fails to fit; None where it is intact."""
    start = genesis(record.task_id, record.created_at)
    known = archived[: record.archive.events]
    found = first_break([*known, *record.history], after=start, seq=0)
    if found is not None:
        return found
    if len(known) < record.archive.events:
        return len(known)
    return None if record.archive.head == (known[-1].hash if known else "") else max(len(known) - 1, 0)


def digest(record: Record) -> str:
    """Return the hash over every field of the record but the digest itself."""
    unset = {"claim"} if record.claim is None else set()
    return _hash(record.model_dump(mode="json", exclude={"digest"} | unset))


def _hash(values: dict[str, Any]) -> str:
    return hashlib.sha256(canonical(values)).hexdigest()
