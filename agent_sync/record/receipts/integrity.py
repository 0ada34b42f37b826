"""Whether a record is as agent-sync wrote it."""

from collections.abc import Iterable, Sequence

from agent_sync.lazy_dataclasses import dataclass
from agent_sync.record.machine.machine import event_hash, genesis, is_digest_right
from agent_sync.record.machine.model import Event, Record
from agent_sync.record.machine.states import RecordMove


@dataclass(frozen=True)
class Intact:
    """Every event fits, and every field is as it was written."""


@dataclass(frozen=True)
class ChangedOutside:
    """The history fits; something else than agent-sync has changed another field, now or earlier (at this event)."""

    seq: int | None = None


@dataclass(frozen=True)
class Restored:
    """hook.json is damaged or gone: the generation before it is used, and what came last is missing."""

    file: str


@dataclass(frozen=True)
class BrokenAt:
    """The history does not fit from this event on."""

    seq: int


Integrity = Intact | ChangedOutside | Restored | BrokenAt


def integrity_of(record: Record, archived: Sequence[Event]) -> Integrity:
    """Return what the hashes say of a record with its archived events."""
    return _judged(record, broken_at(record, archived), (*archived, *record.history))


def recent_integrity_of(record: Record, last: Event | None) -> Integrity:
    """Return what the hashes say of what hook.json holds, and of the archived event behind which that begins."""
    count, head = record.archive.events, record.archive.head
    if last is None or last.hash != head or last.hash != event_hash(last):
        return BrokenAt(count - 1)
    return _judged(record, _first_break(record.history, after=head, seq=count), record.history)


def _judged(record: Record, broken: int | None, events: Iterable[Event]) -> Integrity:
    if broken is not None:
        return BrokenAt(broken)
    if not is_digest_right(record):
        return ChangedOutside()
    noted = [event.seq for event in events if event.trigger is RecordMove.CHANGED_OUTSIDE]
    return ChangedOutside(noted[-1]) if noted else Intact()


def broken_at(record: Record, archived: Sequence[Event]) -> int | None:
    """Return where the whole history, archived events included, first fails to fit; None where it is intact."""
    start = genesis(record.task_id, record.created_at)
    known = archived[: record.archive.events]
    found = _first_break([*known, *record.history], after=start, seq=0)
    if found is not None:
        return found
    if len(known) < record.archive.events:
        return len(known)
    return None if record.archive.head == (known[-1].hash if known else "") else max(len(known) - 1, 0)


def _first_break(events: Iterable[Event], *, after: str, seq: int) -> int | None:
    """Return the number of the first event that does not fit behind the one whose hash is `after`."""
    for event in events:
        if event.seq != seq or event.prev != after or event.hash != event_hash(event):
            return seq
        after, seq = event.hash, seq + 1
    return None
