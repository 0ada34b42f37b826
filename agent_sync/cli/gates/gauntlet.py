"""`agent-sync gate`: the quality gate by hand."""

import dataclasses
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from agent_sync.cli.gates import gauntlet_care, gauntlet_views
from agent_sync.cli.gates.progress import listener
from agent_sync.cli.here import context_here
from agent_sync.errors import BadInput, BadUsage, Exit
from agent_sync.gates.config.project import find_project
from agent_sync.gates.plan.changes import WantedChanges
from agent_sync.gates.plan.plan import Scope
from agent_sync.gates.plan.prepare import RunOptions, session_of
from agent_sync.gates.run.execute import execute_run
from agent_sync.gates.run.report import summary
from agent_sync.gates.run.results import RunResult
from agent_sync.gates.status import exit_status
from agent_sync.quiet.answer import process_dir

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


def run_gates(scope: Scope, options: dict[str, Any]) -> Exit:
    """Run gates, say how they came out, and return the exit status that says it to programs."""
    context = context_here()
    root = find_project(process_dir(), context.place.root)
    if root is None:
        raise BadInput("There is no .gauntlet/config.yml here.", helps="agent-sync gate init")
    wanted = WantedChanges(options["base"], options["commit"], options["uncommitted"])
    if wanted.commit and wanted.uncommitted:
        raise BadUsage("Use either --commit or --uncommitted.", helps="agent-sync gate run --help")
    chosen = dataclasses.replace(scope, gate=options["gate"])
    run_options = RunOptions(wanted, chosen, again=options["again"], session=session_of(context))
    with listener(is_silent=options["as_json"], is_terminal=sys.stdout.isatty()) as ears:
        result = execute_run(context, root, run_options, ears)
    _print_result(result, root, as_json=options["as_json"])
    return exit_status(result.status)


def _print_result(result: RunResult, root: Path, *, as_json: bool) -> None:
    if as_json:
        values = dataclasses.asdict(result) | {"project": str(root)}
        click.echo(json.dumps(values, default=str))
    elif not result.results or result.unchanged_since:
        # A run with gates has said its summary already, as the last part of its console log.
        for line in summary(result):
            click.echo(line)


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
