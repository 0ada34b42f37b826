"""`agent-sync cleanup`: delete records of ended tasks, refs of ended claims and rescued files nobody needs any more."""

import json
from datetime import timedelta
from pathlib import Path

import click

from agent_sync.cli.console import working
from agent_sync.cli.here import context_here
from agent_sync.cli.record.recorded import home_here
from agent_sync.context import Context
from agent_sync.errors import AgentSyncError, Exit
from agent_sync.leases.pruning import DueRef
from agent_sync.record.disk.cleanup import (
    Due,
    Read,
    clean,
    due,
    parse_duration,
    records_in,
    retention_of,
    uniform_retention,
)
from agent_sync.record.disk.recorder import Home
from agent_sync.record.disk.store import disk_errors
from agent_sync.record.machine.model import Record
from agent_sync.system import clock
from agent_sync.work.housekeeping import Pruned, Retained, prune_refs, retained


@click.command("cleanup")
@click.option("--hooks", is_flag=True, help="Only the recovery records of ended tasks, of all workspaces.")
@click.option("--refs", is_flag=True, help="Only the refs of ended claims and the rescued files of this repository.")
@click.option("--retention", default="", help="How long they are kept, such as 7d, 12h or 0; else the settings.")
@click.option("--dry-run", is_flag=True, help="Only list what would be deleted.")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.pass_context
def command(ctx: click.Context, *, hooks: bool, refs: bool, retention: str, dry_run: bool, as_json: bool) -> None:
    """Delete what ended long enough ago: records of tasks, refs of claims, and rescued files that no work waits for.

    Of each record one line is kept in tombstones.jsonl. Completed tasks are kept for 30 days, failed ones for 14,
    abandoned ones for 7 (settings record.keep_*_days); refs for 30 (lease.keep_ended_days, worker.keep_rescue_days). A
    ref is deleted only if it still is what was judged; an issue that is claimed again then begins at epoch 1. Exit code
    8: the remote could not be reached, so the refs stay.

    \b
    Examples:
      agent-sync cleanup --dry-run
      agent-sync cleanup --hooks --retention 7d
      agent-sync cleanup --refs
    """
    context = context_here()
    given = parse_duration(retention) if retention else None
    deleted = _clean_records(context, given, dry_run=dry_run) if hooks or not refs else ()
    pruned, trouble = Pruned(()), ""
    if refs or not hooks:
        try:
            with working("looking at the refs"):
                kept = Retained(given, given) if given is not None else retained(context)
                pruned = prune_refs(context, clock.now(), kept, dry_run=dry_run)
        except AgentSyncError as error:
            trouble = str(error)
    _report(deleted, pruned.refs, dry_run=dry_run, as_json=as_json)
    for note in (*pruned.notes, *([f"the refs were left as they are: {trouble}"] if trouble else [])):
        click.echo(f"note: {note}", err=True)
    ctx.exit(Exit.PENDING if trouble else Exit.OK)


def _clean_records(context: Context, given: timedelta | None, *, dry_run: bool) -> tuple[Due, ...]:
    home, now = home_here(context), clock.now()
    kept = uniform_retention(given) if given is not None else retention_of(context.settings.record)
    workspaces = [home.root / "workspaces" / name for name in home.workspaces()]
    read = reader(home)
    with disk_errors("cleaning up the records"):
        listed = due(records_in(workspaces, read), now, kept)
        return listed if dry_run else clean(listed, read, now, kept)


def reader(home: Home) -> Read:
    """Return what reads the record in a task's directory."""

    def read(directory: Path) -> Record | None:
        return home.store(directory.parent.parent.name, directory.name).read()

    return read


def _report(deleted: tuple[Due, ...], refs: tuple[DueRef, ...], *, dry_run: bool, as_json: bool) -> None:
    if as_json:
        values = [{"path": str(one.directory), "state": one.state, "ended": one.ended.isoformat()} for one in deleted]
        pruned = [{"ref": one.ref, "what": one.what, "since": one.since.isoformat()} for one in refs]
        click.echo(json.dumps({"dry_run": dry_run, "deleted": values, "refs": pruned}))
        return
    verb = "would delete" if dry_run else "deleted"
    for one in deleted:
        click.echo(f"{verb} {one.directory} ({one.state}, {one.ended:%Y-%m-%d})")
    for ref in refs:
        click.echo(f"{verb} {ref.ref} ({ref.what}, {ref.since:%Y-%m-%d})")
    if not deleted and not refs:
        click.echo("Nothing is old enough to be deleted.")
