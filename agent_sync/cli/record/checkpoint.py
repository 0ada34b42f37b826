"""`agent-sync checkpoint`: note how far the present step has come."""

import os

import click

from agent_sync.cli.here import context_here
from agent_sync.cli.record.recorded import record_here
from agent_sync.errors import BadInput
from agent_sync.record import keep as recording
from agent_sync.record.machine.progress import readable_text
from agent_sync.record.machine.states import CheckpointCause
from agent_sync.record.observe.checkpoints import NewCheckpoint, with_checkpoints


@click.command("checkpoint")
@click.argument("text", default="")
@click.option(
    "--trigger",
    type=click.Choice([str(one) for one in CheckpointCause]),
    default=str(CheckpointCause.MANUAL),
    help="Why.",
)
@click.option("--auto", is_flag=True, help="For git hooks: record new commits and pushes quietly; always exit 0.")
def command(*, text: str, trigger: str, auto: bool) -> None:
    """Save a checkpoint of the current step; after a crash the agent continues from here.

    Commits, pushes, validations and completed steps make checkpoints by themselves.

    \b
    Examples:
      agent-sync checkpoint "parser done, tests missing"
      agent-sync checkpoint --trigger git_commit --auto "Commit: $(git log -1 --format=%s)"
    """
    if auto:
        _reconcile_quietly()
        return
    description = readable_text(text)
    if not description:
        raise BadInput("A checkpoint needs a description.", helps="agent-sync checkpoint --help")
    context = context_here()
    record_here(context)
    what = NewCheckpoint(CheckpointCause(trigger), description)
    record = recording.work(
        context, lambda record, now: with_checkpoints(record, context.git, (what,), now, os.urandom)
    )
    if record:
        click.echo(f"Checkpoint: {record.checkpoints[-1].checkpoint_id} ({description})")


def _reconcile_quietly() -> None:
    """Take in what git has seen; a commit must not fail or complain because of it, so trouble waits in the outbox."""
    try:
        context = context_here(keeps_record=False)
        if context.may_have_record:
            recording.attempt(context, recording.catch_up)
    except Exception:  # noqa: BLE001  # whatever it is, the commit is made and this command is not about it
        return
