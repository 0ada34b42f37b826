"""Says how a task stands from hook.json alone: what the record says, and what it was last told of the claim."""

from typing import Any, assert_never

from agent_sync.record.machine.following import waits_for_claim
from agent_sync.record.machine.model import ClaimNote, Record
from agent_sync.record.machine.states import State, Trigger
from agent_sync.record.machine.templates import CLAIM_TO_CLOSE
from agent_sync.record.machine.validation import GATES, validation_command
from agent_sync.task.claim.model import ChecksSeen, Claim, FeedbackSeen, LeaseNote, WithheldNote
from agent_sync.task.claim.phases import Phase
from agent_sync.task.decision.checks import CI
from agent_sync.task.decision.next_step import VALIDATE, NextStep, next_step
from agent_sync.task.decision.situation import Known, RecordSeen, situation
from agent_sync.task.decision.situations import Situation, Stage

# What says where the task stands; of fields that somebody else has added nothing is known.
_TOLD: dict[str, Any] = {
    **dict.fromkeys(("schema_version", "issue_number", "branch", "agent_id", "phase", "pr_number"), True),
    **dict.fromkeys(("closed_unmerged", "close_unmerged", "not_before"), True),
    "checks": set(ChecksSeen.model_fields),
    "feedback": set(FeedbackSeen.model_fields),
    "withheld": set(WithheldNote.model_fields),
}
# Where a claim was whose record was never told of it.
_PHASES = {
    "implement": Phase.CODING,
    "validate": Phase.READY_FOR_PR,
    "pull_request": Phase.READY_FOR_PR,
    "checks": Phase.PR_CREATED,
    "merge": Phase.PR_CREATED,
}


def seen_of(record: Record) -> RecordSeen:
    """Return what a record says of its task, in the words of the situation."""
    return RecordSeen(
        task_id=record.task_id,
        stage=_stage(record.state),
        issue=record.issue_number if record.template == CLAIM_TO_CLOSE else None,
        step=record.current_step.step_name if record.current_step else "",
        waiting_for=record.waiting_for,
        is_claims_wait=record.state is State.AWAITING_HUMAN and waits_for_claim(record),
        advice=record.recovery.reason if record.recovery else "",
        validation=validation_typed(validation_command(record)),
    )


def validation_typed(command: str) -> str:
    """Return what is typed to run a validation; a placeholder stands for a command that is not known."""
    return VALIDATE if command == GATES else f"{VALIDATE} -- {command or 'CMD'}"


def with_claim(record: Record, claim: Claim | None, *, is_ahead: bool) -> Record:
    """Return the record told of its claim, as far as that says where the task stands; nothing of one that is gone."""
    values = claim.model_dump(mode="json", include=_TOLD, exclude_defaults=True) if claim else {}
    lease = claim.lease if claim else None
    gone = {"lost_to": lease.lost_to, "left_on": lease.left_on} if lease else {}
    note = ClaimNote(claim=values, is_ahead=is_ahead, **gone)
    return record if record.claim == note else record.model_copy(update={"claim": note})


def situation_told(record: Record) -> Situation:
    """Return how the task stands, as far as its record knows."""
    note = record.claim
    known = Known(is_ahead=note is not None and note.is_ahead)
    return situation(_claim(record), seen_of(record), record.updated_at, known)


def next_told(record: Record) -> NextStep:
    """Return what comes next, as far as the record knows."""
    return next_step(situation_told(record))


def _claim(record: Record) -> Claim | None:
    note = record.claim
    if record.template != CLAIM_TO_CLOSE or (note and not note.claim):
        return None
    try:
        claim = Claim.model_validate(note.claim) if note else _claim_by_step(record)
    except ValueError:
        return _claim_by_step(record)
    if note is None or not (note.lost_to or note.left_on):
        return claim
    # Of a lease that is gone only where it went matters.
    gone = LeaseNote(
        where="clone",
        epoch=1,
        nonce="gone",
        renewed_at=record.updated_at,
        ttl_s=1.0,
        lost_to=note.lost_to,
        left_on=note.left_on,
    )
    return claim.model_copy(update={"lease": gone})


def _claim_by_step(record: Record) -> Claim:
    """Return what the claim must have been: the record was written before records were told."""
    step = record.current_step.step_name if record.current_step else "implement"
    asked = Phase.MERGED_DETECTED if record.state is State.AWAITING_HUMAN else Phase.DONE
    green = ChecksSeen(sha="", passed=0, total=0, state=CI.GREEN.value) if step == "merge" else None
    opened = [point.key for point in record.checkpoints if point.trigger is Trigger.PULL]
    number = opened[-1].removeprefix("pr:") if opened else ""
    return Claim(
        schema_version=1,
        issue_number=record.issue_number or 1,
        branch=record.branch,
        agent_id="",
        phase=_PHASES.get(step, asked),
        pr_number=int(number) if number.isdecimal() else None,
        checks=green,
    )


def _stage(state: State) -> Stage:
    match state:
        case State.INITIALIZING:
            return Stage.SETTING_UP
        case State.STEP_PENDING:
            return Stage.PENDING
        case State.STEP_RUNNING:
            return Stage.RUNNING
        case State.STEP_VALIDATING:
            return Stage.VALIDATING
        case State.AWAITING_HUMAN:
            return Stage.WAITING
        case State.RECOVERING:
            return Stage.RECOVERING
        case State.COMPLETED | State.FAILED | State.ABANDONED:
            return Stage.ENDED
        case _:
            assert_never(state)
