"""`agent-sync next`: what is ready to be claimed."""

import dataclasses
import json

import click

from agent_sync.cli.console import working
from agent_sync.cli.here import context_here, refuse_without_board
from agent_sync.context import Context
from agent_sync.task.decision.outside_text import one_line
from agent_sync.task.decision.tasks import BoardIssue, in_order, is_ready


@click.command("next")
@click.option("-n", "--limit", default=5, show_default=True, help="How many.")
@click.option("--json", "as_json", is_flag=True, help="As a JSON list.")
def command(*, limit: int, as_json: bool) -> None:
    """List ready tasks: open, unassigned, in the ready column, not blocked; by priority, then age.

    \b
    Example:
      agent-sync next -n 3
    """
    ready = ready_issues(context_here())[:limit]
    if as_json:
        click.echo(json.dumps([dataclasses.asdict(issue) for issue in ready]))
    elif not ready:
        click.echo("Nothing is ready to claim.")
    else:
        for issue in ready:
            click.echo(line(issue))
        click.echo(f"Take the first with: agent-sync claim {ready[0].number}")


def ready_issues(context: Context) -> tuple[BoardIssue, ...]:
    """Return what is ready, best first."""
    refuse_without_board(context)
    with working("reading the board"):
        board = context.gateway.board()
    ordered = in_order(board.ready, board.priorities) if board else ()
    return tuple(issue for issue in ordered if is_ready(issue, ready=context.settings.board.ready))


def line(issue: BoardIssue) -> str:
    """Return one issue as one line."""
    return f"#{issue.number:<6} {issue.priority or '-':<4} {one_line(issue.title)}"
