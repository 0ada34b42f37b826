"""`agent-sync gate list · validate · health · detect · status`: looking without running."""

import json
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import click

from agent_sync.cli.gates.detecting import project_here, show_changes
from agent_sync.context import Context
from agent_sync.errors import Exit
from agent_sync.gates.config.model import LoadedProject
from agent_sync.gates.config.project import unread_files
from agent_sync.gates.config.stop_settings import hook_settings, read_user
from agent_sync.gates.memory import state as states
from agent_sync.gates.plan.changes import WantedChanges
from agent_sync.gates.plan.prepare import has_unresolved
from agent_sync.gates.reviews.adapters import ADAPTERS, adapter_of, is_installed
from agent_sync.gates.reviews.cooling import Cooling
from agent_sync.gates.run import lock
from agent_sync.gates.run.logs import LogDir
from agent_sync.gates.status import HEADLINES
from agent_sync.system import clock


@click.command("list")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def list_gates(*, as_json: bool) -> None:
    """List the gates and the parts of the project they guard.

    \b
    Example:
      agent-sync gate list
    """
    _, loaded = project_here()
    project = loaded.project
    if as_json:
        entries = [vars(entry) for entry in project.entry_points]
        values = {"checks": list(project.checks), "reviews": list(project.reviews), "entry_points": entries}
        click.echo(json.dumps(values))
        return
    for check in project.checks.values():
        click.echo(f"check   {check.name:<20} {check.command.strip().splitlines()[0] if check.command else ''}")
    for review in project.reviews.values():
        asked = ", ".join(review.cli_preference or project.default_preference)
        click.echo(f"review  {review.name:<20} {review.num_reviews} by {asked}")
    for entry in project.entry_points:
        click.echo(f"{entry.path}: {', '.join((*entry.checks, *entry.reviews)) or 'no gates'}")
    _complain(loaded)


@click.command("validate")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.pass_context
def validate(ctx: click.Context, *, as_json: bool) -> None:
    """Check the configuration; exit 1 if it cannot be used.

    \b
    Example:
      agent-sync gate validate
    """
    context, loaded = project_here()
    problems = (*loaded.problems, *unread_files(loaded.project), *read_user(context.environment).problems)
    if as_json:
        values = [{"file": str(p.file), "line": p.line, "message": p.message, "error": p.is_error} for p in problems]
        click.echo(json.dumps(values))
    else:
        for problem in problems:
            click.echo(f"{'✗ error' if problem.is_error else '! warning'}  {problem}")
        click.echo("The configuration cannot be used." if loaded.errors else "✓ The configuration is valid.")
    ctx.exit(Exit.FAILED if loaded.errors else Exit.OK)


@click.command("health")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def health(*, as_json: bool) -> None:
    """Show which reviewer programs are available, and problems in the configuration.

    \b
    Example:
      agent-sync gate health
    """
    context, loaded = project_here()
    state = states.read(loaded.project.log_dir)
    cooling = Cooling(state.unhealthy if state else {}, clock.now())
    wanted = loaded.project.default_preference or tuple(ADAPTERS)
    found = {name: _health(name, context, cooling) for name in wanted}
    if as_json:
        click.echo(json.dumps({"reviewers": found, "problems": [str(problem) for problem in loaded.problems]}))
        return
    for name, words in found.items():
        click.echo(f"{'✓' if words == 'ready' else '✗'} {name:<16} {words}")
    _complain(loaded)


def _health(name: str, context: Context, cooling: Cooling) -> str:
    adapter = adapter_of(name)
    if adapter is None:
        return f"not known; known: {', '.join(ADAPTERS)}"
    if not is_installed(adapter, context.environment):
        return f"{adapter.binary} is not installed, or not on PATH"
    return "usage limit reached; will be tried again within the hour" if cooling.is_cooling(adapter.name) else "ready"


@click.command("detect")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.option("-u", "--uncommitted", is_flag=True, help="Only uncommitted changes.")
@click.option("-c", "--commit", default="", help="Only this commit.")
@click.option("-b", "--base-branch", "base", default="", help="Compare with this branch.")
def detect(*, as_json: bool, uncommitted: bool, commit: str, base: str) -> None:
    """Show what changed and which gates would run.

    \b
    Example:
      agent-sync gate detect --base-branch origin/main
    """
    show_changes(WantedChanges(base, commit, uncommitted), as_json=as_json)


@click.command("status")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def status(*, as_json: bool) -> None:
    """Show how the last run ended, what is unresolved, and when the hook runs next.

    \b
    Example:
      agent-sync gate status
    """
    context, loaded = project_here()
    values = _status(context, loaded)
    if as_json:
        click.echo(json.dumps(values, default=str))
        return
    for name, text in _readable_status(values, loaded.project.max_retries):
        click.echo(f"{name:<12} {text}")


def _status(context: Context, loaded: LoadedProject) -> dict[str, Any]:
    project = loaded.project
    logs = LogDir(project.log_dir)
    state = states.read(logs.path)
    hook = hook_settings(read_user(context.environment), project.hook_enabled, context.environment)
    console: Path | None = logs.console(logs.last_run())
    return {
        "last_status": state.status if state else "",
        "last_run": state.completed_at.isoformat() if state and state.completed_at else None,
        "branch": state.branch if state else "",
        "unresolved": has_unresolved(logs, state),
        "failed_runs": state.failed_runs if state else 0,
        "running": lock.holder(logs.path),
        "console_log": str(console) if console and console.exists() else None,
        "hook": "on" if hook.enabled else "off",
        "interval_minutes": hook.interval_minutes,
    }


def _readable_status(values: dict[str, Any], retries: int) -> Iterator[tuple[str, str]]:
    """Yield the rows for people."""
    headline = HEADLINES.get(values["last_status"], values["last_status"])
    from agent_sync.cli.record.recorded import age

    at = age(datetime.fromisoformat(values["last_run"]), clock.now()) if values["last_run"] else ""
    where = f"on branch {values['branch']}" if values["branch"] else ""
    yield "last run", ", ".join(word for word in (headline, at, where) if word) or "none yet"
    yield "unresolved", "yes, the next stop runs the gates again" if values["unresolved"] else "no"
    yield "retries", f"{min(values['failed_runs'] or 0, retries)} of {retries} used"
    yield "running now", values["running"] or "no"
    yield "console log", values["console_log"] or "none"
    minutes = values["interval_minutes"]
    often = f"at most one ordinary run in {minutes} min" if minutes else "every stop runs the gates"
    yield "stop hook", f"on, {often}" if values["hook"] == "on" else "off"


def _complain(loaded: LoadedProject) -> None:
    for problem in loaded.problems:
        click.echo(f"{'✗' if problem.is_error else '!'} {problem}", err=True)


COMMANDS = (list_gates, validate, health, detect, status)
