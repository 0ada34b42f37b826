"""Turns whatever ends a command early into one kind of error, and tells it in one form."""

import os
import sys
import tempfile
import traceback

import click

from agent_sync import __version__
from agent_sync.cli.table import location
from agent_sync.cli.tracing import is_traced
from agent_sync.errors import AgentSyncError, BadInput, BadUsage, Interrupted, Unexpected
from agent_sync.system.disk import disk_trouble
from agent_sync.system.masking import masked


def as_our_error(error: BaseException) -> AgentSyncError:
    """Return the error that people and programs are told."""
    if is_traced():
        click.echo(masked("".join(traceback.format_exception(error))), err=True)
    match error:
        case AgentSyncError():
            return error
        case click.exceptions.NoArgsIsHelpError():
            return BadUsage("Which command?", helps=f"{error.ctx.command_path} --help")
        case click.UsageError():
            path = error.ctx.command_path if error.ctx else "agent-sync"
            return BadUsage(error.format_message(), helps=f"{path} --help")
        case click.ClickException():
            return BadInput(error.format_message())
        case click.Abort() | KeyboardInterrupt():
            return Interrupted("The command was interrupted.")
        case _:
            return disk_trouble(error) or _unexpected(error)


def tell(error: AgentSyncError) -> None:
    """Print an error: what happened, what was attempted, and the command that helps."""
    click.echo(f"error[{error.code}]: {error.happened}", err=True)
    if error.attempted:
        click.echo(f"  while {error.attempted}", err=True)
    if error.helps:
        click.echo(f"  try: {error.helps}", err=True)


def _unexpected(error: BaseException) -> Unexpected:
    """Write a report of what nobody thought of."""
    text = "".join(traceback.format_exception(error))
    # Arguments are left out but for the command's name: they may be anything, and are not needed to find the place.
    command = next((word for word in sys.argv[1:] if location(word)), "")
    facts = f"command: agent-sync {command}\nagent-sync {__version__}, Python {sys.version}\nplatform: {_platform()}"
    happened = masked(f"agent-sync failed unexpectedly: {type(error).__name__}: {error}")
    try:
        # Made with mode 0600, whatever the umask.
        with tempfile.NamedTemporaryFile("w", prefix="agent-sync-", suffix=".md", delete=False) as file:
            file.write(masked(f"# agent-sync failed unexpectedly\n\n{facts}\n\n```\n{text}```\n"))
    except OSError as trouble:
        return Unexpected(happened, helps=f"again; no report could be written: {trouble.strerror}")
    return Unexpected(happened, helps=f"reporting it with {file.name}")


def _platform() -> str:
    found = os.uname()
    return f"{sys.platform} {found.sysname} {found.release} {found.machine}"
