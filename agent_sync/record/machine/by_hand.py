"""What people and agents do to a task by command: each refused, with what helps, where it makes no sense."""

from datetime import datetime

from agent_sync.errors import IllegalMove
from agent_sync.record.machine.asked import with_prompt
from agent_sync.record.machine.machine import with_move
from agent_sync.record.machine.model import Record
from agent_sync.record.machine.progress import readable_text, waits_for_claim, with_output
from agent_sync.record.machine.states import CLAIM_TO_CLOSE, RecordMove, RecordState
from agent_sync.record.page.next_steps import next_step_of


def with_step_started(record: Record, prompt: str, now: datetime) -> Record:
    """Return the record with its pending step begun."""
    return with_prompt(
        with_move(_allowed(record, RecordState.STEP_PENDING, "starting a step"), RecordMove.START_STEP, now), prompt
    )


def with_output_given(record: Record, text: str, now: datetime) -> Record:
    """Return the record with what came of the step: its validation follows."""
    if record.state is RecordState.STEP_VALIDATING:
        return with_output(record, text)
    running = _allowed(record, RecordState.STEP_RUNNING, "giving a step's output")
    return with_move(with_output(running, text), RecordMove.STEP_OUTPUT, now)


def with_step_done(record: Record, now: datetime) -> Record:
    """Return the record with its running step completed."""
    return with_move(_allowed(record, RecordState.STEP_RUNNING, "completing a step"), RecordMove.STEP_COMPLETE, now)


def with_step_failed(record: Record, reason: str, now: datetime) -> Record:
    """Return the record with its step to be tried again, or failed after the last attempt."""
    _allowed(
        record,
        record.state if record.state is RecordState.STEP_VALIDATING else RecordState.STEP_RUNNING,
        "failing a step",
    )
    return with_move(record, RecordMove.STEP_FAILED, now, **_given(reason))


def with_approval(record: Record, reason: str, now: datetime) -> Record:
    """Return the record after a human's yes: the step is done; in a claim, whose phase leads, it continues."""
    _refuse_unless_decidable(record, "approving")
    is_claim = record.template == CLAIM_TO_CLOSE
    return with_move(record, RecordMove.HUMAN_RESUME if is_claim else RecordMove.HUMAN_APPROVE, now, **_given(reason))


def with_rejection(record: Record, reason: str, now: datetime) -> Record:
    """Return the record after a human's no: the step is tried again, or has failed after the last attempt."""
    _refuse_unless_decidable(record, "rejecting")
    return with_move(record, RecordMove.HUMAN_REJECT, now, **_given(reason))


def _allowed(record: Record, state: RecordState, attempted: str) -> Record:
    if record.template == CLAIM_TO_CLOSE:
        message = f"Task {record.task_id} follows its claim; its steps cannot be changed by hand."
        raise IllegalMove(message, attempted=attempted, helps=next_step_of(record).command)
    if record.state is not state:
        message = f"Task {record.task_id} is {record.state}, not {state}."
        raise IllegalMove(message, attempted=attempted, helps=next_step_of(record).command)
    return record


def _refuse_unless_decidable(record: Record, attempted: str) -> None:
    if record.state is not RecordState.AWAITING_HUMAN:
        message = f"Task {record.task_id} is {record.state}: no decision is pending."
        raise IllegalMove(message, attempted=attempted, helps=next_step_of(record).command)
    if waits_for_claim(record):
        message = f"The task is waiting for something else: {record.waiting_for}."
        raise IllegalMove(message, attempted=attempted, helps=next_step_of(record).command)


def _given(reason: str) -> dict[str, str]:
    text = readable_text(reason)
    return {"reason": text} if text else {}
