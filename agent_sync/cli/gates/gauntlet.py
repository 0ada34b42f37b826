"""`agent-sync gate`: the quality gate by hand."""

from collections.abc import Callable
from typing import Any

import click

from agent_sync.cli.gates import gauntlet_care, gauntlet_views
from agent_sync.cli.gates.running import run_gates
from agent_sync.gates.plan.plan import Scope

Command = Callable[..., None]


@click.group("gate")
def command() -> None:
    """Run, inspect and set up the gates in `.gauntlet/`."""


def _running(function: Command) -> Command:
    """Add the options of every command that runs gates."""
    for option in (
        click.option("--json", "as_json", is_flag=True, help="The result as JSON, and nothing else."),
        click.option("--again", is_flag=True, help="Run even if this tree has already passed."),
        click.option("-u", "--uncommitted", is_flag=True, help="Only uncommitted changes."),
        click.option("-c", "--commit", default="", help="Only this commit."),
        click.option("-g", "--gate", default="", help="Only the gate with this name."),
        click.option("-b", "--base-branch", "base", default="", help="Compare with this branch."),
    ):
        function = option(function)
    return function


@command.command("run")
@_running
@click.pass_context
def run(ctx: click.Context, /, **options: Any) -> None:
    """Run all gates on what changed; exit 0 if they pass, 1 if not.

    \b
    Examples:
      agent-sync gate run
      agent-sync gate run --gate lint
      agent-sync gate run --base-branch origin/release --json
    """
    ctx.exit(run_gates(Scope(), options))


@command.command("check")
@_running
@click.pass_context
def check(ctx: click.Context, /, **options: Any) -> None:
    """Run the checks only; exit 0 if they pass, 1 if not.

    \b
    Example:
      agent-sync gate check --uncommitted
    """
    ctx.exit(run_gates(Scope(frozenset({"check"})), options))


@command.command("review")
@_running
@click.pass_context
def review(ctx: click.Context, /, **options: Any) -> None:
    """Run the reviews only; exit 0 if they pass, 1 if not.

    \b
    Example:
      agent-sync gate review --gate security
    """
    ctx.exit(run_gates(Scope(frozenset({"review"})), options))


@command.command("stop-hook")
def stop_hook() -> None:
    """Hook: decide about a stop (JSON on standard input, one JSON line out, always exit 0).

    \b
    Example:
      echo '{}' | agent-sync gate stop-hook
    """


for _module in (gauntlet_views, gauntlet_care):
    for _command in _module.COMMANDS:
        command.add_command(_command)
