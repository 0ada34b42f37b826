"""Keeps secrets out of a record's own texts; events and receipts are masked when they are made."""

from agent_sync.record.machine.model import Record, Value
from agent_sync.system.masking import masked


def without_secrets(record: Record) -> Record:
    """Return the record with every text masked that somebody wrote or printed."""
    changes: dict[str, object] = _changes(record, "description", "waiting_for")
    if record.current_step:
        found = _changes(record.current_step, "prompt", "working_on", "last_output")
        changes |= {"current_step": record.current_step.model_copy(update=found)} if found else {}
    if record.recovery:
        found = _changes(record.recovery, "validation_cmd", "partial_output", "reason", "outside")
        changes |= {"recovery": record.recovery.model_copy(update=found)} if found else {}
    points = tuple(point.model_copy(update=_changes(point, "description")) for point in record.checkpoints)
    changes |= {"checkpoints": points} if points != record.checkpoints else {}
    return record.model_copy(update=changes) if changes else record


def _changes(value: Value, *names: str) -> dict[str, object]:
    texts = {name: str(getattr(value, name)) for name in names}
    return {name: masked(text) for name, text in texts.items() if masked(text) != text}
