"""`agent-sync validate`: run a check or the gates, and sign a receipt of it."""

import re
import sys
from datetime import timedelta

import click

from agent_sync.cli.gates.gauntlet import ran_gates
from agent_sync.cli.here import context_here
from agent_sync.cli.record.recorded import record_here, tell_standing
from agent_sync.context import Context
from agent_sync.errors import Exit
from agent_sync.gates.config.project import find_project
from agent_sync.gates.plan.plan import Scope
from agent_sync.quiet.answer import process_dir
from agent_sync.record.machine.model import Record
from agent_sync.record.observe.words import readable
from agent_sync.record.receipts.tee import Outlet
from agent_sync.record.receipts.validate import Check, validate

_EVERYTHING = {"base": "", "commit": "", "uncommitted": False, "gate": "", "again": True, "as_json": False}
_LENGTH = re.compile(r"([0-9]{1,6})(s|m|h)")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours"}


@click.command("validate", context_settings={"allow_interspersed_args": False})
@click.option("--timeout", default="", help="Longest time the command may take, such as 90s, 10m or 1h.")
@click.option("--label", default="", help="What the check is called.")
@click.argument("words", nargs=-1, metavar="[-- CMD...]")
@click.pass_context
def command(ctx: click.Context, *, timeout: str, label: str, words: tuple[str, ...]) -> None:
    """Run a command (default: the gates) for the current step, and sign a receipt of the result.

    One word is a line for the shell; several are a program and its arguments. A pass completes the step, a failure
    asks a human; in a claim the agent continues. Exit code 0 if it passed, 1 if not.

    \b
    Examples:
      agent-sync validate -- make test
      agent-sync validate --timeout 10m --label lint -- "ruff check . && mypy"
      agent-sync validate
    """
    context = context_here()
    kept = record_here(context)
    limit = _limit(timeout)
    if not words:
        ctx.exit(_gates(context))
    shown = Outlet(sys.stdout.buffer, sys.stderr.buffer)
    sys.stdout.flush()
    given = words[0] if len(words) == 1 else words
    record = validate(context, kept, Check(given, readable(label), limit), shown)
    ctx.exit(_told(record))


def _gates(context: Context) -> Exit:
    if find_project(process_dir(), context.place.root) is None:
        raise click.UsageError("There are no gates here, so name a command: agent-sync validate -- CMD")
    before = record_here(context)[1].receipts_total
    status = ran_gates(Scope(), _EVERYTHING)
    found = context.recorder.opened()
    if found:
        made = found[1].receipts_total - before
        for receipt in found[1].receipts[-made:] if made else ():
            click.echo(f"Receipt: {receipt.receipt_id} ({receipt.label}, exit code {receipt.exit_code})")
        tell_standing(found[1])
    return status


def _told(record: Record) -> Exit:
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
        raise click.UsageError(f"--timeout {text!r} is not a duration; write a number with s, m or h, such as 10m.")
    return timedelta(**{_UNITS[found[2]]: int(found[1])})
