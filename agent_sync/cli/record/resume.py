"""`agent-sync resume`: resume a task, even after a crash."""

import click

from agent_sync.cli.here import context_here
from agent_sync.cli.record.recorded import record_here, task_here, tell_standing
from agent_sync.cli.record.start import begin, refuse_second, tell_begun
from agent_sync.cli.telling import next_line
from agent_sync.clients import agent_here
from agent_sync.context import Context
from agent_sync.errors import IllegalMove
from agent_sync.record import keep as recording
from agent_sync.record.crash.owner import SystemProcesses, owner_standing
from agent_sync.record.crash.recovery import recover
from agent_sync.record.disk.contents import HOOK_MD, Occasion
from agent_sync.record.machine.model import Record, TaskStep
from agent_sync.record.machine.states import CLAIM_TO_CLOSE, TERMINAL, OwnerStanding, RecordState, StepStatus
from agent_sync.record.machine.templates import TaskStart, ready_record
from agent_sync.record.page.next_steps import to_do
from agent_sync.record.page.session_text import synopsis
from agent_sync.system import clock
from agent_sync.task.situation_here import situation_of

_DONE = frozenset({StepStatus.COMPLETED, StepStatus.SKIPPED})


@click.command("resume")
@click.option("--reopen", default="", metavar="TASK", help="Take a task up again that has ended, in a new record.")
def command(*, reopen: str) -> None:
    """Resume the task of this worktree: notes a crash, follows the advice, and says what to do now.

    A task that waits for a human continues when a human runs this.

    \b
    Examples:
      agent-sync resume
      agent-sync resume --reopen fix-null-pointer-in-config
    """
    context = context_here()
    if reopen:
        _reopen(context, reopen)
        return
    before = record_here(context).record
    _warn_of_other(context, before)
    # Whoever reads only now that a human is waited for has not answered yet; and an agent is none.
    is_answer = before.state is RecordState.AWAITING_HUMAN and not agent_here(context.environment)
    recover(context)
    now = clock.now()
    # A start that was killed half-way is finished first.
    limit = context.settings.record.max_attempts
    context.recorder.change(lambda record: ready_record(record, limit, now), now)
    recording.catch_up(context, Occasion(is_work=True, is_answer=is_answer, resumes=True))
    store, record = record_here(context)
    click.echo(synopsis(record, str(store.directory)))
    tell_standing(record)
    click.echo("")
    for line in to_do(record):
        click.echo(line)
    click.echo(f"\nRead on: {store.directory / HOOK_MD}")
    click.echo(next_line(situation_of(context, context.store.read())))


def _warn_of_other(context: Context, record: Record) -> None:
    own = context.recorder.owner("")
    is_other = (record.owner.pid, record.owner.started) != (own.pid, own.started)
    if is_other and owner_standing(record.owner, SystemProcesses()) is OwnerStanding.ALIVE:
        click.echo(f"warning: process {record.owner.pid} was at work on this task and is still running", err=True)


def _reopen(context: Context, task_id: str) -> None:
    """Begin a new record with what is left of an old one, which stays as it is."""
    old = task_here(context, task_id).record
    attempted = f"taking {task_id} up again"
    if old.state not in TERMINAL:
        raise IllegalMove(
            f"Task {task_id} has not ended: it is {old.state}.", attempted=attempted, helps="agent-sync resume"
        )
    if old.template == CLAIM_TO_CLOSE:
        helps = f"agent-sync claim {old.issue_number}"
        raise IllegalMove(f"Task {task_id} was a claim.", attempted=attempted, helps=helps)
    steps = tuple(_left(step) for step in old.steps)
    if all(step.status in _DONE for step in steps):
        message = f"Task {task_id} is complete: nothing of it is left."
        raise IllegalMove(message, attempted=attempted, helps="agent-sync start --help")
    refuse_second(context)
    task = TaskStart(old.description, old.template, branch=old.branch, resumed_from=old.task_id, steps=steps)
    tell_begun(begin(context, task), as_json=False)


def _left(step: TaskStep) -> TaskStep:
    """Return a step as the new record begins with it: what is done stays done, its receipt is in the old record."""
    return (
        step.model_copy(update={"receipt_id": ""})
        if step.status in _DONE
        else TaskStep(name=step.name, idempotent=step.idempotent)
    )
