"""Says how a task stands and what comes next, from hook.json alone, for a reader who remembers nothing."""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any, assert_never

from agent_sync.record.machine.model import ClaimNote, Record, Recovery, StepContext
from agent_sync.record.machine.progress import waits_for_claim
from agent_sync.record.machine.states import (
    CLAIM_TO_CLOSE,
    GATES,
    TERMINAL,
    CheckpointCause,
    RecordState,
    RecoveryAdvice,
)
from agent_sync.record.machine.validations import validation_command
from agent_sync.task.claim.drift_seen import DriftSeen
from agent_sync.task.claim.model import ChecksSeen, Claim, FailuresSeen, FeedbackSeen, LeaseNote, WithheldNote
from agent_sync.task.claim.phases import Phase
from agent_sync.task.decision.feedback.checks import CI
from agent_sync.task.decision.next_step import VALIDATE, NextStep, next_step
from agent_sync.task.decision.outside_text import code
from agent_sync.task.decision.situation import Known, RecordSeen, situation
from agent_sync.task.decision.situations import RecordStage, Situation

# What says where the task stands; of fields that somebody else has added nothing is known.
_CLAIM_FIELDS: dict[str, Any] = {
    **dict.fromkeys(("schema_version", "issue_number", "branch", "agent_id", "phase", "pr_number"), True),
    **dict.fromkeys(("closed_unmerged", "close_unmerged", "not_before"), True),
    "checks": set(ChecksSeen.model_fields),
    "feedback": set(FeedbackSeen.model_fields),
    "failures": set(FailuresSeen.model_fields),
    "drift": set(DriftSeen.model_fields),
    "withheld": set(WithheldNote.model_fields),
}
# The phase of a claim that its record has no note of, by step.
_PHASES = {
    "implement": Phase.CODING,
    "validate": Phase.READY_FOR_PR,
    "pull_request": Phase.READY_FOR_PR,
    "checks": Phase.PR_CREATED,
    "merge": Phase.PR_CREATED,
}


def record_seen_of(record: Record) -> RecordSeen:
    """Return what a record says of its task, in the words of the situation."""
    return RecordSeen(
        task_id=record.task_id,
        stage=_stage(record.state),
        issue=record.issue_number if record.template == CLAIM_TO_CLOSE else None,
        step=record.current_step.step_name if record.current_step else "",
        waiting_for=record.waiting_for,
        is_claims_wait=record.state is RecordState.AWAITING_HUMAN and waits_for_claim(record),
        advice=record.recovery.reason if record.recovery else "",
        validation=_validation(record),
    )


def _validation(record: Record) -> str:
    """Return what is typed to finish a validation that was begun."""
    return validation_typed(validation_command(record)) if record.state is RecordState.STEP_VALIDATING else ""


def validation_typed(command: str) -> str:
    """Return what is typed to run a validation again: the record knows the command, so that nothing is misquoted."""
    return VALIDATE if command else f"{VALIDATE} -- CMD"


def with_claim(record: Record, claim: Claim | None, *, is_ahead: bool) -> Record:
    """Return the record with a note of how its claim stands; an empty one where there is no claim."""
    values = claim.model_dump(mode="json", include=_CLAIM_FIELDS, exclude_defaults=True) if claim else {}
    lease = claim.lease if claim else None
    gone = {"lost_to": lease.lost_to, "left_on": lease.left_on} if lease else {}
    note = ClaimNote(claim=values, is_ahead=is_ahead, **gone)
    return record if record.claim == note else record.model_copy(update={"claim": note})


def situation_of_record(record: Record) -> Situation:
    """Return how the task stands, as far as its record knows."""
    note = record.claim
    known = Known(is_ahead=note is not None and note.is_ahead)
    return situation(_claim(record), record_seen_of(record), record.updated_at, known)


def next_step_of(record: Record) -> NextStep:
    """Return what comes next, as far as the record knows."""
    return next_step(situation_of_record(record))


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
    """Return what the claim must have been: the record was written before records had a note of it."""
    step = record.current_step.step_name if record.current_step else "implement"
    asked = Phase.MERGED_DETECTED if record.state is RecordState.AWAITING_HUMAN else Phase.DONE
    green = ChecksSeen(sha="", passed=0, total=0, state=CI.GREEN.value) if step == "merge" else None
    opened = [point.key for point in record.checkpoints if point.trigger is CheckpointCause.PULL]
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


def _stage(state: RecordState) -> RecordStage:
    match state:
        case RecordState.INITIALIZING:
            return RecordStage.SETTING_UP
        case RecordState.STEP_PENDING:
            return RecordStage.PENDING
        case RecordState.STEP_RUNNING:
            return RecordStage.RUNNING
        case RecordState.STEP_VALIDATING:
            return RecordStage.VALIDATING
        case RecordState.AWAITING_HUMAN:
            return RecordStage.WAITING
        case RecordState.RECOVERING:
            return RecordStage.RECOVERING
        case RecordState.COMPLETED | RecordState.FAILED | RecordState.ABANDONED:
            return RecordStage.ENDED
        case _:
            assert_never(state)


_FILES_NAMED = 5
# Checkpoints that tell of work, and not of its circumstances.
_DONE_BY = frozenset({CheckpointCause.COMMIT, CheckpointCause.MANUAL, CheckpointCause.STEP_COMPLETE})
# Characters that mean something in Markdown and that no sentence of our own has.
_MARKUP = frozenset("*_[]<>|~\\")
_TAKE_UP = "Run `agent-sync resume`: it resumes the task as described here"


def to_do(record: Record) -> list[str]:
    """Return the heading and the list of what comes next."""
    step = record.current_step
    if record.state in TERMINAL:
        return [f"### ✅ NOTHING: This task is {record.state}", "", "There is nothing to do."]
    if record.state is RecordState.AWAITING_HUMAN:
        return _wait(record, record.waiting_for)
    if record.state is RecordState.RECOVERING:
        return _recover(record)
    if step is None:
        return [
            "### ✅ START: Set the task up",
            "",
            *numbered([f"Run `{next_step_of(record).command}`", "Begin the first step"]),
        ]
    return _work(record, step)


def _work(record: Record, step: StepContext) -> list[str]:
    name = code(step.step_name)
    if record.state is RecordState.STEP_PENDING:
        start = [] if record.template == CLAIM_TO_CLOSE else [f"Run `{next_step_of(record).command}`"]
        return [f"### ✅ START: Begin the {name} step", "", *numbered([*start, _what_ends_step(record)])]
    if record.state is RecordState.STEP_VALIDATING:
        items = ["A validation was begun, and its result is not known", _validate(validation_command(record))]
        items += [_what_ends_step(record)] if record.template == CLAIM_TO_CLOSE else []
        return [f"### ✅ VALIDATE: Finish the validation of the {name} step", "", *numbered(items)]
    return [
        f"### ✅ RESUME: Continue the {name} step",
        "",
        *numbered([*_review(record, step), _what_ends_step(record)]),
    ]


def _recover(record: Record) -> list[str]:
    recovery, step = record.recovery, record.current_step
    if recovery is None:
        return _wait(record, "It is not known what was under way.")
    said = (
        f"Crash detected at {moment(recovery.detected_at)} (`{recovery.crash_type}`) in `{recovery.last_known_state}`."
    )
    why = [said, "", f"Why: {code(recovery.reason, limit=400)}", "", *_printed(recovery)]
    name = code(step.step_name) if step else "first"
    match recovery.recommended_action:
        case RecoveryAdvice.SKIP_STEP:
            return [f"### ✅ SKIP: The {name} step is done", "", *why, *numbered([_TAKE_UP, _next(record)])]
        case RecoveryAdvice.RETRY_VALIDATION:
            items = [_TAKE_UP, _validate(recovery.validation_cmd)]
            return [f"### ✅ RETRY VALIDATION: Validate the {name} step again", "", *why, *numbered(items)]
        case RecoveryAdvice.RETRY_STEP if recovery.last_checkpoint_id and step:
            heading = f"### ✅ RESUME: Continue the {name} step from checkpoint {code(recovery.last_checkpoint_id)}"
            return [heading, "", *why, *numbered([_TAKE_UP, *_review(record, step), _what_ends_step(record)])]
        case RecoveryAdvice.RETRY_STEP:
            ending = [_what_ends_step(record)] if step else []
            return [f"### ✅ RETRY: Begin the {name} step again", "", *why, *numbered([_TAKE_UP, *ending])]
        case RecoveryAdvice.MANUAL | RecoveryAdvice.AWAIT_HUMAN:
            return _wait(record, recovery.reason)
        case _:
            assert_never(recovery.recommended_action)


def _printed(recovery: Recovery) -> list[str]:
    """Return the last line that an interrupted validation had printed."""
    lines = recovery.partial_output.strip().splitlines()
    return [f"It had printed last: {code(lines[-1], limit=400)}", ""] if recovery.was_validating and lines else []


def _validate(command: str) -> str:
    runs = (
        ": it runs the gates" if command == GATES else f": it runs {code(command, limit=400)} again" if command else ""
    )
    return f"Run `{validation_typed(command)}`{runs}"


def _wait(record: Record, reason: str) -> list[str]:
    decide = "The human decides: `agent-sync approve` (the step is done) or `agent-sync reject` (try it again)"
    answer = "Their answer in this session resumes the task, and so does their `agent-sync resume`"
    own = [answer] if record.template == CLAIM_TO_CLOSE else [decide, answer]
    items = [
        f"Waiting for: {code(reason, limit=400)}",
        *_answered(record),
        "Tell the human so, and do nothing else on this task until they have answered",
        *([_as_item(next_step_of(record))] if waits_for_claim(record) else own),
    ]
    return ["### ✅ WAIT: A human must act", "", *numbered(items)]


def _answered(record: Record) -> list[str]:
    """Return what the human said in the session since: the reader can tell whether it is an answer."""
    said = [prompt.text for prompt in record.asked if prompt.session_id == record.owner.session_id]
    return [f"The human has since said: {code(said[-1], limit=400)}"] if said and not waits_for_claim(record) else []


def _review(record: Record, step: StepContext) -> list[str]:
    files = ", ".join(code(file) for file in step.files_touched[:_FILES_NAMED])
    more = len(step.files_touched) - _FILES_NAMED
    review = f"Review the files you modified: {files}" + (f" and {more} more" if more > 0 else "")
    return [*([review] if files else []), "Run `git status` to see uncommitted changes", _continue(record, step)]


def _continue(record: Record, step: StepContext) -> str:
    """Say what to continue, for a stranger: the work itself, and what of it is done."""
    own = [point for point in record.checkpoints if point.step_index == step.step_index]
    done = [point for point in own if point.trigger in _DONE_BY]
    reached = f"; done so far: {code(done[-1].description)}" if done else ""
    return f"Continue: {code(step.working_on or record.description)}{reached}"


def _what_ends_step(record: Record) -> str:
    """Return what leads on from the present step, in whatever state the record is until then."""
    running = record.model_copy(update={"state": RecordState.STEP_RUNNING, "recovery": None})
    item = _as_item(next_step_of(running))
    if record.template == CLAIM_TO_CLOSE:
        return item
    return f"{item}; a step that needs no check ends with `agent-sync step done`"


def _as_item(step: NextStep) -> str:
    """Return a next step as an item of a list; text from elsewhere is shown as code."""
    sentence = code(step.sentence, limit=600) if _MARKUP & set(step.sentence) else step.sentence.removesuffix(".")
    is_named = not step.command or f"`{step.command}`" in sentence
    return sentence if is_named else f"{sentence} (`{step.command}`)"


def _next(record: Record) -> str:
    index = record.current_step.step_index + 1 if record.current_step else 0
    if index < len(record.steps):
        return f"Continue with the next step: {code(record.steps[index].name)}"
    return "It was the last step: the task is complete"


def numbered(items: Iterable[str]) -> list[str]:
    """Return a numbered list."""
    return [f"{number}. {item}" for number, item in enumerate(items, 1)]


def moment(when: datetime) -> str:
    """Return a moment that is right whenever it is read."""
    return when.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
