"""The state machine of the record: one table of edges, the function that follows them, the hash chain of events."""

import hashlib
from datetime import datetime
from enum import Enum
from typing import Any

from agent_sync.errors import IllegalMove
from agent_sync.plain.json_reading import canonical
from agent_sync.record.machine.model import Details, Event, Record, StepContext, TaskStep
from agent_sync.record.machine.states import ACTIVE, CLAIM_TO_CLOSE, RecordMove, RecordState, StepStatus
from agent_sync.system.masking import masked_values


class Rule(Enum):
    """A target that depends on where in the template the task is."""

    SAME = "the state does not change"
    ADVANCE = "the next step is pending, or the task is completed after the last one"
    SKIP = "as ADVANCE, for a step that need not be done again"
    AGAIN = "the same step is pending, or the task has failed after the last attempt"


Target = RecordState | Rule
# Fields that records of version 0.1.0 do not have.
_ADDED = ("claim", "asked", "uncommitted", "work")
_AT_WORK = (RecordState.STEP_RUNNING, RecordState.STEP_VALIDATING)

EDGES: dict[RecordMove, dict[RecordState, Target]] = {
    RecordMove.SETUP_COMPLETE: {RecordState.INITIALIZING: RecordState.STEP_PENDING},
    RecordMove.SETUP_FAILED: {RecordState.INITIALIZING: RecordState.FAILED},
    RecordMove.START_STEP: {RecordState.STEP_PENDING: RecordState.STEP_RUNNING},
    RecordMove.STEP_OUTPUT: {RecordState.STEP_RUNNING: RecordState.STEP_VALIDATING},
    RecordMove.CONTINUE_STEP: {RecordState.STEP_VALIDATING: RecordState.STEP_RUNNING},
    RecordMove.STEP_COMPLETE: {RecordState.STEP_RUNNING: Rule.ADVANCE},
    RecordMove.STEP_FAILED: dict.fromkeys(_AT_WORK, Rule.AGAIN),
    RecordMove.VALIDATE_PASS: {RecordState.STEP_VALIDATING: Rule.ADVANCE},
    RecordMove.VALIDATE_FAIL: {RecordState.STEP_VALIDATING: RecordState.AWAITING_HUMAN},
    RecordMove.HUMAN_APPROVE: {RecordState.AWAITING_HUMAN: Rule.ADVANCE},
    RecordMove.HUMAN_REJECT: {RecordState.AWAITING_HUMAN: Rule.AGAIN},
    RecordMove.HUMAN_RESUME: {RecordState.AWAITING_HUMAN: RecordState.STEP_RUNNING},
    RecordMove.REWORK: dict.fromkeys(
        (RecordState.STEP_PENDING, RecordState.AWAITING_HUMAN, RecordState.RECOVERING, *_AT_WORK),
        RecordState.STEP_PENDING,
    ),
    RecordMove.CHECKPOINT: dict.fromkeys(ACTIVE, Rule.SAME),
    RecordMove.RECEIPT: dict.fromkeys(ACTIVE, Rule.SAME),
    RecordMove.OWNER: dict.fromkeys(ACTIVE, Rule.SAME),
    RecordMove.SESSION_ENDED: dict.fromkeys(ACTIVE, Rule.SAME),
    RecordMove.CHANGED_OUTSIDE: dict.fromkeys(ACTIVE, Rule.SAME),
    RecordMove.RESTORED: dict.fromkeys(ACTIVE, Rule.SAME),
    # A human who is waited for cannot crash.
    RecordMove.CRASH_DETECTED: dict.fromkeys(ACTIVE - {RecordState.AWAITING_HUMAN}, RecordState.RECOVERING),
    RecordMove.RETRY_STEP: {RecordState.RECOVERING: Rule.AGAIN},
    RecordMove.SKIP_STEP: {RecordState.RECOVERING: Rule.SKIP},
    RecordMove.RETRY_VALIDATION: {RecordState.RECOVERING: RecordState.STEP_VALIDATING},
    RecordMove.RESUME_CHECKPOINT: {RecordState.RECOVERING: RecordState.STEP_RUNNING},
    RecordMove.MANUAL_REQUIRED: dict.fromkeys((RecordState.RECOVERING, *_AT_WORK), RecordState.AWAITING_HUMAN),
    RecordMove.ABANDON: dict.fromkeys(ACTIVE, RecordState.ABANDONED),
}


def with_first_event(record: Record, now: datetime) -> Record:
    """Return a new record with its first event."""
    event = _next_event(record, RecordMove.INIT, to=record.state, before=None, now=now, step="", details={})
    return record.model_copy(update={"history": (event,), "updated_at": now})


def with_move(record: Record, move: RecordMove, now: datetime, **details: object) -> Record:
    """Return what becomes of the record when `move` happens; what the table does not know is refused."""
    target = EDGES.get(move, {}).get(record.state)
    if target is None:
        message = f"{move} is not possible while the task is {record.state}."
        raise IllegalMove(message, attempted=f"moving task {record.task_id}", helps="agent-sync record status")
    changed = _at_target(record, move, target, now)
    return _with_event(record, changed, move, now, dict(details))


def with_rework(record: Record, index: int, now: datetime, **details: object) -> Record:
    """Return the record gone back to an earlier step, which is pending again with all that follow."""
    back = with_move(record, RecordMove.REWORK, now, **details)
    steps = tuple(
        step if number < index else step.model_copy(update={"status": StepStatus.PENDING, "completed_at": None})
        for number, step in enumerate(back.steps)
    )
    return back.model_copy(update={"steps": steps, "current_step": _context(record, steps, index)})


def _at_target(record: Record, move: RecordMove, target: Target, now: datetime) -> Record:
    match target:
        case Rule.SAME:
            return record
        case Rule.ADVANCE:
            return _with_step_done(record, StepStatus.COMPLETED, now)
        case Rule.SKIP:
            return _with_step_done(record, StepStatus.SKIPPED, now)
        case Rule.AGAIN:
            return _with_attempt_failed(record)
        case RecordState.STEP_RUNNING if move is RecordMove.START_STEP:
            return _with_step_started(record, now)
        case RecordState.STEP_PENDING if record.current_step is None:
            return record.model_copy(update={"state": target, "current_step": _context(record, record.steps, 0)})
        case _:
            return record.model_copy(update={"state": target})


def _with_step_started(record: Record, now: datetime) -> Record:
    context = _current(record)
    step = record.steps[context.step_index]
    begun_step = step.model_copy(
        update={"status": StepStatus.RUNNING, "attempts": step.attempts + 1, "started_at": step.started_at or now}
    )
    current = context.model_copy(update={"attempt": begun_step.attempts, "started_at": now})
    steps = _steps_with(record.steps, context.step_index, begun_step)
    return record.model_copy(update={"state": RecordState.STEP_RUNNING, "steps": steps, "current_step": current})


def _with_step_done(record: Record, status: StepStatus, now: datetime) -> Record:
    context = _current(record)
    done = record.steps[context.step_index].model_copy(update={"status": status, "completed_at": now})
    steps = _steps_with(record.steps, context.step_index, done)
    if context.step_index + 1 == len(steps):
        return record.model_copy(update={"state": RecordState.COMPLETED, "steps": steps})
    following = _context(record, steps, context.step_index + 1)
    return record.model_copy(update={"state": RecordState.STEP_PENDING, "steps": steps, "current_step": following})


def _with_attempt_failed(record: Record) -> Record:
    context = _current(record)
    if 0 < context.max_attempts <= context.attempt:
        return record.model_copy(update={"state": RecordState.FAILED})
    coming = context.model_copy(update={"attempt": record.steps[context.step_index].attempts + 1})
    return record.model_copy(update={"state": RecordState.STEP_PENDING, "current_step": coming})


def _with_event(before: Record, after: Record, move: RecordMove, now: datetime, details: Details) -> Record:
    """Append the event; whatever a human was waited for is settled when the task leaves that state."""
    name = before.current_step.step_name if before.current_step else ""
    event = _next_event(before, move, to=after.state, before=before.state, now=now, step=name, details=details)
    waiting = str(details.get("reason", "")) if after.state is RecordState.AWAITING_HUMAN else ""
    if EDGES[move][before.state] is Rule.SAME:
        waiting = before.waiting_for
    changes = {"history": (*before.history, event), "updated_at": now, "waiting_for": waiting}
    return after.model_copy(update=changes)


def _context(record: Record, steps: tuple[TaskStep, ...], index: int) -> StepContext:
    """Return the context of a step that is to begin; in a claim prompt and files stay: they are the whole issue's."""
    old = record.current_step
    # A claim that was killed before its first step takes as many attempts as any other.
    limit = old.max_attempts if old else 0 if record.template == CLAIM_TO_CLOSE else 3
    is_same = old is not None and (record.template == CLAIM_TO_CLOSE or old.step_index == index)
    prompt = old.prompt if old and is_same else ""
    step = steps[index]
    context = StepContext(
        step_name=step.name, step_index=index, attempt=step.attempts + 1, max_attempts=limit, prompt=prompt
    )
    if old is None or record.template != CLAIM_TO_CLOSE:
        return context
    return context.model_copy(update={"base_commit": old.base_commit, "files_touched": old.files_touched})


def _current(record: Record) -> StepContext:
    if record.current_step is None:
        message = f"Task {record.task_id} has no step to work on."
        raise IllegalMove(message, helps="agent-sync record status")
    return record.current_step


def _steps_with(steps: tuple[TaskStep, ...], index: int, step: TaskStep) -> tuple[TaskStep, ...]:
    return (*steps[:index], step, *steps[index + 1 :])


def genesis(task_id: str, created_at: datetime) -> str:
    """Return what the first event is chained to: this task and no other."""
    return _hash({"task_id": task_id, "created_at": created_at.isoformat()})


def head_of(record: Record) -> str:
    """Return the hash that vouches for everything up to now."""
    if record.history:
        return record.history[-1].hash
    return record.archive.head or genesis(record.task_id, record.created_at)


def count_of(record: Record) -> int:
    """Return how many events the record has had, which is also the number of the next."""
    return record.archive.events + len(record.history)


def _next_event(  # noqa: PLR0913  # an event has as many sides
    record: Record,
    move: RecordMove,
    *,
    to: RecordState,
    before: RecordState | None,
    now: datetime,
    step: str,
    details: Details,
) -> Event:
    """Return the next event of the record's history."""
    seq = count_of(record)
    values: dict[str, Any] = {
        "seq": seq,
        "timestamp": now,
        "from_state": before,
        "to_state": to,
        "trigger": move,
        "step_name": step,
        # An event can never be changed again, so no secret may get in.
        "details": masked_values(details),
        "prev": head_of(record),
        "hash": "0" * 64,
    }
    event = Event(**values)
    return event.model_copy(update={"hash": event_hash(event)})


def event_hash(event: Event) -> str:
    """Return the hash an event must carry."""
    return _hash(event.model_dump(mode="json", exclude={"hash"}))


def digest(record: Record) -> str:
    """Return the hash over every field of the record but the digest itself."""
    unset: dict[str, Any] = {name: True for name in _ADDED if not getattr(record, name)}
    left = {} if record.owner.has_left else {"owner": {"has_left"}}
    return _hash(record.model_dump(mode="json", exclude={"digest": True, **unset, **left}))


def is_digest_right(record: Record) -> bool:
    """Tell whether the record's digest is the one its fields have: nothing else has changed the file."""
    return record.digest == digest(record)


def _hash(values: dict[str, Any]) -> str:
    return hashlib.sha256(canonical(values)).hexdigest()
