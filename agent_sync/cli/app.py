"""The command line: finds commands in the table, and runs the one that the arguments name."""

import importlib
import os
import sys
from typing import TYPE_CHECKING, NoReturn

import click

from agent_sync import __version__
from agent_sync.cli.common_options import with_common_options
from agent_sync.cli.ending import run_and_leave
from agent_sync.cli.table import COMMANDS, HOOK_COMMANDS, front, location
from agent_sync.errors import Exit
from agent_sync.quiet import answer as quiet

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from agent_sync.cli.json_reply import JsonReply

MORE = {
    "agent-sync help --all": "every command",
    "agent-sync help COMMAND": "one command, with examples",
    "agent-sync help exit-codes": "what the exit codes mean",
}


# What other tools call things.
MEANT = {
    **dict.fromkeys(("list", "ls"), "agent-sync board, or agent-sync next"),
    "pr": "agent-sync handoff, or agent-sync status",
    "version": "agent-sync --version",
    "undo": "agent-sync release",
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
            if cmd_name in MEANT:
                raise click.UsageError(f"No such command '{cmd_name}'. Did you mean {MEANT[cmd_name]}?", ctx=ctx)
            raise click.exceptions.NoSuchCommand(cmd_name, possibilities=self.list_commands(ctx), ctx=ctx)
        module, _, name = place.partition(":")
        command = getattr(importlib.import_module(module), name or "command")
        assert isinstance(command, click.Command)  # noqa: S101  # a slip in the table
        return with_common_options(command)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> "list[CompletionItem]":
        """Complete the names of commands from the table, which loads none of them."""
        from click.shell_completion import CompletionItem

        if not incomplete or incomplete[0].isalnum():
            return [
                CompletionItem(name, help=line) for name, (_, line) in COMMANDS.items() if name.startswith(incomplete)
            ]
        return super().shell_complete(ctx, incomplete)

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
@click.option("-v", "--debug", is_flag=True, help="Show the programs run and the requests sent.")
@click.pass_context
def app(ctx: click.Context, *, debug: bool) -> None:
    """Take a coding agent's task on GitHub from claim to close.

    Without a command: every task of this repository, in four lanes.
    """
    if debug:
        from agent_sync.cli.tracing import trace_on_stderr

        trace_on_stderr()
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


# What a shell sets to have its words completed.
VARIABLE = "_AGENT_SYNC_COMPLETE"


def run() -> NoReturn:
    """Run the command line and leave with its exit code."""
    reply = None
    if VARIABLE in os.environ and quiet.is_named_by_checkout((VARIABLE,)):
        # A checkout's word: it would turn every command into a completion script.
        del os.environ[VARIABLE]
    if _wants_json(sys.argv[1:]):
        from agent_sync.cli.json_reply import JsonReply

        reply = JsonReply()
    run_and_leave(lambda: _outcome(reply), reply)


def _wants_json(arguments: list[str]) -> bool:
    """Tell whether JSON is asked for; what follows two dashes is for another program."""
    return "--json" in (arguments[: arguments.index("--")] if "--" in arguments else arguments)


def _outcome(reply: "JsonReply | None") -> object:
    """Run the command that the arguments name; a group without one shows its help."""
    try:
        return app.main(standalone_mode=False, obj=reply)
    except click.exceptions.NoArgsIsHelpError as error:
        if reply:
            raise
        error.show()
        return Exit.USAGE
