"""`agent-sync cleanup`: delete the records of tasks that ended long ago."""

import json
from pathlib import Path

import click

from agent_sync.cli.here import context_here
from agent_sync.cli.record.recorded import home_here
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


@click.command("cleanup")
@click.option("--hooks", is_flag=True, required=True, help="The recovery records of ended tasks, of all workspaces.")
@click.option("--retention", default="", help="How long records are kept, such as 7d, 12h or 0; else the settings.")
@click.option("--dry-run", is_flag=True, help="Only list what would be deleted.")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def command(*, hooks: bool, retention: str, dry_run: bool, as_json: bool) -> None:  # noqa: ARG001  # says what
    """Delete the records of tasks that have ended long enough ago; of each, one line is kept in tombstones.jsonl.

    Completed tasks are kept for 30 days, failed ones for 14, abandoned ones for 7 (settings record.keep_*_days).

    \b
    Examples:
      agent-sync cleanup --hooks --dry-run
      agent-sync cleanup --hooks --retention 7d
    """
    context = context_here()
    home, now = home_here(context), clock.now()
    kept = uniform_retention(parse_duration(retention)) if retention else retention_of(context.settings.record)
    workspaces = [home.root / "workspaces" / name for name in home.workspaces()]
    read = reader(home)
    with disk_errors("cleaning up the records"):
        listed = due(records_in(workspaces, read), now, kept)
        deleted = listed if dry_run else clean(listed, read, now, kept)
    _report(deleted, dry_run=dry_run, as_json=as_json)


def reader(home: Home) -> Read:
    """Return what reads the record in a task's directory."""

    def read(directory: Path) -> Record | None:
        return home.store(directory.parent.parent.name, directory.name).read()

    return read


def _report(deleted: tuple[Due, ...], *, dry_run: bool, as_json: bool) -> None:
    if as_json:
        values = [{"path": str(one.directory), "state": one.state, "ended": one.ended.isoformat()} for one in deleted]
        click.echo(json.dumps({"dry_run": dry_run, "deleted": values}))
        return
    for one in deleted:
        click.echo(f"{'would delete' if dry_run else 'deleted'} {one.directory} ({one.state}, {one.ended:%Y-%m-%d})")
    if not deleted:
        click.echo("Nothing is old enough to be deleted.")
