"""What people and agents do to a task by command: each refused, with what helps, where it makes no sense."""

from datetime import datetime

from agent_sync.errors import IllegalMove
from agent_sync.record.machine.following import waits_for_claim
from agent_sync.record.machine.machine import moved
from agent_sync.record.machine.model import Record
from agent_sync.record.machine.states import Move, State
from agent_sync.record.machine.templates import CLAIM_TO_CLOSE
from agent_sync.record.observe.words import readable, with_output, with_prompt
from agent_sync.record.page.told import next_told


def step_started(record: Record, prompt: str, now: datetime) -> Record:
    """Return the record with its pending step begun."""
    return with_prompt(moved(_allowed(record, State.STEP_PENDING, "starting a step"), Move.START_STEP, now), prompt)


def output_given(record: Record, text: str, now: datetime) -> Record:
    """Return the record with what came of the step: its validation follows."""
    if record.state is State.STEP_VALIDATING:
        return with_output(record, text)
    running = _allowed(record, State.STEP_RUNNING, "giving a step's output")
    return moved(with_output(running, text), Move.STEP_OUTPUT, now)


def step_done(record: Record, now: datetime) -> Record:
    """Return the record with its running step completed."""
    return moved(_allowed(record, State.STEP_RUNNING, "completing a step"), Move.STEP_COMPLETE, now)


def step_failed(record: Record, reason: str, now: datetime) -> Record:
    """Return the record with its step to be tried again, or failed after the last attempt."""
    _allowed(record, record.state if record.state is State.STEP_VALIDATING else State.STEP_RUNNING, "failing a step")
    return moved(record, Move.STEP_FAILED, now, **_given(reason))


def approved(record: Record, reason: str, now: datetime) -> Record:
    """Return the record after a human's yes: the step is done; in a claim, whose phase leads, it goes on."""
    _refuse_unless_decidable(record, "approving")
    is_claim = record.template == CLAIM_TO_CLOSE
    return moved(record, Move.HUMAN_RESUME if is_claim else Move.HUMAN_APPROVE, now, **_given(reason))


def rejected(record: Record, reason: str, now: datetime) -> Record:
    """Return the record after a human's no: the step is tried again, or has failed after the last attempt."""
    _refuse_unless_decidable(record, "rejecting")
    return moved(record, Move.HUMAN_REJECT, now, **_given(reason))


def _allowed(record: Record, state: State, attempted: str) -> Record:
    if record.template == CLAIM_TO_CLOSE:
        message = f"Task {record.task_id} follows its claim; its steps cannot be changed by hand."
        raise IllegalMove(message, attempted=attempted, helps=next_told(record).command)
    if record.state is not state:
        message = f"Task {record.task_id} is {record.state}, not {state}."
        raise IllegalMove(message, attempted=attempted, helps=next_told(record).command)
    return record


def _refuse_unless_decidable(record: Record, attempted: str) -> None:
    if record.state is not State.AWAITING_HUMAN:
        message = f"Task {record.task_id} is {record.state}: no decision is pending."
        raise IllegalMove(message, attempted=attempted, helps=next_told(record).command)
    if waits_for_claim(record):
        message = f"The task is waiting for something else: {record.waiting_for}."
        raise IllegalMove(message, attempted=attempted, helps=next_told(record).command)


def _given(reason: str) -> dict[str, str]:
    text = readable(reason)
    return {"reason": text} if text else {}
