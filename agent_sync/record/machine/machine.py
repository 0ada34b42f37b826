"""The state machine of the recovery record: one table of edges, and the only function that follows them."""

from datetime import datetime
from enum import Enum

from agent_sync.errors import IllegalMove
from agent_sync.record.machine.chain import linked
from agent_sync.record.machine.model import Details, Record, Step, StepContext
from agent_sync.record.machine.states import ACTIVE, Move, State, StepStatus
from agent_sync.record.machine.templates import CLAIM_TO_CLOSE


class Rule(Enum):
    """A target that depends on where in the template the task is."""

    SAME = "the state does not change"
    ADVANCE = "the next step is pending, or the task is completed after the last one"
    SKIP = "as ADVANCE, for a step that need not be done again"
    AGAIN = "the same step is pending, or the task has failed after the last attempt"


Target = State | Rule
_AT_WORK = (State.STEP_RUNNING, State.STEP_VALIDATING)

EDGES: dict[Move, dict[State, Target]] = {
    Move.SETUP_COMPLETE: {State.INITIALIZING: State.STEP_PENDING},
    Move.SETUP_FAILED: {State.INITIALIZING: State.FAILED},
    Move.START_STEP: {State.STEP_PENDING: State.STEP_RUNNING},
    Move.STEP_OUTPUT: {State.STEP_RUNNING: State.STEP_VALIDATING},
    Move.CONTINUE_STEP: {State.STEP_VALIDATING: State.STEP_RUNNING},
    Move.STEP_COMPLETE: {State.STEP_RUNNING: Rule.ADVANCE},
    Move.STEP_FAILED: dict.fromkeys(_AT_WORK, Rule.AGAIN),
    Move.VALIDATE_PASS: {State.STEP_VALIDATING: Rule.ADVANCE},
    Move.VALIDATE_FAIL: {State.STEP_VALIDATING: State.AWAITING_HUMAN},
    Move.HUMAN_APPROVE: {State.AWAITING_HUMAN: Rule.ADVANCE},
    Move.HUMAN_REJECT: {State.AWAITING_HUMAN: Rule.AGAIN},
    Move.HUMAN_RESUME: {State.AWAITING_HUMAN: State.STEP_RUNNING},
    Move.REWORK: dict.fromkeys(
        (State.STEP_PENDING, State.AWAITING_HUMAN, State.RECOVERING, *_AT_WORK), State.STEP_PENDING
    ),
    Move.CHECKPOINT: dict.fromkeys(ACTIVE, Rule.SAME),
    Move.RECEIPT: dict.fromkeys(ACTIVE, Rule.SAME),
    Move.OWNER: dict.fromkeys(ACTIVE, Rule.SAME),
    # A human who is waited for cannot crash.
    Move.CRASH_DETECTED: dict.fromkeys(ACTIVE - {State.RECOVERING, State.AWAITING_HUMAN}, State.RECOVERING),
    Move.RETRY_STEP: {State.RECOVERING: Rule.AGAIN},
    Move.SKIP_STEP: {State.RECOVERING: Rule.SKIP},
    Move.RETRY_VALIDATION: {State.RECOVERING: State.STEP_VALIDATING},
    Move.RESUME_CHECKPOINT: {State.RECOVERING: State.STEP_RUNNING},
    Move.MANUAL_REQUIRED: dict.fromkeys((State.RECOVERING, *_AT_WORK), State.AWAITING_HUMAN),
    Move.ABANDON: dict.fromkeys(ACTIVE, State.ABANDONED),
}


def begun(record: Record, now: datetime) -> Record:
    """Return a new record with its first event."""
    event = linked(record, Move.INIT, to=record.state, before=None, now=now, step="", details={})
    return record.model_copy(update={"history": (event,), "updated_at": now})


def moved(record: Record, move: Move, now: datetime, **details: object) -> Record:
    """Return what becomes of the record when `move` happens; what the table does not know is refused."""
    target = EDGES.get(move, {}).get(record.state)
    if target is None:
        message = f"{move} is not possible while the task is {record.state}."
        raise IllegalMove(message, attempted=f"moving task {record.task_id}", helps="agent-sync record status")
    changed = _followed(record, move, target, now)
    return _noted(record, changed, move, now, dict(details))


def reworked(record: Record, index: int, now: datetime, **details: object) -> Record:
    """Return the record gone back to an earlier step, which is pending again with all that follow."""
    back = moved(record, Move.REWORK, now, **details)
    steps = tuple(
        step if number < index else step.model_copy(update={"status": StepStatus.PENDING, "completed_at": None})
        for number, step in enumerate(back.steps)
    )
    return back.model_copy(update={"steps": steps, "current_step": _context(record, steps, index)})


def _followed(record: Record, move: Move, target: Target, now: datetime) -> Record:
    match target:
        case Rule.SAME:
            return record
        case Rule.ADVANCE:
            return _advanced(record, StepStatus.COMPLETED, now)
        case Rule.SKIP:
            return _advanced(record, StepStatus.SKIPPED, now)
        case Rule.AGAIN:
            return _tried_again(record)
        case State.STEP_RUNNING if move is Move.START_STEP:
            return _started(record, now)
        case State.STEP_PENDING if record.current_step is None:
            return record.model_copy(update={"state": target, "current_step": _context(record, record.steps, 0)})
        case _:
            return record.model_copy(update={"state": target})


def _started(record: Record, now: datetime) -> Record:
    context = _current(record)
    step = record.steps[context.step_index]
    begun_step = step.model_copy(
        update={"status": StepStatus.RUNNING, "attempts": step.attempts + 1, "started_at": step.started_at or now}
    )
    current = context.model_copy(update={"attempt": begun_step.attempts, "started_at": now})
    steps = _replaced(record.steps, context.step_index, begun_step)
    return record.model_copy(update={"state": State.STEP_RUNNING, "steps": steps, "current_step": current})


def _advanced(record: Record, status: StepStatus, now: datetime) -> Record:
    context = _current(record)
    done = record.steps[context.step_index].model_copy(update={"status": status, "completed_at": now})
    steps = _replaced(record.steps, context.step_index, done)
    if context.step_index + 1 == len(steps):
        return record.model_copy(update={"state": State.COMPLETED, "steps": steps})
    following = _context(record, steps, context.step_index + 1)
    return record.model_copy(update={"state": State.STEP_PENDING, "steps": steps, "current_step": following})


def _tried_again(record: Record) -> Record:
    context = _current(record)
    is_spent = 0 < context.max_attempts <= context.attempt
    return record.model_copy(update={"state": State.FAILED if is_spent else State.STEP_PENDING})


def _noted(before: Record, after: Record, move: Move, now: datetime, details: Details) -> Record:
    """Append the event; whatever a human was waited for is settled when the task leaves that state."""
    name = before.current_step.step_name if before.current_step else ""
    event = linked(before, move, to=after.state, before=before.state, now=now, step=name, details=details)
    waiting = str(details.get("reason", "")) if after.state is State.AWAITING_HUMAN else ""
    if move in {Move.CHECKPOINT, Move.RECEIPT, Move.OWNER}:
        waiting = before.waiting_for
    changes = {"history": (*before.history, event), "updated_at": now, "waiting_for": waiting}
    return after.model_copy(update=changes)


def _context(record: Record, steps: tuple[Step, ...], index: int) -> StepContext:
    """Return the context of a step that is to begin; the prompt stays: it is what the human last asked for."""
    old = record.current_step
    # A claim that was killed before its first step takes as many attempts as any other.
    limit = old.max_attempts if old else 0 if record.template == CLAIM_TO_CLOSE else 3
    prompt = old.prompt if old else ""
    step = steps[index]
    return StepContext(
        step_name=step.name, step_index=index, attempt=step.attempts + 1, max_attempts=limit, prompt=prompt
    )


def _current(record: Record) -> StepContext:
    if record.current_step is None:
        message = f"Task {record.task_id} has no step to work on."
        raise IllegalMove(message, helps="agent-sync record status")
    return record.current_step


def _replaced(steps: tuple[Step, ...], index: int, step: Step) -> tuple[Step, ...]:
    return (*steps[:index], step, *steps[index + 1 :])
