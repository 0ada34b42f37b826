"""Shows a plan and asks whether to go on; without a terminal nothing is ever asked."""

import sys
from typing import TYPE_CHECKING

import click

from agent_sync.errors import BadInput

if TYPE_CHECKING:
    from agent_sync.setup.install.plan import InstallPlan

COLOURS = {"+": "green", "-": "red", "@": "cyan"}


def is_terminal() -> bool:
    """Tell whether somebody can be asked."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def show(plan: "InstallPlan") -> None:
    """Print every change as a diff."""
    from agent_sync.setup.install.shown import diff

    for change in plan.changes:
        for line in diff(change):
            click.secho(line, fg=COLOURS.get(line[:1]))
    for note in plan.notes:
        click.echo(f"note: {note}", err=True)


def ask_consent(question: str, *, yes: bool, command: str) -> bool:
    """Tell whether the plan may be carried out."""
    if yes:
        return True
    if not is_terminal():
        raise BadInput(
            "There is no terminal to ask on, so nothing was written.",
            attempted="asking whether to write the changes above",
            helps=f"{command} --yes, or {command} --dry-run to look only",
        )
    return click.confirm(question, default=True)


def agrees_here(question: str, *, yes: bool) -> bool:
    """Tell whether a human agrees; ask only at a terminal."""
    return yes or (is_terminal() and click.confirm(question, default=False))


def tell_done(plan: "InstallPlan") -> None:
    """Say what became of which file."""
    from agent_sync.setup.install.shown import verb

    for change in plan.changes:
        click.echo(f"{verb(change)}d {change.path}")
