"""Takes a crashed task up again: notes the crash, and goes on where the advice says."""

from datetime import datetime
from typing import assert_never

from agent_sync.record.crash.advice import NEVER_CRASHED
from agent_sync.record.machine.machine import moved, reworked
from agent_sync.record.machine.model import Record, Recovery
from agent_sync.record.machine.progress import progressed
from agent_sync.record.machine.states import Advice, Move, State, StepStatus


def recovered(record: Record, recovery: Recovery, now: datetime) -> Record:
    """Return the record with its crash noted; one that cannot have crashed is returned as it is."""
    if record.state in NEVER_CRASHED:
        return record
    action, reason = recovery.recommended_action, recovery.reason
    tries = progressed(record).recoveries_without_progress + 1
    noted = moved(record, Move.CRASH_DETECTED, now, crash_type=recovery.crash_type.value, action=action.value)
    noted = noted.model_copy(update={"recovery": recovery, "recoveries_without_progress": tries})
    if action in {Advice.MANUAL, Advice.AWAIT_HUMAN}:
        return moved(noted, Move.MANUAL_REQUIRED, now, reason=reason)
    return noted


def resumed(record: Record, now: datetime) -> Record:
    """Return the record of a task whose agent really goes on after a crash; any other is returned as it is."""
    if record.state is not State.RECOVERING:
        return record
    if record.recovery is None:
        return moved(record, Move.MANUAL_REQUIRED, now, reason="It is not known what was under way.")
    match record.recovery.recommended_action:
        case Advice.SKIP_STEP:
            return _started(progressed(moved(record, Move.SKIP_STEP, now)), now)
        case Advice.RETRY_VALIDATION:
            return moved(record, Move.RETRY_VALIDATION, now)
        case Advice.RETRY_STEP if record.recovery.last_checkpoint_id:
            checkpoint = record.recovery.last_checkpoint_id
            return moved(record, Move.RESUME_CHECKPOINT, now, checkpoint_id=checkpoint)
        case Advice.RETRY_STEP:
            return _started(_begun_again(record, now), now)
        case Advice.MANUAL | Advice.AWAIT_HUMAN:
            return moved(record, Move.MANUAL_REQUIRED, now, reason=record.recovery.reason)
        case _ as action:
            assert_never(action)


def _begun_again(record: Record, now: datetime) -> Record:
    """Return the record with its step pending; a step that never began has used up no attempt."""
    step = record.current_step
    if step and record.steps[step.step_index].status is not StepStatus.PENDING:
        return moved(record, Move.RETRY_STEP, now)
    return reworked(record, step.step_index if step else 0, now, reason="The step had not begun.")


def _started(record: Record, now: datetime) -> Record:
    return moved(record, Move.START_STEP, now) if record.state is State.STEP_PENDING else record
