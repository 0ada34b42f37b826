"""Decides whether a task has crashed and what to do about it."""

from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import assert_never

from agent_sync.record.machine.model import Checkpoint, Record, Recovery, StepContext
from agent_sync.record.machine.progress import progressed, unanswered_receipts
from agent_sync.record.machine.states import TERMINAL, Advice, CrashType, Standing, State
from agent_sync.record.machine.validation import validation_command

# Nothing was under way here: there is nothing a crash could have interrupted, or it is known already.
NEVER_CRASHED = TERMINAL | {State.AWAITING_HUMAN, State.RECOVERING}
_AT_WORK = frozenset({State.STEP_RUNNING, State.STEP_VALIDATING})


@dataclass(frozen=True)
class Circumstances:
    """What was found out about a task besides its record."""

    standing: Standing
    now: datetime
    stale_s: float
    max_recoveries: int
    # Why the work must not go on, in GitHub's words; empty where nothing speaks against it.
    outside: str = ""
    # The receipts whose signature was verified.
    valid_receipts: AbstractSet[str] = frozenset()
    # The tree of the working directory; empty where it is not exactly what is committed.
    tree: str = ""


@dataclass(frozen=True)
class Advised:
    """What to do, and why."""

    action: Advice
    reason: str
    checkpoint_id: str = ""


def diagnosed(record: Record, found: Circumstances, *, caught_up: Record | None = None) -> Recovery | None:
    """Return what happened and what to do about it; None where nothing has crashed.

    Whether it has crashed is told from the record as it was left, what to do from the one that git was asked for.
    """
    crash = _crash(record, found)
    if crash is None:
        return None
    advice = advised(caught_up or record, found)
    return Recovery(
        detected_at=found.now,
        crash_type=crash,
        last_known_state=record.state,
        was_validating=record.state is State.STEP_VALIDATING,
        validation_cmd=validation_command(record) if record.state is State.STEP_VALIDATING else "",
        partial_output=record.current_step.last_output if record.current_step else "",
        recommended_action=advice.action,
        reason=advice.reason,
        last_checkpoint_id=advice.checkpoint_id,
        outside=found.outside,
    )


def advised(record: Record, found: Circumstances) -> Advised:
    """Return what to do after a crash: the way that repeats least, and none that would skip anything."""
    if found.outside:
        return Advised(Advice.MANUAL, f"Do not resume: {found.outside}")
    tries = progressed(record).recoveries_without_progress
    if tries >= found.max_recoveries:
        return Advised(Advice.MANUAL, f"The task crashed {tries + 1} times without any progress in between.")
    step = record.current_step
    if step is None or record.state not in _AT_WORK:
        return Advised(Advice.RETRY_STEP, "The step had not started.")
    return _advised_at_work(record, step, found)


def _crash(record: Record, found: Circumstances) -> CrashType | None:
    if record.state in NEVER_CRASHED:
        return None
    match found.standing:
        case Standing.ALIVE:
            return None
        case Standing.GONE:
            return CrashType.SIGNAL
        case Standing.OTHER_BOOT:
            return CrashType.UNKNOWN
        case Standing.OTHER_HOST | Standing.UNKNOWN:
            # Nobody here can see whether that process lives, so only its silence can tell.
            is_stale = found.now - record.updated_at > timedelta(seconds=found.stale_s)
            return CrashType.UNKNOWN if is_stale else None
        case _:
            assert_never(found.standing)


def _advised_at_work(record: Record, step: StepContext, found: Circumstances) -> Advised:
    proof = _proof(record, step, found)
    if proof:
        return Advised(Advice.SKIP_STEP, f"Receipt {proof} shows that the step passed for exactly this tree.")
    if record.state is State.STEP_VALIDATING:
        return Advised(Advice.RETRY_VALIDATION, "The validation was interrupted: its result is unknown.")
    last = _last_checkpoint(record, step)
    if last:
        reason = f"Checkpoint {last.checkpoint_id} holds what this attempt had reached."
        return Advised(Advice.RETRY_STEP, reason, last.checkpoint_id)
    if not record.steps[step.step_index].idempotent:
        return Advised(Advice.MANUAL, "The step has no checkpoint and may not be safe to repeat.")
    if 0 < step.max_attempts <= step.attempt:
        return Advised(Advice.MANUAL, f"All {step.max_attempts} attempts at the step are used.")
    return Advised(Advice.RETRY_STEP, "The step has no checkpoint and is safe to repeat.")


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
    """Return the last checkpoint of this attempt: what an earlier one had reached was given up."""
    own = (step.step_name, step.step_index, step.attempt)
    made = [point for point in record.checkpoints if (point.step_name, point.step_index, point.attempt) == own]
    return made[-1] if made else None
