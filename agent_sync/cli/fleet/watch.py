"""`agent-sync watch`: the fleet, live in the terminal, and cared for."""

import json
import sys
import time

import click

from agent_sync.cli.console import working
from agent_sync.cli.fleet.lanes import drawn, head_line, plain_lines
from agent_sync.cli.fleet.watched_rounds import wait, watched_rounds
from agent_sync.cli.here import context_here
from agent_sync.clients import agent_here
from agent_sync.context import Context
from agent_sync.errors import Exit
from agent_sync.fleet.view import FleetView
from agent_sync.system import clock
from agent_sync.task.decision.outside_text import one_line

# Ages are told in minutes.
REDRAW_S = 60.0


@click.command("watch")
@click.option("--all", "everywhere", is_flag=True, help="Every claim of the repository, on whatever machine.")
@click.option("--once", is_flag=True, help="One round, then end: for scripts, and inside a session always.")
@click.option("--json", "as_values", is_flag=True, help="As JSON, one line for each change.")
def command(*, everywhere: bool, once: bool, as_values: bool) -> None:
    """Show the tasks of this clone in four lanes, live, and look after those that no session looks after.

    Opens pull requests that were handed off, notes what became of them, closes what may be closed and keeps leases, so
    that people at a terminal and agents without hooks need no more. Rings when a task comes to need you, and runs
    notify.command.

    \b
    Examples:
      agent-sync watch
      agent-sync watch --all
      agent-sync watch --once --json | jq .counts
    """
    context = context_here(keeps_record=False)
    # A tool call of an agent would never end.
    if not once and not agent_here(context.environment):
        watch(context, everywhere=everywhere, as_values=as_values)
        return
    # Loaded here: the process that stays needs neither GitHub's client nor the task loop.
    from agent_sync.cli.fleet.rounds import play_round, round_values

    with working("looking, deciding, acting"):
        played = play_round(context, everywhere=everywhere)
    if as_values:
        click.echo(json.dumps(round_values(played), ensure_ascii=False))
        return
    _print(played.view)
    for trouble in played.troubles:
        click.echo(f"warning: {one_line(trouble, limit=300)}", err=True)


def watch(context: Context, *, everywhere: bool, as_values: bool = False) -> None:
    """Look again and again until interrupted, which is how it ends."""
    try:
        if as_values or not sys.stdout.isatty():
            _follow(context, everywhere=everywhere, as_values=as_values)
        else:
            _live(context, everywhere=everywhere)
    except KeyboardInterrupt:
        click.get_current_context().exit(Exit.INTERRUPTED)


def _follow(context: Context, *, everywhere: bool, as_values: bool) -> None:
    """Print the fleet whenever it has changed."""
    shown: FleetView | None = None
    for seen in watched_rounds(context, everywhere=everywhere):
        if shown is None or seen.view.tasks != shown.tasks:
            click.echo(json.dumps(seen.values, ensure_ascii=False)) if as_values else _print(seen.view)
            sys.stdout.flush()
        shown = seen.view
        wait(context, seen.view, seen.pause_s)


def _live(context: Context, *, everywhere: bool) -> None:
    """Redraw the fleet in place: after each look, and once a minute for the ages."""
    from rich.console import Console, Group
    from rich.live import Live
    from rich.text import Text

    console = Console(highlight=False)
    with Live(Text("looking …"), console=console, auto_refresh=False, vertical_overflow="ellipsis") as live:
        live.refresh()
        for seen in watched_rounds(context, everywhere=everywhere):
            if seen.told:
                console.bell()
            due, has_changed = time.monotonic() + seen.pause_s, False
            while not has_changed and (left := due - time.monotonic()) > 0:
                now = clock.now()
                head = Text(f"Live · {head_line(seen.view)}", style="bold")
                troubles = (Text(one_line(trouble, limit=200), style="red") for trouble in seen.troubles)
                live.update(Group(head, drawn(seen.view, now), *troubles), refresh=True)
                has_changed = wait(context, seen.view, min(left, REDRAW_S))


def _print(view: FleetView) -> None:
    click.echo(head_line(view))
    for line in plain_lines(view, clock.now()):
        click.echo(line)
