"""`agent-sync validate`: run a check or the gates, and sign a receipt of it."""

import sys
from datetime import timedelta
from pathlib import Path

import click

from agent_sync.cli.gates.running import NO_OPTIONS, run_gates
from agent_sync.cli.here import context_here
from agent_sync.cli.record.recorded import record_here, tell_standing
from agent_sync.context import Context
from agent_sync.errors import BadInput, BadRecord, BadUsage, Exit
from agent_sync.gates.config.project import find_project
from agent_sync.gates.plan.plan import Scope
from agent_sync.lazy_patterns import pattern
from agent_sync.quiet.answer import process_dir
from agent_sync.record.disk.store import OpenRecord
from agent_sync.record.machine.model import Record
from agent_sync.record.machine.progress import readable_text
from agent_sync.record.machine.validations import RecordedCommand, recorded_command
from agent_sync.record.receipts.integrity import Intact, Restored
from agent_sync.record.receipts.running import Outlet
from agent_sync.record.receipts.validate import CommandToRun, validate
from agent_sync.task.decision.outside_text import one_line

_LENGTH = pattern(r"([0-9]{1,6})(s|m|h)")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours"}


@click.command("validate", context_settings={"allow_interspersed_args": False})
@click.option("--timeout", default="", help="Longest time the command may take, such as 90s, 10m or 1h.")
@click.option("--label", default="", help="What the check is called.")
@click.argument("words", nargs=-1, metavar="[-- CMD...]")
@click.pass_context
def command(ctx: click.Context, *, timeout: str, label: str, words: tuple[str, ...]) -> None:
    """Run a command for the current step, and sign a receipt of the result.

    Without a command it runs again what this step was last validated with, and the gates where that was nothing.

    One word is a line for the shell; several are a program and its arguments. A pass completes the step, a failure
    asks a human; in a claim the agent continues. Exit code 0 if it passed, 1 if not.

    \b
    Examples:
      agent-sync validate -- make test
      agent-sync validate --timeout 10m --label lint -- "ruff check . && mypy"
      agent-sync validate
    """
    context = context_here()
    opened = record_here(context)
    limit = _limit(timeout)
    again = None if words else _recorded(opened)
    if not words and again is None:
        ctx.exit(_gates(context))
    shown = Outlet(sys.stdout.buffer, sys.stderr.buffer)
    if again:
        click.echo(f"Running again: {one_line(again.command, limit=400)}")
    sys.stdout.flush()
    given = again.command if again else words[0] if len(words) == 1 else words
    run = CommandToRun(given, readable_text(label), limit, cwd=again.cwd if again else "")
    ctx.exit(_report(validate(context, opened, run, shown)))


def _recorded(opened: OpenRecord) -> RecordedCommand | None:
    """Return the command to run again, if there is one; a record that was changed by hand may name any."""
    found = recorded_command(opened.record)
    if found is None:
        return None
    if not isinstance(opened.store.integrity(opened.record), Intact | Restored):
        message = "The record was changed outside agent-sync, so the command in it is not run."
        raise BadRecord(message, attempted="validating again", helps="agent-sync validate -- CMD")
    if not found.cwd or not Path(found.cwd).is_dir():
        message = "The recorded command cannot be run again: it held a secret, or its directory is gone."
        raise BadInput(message, attempted="validating again", helps="agent-sync validate -- CMD")
    return found


def _gates(context: Context) -> Exit:
    if find_project(process_dir(), context.place.root) is None:
        raise BadUsage("There are no gates here, so name a command.", helps="agent-sync validate -- CMD")
    before = record_here(context).record.receipts_total
    status = run_gates(Scope(), NO_OPTIONS | {"again": True})
    found = context.recorder.current()
    if found:
        made = found.record.receipts_total - before
        for receipt in found.record.receipts[-made:] if made else ():
            click.echo(f"Receipt: {receipt.receipt_id} ({receipt.label}, exit code {receipt.exit_code})")
        tell_standing(found.record)
    return status


def _report(record: Record) -> Exit:
    receipt = record.receipts[-1]
    how = "passed" if receipt.has_passed else "failed"
    signed = "" if receipt.signature else ", UNSIGNED"
    click.echo(f"Receipt: {receipt.receipt_id} ({how}, exit code {receipt.exit_code}, {receipt.duration}{signed})")
    tell_standing(record)
    return Exit.OK if receipt.has_passed else Exit.FAILED


def _limit(text: str) -> timedelta | None:
    if not text:
        return None
    found = _LENGTH.fullmatch(text)
    if not found or not int(found[1]):
        message = f"--timeout {text!r} is not a duration; write a number with s, m or h, such as 10m."
        raise BadUsage(message, helps="agent-sync validate --help")
    return timedelta(**{_UNITS[found[2]]: int(found[1])})
