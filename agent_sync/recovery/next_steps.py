"""Says what to do now and what not to do, for a reader who remembers nothing."""

from typing import assert_never

from agent_sync.recovery.following import waits_for_claim
from agent_sync.recovery.model import Record, StepContext
from agent_sync.recovery.render_parts import code, moment, numbered
from agent_sync.recovery.states import TERMINAL, Advice, State, StepStatus, Trigger
from agent_sync.recovery.templates import CLAIM_TO_CLOSE
from agent_sync.recovery.validation import GATES, validation_command

_FILES_NAMED = 5
_TAKE_UP = "Run `agent-sync resume`: the task is taken up as it is said here"
_ENDINGS = {
    "implement": "When complete, commit and run `agent-sync handoff --summary TEXT`: it runs the gates and pushes",
    "validate": "Run `agent-sync sync`: it runs the gates, if there are any, and opens the pull request; "
    "mend what fails, commit and run it again",
    "pull_request": "Run `agent-sync sync`: it opens the pull request, or finds the one that is there",
    "checks": "Run `agent-sync status` to see the checks; mend what fails, commit and run `agent-sync push`",
    "merge": "Leave the merge to a human",
    "close": "Run `agent-sync sync`: it closes what a human has agreed to close",
}
_ACTS = {
    "checks": "They reopen the pull request, or have `agent-sync handoff` open a new one",
    "merge": "They merge the pull request; `agent-sync sync` looks whether they have",
    "close": "They decide with `/done`, or with `agent-sync done`: only they may",
}


def to_do(record: Record) -> list[str]:
    """Return the heading and the list of what comes next."""
    step = record.current_step
    if record.state in TERMINAL:
        return [f"### ✅ NOTHING: This task is {record.state}", "", "There is nothing to do."]
    if record.state is State.AWAITING_HUMAN:
        return _wait(record, record.waiting_for)
    if record.state is State.RECOVERING:
        return _recover(record)
    if step is None:
        return [
            "### ✅ START: Set the task up",
            "",
            *numbered(["Run `agent-sync hook status`", "Begin the first step"]),
        ]
    return _work(record, step)


def not_to_do(record: Record) -> list[str]:
    """Return the list of what is done already, or is nobody's to do."""
    if record.state in TERMINAL:
        return ["- Resume this task or repeat any of its steps"]
    waiting = ["Go on with this task before a human has acted"] if record.state is State.AWAITING_HUMAN else []
    done = [
        f"Repeat {code(step.name)} (already done in step {number})"
        for number, step in enumerate(record.steps, 1)
        if step.status in {StepStatus.COMPLETED, StepStatus.SKIPPED}
    ]
    branch = [f"Recreate the branch (already exists: {code(record.branch)})"] if record.branch else []
    items = ["Start over from the beginning", *waiting, *done, *branch, *_pull(record)]
    return [f"- {item}" for item in (*items, "Edit `hook.json` or this file: both are written by agent-sync")]


def _work(record: Record, step: StepContext) -> list[str]:
    name = code(step.step_name)
    if record.state is State.STEP_PENDING:
        start = [] if record.template == CLAIM_TO_CLOSE else ["Run `agent-sync step start`"]
        return [f"### ✅ START: Begin the {name} step", "", *numbered([*start, _ending(record, step)])]
    if record.state is State.STEP_VALIDATING:
        items = ["The validation has begun, and how it ended is not known", _validate(validation_command(record))]
        return [f"### ✅ VALIDATE: Finish the validation of the {name} step", "", *numbered(items)]
    return [f"### ✅ RESUME: Continue the {name} step", "", *numbered([*_review(step), _ending(record, step)])]


def _recover(record: Record) -> list[str]:
    recovery, step = record.recovery, record.current_step
    if recovery is None:
        return _wait(record, "It is not known what was under way.")
    said = (
        f"Crash detected at {moment(recovery.detected_at)} (`{recovery.crash_type}`) in `{recovery.last_known_state}`."
    )
    why = [said, "", f"Why: {code(recovery.reason, limit=400)}", ""]
    name = code(step.step_name) if step else "first"
    match recovery.recommended_action:
        case Advice.SKIP_STEP:
            return [f"### ✅ SKIP: The {name} step is done", "", *why, *numbered([_TAKE_UP, _next(record)])]
        case Advice.RETRY_VALIDATION:
            items = [_TAKE_UP, _validate(recovery.validation_cmd)]
            return [f"### ✅ RETRY VALIDATION: Validate the {name} step again", "", *why, *numbered(items)]
        case Advice.RETRY_STEP if recovery.last_checkpoint_id and step:
            heading = f"### ✅ RESUME: Continue the {name} step from checkpoint {code(recovery.last_checkpoint_id)}"
            return [heading, "", *why, *numbered([_TAKE_UP, *_review(step), _ending(record, step)])]
        case Advice.RETRY_STEP:
            ending = [_ending(record, step)] if step else []
            return [f"### ✅ RETRY: Begin the {name} step again", "", *why, *numbered([_TAKE_UP, *ending])]
        case Advice.MANUAL | Advice.AWAIT_HUMAN:
            return _wait(record, recovery.reason)
        case _:
            assert_never(recovery.recommended_action)


def _validate(command: str) -> str:
    if command == GATES:
        return "Run `agent-sync validate`: it runs the gates"
    return (
        f"Run {code(f'agent-sync validate -- {command}', limit=400)}" if command else "Run `agent-sync validate -- CMD`"
    )


def _wait(record: Record, reason: str) -> list[str]:
    decide = "`agent-sync approve` (the step is done) or `agent-sync reject` (try it again)"
    answer = "Their answer in this session takes the task up again, and so does their `agent-sync resume`"
    items = [
        f"Waiting for: {code(reason, limit=400)}",
        "Tell the human so, and do nothing else on this task until they have answered",
        *([] if record.template == CLAIM_TO_CLOSE else [f"The human decides: {decide}"]),
        _ACTS.get(_step_name(record), "") if waits_for_claim(record) else answer,
    ]
    return ["### ✅ WAIT: A human must act", "", *numbered(item for item in items if item)]


def _step_name(record: Record) -> str:
    return record.current_step.step_name if record.current_step else ""


def _review(step: StepContext) -> list[str]:
    files = ", ".join(code(file) for file in step.files_touched[:_FILES_NAMED])
    more = len(step.files_touched) - _FILES_NAMED
    review = f"Review the files you modified: {files}" + (f" and {more} more" if more > 0 else "")
    going = f"Continue: {code(step.working_on)}" if step.working_on else "Continue where the last checkpoint ends"
    return [*([review] if files else []), "Run `git status` to see uncommitted changes", going]


def _ending(record: Record, step: StepContext) -> str:
    own = "When complete, run `agent-sync validate -- CMD` to verify your changes: a pass completes the step"
    return _ENDINGS.get(step.step_name, own) if record.template == CLAIM_TO_CLOSE else own


def _next(record: Record) -> str:
    index = record.current_step.step_index + 1 if record.current_step else 0
    if index < len(record.steps):
        return f"Go on with the next step: {code(record.steps[index].name)}"
    return "It was the last step: the task is complete"


def _pull(record: Record) -> list[str]:
    opened = [point for point in record.checkpoints if point.trigger is Trigger.PULL]
    return [f"Open another pull request (already done: {code(opened[-1].description)})"] if opened else []
