"""Decides whether a task has crashed and what to do about it, and resumes it accordingly; pure."""

from collections.abc import Set as AbstractSet
from datetime import datetime, timedelta
from typing import assert_never

from agent_sync.lazy_dataclasses import dataclass
from agent_sync.record.machine.machine import with_move, with_rework
from agent_sync.record.machine.model import Checkpoint, Record, Recovery, StepContext
from agent_sync.record.machine.progress import (
    since_crash,
    unanswered_receipts,
    with_objection,
    with_progress_counted,
)
from agent_sync.record.machine.states import (
    CLAIM_TO_CLOSE,
    TERMINAL,
    CrashType,
    OwnerStanding,
    RecordMove,
    RecordState,
    RecoveryAdvice,
    StepStatus,
)
from agent_sync.record.machine.validations import failed_checks, validation_command

# Nothing was under way here: there is nothing a crash could have interrupted, or it is known already.
NEVER_CRASHED = TERMINAL | {RecordState.AWAITING_HUMAN}
_AT_WORK = frozenset({RecordState.STEP_RUNNING, RecordState.STEP_VALIDATING})
_RECOVERING = RecordState.RECOVERING


@dataclass(frozen=True)
class Circumstances:
    """What was found out about a task besides its record."""

    standing: OwnerStanding
    now: datetime
    stale_s: float
    max_recoveries: int
    # Why the work must not continue, in GitHub's words; empty where nothing speaks against it.
    outside: str = ""
    # The receipts whose signature was verified.
    valid_receipts: AbstractSet[str] = frozenset()
    # The tree of the working directory; empty where it is not exactly what is committed.
    tree: str = ""
    # The commit that is checked out.
    head: str = ""
    # Whether the validation that was begun still runs, without the client that asked for it; and what it printed.
    is_validation_alive: bool = False
    validation_output: str = ""


@dataclass(frozen=True)
class Recommendation:
    """What to do, and why."""

    action: RecoveryAdvice
    reason: str
    checkpoint_id: str = ""


def diagnosis(record: Record, found: Circumstances, *, caught_up: Record | None = None) -> Recovery | None:
    """Return what happened and what to do about it; None where nothing has crashed.

    The record as it was left says whether it has crashed; the one that git was asked for says what to do.
    """
    crash = _crash(record, found)
    if crash is None:
        return None
    # A session that died before it got anywhere leaves the task where the one before had left it.
    state = record.recovery.last_known_state if record.state is _RECOVERING and record.recovery else record.state
    advice = advice_for((caught_up or record).model_copy(update={"state": state}), found)
    was_validating = state is RecordState.STEP_VALIDATING
    return Recovery(
        detected_at=found.now,
        crash_type=crash,
        last_known_state=state,
        was_validating=was_validating,
        validation_cmd=validation_command(record) if was_validating else "",
        partial_output=found.validation_output if was_validating else "",
        recommended_action=advice.action,
        reason=advice.reason,
        last_checkpoint_id=advice.checkpoint_id,
        outside=found.outside,
    )


def advice_for(record: Record, found: Circumstances) -> Recommendation:
    """Return what to do after a crash: the way that repeats least, and none that would skip anything."""
    if found.outside:
        return Recommendation(RecoveryAdvice.AWAIT_HUMAN, found.outside)
    tries = with_progress_counted(record).recoveries_without_progress
    if tries >= found.max_recoveries:
        return Recommendation(
            RecoveryAdvice.MANUAL, f"The task crashed {tries + 1} times without any progress in between."
        )
    step = record.current_step
    if step is None or record.state not in _AT_WORK:
        return Recommendation(RecoveryAdvice.RETRY_STEP, "The step had not started.")
    return _advice_at_work(record, step, found)


def _crash(record: Record, found: Circumstances) -> CrashType | None:
    if record.state in NEVER_CRASHED or (record.state is _RECOVERING and not _is_taken_up(record)):
        return None
    if record.owner.has_left or found.is_validation_alive:
        return None
    match found.standing:
        case OwnerStanding.ALIVE:
            return None
        case OwnerStanding.GONE:
            return CrashType.SIGNAL
        case OwnerStanding.OTHER_BOOT:
            return CrashType.UNKNOWN
        case OwnerStanding.OTHER_HOST | OwnerStanding.UNKNOWN:
            # Nobody here can see whether that process lives, so only its silence can tell.
            is_stale = found.now - record.updated_at > timedelta(seconds=found.stale_s)
            return CrashType.TIMEOUT if is_stale else None
        case _:
            assert_never(found.standing)


def _advice_at_work(record: Record, step: StepContext, found: Circumstances) -> Recommendation:
    proof = _proof(record, step, found)
    if proof:
        return Recommendation(
            RecoveryAdvice.SKIP_STEP, f"Receipt {proof} shows that the step passed for exactly this tree."
        )
    if record.state is RecordState.STEP_VALIDATING:
        reason = "The validation was interrupted: its result is unknown. `agent-sync validate` runs it again."
        return Recommendation(RecoveryAdvice.RETRY_VALIDATION, reason)
    last = _last_checkpoint(record, step)
    failed = failed_checks(record, commit=found.head) if found.head and record.template == CLAIM_TO_CLOSE else []
    if failed:
        reason = f"The last run of {', '.join(failed)} failed: fix the cause and commit."
        return Recommendation(RecoveryAdvice.RETRY_STEP, reason, last.checkpoint_id if last else "")
    if last:
        reason = f"Checkpoint {last.checkpoint_id} holds what this step had reached."
        return Recommendation(RecoveryAdvice.RETRY_STEP, reason, last.checkpoint_id)
    if found.tree and found.head and found.head == step.base_commit:
        return Recommendation(RecoveryAdvice.RETRY_STEP, "The step had just begun: nothing was changed.")
    if not record.steps[step.step_index].idempotent:
        return Recommendation(RecoveryAdvice.MANUAL, "The step has no checkpoint and may not be safe to repeat.")
    if 0 < step.max_attempts <= step.attempt:
        return Recommendation(RecoveryAdvice.MANUAL, f"All {step.max_attempts} attempts at the step are used.")
    return Recommendation(RecoveryAdvice.RETRY_STEP, "The step has no checkpoint and is safe to repeat.")


def _proof(record: Record, step: StepContext, found: Circumstances) -> str:
    """Return the receipt that shows the step done on this tree; the last word of a command counts."""
    here = [
        receipt
        for receipt in unanswered_receipts(record)
        # One gate of several says nothing of the others; the gates know themselves what has passed already.
        if receipt.kind == "command" and receipt.step_name == step.step_name and receipt.task_id == record.task_id
    ]
    if not here or not found.tree:
        return ""
    last = here[-1]
    is_this_tree = last.git_tree == found.tree and not last.git_dirty
    return last.receipt_id if is_this_tree and last.exit_code == 0 and last.receipt_id in found.valid_receipts else ""


def _last_checkpoint(record: Record, step: StepContext) -> Checkpoint | None:
    """Return the last checkpoint of the step; in a claim a failed gate begins a new attempt, and gives nothing up."""
    is_claim = record.template == CLAIM_TO_CLOSE
    made = [
        point
        for point in record.checkpoints
        if (point.step_name, point.step_index) == (step.step_name, step.step_index)
        and (is_claim or point.attempt == step.attempt)
    ]
    return made[-1] if made else None


def _is_taken_up(record: Record) -> bool:
    """Tell whether another session has worked on the task since its crash was noted."""
    return any(event.trigger is RecordMove.OWNER for event in since_crash(record))


def with_crash(record: Record, recovery: Recovery, now: datetime) -> Record:
    """Return the record with its crash noted; one that cannot have crashed is returned as it is."""
    if record.state in NEVER_CRASHED or (record.state is _RECOVERING and not _is_taken_up(record)):
        return record
    action, reason = recovery.recommended_action, recovery.reason
    tries = with_progress_counted(record).recoveries_without_progress + 1
    noted = with_move(record, RecordMove.CRASH_DETECTED, now, crash_type=recovery.crash_type.value, action=action.value)
    noted = noted.model_copy(update={"recovery": recovery, "recoveries_without_progress": tries})
    match action:
        case RecoveryAdvice.MANUAL:
            return with_move(noted, RecordMove.MANUAL_REQUIRED, now, reason=reason)
        case RecoveryAdvice.AWAIT_HUMAN:
            return with_objection(noted, reason, now)
        case RecoveryAdvice.SKIP_STEP | RecoveryAdvice.RETRY_VALIDATION | RecoveryAdvice.RETRY_STEP:
            return noted
        case _:
            assert_never(action)


def resumed_after_crash(record: Record, now: datetime) -> Record:
    """Return the record of a task whose agent really continues after a crash; any other is returned as it is."""
    if record.state is not RecordState.RECOVERING:
        return record
    if record.recovery is None:
        return with_move(record, RecordMove.MANUAL_REQUIRED, now, reason="It is not known what was under way.")
    match record.recovery.recommended_action:
        case RecoveryAdvice.SKIP_STEP:
            return _with_step_started(with_progress_counted(with_move(record, RecordMove.SKIP_STEP, now)), now)
        case RecoveryAdvice.RETRY_VALIDATION:
            return with_move(record, RecordMove.RETRY_VALIDATION, now)
        case RecoveryAdvice.RETRY_STEP if record.recovery.last_checkpoint_id:
            checkpoint = record.recovery.last_checkpoint_id
            return with_move(record, RecordMove.RESUME_CHECKPOINT, now, checkpoint_id=checkpoint)
        case RecoveryAdvice.RETRY_STEP:
            return _with_step_started(_with_step_pending(record, now), now)
        case RecoveryAdvice.MANUAL | RecoveryAdvice.AWAIT_HUMAN:
            return with_move(record, RecordMove.MANUAL_REQUIRED, now, reason=record.recovery.reason)
        case _ as action:
            assert_never(action)


def _with_step_pending(record: Record, now: datetime) -> Record:
    """Return the record with its step pending; a step that never began has used up no attempt."""
    step = record.current_step
    if step and record.steps[step.step_index].status is not StepStatus.PENDING:
        return with_move(record, RecordMove.RETRY_STEP, now)
    return with_rework(record, step.step_index if step else 0, now, reason="The step had not begun.")


def _with_step_started(record: Record, now: datetime) -> Record:
    return with_move(record, RecordMove.START_STEP, now) if record.state is RecordState.STEP_PENDING else record
