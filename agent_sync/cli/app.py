"""The command line: finds commands in the table, and turns errors into messages and exit codes."""

import importlib
import os
import sys
import tempfile
import traceback
from pathlib import Path
from typing import NoReturn

import click

from agent_sync import __version__
from agent_sync.cli.table import COMMANDS, HOOK_COMMANDS, front, location
from agent_sync.errors import AgentSyncError, Exit
from agent_sync.system.disk import disk_trouble
from agent_sync.system.masking import masked

MORE = {
    "agent-sync help --all": "every command",
    "agent-sync help COMMAND": "one command, with examples",
    "agent-sync help exit-codes": "what the exit codes mean",
}


class LazyGroup(click.Group):
    """A group that knows its commands by name and imports one only when it is run."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  # click's signature
        """Return every command's name."""
        return [*COMMANDS, *HOOK_COMMANDS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command that is asked for."""
        if cmd_name in HOOK_COMMANDS:
            return _hook_page(cmd_name)
        place = location(cmd_name)
        if not place:
            raise click.exceptions.NoSuchCommand(cmd_name, possibilities=self.list_commands(ctx), ctx=ctx)
        module, _, name = place.partition(":")
        command = getattr(importlib.import_module(module), name or "command")
        assert isinstance(command, click.Command)  # noqa: S101  # a slip in the table
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """List the commands people use most, by section."""
        from agent_sync.cli.help import write_sections

        write_sections(formatter, front())

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Say where the other commands are."""
        with formatter.section("More"):
            formatter.write_dl(list(MORE.items()))


def _hook_page(name: str) -> click.Command:
    """Return the help page of a hook; the hook itself never comes this way."""
    text = f"""{HOOK_COMMANDS[name]}

    Reads the event as JSON on standard input, prints one JSON object or nothing, and always exits 0.

    \b
    Example:
      echo '{{}}' | agent-sync {name}
    """
    return click.Command(name, help=text)


@click.group(cls=LazyGroup, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="agent-sync")
@click.pass_context
def app(ctx: click.Context) -> None:
    """Take a coding agent's task on GitHub from claim to close.

    Without a command: every task of this repository, in four lanes.
    """
    if ctx.invoked_subcommand is None:
        _show_fleet(ctx)


def _show_fleet(ctx: click.Context) -> None:
    """Show the fleet of the repository one is in; elsewhere there is none, and help is of more use."""
    from agent_sync.quiet.answer import process_dir
    from agent_sync.worktree import place_of

    if place_of([process_dir()], "") is None:
        click.echo(ctx.get_help())
        return
    from agent_sync.cli.fleet.fleet import show_all
    from agent_sync.cli.here import context_here

    show_all(context_here(keeps_record=False), as_json=False)


def run() -> NoReturn:
    """Run the command line and leave with its exit code."""
    try:
        status = app.main(standalone_mode=False)
    except click.ClickException as error:
        error.show()
        status = error.exit_code
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted", err=True)
        status = Exit.INTERRUPTED
    except AgentSyncError as error:
        _explain(error)
        status = error.exit_status
    except BrokenPipeError:
        # The reader has seen enough; without this the interpreter complains at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        status = Exit.OK
    except Exception as error:  # noqa: BLE001  # the last resort writes a report instead of a trace
        trouble = disk_trouble(error)
        if trouble:
            _explain(trouble)
        status = trouble.exit_status if trouble else _report(error)
    sys.exit(status if isinstance(status, int) else 0)


def _explain(error: AgentSyncError) -> None:
    click.echo(f"error[{error.code}]: {error.happened}", err=True)
    if error.attempted:
        click.echo(f"  while {error.attempted}", err=True)
    if error.helps:
        click.echo(f"  try: {error.helps}", err=True)


def _report(error: Exception) -> Exit:
    text = "".join(traceback.format_exception(error))
    # Arguments are left out but for the command's name: they may be anything, and are not needed to find the place.
    command = next((word for word in sys.argv[1:] if location(word)), "")
    facts = f"command: agent-sync {command}\nagent-sync {__version__}, Python {sys.version}\nplatform: {_platform()}"
    happened = masked(f"{type(error).__name__}: {error}")
    click.echo(f"error[unexpected]: agent-sync failed unexpectedly: {happened}", err=True)
    try:
        # Made with mode 0600, whatever the umask.
        with tempfile.NamedTemporaryFile("w", prefix="agent-sync-", suffix=".md", delete=False) as file:
            file.write(masked(f"# agent-sync failed unexpectedly\n\n{facts}\n\n```\n{text}```\n"))
        click.echo(f"  a report is in {Path(file.name)}", err=True)
    except OSError as trouble:
        click.echo(f"  no report could be written: {trouble.strerror}", err=True)
    return Exit.UNEXPECTED


def _platform() -> str:
    found = os.uname()
    return f"{sys.platform} {found.sysname} {found.release} {found.machine}"
