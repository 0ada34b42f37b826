"""`agent-sync start`: begin a recorded task without GitHub."""

import json

import click

from agent_sync.cli.here import context_here
from agent_sync.cli.record.recorded import home_here, tell_standing
from agent_sync.context import Context
from agent_sync.errors import BadInput, IllegalMove
from agent_sync.record.disk.beginning import begin_task
from agent_sync.record.disk.store import OpenRecord
from agent_sync.record.machine.model import Record
from agent_sync.record.machine.progress import readable_text
from agent_sync.record.machine.states import CLAIM_TO_CLOSE
from agent_sync.record.machine.templates import TaskStart, steps_of
from agent_sync.record.observe.checkpoints import working_tree_state
from agent_sync.record.page.next_steps import next_step_of
from agent_sync.record.receipts import keys
from agent_sync.system import clock


@click.command("start")
@click.argument("text")
@click.option(
    "-t",
    "--template",
    default="bugfix",
    show_default=True,
    help="Its steps: bugfix, feature, or one of your own from .agent-sync.toml.",
)
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def command(*, text: str, template: str, as_json: bool) -> None:
    """Start a task that is not on GitHub, with a record to resume from after a crash.

    \b
    Examples:
      agent-sync start "fix null pointer in config"
      agent-sync start "new importer" -t feature --json | jq -r .task_id
    """
    context = context_here()
    home_here(context)
    description = readable_text(text)
    if not description:
        raise BadInput("The task needs a description.", helps="agent-sync start --help")
    if template == CLAIM_TO_CLOSE:
        raise BadInput("Only a claim can use this template.", helps="agent-sync claim ISSUE")
    steps_of(template, context.settings)
    refuse_second(context)
    tell_begun(begin(context, TaskStart(description=description, template=template)), as_json=as_json)


def refuse_second(context: Context) -> None:
    """Stop where a task is going on in this worktree already."""
    found = context.recorder.current()
    claim = context.store.read()
    if claim:
        message = f"This worktree holds the claim on issue #{claim.issue_number}, which has a record of its own."
        raise IllegalMove(message, attempted="starting a task", helps="agent-sync status, or another worktree")
    if found:
        message = f"Task {found.record.task_id} is already in progress here ({found.record.state})."
        raise IllegalMove(message, attempted="starting a task", helps="agent-sync resume, or agent-sync abandon")


def begin(context: Context, task: TaskStart) -> OpenRecord:
    """Begin a task; where keys or git cannot be used its record says that the set-up has failed."""
    opened = begin_task(context.recorder, task, clock.now(), lambda: _prepare(context))
    assert opened is not None  # noqa: S101  # the home was asked for before
    return opened


def tell_begun(opened: OpenRecord, *, as_json: bool) -> None:
    """Say which task was begun, where its record is and what comes first."""
    store, record = opened
    if as_json:
        click.echo(json.dumps(_values(record) | {"path": str(store.directory)}))
        return
    click.echo(f"Task: {record.task_id}")
    click.echo(f"Record: {store.directory}")
    tell_standing(record)
    click.echo(f"Next: {next_step_of(record).command}")


def _prepare(context: Context) -> None:
    """Make sure of what every validation and checkpoint will need."""
    keys.obtain(context.environment)
    working_tree_state(context.git)


def _values(record: Record) -> dict[str, object]:
    step = record.current_step
    return {
        "task_id": record.task_id,
        "workspace": record.workspace,
        "template": record.template,
        "state": record.state,
        "step": step.step_name if step else None,
        "steps": [one.name for one in record.steps],
        "resumed_from": record.resumed_from or None,
    }
