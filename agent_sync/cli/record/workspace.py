"""`agent-sync workspace`: the records of all clones."""

import json
from typing import Any

import click

from agent_sync.cli.asking import is_terminal
from agent_sync.cli.here import context_here
from agent_sync.cli.record.cleanup import reader
from agent_sync.cli.record.recorded import home_here
from agent_sync.cli.telling import counted
from agent_sync.errors import BadInput, BadRecord, RecordUnavailable
from agent_sync.record.crash.owner import SystemProcesses, owner_standing
from agent_sync.record.disk import cleanup
from agent_sync.record.disk.recorder import Home, task_summary, workspace_of
from agent_sync.record.disk.store import RecordStore, disk_errors
from agent_sync.record.machine.states import TERMINAL
from agent_sync.system import clock


@click.group("workspace")
def command() -> None:
    """List and destroy workspaces: the records of one clone each."""


@command.command("list")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def list_all(*, as_json: bool) -> None:
    """List every workspace with its tasks; `*` marks that of this clone.

    \b
    Example:
      agent-sync workspace list
    """
    context = context_here()
    home, own = home_here(context), workspace_of(context.place)
    found: list[dict[str, Any]] = [
        {"name": name, "is_here": name == own, "tasks": _tasks(home, name)} for name in home.workspaces()
    ]
    if as_json:
        click.echo(json.dumps(found))
        return
    for one in found:
        click.echo(f"{'*' if one['is_here'] else ' '} {one['name']}")
        for task in one["tasks"]:
            click.echo(f"    {task['task_id']}: {task['state']}")
    if not found:
        click.echo("No workspaces yet.")


def _tasks(home: Home, workspace: str) -> list[dict[str, Any]]:
    found = []
    for task_id in home.tasks(workspace):
        store = home.store(workspace, task_id)
        # How a task ended is said apart from its record, which need not be read for it.
        ended = task_summary(store).get("outcome")
        found.append({"task_id": task_id, "state": ended if ended in set(TERMINAL) else _state(store)})
    return found


def _state(store: RecordStore) -> str:
    try:
        record = store.read()
    except (BadRecord, RecordUnavailable):
        return "unreadable"
    return str(record.state) if record else "gone"


@command.command("destroy")
@click.argument("name")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--force", is_flag=True, help="Even while one of its tasks is in progress.")
def destroy(*, name: str, yes: bool, force: bool) -> None:
    """Delete every record of a workspace, whatever its state. The code is not touched.

    \b
    Example:
      agent-sync workspace destroy demo-1a2b3c
    """
    # What is destroyed here must not be begun anew at the end of this very command.
    context = context_here(keeps_record=False)
    home = home_here(context)
    if name not in home.workspaces():
        raise BadInput(f"There is no workspace {name!r}.", helps="agent-sync workspace list")
    tasks = home.tasks(name)
    click.echo(f"{counted(len(tasks), 'record')} would be deleted: {', '.join(tasks) or 'none'}")
    if not yes and not is_terminal():
        message = "There is no terminal to ask on, so nothing was deleted."
        raise BadInput(message, helps="see `agent-sync workspace destroy --help` for how to answer beforehand")
    if not (yes or click.confirm("Delete them?", default=False)):
        return
    proc, now = SystemProcesses(), clock.now()
    with disk_errors("destroying the workspace"):
        path = home.root / "workspaces" / name
        deleted = cleanup.destroy(path, reader(home), lambda owner: owner_standing(owner, proc), now, is_forced=force)
    click.echo(f"Deleted {counted(len(deleted), 'record')} of {name}.")
