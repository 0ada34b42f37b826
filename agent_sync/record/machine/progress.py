"""How a record moves on: after its claim, and with what was said; whether anything was reached since a crash."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime
from typing import assert_never

from agent_sync.lazy_dataclasses import dataclass
from agent_sync.record.machine.machine import with_move, with_rework
from agent_sync.record.machine.model import Event, Record
from agent_sync.record.machine.states import TERMINAL, CheckpointCause, RecordMove, RecordState, StepStatus
from agent_sync.record.receipts.receipt import Receipt
from agent_sync.system.masking import masked
from agent_sync.task.claim.model import Claim
from agent_sync.task.claim.phases import Phase
from agent_sync.task.decision.feedback.checks import CI
from agent_sync.task.decision.outside_text import quoted

# Marks the moves that are made here: a human who is waited for because of something else is not passed over.
_SOURCE = "claim"
# Marks a wait for a human because of what GitHub says and the claim does not know yet.
OBJECTION = "github"


@dataclass(frozen=True)
class Goal:
    """The step a claim is at, and what a human must do there, if anything."""

    step: str
    waits: str = ""
    # The furthest step that is as good: within one phase of the claim the record may be ahead.
    upto: str = ""


def goal_of(claim: Claim) -> Goal:
    """Return where the record of `claim` belongs; work that is elsewhere now waits, whatever its phase."""
    goal, lease = _goal_of_phase(claim), claim.lease
    if lease and claim.is_lost:
        return replace(goal, waits=f"issue #{claim.issue_number} is held by {quoted(lease.lost_to, limit=300)}")
    if lease and claim.is_left:
        return replace(goal, waits=f"issue #{claim.issue_number} was left on the hook of {quoted(lease.left_on)}")
    return goal


def _goal_of_phase(claim: Claim) -> Goal:
    match claim.phase:
        case Phase.CODING:
            return Goal("implement")
        case Phase.READY_FOR_PR:
            return Goal("validate", upto="pull_request")
        case Phase.PR_CREATED | Phase.CHECKS_RUNNING:
            return _goal_of_pull(claim)
        case Phase.MERGED_DETECTED:
            return Goal("close", waits="a human decides whether the issue is closed")
        case Phase.DONE:
            return Goal("close")
        case _:
            assert_never(claim.phase)


def record_at_goal(record: Record, goal: Goal, now: datetime) -> Record:
    """Return the record at `goal`; one that is there already, has ended or has no such step is returned as it is."""
    names = [step.name for step in record.steps]
    if record.state in TERMINAL or goal.step not in names:
        return record
    first = names.index(goal.step)
    last = names.index(goal.upto) if goal.upto in names else first
    if _index(record) > last:
        reason = f"The claim is back at the step {goal.step}."
        record = with_move(with_rework(record, first, now, source=_SOURCE, reason=reason), RecordMove.START_STEP, now)
    while _index(record) < first:
        record = with_move(_running(record, now), RecordMove.STEP_COMPLETE, now, source=_SOURCE)
    return _waiting(record, goal.waits, now) if goal.waits else _working(record, now)


def completed_record(record: Record, now: datetime) -> Record:
    """Return the record with every step that was left completed, and with them the task."""
    while record.state not in TERMINAL:
        record = with_move(_running(record, now), RecordMove.STEP_COMPLETE, now, source=_SOURCE)
    return record


def abandoned_record(record: Record, reason: str, now: datetime) -> Record:
    """Return the record of a task that was given up; one that has ended is returned as it is."""
    return record if record.state in TERMINAL else with_move(record, RecordMove.ABANDON, now, reason=reason)


def _goal_of_pull(claim: Claim) -> Goal:
    is_green = claim.checks is not None and claim.checks.state == CI.GREEN.value
    step = "merge" if is_green else "checks"
    pull = f"PR #{claim.pr_number}" if claim.pr_number else "The pull request"
    if claim.closed_unmerged:
        return Goal(step, waits=f"{pull} was closed without merging: a human decides how to go on")
    if is_green:
        return Goal(step, waits=f"{pull} is green and waits to be merged")
    return Goal(step)


def _working(record: Record, now: datetime) -> Record:
    """Return the record at work; the advice after a crash and a human's decision are left to whom they are for."""
    match record.state:
        case RecordState.STEP_RUNNING | RecordState.STEP_VALIDATING | RecordState.RECOVERING:
            return record
        case RecordState.AWAITING_HUMAN if not waits_for_claim(record):
            return record
        case _:
            return _running(record, now)


def _waiting(record: Record, reason: str, now: datetime) -> Record:
    if record.state is RecordState.AWAITING_HUMAN and (record.waiting_for == reason or is_objected_to(record)):
        return record
    return with_move(_running(record, now), RecordMove.MANUAL_REQUIRED, now, source=_SOURCE, reason=reason)


def with_objection(record: Record, reason: str, now: datetime) -> Record:
    """Return the record waiting for a human because of what GitHub says; continuing where that is settled."""
    if record.state in TERMINAL or (is_objected_to(record) and record.waiting_for == reason):
        return record
    if reason:
        return with_move(_running(record, now), RecordMove.MANUAL_REQUIRED, now, source=OBJECTION, reason=reason)
    settled = {"source": OBJECTION, "reason": "GitHub no longer says so."}
    return with_move(record, RecordMove.HUMAN_RESUME, now, **settled) if is_objected_to(record) else record


def _running(record: Record, now: datetime) -> Record:
    """Return the record with its step running, from whatever active state."""
    match record.state:
        case RecordState.STEP_RUNNING:
            return record
        case RecordState.STEP_VALIDATING:
            return with_move(record, RecordMove.CONTINUE_STEP, now, source=_SOURCE)
        case RecordState.INITIALIZING:
            return with_move(with_move(record, RecordMove.SETUP_COMPLETE, now), RecordMove.START_STEP, now)
        case RecordState.STEP_PENDING:
            return with_move(record, RecordMove.START_STEP, now)
        case RecordState.AWAITING_HUMAN | RecordState.RECOVERING if not _has_begun(record):
            pending = with_rework(record, _index(record), now, source=_SOURCE, reason="The step had not begun.")
            return with_move(pending, RecordMove.START_STEP, now)
        case RecordState.AWAITING_HUMAN:
            return with_move(record, RecordMove.HUMAN_RESUME, now, source=_SOURCE, reason="The claim has moved on.")
        case RecordState.RECOVERING:
            return with_move(
                record, RecordMove.RESUME_CHECKPOINT, now, source=_SOURCE, reason="The claim has moved on."
            )
        case RecordState.COMPLETED | RecordState.FAILED | RecordState.ABANDONED:
            return record
        case _:
            assert_never(record.state)


def _index(record: Record) -> int:
    """Return the number of the current step; before there is one, the first is what comes."""
    return record.current_step.step_index if record.current_step else 0


def _has_begun(record: Record) -> bool:
    return record.current_step is not None and record.steps[_index(record)].status is not StepStatus.PENDING


def waits_for_claim(record: Record) -> bool:
    """Tell whether a human is waited for because of where the claim is: a merge, or consent to close."""
    return _source_of_wait(record) == _SOURCE


def is_objected_to(record: Record) -> bool:
    """Tell whether a human is waited for because of what GitHub says of the pull request or the issue."""
    return record.state is RecordState.AWAITING_HUMAN and _source_of_wait(record) == OBJECTION


def is_answered(record: Record, session_id: str) -> bool:
    """Tell whether a prompt is an answer to what a human is waited for: whoever begins a session was not asked yet."""
    return bool(session_id) and record.owner.session_id == session_id and not is_objected_to(record)


def _source_of_wait(record: Record) -> str:
    entered = next(_entries(record), None)
    return str(entered.details.get("source", "")) if entered else ""


def _entries(record: Record) -> Iterator[Event]:
    """Return the events that began to wait for a human, the last first."""
    for event in reversed(record.history):
        if event.to_state is RecordState.AWAITING_HUMAN and event.from_state is not RecordState.AWAITING_HUMAN:
            yield event


# Starting, retrying and resuming only promise to get somewhere.
_PROGRESS = frozenset(
    {
        RecordMove.CHECKPOINT,
        RecordMove.RECEIPT,
        RecordMove.STEP_OUTPUT,
        RecordMove.CONTINUE_STEP,
        RecordMove.STEP_COMPLETE,
        RecordMove.STEP_FAILED,
        RecordMove.VALIDATE_PASS,
        RecordMove.VALIDATE_FAIL,
        RecordMove.HUMAN_APPROVE,
        RecordMove.HUMAN_REJECT,
        RecordMove.HUMAN_RESUME,
        RecordMove.REWORK,
        RecordMove.SKIP_STEP,
    }
)
# What takes a task out of a recovery, or out of waiting for a human who has answered.
_MOVED_ON = frozenset(
    {RecordMove.STEP_COMPLETE, RecordMove.VALIDATE_PASS, RecordMove.HUMAN_APPROVE, RecordMove.SKIP_STEP}
)
_GOES_ON = frozenset({RecordState.STEP_PENDING, RecordState.STEP_RUNNING})


def with_progress_counted(record: Record) -> Record:
    """Return the record with its count of fruitless recoveries at zero, if anything was reached since the last."""
    if not record.recoveries_without_progress:
        return record
    if not any(_is_progress(event) for event in since_crash(record)):
        return record
    return record.model_copy(update={"recoveries_without_progress": 0})


def has_moved_on(events: Iterable[Event]) -> bool:
    """Tell whether a commit, a finished step or a passed validation is among these events."""
    return any(_moves_on(event) for event in events)


def since_crash(record: Record) -> tuple[Event, ...]:
    """Return what has happened since the last crash was noted; everything where there was none."""
    crashes = [place for place, event in enumerate(record.history) if event.trigger is RecordMove.CRASH_DETECTED]
    return record.history[crashes[-1] + 1 :] if crashes else record.history


def unanswered_receipts(record: Record) -> tuple[Receipt, ...]:
    """Return the receipts after which the step neither went on nor ended: what they show was not acted upon."""
    count = 0
    for event in reversed(record.history):
        if event.to_state in _GOES_ON and event.from_state is not event.to_state:
            break
        count += event.trigger is RecordMove.RECEIPT
    return record.receipts[-count:] if count else ()


def _moves_on(event: Event) -> bool:
    if event.trigger is RecordMove.RECEIPT:
        return event.details.get("exit_code") == 0
    return event.trigger in _MOVED_ON or (event.trigger is RecordMove.CHECKPOINT and _is_progress(event))


def _is_progress(event: Event) -> bool:
    match event.trigger:
        case RecordMove.CHECKPOINT:
            # Time passes by itself: a task that crashes every few minutes would never reach its limit.
            made = event.details.get("checkpoint")
            return not (isinstance(made, dict) and made.get("trigger") == CheckpointCause.INTERVAL)
        case RecordMove.REWORK:
            return event.from_state is not RecordState.RECOVERING
        case _:
            return event.trigger in _PROGRESS


TAIL = 500
LONGEST_PROMPT = 2_000


def with_output(record: Record, said: str) -> Record:
    """Return the record with the agent's last answer: its tail, and how long it was."""
    text = readable_text(said)
    if not text or record.current_step is None:
        return record
    changes = {"last_output": text[-TAIL:], "last_output_length": len(text)}
    return with_step(record, changes)


def with_work(record: Record) -> Record:
    """Return the record with what is being worked on: what the agent noted last in this step, else the task itself."""
    step = record.current_step
    if step is None:
        return record
    own = [
        point
        for point in record.checkpoints
        if point.step_index == step.step_index and point.trigger is CheckpointCause.MANUAL
    ]
    return with_step(record, {"working_on": own[-1].description if own else record.description})


def with_step(record: Record, changes: dict[str, object]) -> Record:
    """Return the record with changes to its present step."""
    assert record.current_step is not None  # noqa: S101  # asked by every caller
    step = record.current_step.model_copy(update=changes)
    return record if step == record.current_step else record.model_copy(update={"current_step": step})


def readable_text(text: str) -> str:
    """Return a text that every JSON reader takes, without secrets; half characters are replaced."""
    return masked(text.strip()).encode("utf-8", "replace").decode()
