"""`agent-sync record status · checkpoints`: what is on record."""

import json
from datetime import datetime
from typing import Any, assert_never

import click

from agent_sync.cli.here import context_here
from agent_sync.cli.record.recorded import age, record_here, standing_of, task_here
from agent_sync.context import Context
from agent_sync.errors import BadRecord, Exit
from agent_sync.record.crash.owner import standing
from agent_sync.record.crash.proc import SystemProcesses
from agent_sync.record.disk.derived import VIEW
from agent_sync.record.disk.recorder import Kept
from agent_sync.record.machine.model import Record
from agent_sync.record.machine.states import Move, Standing
from agent_sync.record.receipts.integrity import BrokenAt, ChangedOutside, Intact, Integrity
from agent_sync.record.receipts.proof import valid_ids
from agent_sync.system import clock
from agent_sync.task.decision.outside_text import one_line

_LIVES = {
    Standing.ALIVE: "alive",
    Standing.GONE: "gone",
    Standing.OTHER_BOOT: "gone: the machine was restarted",
    Standing.OTHER_HOST: "on another machine",
    Standing.UNKNOWN: "unknown",
}


@click.command("status")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.pass_context
def status(ctx: click.Context, *, as_json: bool) -> None:
    """Show the state of this worktree's task and whether its record is intact.

    Exit code 0, 1 if no task is recorded, 5 if the record is damaged.

    \b
    Examples:
      agent-sync record status
      agent-sync record status --json | jq -r .state
    """
    context = context_here(keeps_record=False)
    try:
        kept = record_here(context)
    except BadRecord as error:
        click.echo(f"error[{error.code}]: {error}", err=True)
        ctx.exit(Exit.INVALID)
    found = kept[0].integrity(kept[1])
    values = status_values(context, kept, clock.now())
    if as_json:
        click.echo(json.dumps(values, ensure_ascii=False))
    else:
        for line in _lines(kept[1], values, clock.now()):
            click.echo(line)
    ctx.exit(Exit.INVALID if isinstance(found, BrokenAt) else Exit.OK)


def status_values(context: Context, kept: Kept, now: datetime) -> dict[str, Any]:
    """Return what is known of a task and its record, for programs."""
    store, record = kept
    step = record.current_step
    last = record.checkpoints[-1] if record.checkpoints else None
    return {
        "task_id": record.task_id,
        "description": record.description,
        "template": record.template,
        "state": record.state,
        "step": step.step_name if step else None,
        "step_number": step.step_index + 1 if step else 0,
        "steps": len(record.steps),
        "attempt": step.attempt if step else 0,
        "waiting_for": record.waiting_for or None,
        "last_checkpoint": last and last.model_dump(mode="json", exclude={"files_snapshot"}),
        "checkpoints": record.checkpoints_total,
        "receipts": record.receipts_total,
        "receipts_listed": len(record.receipts),
        "receipts_valid": len(valid_ids(record, context.environment)),
        "owner": record.owner.model_dump() | {"standing": standing(record.owner, SystemProcesses())},
        "integrity": integrity_text(store.integrity(record)),
        "damaged_copies": [str(path) for path in store.quarantined()],
        "path": str(store.directory),
        "updated_at": record.updated_at.isoformat(),
        "age_s": int((now - record.updated_at).total_seconds()),
    }


def integrity_text(found: Integrity) -> str:
    """Return in a few words whether a record is as agent-sync wrote it."""
    match found:
        case Intact():
            return "intact"
        case ChangedOutside():
            return "changed outside agent-sync"
        case BrokenAt(seq=seq):
            return f"broken at event {seq}"
        case _:
            assert_never(found)


def checkpoint_line(record: Record, now: datetime) -> str:
    """Return the last checkpoint and how old it is."""
    if not record.checkpoints:
        return "none"
    last = record.checkpoints[-1]
    return f"{last.checkpoint_id} ({age(last.created_at, now)})"


def _lines(record: Record, values: dict[str, Any], now: datetime) -> list[str]:
    last = record.checkpoints[-1] if record.checkpoints else None
    about = f" {last.trigger}: {one_line(last.description)}" if last else ""
    owner = f"process {record.owner.pid}, {_LIVES[values['owner']['standing']]}" if record.owner.pid else "unknown"
    lines = {
        "Task": f"{record.task_id} ({record.template})",
        "Hook State": standing_of(record),
        "Step": f"{values['step_number']} of {values['steps']}" if record.current_step else "none yet",
        "Waiting For": one_line(record.waiting_for),
        "Last Checkpoint": checkpoint_line(record, now) + about,
        "Receipts": _receipts(values),
        "Owner": owner,
        "Integrity": values["integrity"],
        "Damaged Copies": ", ".join(values["damaged_copies"]),
        "Record": f"{values['path']}/{VIEW}",
    }
    return [f"{name}: {value}" for name, value in lines.items() if value]


def _receipts(values: dict[str, Any]) -> str:
    if not values["receipts"]:
        return "0"
    earlier = values["receipts"] - values["receipts_listed"]
    more = f", {earlier} earlier not checked here" if earlier else ""
    return f"{values['receipts']} ({values['receipts_valid']} of the last {values['receipts_listed']} valid{more})"


@click.command("checkpoints")
@click.option("--task", default="", help="Another task of this workspace.")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def checkpoints(*, task: str, as_json: bool) -> None:
    """List every checkpoint of the task, oldest first.

    \b
    Example:
      agent-sync record checkpoints --json | jq -r '.[].description'
    """
    found = all_checkpoints(task_here(context_here(keeps_record=False), task))
    if as_json:
        click.echo(json.dumps(found, ensure_ascii=False))
        return
    for one in found:
        when = str(one.get("created_at", ""))[:19]
        line = f"{when}  {one.get('trigger', ''):<13}  {one.get('checkpoint_id', '')}  {one.get('step_name', ''):<12}"
        click.echo(f"{line}  {one_line(str(one.get('description', '')))}")
    if not found:
        click.echo("No checkpoints yet.")


def all_checkpoints(kept: Kept) -> list[dict[str, Any]]:
    """Return every checkpoint the history tells of, those that hook.json has let go of included."""
    events = (*kept[0].archived(), *kept[1].history)
    told = [event.details.get("checkpoint") for event in events if event.trigger is Move.CHECKPOINT]
    return [one for one in told if isinstance(one, dict)]


COMMANDS = (status, checkpoints)
