"""Whether a record is as agent-sync wrote it."""

from collections.abc import Sequence
from dataclasses import dataclass

from agent_sync.record.machine.chain import broken_at, digest
from agent_sync.record.machine.model import Event, Record


@dataclass(frozen=True)
class Intact:
    """Every event fits, and every field is as it was written."""


@dataclass(frozen=True)
class ChangedOutside:
    """The history fits; something else than agent-sync has changed another field."""


@dataclass(frozen=True)
class BrokenAt:
    """The history does not fit from this event on."""

    seq: int


Integrity = Intact | ChangedOutside | BrokenAt


def integrity_of(record: Record, archived: Sequence[Event]) -> Integrity:
    """Return what the hashes say of a record with the events it has let go of."""
    seq = broken_at(record, archived)
    if seq is not None:
        return BrokenAt(seq)
    return Intact() if is_vouched_for(record) else ChangedOutside()


def is_vouched_for(record: Record) -> bool:
    """Tell whether the record's digest is the one its fields have."""
    return record.digest == digest(record)
