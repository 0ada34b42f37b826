"""The table of commands, and the one place that turns errors into messages and exit codes."""

import importlib
import os
import sys
import tempfile
import traceback
from pathlib import Path
from typing import NoReturn

import click

from agent_sync import __version__
from agent_sync.disk_errors import disk_trouble
from agent_sync.errors import AgentSyncError
from agent_sync.masking import masked

# Name → module (with its attribute, if not `command`) and one line for `--help`: listing commands loads none of them.
COMMANDS = {
    "claim": ("agent_sync.cli.claim", "Take a task: branch, claim file, board, assignment."),
    "handoff": ("agent_sync.cli.handoff", "Say that the work is ready for a pull request."),
    "push": ("agent_sync.cli.push", "Push the claim's branch, fast-forward only."),
    "done": ("agent_sync.cli.done", "Record a human's consent to close the issue."),
    "release": ("agent_sync.cli.release", "Give the task back."),
    "status": ("agent_sync.cli.status", "Claim, branch, PR, CI, issue and card side by side."),
    "next": ("agent_sync.cli.next", "What is ready to be claimed."),
    "board": ("agent_sync.cli.board", "The board in columns."),
    "sync": ("agent_sync.cli.sync", "One full look-decide-act round, no hook needed."),
    "log": ("agent_sync.cli.log", "What was done, newest last."),
    "init": ("agent_sync.cli.init", "Set a repository up: hooks, command pages, settings."),
    "uninstall": ("agent_sync.cli.uninstall", "Take out exactly what init put in."),
    "trust": ("agent_sync.cli.trust", "Approve what this repository's files ask for."),
    "config": ("agent_sync.cli.config", "List, read and change settings."),
    "doctor": ("agent_sync.cli.doctor", "Check the whole set-up, one line each."),
    "statusline": ("agent_sync.cli.statusline", "One line for Claude Code's status line."),
    "demo": ("agent_sync.cli.demo", "A whole task, live, on a local GitHub: no token, no network."),
    "start": ("agent_sync.cli.start", "Begin a recorded task without GitHub."),
    "step": ("agent_sync.cli.step", "Say how the present step goes on: start, output, done, fail."),
    "validate": ("agent_sync.cli.validate", "Run a check or the gates, and sign a receipt of it."),
    "checkpoint": ("agent_sync.cli.checkpoint", "Note how far the present step has come."),
    "approve": ("agent_sync.cli.decision:approve", "Decide that a step that waits for a human is done."),
    "reject": ("agent_sync.cli.decision:reject", "Decide that a step that waits for a human is tried again."),
    "abandon": ("agent_sync.cli.decision:abandon", "Give a recorded task up."),
    "resume": ("agent_sync.cli.resume", "Go on with a task, also after a crash."),
    "hook": ("agent_sync.cli.hook", "The recovery record: look at, verify, recover and export it."),
    "cleanup": ("agent_sync.cli.cleanup", "Delete the records of tasks that ended long ago."),
    "workspace": ("agent_sync.cli.workspace", "The records of all clones: list and destroy them."),
    "gauntlet": ("agent_sync.cli.gauntlet", "The quality gate: run, look at and set up its gates."),
    "worker": ("agent_sync.cli.worker", "Work hooks: sling work to workers, take it, hand it on."),
    "ledger": ("agent_sync.cli.ledger", "Tasks, convoys and evidence, from the work hooks' history."),
    "emulator": ("agent_sync.cli.emulator", "A local GitHub to try things on."),
}
HOOK_COMMANDS = {
    "on-stop": "Hook: after every answer of the agent (Stop).",
    "on-idle": "Hook: when the session is idle (Notification).",
    "session-start": "Hook: when a session starts (SessionStart).",
    "on-prompt": "Hook: before a prompt is handled (UserPromptSubmit).",
    "on-tool": "Hook: after a tool was used (PostToolUse).",
}
# For git and for us, not for people: left out of the lists.
HIDDEN = {"guard-push": "agent_sync.cli.guard_push"}
INTERRUPTED = 130
# What sysexits.h calls an internal software error.
UNEXPECTED = 70


class LazyGroup(click.Group):
    """A group that knows its commands by name and imports one only when it is run."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  # click's signature
        """Return every command's name."""
        return [*COMMANDS, *HOOK_COMMANDS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command that is asked for."""
        if cmd_name in HOOK_COMMANDS:
            return _hook_page(cmd_name)
        if cmd_name not in COMMANDS | HIDDEN:
            ctx.fail(f"there is no command {cmd_name!r}. Try: agent-sync --help")
        module, _, name = (HIDDEN.get(cmd_name) or COMMANDS[cmd_name][0]).partition(":")
        command = getattr(importlib.import_module(module), name or "command")
        assert isinstance(command, click.Command)  # noqa: S101  # a slip in the table above
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """List the commands from the table."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, short) for name, (_, short) in COMMANDS.items()])
        with formatter.section("Hooks of Claude Code (JSON on standard input)"):
            formatter.write_dl(list(HOOK_COMMANDS.items()))


def _hook_page(name: str) -> click.Command:
    """Return the help page of a hook; the hook itself never comes this way."""
    text = f"""{HOOK_COMMANDS[name]}

    Reads the event as JSON on standard input, prints one JSON object or nothing, and always exits 0.

    \b
    Example:
      echo '{{}}' | agent-sync {name}
    """
    return click.Command(name, help=text)


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="agent-sync")
def app() -> None:
    """Take a coding agent's task on GitHub from claim to close."""


def run() -> NoReturn:
    """Run the command line and leave with its exit code."""
    try:
        status = app.main(standalone_mode=False)
    except click.ClickException as error:
        error.show()
        status = error.exit_code
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted", err=True)
        status = INTERRUPTED
    except AgentSyncError as error:
        _explain(error)
        status = error.exit_status
    except BrokenPipeError:
        # The reader has seen enough; without this the interpreter complains at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        status = 0
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


def _report(error: Exception) -> int:
    text = "".join(traceback.format_exception(error))
    # Arguments are left out but for the command's name: they may be anything, and are not needed to find the place.
    command = next((word for word in sys.argv[1:] if word in COMMANDS | HIDDEN), "")
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
    return UNEXPECTED


def _platform() -> str:
    found = os.uname()
    return f"{sys.platform} {found.sysname} {found.release} {found.machine}"
