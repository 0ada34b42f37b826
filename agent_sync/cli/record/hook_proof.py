"""`agent-sync record verify-receipt · export`: what is on record can be checked by others."""

import json
from collections.abc import Iterator
from typing import Any, assert_never

import click

from agent_sync.cli.here import context_here
from agent_sync.cli.record.hook_views import integrity_text, shown_now
from agent_sync.cli.record.recorded import home_here, task_here
from agent_sync.context import Context
from agent_sync.errors import BadRecord, Exit, NoReceipt, RecordUnavailable
from agent_sync.record.disk.recorder import workspace_of
from agent_sync.record.disk.store import OpenRecord
from agent_sync.record.receipts.envelope import envelope_of
from agent_sync.record.receipts.proof import examine, find_receipt
from agent_sync.record.receipts.receipt import Receipt
from agent_sync.record.receipts.signing import Invalid, Unsigned, Valid, Verdict
from agent_sync.task.decision.outside_text import escaped


@click.command("verify-receipt")
@click.argument("receipt_id")
@click.option(
    "--task", default="", help="The task it belongs to; default: this worktree's, then all of this workspace."
)
@click.pass_context
def verify_receipt(ctx: click.Context, *, receipt_id: str, task: str) -> None:
    """Check a receipt: its signature, its entry in the history, and the output it covers.

    Exit code 0 if it is valid and the command passed, 1 if it is valid and the command failed, 5 if it is INVALID,
    6 if there is no such receipt or it was never signed.

    \b
    Examples:
      agent-sync record verify-receipt rcpt-001
      agent-sync record verify-receipt rcpt-001 --task fix-null-pointer-in-config
    """
    context = context_here(keeps_record=False)
    found = find_receipt(receipt_id, [task_here(context, task)] if task else _records(context))
    if found is None:
        raise NoReceipt(f"There is no receipt {receipt_id!r}.", helps="agent-sync record status")
    verdict = examine(*found, context.environment)
    for line in receipt_report(found.receipt, verdict):
        click.echo(line)
    ctx.exit(exit_status(verdict))


def _records(context: Context) -> Iterator[OpenRecord]:
    """Return the task of this worktree, then every other of the workspace, the latest first."""
    home, workspace = home_here(context), workspace_of(context.place)
    active = context.recorder.current()
    if active:
        yield active
    others = []
    for task_id in home.tasks(workspace):
        store = home.store(workspace, task_id)
        try:
            record = store.read()
        except (BadRecord, RecordUnavailable):
            # One that cannot be read holds no receipt that could count.
            continue
        if record and not (active and active.record.task_id == task_id):
            others.append(OpenRecord(store, record))
    yield from sorted(others, key=lambda one: one.record.updated_at, reverse=True)


@click.command("export")
@click.option(
    "--format", "form", type=click.Choice(["json", "dsse"]), default="json", show_default=True, help="As what."
)
@click.option("--task", default="", help="Another task of this workspace.")
@click.option("--json", is_flag=True, expose_value=False, help="Accepted: both formats are JSON.")
def export(*, form: str, task: str) -> None:
    """Print everything about the task: record, full history, verification results.

    As dsse: its signed receipts, one DSSE envelope a line, for `agent-sync record verify FILE` or any other verifier.

    \b
    Examples:
      agent-sync record export --format json > hook-debug.json
      agent-sync record export --format dsse > receipts.jsonl
    """
    context = context_here(keeps_record=False)
    if form == "dsse":
        for receipt in task_here(context, task).record.receipts:
            if receipt.signature:
                click.echo(json.dumps(envelope_of(receipt)))
        return
    click.echo(json.dumps(_export_values(context, task_here(context, task)), ensure_ascii=False, indent=2))


def _export_values(context: Context, opened: OpenRecord) -> dict[str, Any]:
    store, record = shown_now(context, opened)
    verified = {one.receipt_id: signature_text(examine(opened, one, context.environment)) for one in record.receipts}
    return {
        "path": str(store.directory),
        "record": record.model_dump(mode="json"),
        "archived_events": [event.model_dump(mode="json") for event in store.archived_events()],
        "integrity": integrity_text(store.integrity(record)),
        "receipts": verified,
        "damaged_copies": [str(path) for path in store.damaged_copies()],
    }


def receipt_report(receipt: Receipt, verdict: Verdict, *, is_named: bool = False) -> tuple[str, ...]:
    """Return the lines for people: what the receipt says, whether that counts, and what follows."""
    return (
        f"Receipt: {escaped(receipt.receipt_id)}",
        f"Step: {escaped(receipt.step_name)}",
        f"Command: {escaped(receipt.command)}",
        f"Exit Code: {receipt.exit_code}",
        f"Key Path: {escaped(receipt.key_path)}",
        f"Signature: {signature_text(verdict)}",
        "",
        *_conclusion(receipt, verdict, is_named=is_named),
    )


def exit_status(verdict: Verdict) -> Exit:
    """Return the exit status; without a signature, what was asked for is missing."""
    match verdict:
        case Valid(passed=passed):
            return Exit.OK if passed else Exit.FAILED
        case Invalid():
            return Exit.INVALID
        case Unsigned():
            return Exit.MISSING
        case _:
            assert_never(verdict)


def signature_text(verdict: Verdict) -> str:
    """Return what checking a receipt showed, in a few words."""
    match verdict:
        case Valid():
            return "VALID ✓"
        case Invalid(reason=reason):
            return f"INVALID ✗ {escaped(reason)}"
        case Unsigned():
            return "UNSIGNED"
        case _:
            assert_never(verdict)


def _conclusion(receipt: Receipt, verdict: Verdict, *, is_named: bool) -> tuple[str, ...]:
    match verdict:
        case Valid(passed=passed, is_ours=is_ours):
            return _signer(is_ours=is_ours, is_named=is_named), _ending(receipt, passed=passed)
        case Invalid():
            return ("This receipt proves nothing: do not rely on what it says.",)
        case Unsigned():
            return ("This receipt was never signed: nothing shows that the command ran.",)
        case _:
            assert_never(verdict)


def _signer(*, is_ours: bool, is_named: bool) -> str:
    if is_named:
        return "This receipt was signed by the key that was given."
    if is_ours:
        return "This receipt was signed by your ATLAS installation."
    return "This receipt was not changed since it was signed; its signer is not known here."


def _ending(receipt: Receipt, *, passed: bool) -> str:
    if passed:
        return "The validation command ran and completed successfully."
    return f"The validation command ran and failed with exit code {receipt.exit_code}."


COMMANDS = (verify_receipt, export)
