"""`agent-sync next`: what is ready to be claimed."""

import dataclasses
import json

import click

from agent_sync.cli.console import working
from agent_sync.cli.here import context_here, refuse_without_board
from agent_sync.context import Context
from agent_sync.fleet.ready import ReadyTasks, ready_tasks
from agent_sync.task.contributing import naming_fork
from agent_sync.task.decision.outside_text import one_line
from agent_sync.task.decision.tasks import BoardIssue


@click.command("next")
@click.option("-n", "--limit", default=5, show_default=True, help="How many.")
@click.option("--json", "as_json", is_flag=True, help="As a JSON list.")
def command(*, limit: int, as_json: bool) -> None:
    """List ready tasks of this repository: open, held by nobody, in the ready column, not blocked; most urgent first.

    \b
    Example:
      agent-sync next -n 3
    """
    found = ready_issues(context_here())
    ready = found.issues[:limit]
    if as_json:
        click.echo(json.dumps([dataclasses.asdict(issue) for issue in ready]))
    elif not ready:
        click.echo("Nothing is ready to claim.")
    else:
        for issue in ready:
            click.echo(line(issue))
        click.echo(f"Take the first with: agent-sync claim {ready[0].number}")
    if found.left_out:
        click.echo(found.left_out, err=as_json)
    if found.trouble:
        click.echo(f"warning: who holds what could not be asked: {one_line(found.trouble)}", err=True)


def ready_issues(context: Context, *, own: frozenset[str] | None = None) -> ReadyTasks:
    """Return what is ready and free, best first; the worktrees `own` may finish what they have begun."""
    refuse_without_board(context)
    with working("reading the board"), naming_fork(context):
        board = context.gateway.board()
        return ready_tasks(context, board, own=own) if board else ReadyTasks()


def line(issue: BoardIssue) -> str:
    """Return one issue as one line."""
    return f"{issue.name:<7} {issue.priority or '-':<4} {one_line(issue.title)}"
