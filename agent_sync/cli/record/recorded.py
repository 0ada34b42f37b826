"""Finds the record a command works on, and says where its task stands."""

from datetime import datetime

import click

from agent_sync.context import Context
from agent_sync.errors import BadConfig, BadInput, NoRecord
from agent_sync.record import keep as recording
from agent_sync.record.disk.recorder import Home, workspace_of
from agent_sync.record.disk.store import OpenRecord
from agent_sync.record.machine.model import Record
from agent_sync.record.machine.states import TERMINAL, RecordState

_MINUTE, _HOUR, _DAY = 60, 3600, 86_400


def home_here(context: Context) -> Home:
    """Return where records live, or say why there is no such place."""
    if context.recorder.home is None:
        helps = "set HOME, or record.enabled in .agent-sync.toml"
        raise BadConfig("No recovery records are kept here: they are off, or there is no home.", helps=helps)
    return context.recorder.home


def record_here(context: Context) -> OpenRecord:
    """Return the record of the task that is going on in this worktree; a claim that has none yet gets one."""
    home_here(context)
    found = context.recorder.current()
    if found is None and context.store.file.exists():
        recording.catch_up(context)
        found = context.recorder.current()
    if found is None:
        helps = "agent-sync start TEXT --template bugfix, or agent-sync claim ISSUE"
        raise NoRecord("No task is recorded for this worktree.", helps=helps)
    return found


def task_here(context: Context, task_id: str) -> OpenRecord:
    """Return the record of a task by its id, ended or not; without one, that of the task that is going on."""
    if not task_id:
        return record_here(context)
    home, workspace = home_here(context), workspace_of(context.place)
    if task_id not in home.tasks(workspace):
        known = ", ".join(home.tasks(workspace)) or "none"
        raise BadInput(
            f"There is no task {task_id!r} in this workspace; there are: {known}.", helps="agent-sync status"
        )
    store = home.store(workspace, task_id)
    record = store.read()
    if record is None:
        raise NoRecord(f"The record of {task_id} is gone.", helps="agent-sync workspace list")
    return OpenRecord(store, record)


def tell_standing(record: Record) -> None:
    """Say in one line where the task stands now, and in another what leads on."""
    click.echo(f"Hook State: {standing_of(record)}")
    if record.state is RecordState.AWAITING_HUMAN and record.waiting_for:
        click.echo(f"Waiting for: {record.waiting_for}")


def standing_of(record: Record) -> str:
    """Return state, step and attempt in a few words."""
    step = record.current_step
    if step is None or record.state in TERMINAL:
        return f"{record.state}"
    return f"{record.state} ({step.step_name}, attempt {step.attempt})"


def age(since: datetime, now: datetime) -> str:
    """Return how long ago something was, as people say it."""
    seconds = max(0, int((now - since).total_seconds()))
    if seconds < _MINUTE:
        return f"{seconds} s ago"
    if seconds < _HOUR:
        return f"{seconds // _MINUTE} min ago"
    return f"{seconds // _HOUR} h ago" if seconds < _DAY else f"{seconds // _DAY} d ago"
