"""`agent-sync record status · checkpoints`, and what `agent-sync status` shows of the record."""

import json
from datetime import datetime
from typing import Any, assert_never

import click

from agent_sync.cli.here import context_here
from agent_sync.cli.record.recorded import age, standing_of, task_here
from agent_sync.context import Context
from agent_sync.errors import AgentSyncError, BadRecord, Exit
from agent_sync.lazy_dataclasses import dataclass
from agent_sync.record import keep
from agent_sync.record.crash.owner import SystemProcesses, owner_standing
from agent_sync.record.disk.contents import HOOK_MD
from agent_sync.record.disk.store import OpenRecord
from agent_sync.record.machine.machine import count_of
from agent_sync.record.machine.model import Record
from agent_sync.record.machine.states import OwnerStanding, RecordMove
from agent_sync.record.page.render import page
from agent_sync.record.receipts.integrity import BrokenAt, ChangedOutside, Intact, Integrity, Restored
from agent_sync.record.receipts.proof import valid_ids
from agent_sync.system import clock
from agent_sync.task.decision.outside_text import one_line

INTACT = "intact"
_LIVES = {
    OwnerStanding.ALIVE: "alive",
    OwnerStanding.GONE: "gone",
    OwnerStanding.OTHER_BOOT: "gone: the machine was restarted",
    OwnerStanding.OTHER_HOST: "on another machine",
    OwnerStanding.UNKNOWN: "unknown",
}


@click.command("status")
@click.option("--task", default="", help="Another task of this workspace, ended or not.")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.pass_context
def status(ctx: click.Context, *, task: str, as_json: bool) -> None:
    """Show the state of this worktree's task, with what git says now, and whether its record is intact.

    Nothing is written. Exit code 0, 6 if no task is recorded, 5 if the record is damaged or was changed by hand. Of a
    long history the newest events are checked, those that hook.json holds; `agent-sync doctor` checks all of them.

    \b
    Examples:
      agent-sync record status
      agent-sync record status --json | jq -r .state
    """
    context = context_here(keeps_record=False)
    try:
        opened = task_here(context, task)
    except BadRecord as error:
        # Whether the record holds is what was asked.
        error.exit_status = Exit.INVALID
        raise
    opened = shown_now(context, opened)
    values = status_values(context, opened, clock.now())
    if as_json:
        click.echo(json.dumps(values, ensure_ascii=False))
    else:
        for line in _lines(opened.record, values, clock.now()):
            click.echo(line)
    ctx.exit(Exit.OK if values["integrity"] == INTACT else Exit.INVALID)


@click.command("show")
@click.option("--task", default="", help="Another task of this workspace, ended or not.")
@click.pass_context
def show(ctx: click.Context, *, task: str) -> None:
    """Print HOOK.md as it would be written now: what was under way, and what to do.

    Nothing is written. Exit code 0, 5 if the record is damaged or was changed by hand.

    \b
    Example:
      agent-sync record show
    """
    context = context_here(keeps_record=False)
    opened = task_here(context, task)
    found = opened.store.integrity(opened.record, is_whole=False)
    click.echo(page(shown_now(context, opened).record, context.environment), nl=False)
    if not isinstance(found, Intact):
        click.echo(f"warning: the record is not as agent-sync wrote it: {integrity_text(found)}", err=True)
        ctx.exit(Exit.INVALID)


def shown_now(context: Context, opened: OpenRecord) -> OpenRecord:
    """Return the record with what git and the claim say now; a task of another worktree is shown as it is."""
    if opened.record.worktree != context.place.root:
        return opened
    shown = keep.preview(context, opened.record)
    # What was changed by hand stays visible: a new digest would hide it.
    return OpenRecord(opened.store, shown)


def status_values(context: Context, opened: OpenRecord, now: datetime) -> dict[str, Any]:
    """Return what is known of a task and its record, for programs."""
    store, record = opened
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
        "owner": record.owner.model_dump() | {"standing": owner_standing(record.owner, SystemProcesses())},
        "integrity": integrity_text(store.integrity(record, is_whole=False)),
        "events": count_of(record),
        "events_checked": len(record.history) + bool(record.archive.events),
        "damaged_copies": [str(path) for path in store.damaged_copies()],
        "path": str(store.directory),
        "updated_at": record.updated_at.isoformat(),
        "age_s": int((now - record.updated_at).total_seconds()),
    }


def integrity_text(found: Integrity) -> str:
    """Return in a few words whether a record is as agent-sync wrote it."""
    match found:
        case Intact():
            return INTACT
        case ChangedOutside(seq=seq):
            return "changed outside agent-sync" + ("" if seq is None else f" (event {seq})")
        case Restored(file=file):
            return f"{file} is damaged or gone: the version before it is shown"
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
    lives = "its session has ended" if record.owner.has_left else _LIVES[values["owner"]["standing"]]
    owner = f"process {record.owner.pid}, {lives}" if record.owner.pid else "unknown"
    lines = {
        "Task": f"{record.task_id} ({record.template})",
        "Hook State": standing_of(record),
        "Step": f"{values['step_number']} of {values['steps']}" if record.current_step else "none yet",
        "Waiting For": one_line(record.waiting_for),
        "Last Checkpoint": checkpoint_line(record, now) + about,
        "Receipts": _receipts(values),
        "Owner": owner,
        "Integrity": values["integrity"] + _unchecked(values),
        "Damaged Copies": ", ".join(values["damaged_copies"]),
        "Record": f"{values['path']}/{HOOK_MD}",
    }
    return [f"{name}: {value}" for name, value in lines.items() if value]


def _unchecked(values: dict[str, Any]) -> str:
    """Say that events which hook.json no longer holds were not read, and what reads them."""
    earlier = values["events"] - values["events_checked"]
    return f" ({earlier} earlier events: agent-sync doctor)" if earlier else ""


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
    context = context_here(keeps_record=False)
    found = all_checkpoints(shown_now(context, task_here(context, task)))
    if as_json:
        click.echo(json.dumps(found, ensure_ascii=False))
        return
    for one in found:
        when = str(one.get("created_at", ""))[:19]
        line = f"{when}  {one.get('trigger', ''):<13}  {one.get('checkpoint_id', '')}  {one.get('step_name', ''):<12}"
        click.echo(f"{line}  {one_line(str(one.get('description', '')))}")
    if not found:
        click.echo("No checkpoints yet.")


def all_checkpoints(opened: OpenRecord) -> list[dict[str, Any]]:
    """Return every checkpoint in the history, archived events included."""
    events = (*opened.store.archived_events(), *opened.record.history)
    noted = [event.details.get("checkpoint") for event in events if event.trigger is RecordMove.CHECKPOINT]
    return [one for one in noted if isinstance(one, dict)]


@dataclass(frozen=True)
class RecordView:
    """The record for programs and for people."""

    values: dict[str, Any] | None = None
    lines: tuple[str, ...] = ()


def record_seen(context: Context) -> RecordView:
    """Return what is on record for this worktree, nothing where nothing is; trouble with it hides nothing else."""
    try:
        found = context.recorder.current()
        if found is None:
            return RecordView()
        found = shown_now(context, found)
        values = status_values(context, found, clock.now())
    except (AgentSyncError, OSError) as error:
        return RecordView(
            {"trouble": str(error)}, (f"Hook State: cannot be read: {error} Try: agent-sync record recover",)
        )
    record = found.record
    lines = (
        f"Task: {record.task_id}",
        f"Hook State: {standing_of(record)}",
        f"Last Checkpoint: {checkpoint_line(record, clock.now())}",
    )
    changed = () if values["integrity"] == INTACT else (f"Integrity: {values['integrity']}",)
    return RecordView(values, (*lines, *changed))


COMMANDS = (status, show, checkpoints)
