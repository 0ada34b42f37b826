"""Tells whether a task got anywhere: what counts as progress, and which receipts nothing has followed yet."""

from agent_sync.record.machine.model import Event, Record
from agent_sync.record.machine.states import Move, State, Trigger
from agent_sync.record.receipts.receipt import Receipt

# Starting, retrying and resuming only promise to get somewhere.
_PROGRESS = frozenset(
    {
        Move.CHECKPOINT,
        Move.RECEIPT,
        Move.STEP_OUTPUT,
        Move.CONTINUE_STEP,
        Move.STEP_COMPLETE,
        Move.STEP_FAILED,
        Move.VALIDATE_PASS,
        Move.VALIDATE_FAIL,
        Move.HUMAN_APPROVE,
        Move.HUMAN_REJECT,
        Move.HUMAN_RESUME,
        Move.REWORK,
        Move.SKIP_STEP,
    }
)
_GOES_ON = frozenset({State.STEP_PENDING, State.STEP_RUNNING})


def progressed(record: Record) -> Record:
    """Return the record with its count of fruitless recoveries at zero, if anything was reached since the last."""
    if not record.recoveries_without_progress:
        return record
    if not any(_is_progress(event) for event in _since_crash(record)):
        return record
    return record.model_copy(update={"recoveries_without_progress": 0})


def unanswered_receipts(record: Record) -> tuple[Receipt, ...]:
    """Return the receipts after which the step neither went on nor ended: what they show was not acted upon."""
    count = 0
    for event in reversed(record.history):
        if event.to_state in _GOES_ON and event.from_state is not event.to_state:
            break
        count += event.trigger is Move.RECEIPT
    return record.receipts[-count:] if count else ()


def _since_crash(record: Record) -> tuple[Event, ...]:
    crashes = [place for place, event in enumerate(record.history) if event.trigger is Move.CRASH_DETECTED]
    return record.history[crashes[-1] + 1 :] if crashes else record.history


def _is_progress(event: Event) -> bool:
    match event.trigger:
        case Move.CHECKPOINT:
            # Time passes by itself: a task that crashes every few minutes would never reach its limit.
            made = event.details.get("checkpoint")
            return not (isinstance(made, dict) and made.get("trigger") == Trigger.INTERVAL)
        case Move.REWORK:
            return event.from_state is not State.RECOVERING
        case _:
            return event.trigger in _PROGRESS
