"""Tells a person that a task has come to need them: what was told is remembered, and the user's own command is run."""

import json
import shlex
from datetime import datetime
from pathlib import Path

from agent_sync.context import Context
from agent_sync.fleet.alarms import Told, alarm_text, alarms
from agent_sync.fleet.view import FleetTask, FleetView, task_values
from agent_sync.system import files
from agent_sync.worktree import FLEET_TOLD, FLEET_TOLD_LOCK

PATIENCE = 10.0
_LOCK_WAIT = 5.0


def due_alarms(context: Context, view: FleetView, now: datetime) -> tuple[FleetTask, ...]:
    """Return what a person is to be told now; two that watch one clone tell it once."""
    shared = Path(context.place.shared_dir)
    with files.locked(shared / FLEET_TOLD_LOCK, wait=_LOCK_WAIT, doing="noting what was told"):
        before = _read(shared / FLEET_TOLD)
        due, known = alarms(before, view, now)
        if known != before:
            values = {key: {"at": told.at.isoformat(), "times": told.times} for key, told in known.items()}
            files.write_atomic(shared / FLEET_TOLD, json.dumps(values).encode())
    return due


def run_command(context: Context, tasks: tuple[FleetTask, ...]) -> str:
    """Run `notify.command` with what happened as JSON on its standard input; return what went wrong."""
    command = context.settings.notify.command
    if not command or not tasks:
        return ""
    values = {"text": alarm_text(tasks), "count": len(tasks), "tasks": [task_values(task) for task in tasks]}
    try:
        done = context.processes.run(
            shlex.split(command),
            directory=context.place.root,
            environment=context.environment,
            stdin=json.dumps(values, ensure_ascii=False),
            timeout=PATIENCE,
        )
    except (OSError, ValueError, TimeoutError) as error:
        return f"notify.command failed: {error}"
    return f"notify.command ended with {done.status}" if done.status else ""


def _read(file: Path) -> dict[str, Told]:
    """Return what was told; a file that cannot be read means that nothing was."""
    try:
        values = json.loads(files.read_own(file) or b"{}")
        told = {key: Told(datetime.fromisoformat(one["at"]), int(one["times"])) for key, one in values.items()}
        return told if all(one.at.tzinfo for one in told.values()) else {}
    except (files.NotPlain, ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError):
        return {}
