"""`agent-sync record verify-receipt · export`: what is on record can be checked by others."""

import json
from collections.abc import Iterator
from typing import Any

import click

from agent_sync.cli.here import context_here
from agent_sync.cli.record.hook_views import integrity_text
from agent_sync.cli.record.recorded import home_here, task_here
from agent_sync.context import Context
from agent_sync.errors import BadRecord, RecordUnavailable
from agent_sync.record.disk.home import workspace_of
from agent_sync.record.disk.recorder import Kept
from agent_sync.record.receipts.examining import examined, found_receipt
from agent_sync.record.receipts.verification_text import exit_status, lines, signature_text


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
    found = found_receipt(receipt_id, [task_here(context, task)] if task else _records(context))
    if found is None:
        click.echo(f"error[no-receipt]: There is no receipt {receipt_id!r}.", err=True)
        click.echo("  try: agent-sync record status", err=True)
        ctx.exit(exit_status(None))
    verdict = examined(*found, context.environment)
    for line in lines(found[1], verdict):
        click.echo(line)
    ctx.exit(exit_status(verdict))


def _records(context: Context) -> Iterator[Kept]:
    """Return the task of this worktree, then every other of the workspace, the latest first."""
    home, workspace = home_here(context), workspace_of(context.place)
    active = context.recorder.opened()
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
        if record and not (active and active[1].task_id == task_id):
            others.append((store, record))
    yield from sorted(others, key=lambda one: one[1].updated_at, reverse=True)


@click.command("export")
@click.option("--format", "_format", type=click.Choice(["json"]), default="json", show_default=True, help="How.")
@click.option("--task", default="", help="Another task of this workspace.")
def export(*, _format: str, task: str) -> None:
    """Print everything about the task: record, full history, verification results.

    \b
    Example:
      agent-sync record export --format json > hook-debug.json
    """
    context = context_here(keeps_record=False)
    click.echo(json.dumps(_exported(context, task_here(context, task)), ensure_ascii=False, indent=2))


def _exported(context: Context, kept: Kept) -> dict[str, Any]:
    store, record = kept
    verified = {one.receipt_id: signature_text(examined(kept, one, context.environment)) for one in record.receipts}
    return {
        "path": str(store.directory),
        "record": record.model_dump(mode="json"),
        "archived_events": [event.model_dump(mode="json") for event in store.archived()],
        "integrity": integrity_text(store.integrity(record)),
        "receipts": verified,
        "damaged_copies": [str(path) for path in store.quarantined()],
    }


COMMANDS = (verify_receipt, export)
