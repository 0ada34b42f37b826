"""The steps a kind of task goes through, and the first record of a task that begins with them."""

from datetime import datetime
from typing import Any

from agent_sync.errors import BadInput
from agent_sync.lazy_dataclasses import dataclass
from agent_sync.record.machine.machine import with_first_event, with_move
from agent_sync.record.machine.model import Record, StepContext, TaskStep
from agent_sync.record.machine.states import BUILT_IN, CLAIM_TO_CLOSE, IDEMPOTENT, RecordMove, RecordState, StepStatus
from agent_sync.settings import Settings


@dataclass(frozen=True)
class TaskStart:
    """What a task is begun with."""

    description: str
    template: str
    issue_number: int | None = None
    branch: str = ""
    resumed_from: str = ""
    session_id: str = ""
    # Steps that have come some way already, where a task is resumed in a new record; else the template's.
    steps: tuple[TaskStep, ...] = ()


def steps_of(template: str, settings: Settings) -> tuple[TaskStep, ...]:
    """Return the steps of a template, the repository's own before the built-in ones."""
    own = settings.templates.get(template)
    if own:
        again = IDEMPOTENT | set(own.idempotent)
        return tuple(TaskStep(name=name, idempotent=name in again) for name in own.steps)
    if template not in BUILT_IN:
        known = ", ".join(sorted({*BUILT_IN, *settings.templates}))
        raise BadInput(f"There is no template {template!r}; there are {known}.", helps="agent-sync start --help")
    return tuple(TaskStep(name=name, idempotent=name in IDEMPOTENT) for name in BUILT_IN[template])


def first_record(task: TaskStart, steps: tuple[TaskStep, ...], now: datetime, **named: Any) -> Record:
    """Return the record of a new task with its first event; `named` says which task it is, and whose."""
    left = [number for number, step in enumerate(task.steps) if step.status is StepStatus.PENDING]
    record = Record(
        **named,
        description=task.description,
        template=task.template,
        created_at=now,
        updated_at=now,
        state=RecordState.INITIALIZING,
        steps=steps,
        issue_number=task.issue_number,
        branch=task.branch,
        resumed_from=task.resumed_from,
        current_step=StepContext(step_name=task.steps[left[0]].name, step_index=left[0]) if left else None,
    )
    return with_first_event(record, now)


def ready_record(record: Record, max_attempts: int, now: datetime) -> Record:
    """Return the record ready for its first step; one that is already is returned as it is."""
    if record.state is not RecordState.INITIALIZING:
        return record
    is_claim = record.template == CLAIM_TO_CLOSE
    ready = with_move(record, RecordMove.SETUP_COMPLETE, now)
    step = ready.current_step or StepContext(step_name=record.steps[0].name, step_index=0)
    limited = step.model_copy(update={"max_attempts": 0 if is_claim else max_attempts})
    ready = ready.model_copy(update={"current_step": limited})
    return with_move(ready, RecordMove.START_STEP, now) if is_claim else ready
