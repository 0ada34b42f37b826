"""Says what to do now and what not to do, for a reader who remembers nothing."""

from typing import assert_never

from agent_sync.record.machine.following import waits_for_claim
from agent_sync.record.machine.model import Record, StepContext
from agent_sync.record.machine.states import TERMINAL, Advice, State, StepStatus, Trigger
from agent_sync.record.machine.templates import CLAIM_TO_CLOSE
from agent_sync.record.machine.validation import GATES, validation_command
from agent_sync.record.page.render_parts import code, moment, numbered
from agent_sync.record.page.told import next_told, validation_typed
from agent_sync.task.decision.next_step import NextStep

_FILES_NAMED = 5
# Characters that mean something in Markdown and that no sentence of our own has.
_MARKUP = frozenset("*_[]<>|~\\")
_TAKE_UP = "Run `agent-sync resume`: it resumes the task as described here"


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
            *numbered([f"Run `{next_told(record).command}`", "Begin the first step"]),
        ]
    return _work(record, step)


def not_to_do(record: Record) -> list[str]:
    """Return the list of what is done already, or is nobody's to do."""
    if record.state in TERMINAL:
        return ["- Resume this task or repeat any of its steps"]
    waiting = ["Continue this task before a human has acted"] if record.state is State.AWAITING_HUMAN else []
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
        start = [] if record.template == CLAIM_TO_CLOSE else [f"Run `{next_told(record).command}`"]
        return [f"### ✅ START: Begin the {name} step", "", *numbered([*start, _ending(record)])]
    if record.state is State.STEP_VALIDATING:
        items = ["A validation was begun, and its result is not known", _validate(validation_command(record))]
        items += [_ending(record)] if record.template == CLAIM_TO_CLOSE else []
        return [f"### ✅ VALIDATE: Finish the validation of the {name} step", "", *numbered(items)]
    return [f"### ✅ RESUME: Continue the {name} step", "", *numbered([*_review(step), _ending(record)])]


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
            return [heading, "", *why, *numbered([_TAKE_UP, *_review(step), _ending(record)])]
        case Advice.RETRY_STEP:
            ending = [_ending(record)] if step else []
            return [f"### ✅ RETRY: Begin the {name} step again", "", *why, *numbered([_TAKE_UP, *ending])]
        case Advice.MANUAL | Advice.AWAIT_HUMAN:
            return _wait(record, recovery.reason)
        case _:
            assert_never(recovery.recommended_action)


def _validate(command: str) -> str:
    gates = ": it runs the gates" if command == GATES else ""
    return f"Run {code(validation_typed(command), limit=400)}{gates}"


def _wait(record: Record, reason: str) -> list[str]:
    decide = "The human decides: `agent-sync approve` (the step is done) or `agent-sync reject` (try it again)"
    answer = "Their answer in this session resumes the task, and so does their `agent-sync resume`"
    own = [answer] if record.template == CLAIM_TO_CLOSE else [decide, answer]
    items = [
        f"Waiting for: {code(reason, limit=400)}",
        "Tell the human so, and do nothing else on this task until they have answered",
        *([_said(next_told(record))] if waits_for_claim(record) else own),
    ]
    return ["### ✅ WAIT: A human must act", "", *numbered(items)]


def _review(step: StepContext) -> list[str]:
    files = ", ".join(code(file) for file in step.files_touched[:_FILES_NAMED])
    more = len(step.files_touched) - _FILES_NAMED
    review = f"Review the files you modified: {files}" + (f" and {more} more" if more > 0 else "")
    going = f"Continue: {code(step.working_on)}" if step.working_on else "Continue where the last checkpoint ends"
    return [*([review] if files else []), "Run `git status` to see uncommitted changes", going]


def _ending(record: Record) -> str:
    """Return what leads on from the present step, in whatever state the record is until then."""
    running = record.model_copy(update={"state": State.STEP_RUNNING, "recovery": None})
    return _said(next_told(running))


def _said(step: NextStep) -> str:
    """Return a next step as an item of a list; text from elsewhere is shown as code."""
    sentence = code(step.sentence, limit=600) if _MARKUP & set(step.sentence) else step.sentence.removesuffix(".")
    is_named = not step.command or f"`{step.command}`" in sentence
    return sentence if is_named else f"{sentence} (`{step.command}`)"


def _next(record: Record) -> str:
    index = record.current_step.step_index + 1 if record.current_step else 0
    if index < len(record.steps):
        return f"Continue with the next step: {code(record.steps[index].name)}"
    return "It was the last step: the task is complete"


def _pull(record: Record) -> list[str]:
    opened = [point for point in record.checkpoints if point.trigger is Trigger.PULL]
    return [f"Open another pull request (already done: {code(opened[-1].description)})"] if opened else []
