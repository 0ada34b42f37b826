"""Ends a record, also one that cannot be written when its task ends: that is noted in the worktree and done later."""

import contextlib
import json
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from agent_sync.errors import AgentSyncError
from agent_sync.lazy_dataclasses import dataclass
from agent_sync.plain.json_reading import read_json
from agent_sync.record.disk.recorder import Home, Recorder, pointed_store, pointed_task, unpoint
from agent_sync.record.disk.store import OpenRecord, RecordStore
from agent_sync.record.machine.model import Record
from agent_sync.record.machine.progress import abandoned_record, completed_record
from agent_sync.record.machine.states import TERMINAL
from agent_sync.system import clock, files
from agent_sync.system.disk import AfterPowerCut
from agent_sync.worktree import RECORD_ENDING, Place

if TYPE_CHECKING:
    from agent_sync.context import Context


@dataclass(frozen=True)
class Ending:
    """How a task has ended: completed, or given up for a reason."""

    given_up: str = ""

    def of(self, record: Record, now: datetime) -> Record:
        """Return the record with this end."""
        return abandoned_record(record, self.given_up, now) if self.given_up else completed_record(record, now)


def finish(context: "Context") -> None:
    """Complete the record: the issue is closed."""
    end_record(context.recorder, Ending(), clock.now())


def abandon(context: "Context", reason: str) -> None:
    """Give the task up."""
    end_record(context.recorder, Ending(given_up=reason), clock.now())


def end_record(recorder: Recorder, ending: Ending, now: datetime) -> None:
    """End the record of the task in progress; where it cannot be written, or its disk is away, that is noted."""
    ended = None
    try:
        ended = recorder.change(lambda record: ending.of(record, now), now)
    finally:
        if ended is None:
            _note(recorder.place, ending)


def made_up_for(place: Place, home: Home, found: OpenRecord | None) -> OpenRecord | None:
    """Do what is left of an end that was noted, or whose writer was killed; return the record if it goes on."""
    # On a disk that takes nothing it stays as it is, for the next time.
    with contextlib.suppress(AgentSyncError):
        if found is None:
            _finish(place, pointed_store(place, home))
        elif ending := _noted(place, found.record):
            now = clock.now()
            found.store.update(lambda record: ending.of(record, now), now)
            _forget(place)
            return None
    return found


def _finish(place: Place, store: RecordStore | None) -> None:
    """Make what is made from a record that has ended: its writer was killed before."""
    record = store.read() if store else None
    if store and record and record.state in TERMINAL and record.worktree == place.root:
        store.rebuild()
        _forget(place)


def _forget(place: Place) -> None:
    unpoint(place)
    files.delete(_file(place), after_cut=AfterPowerCut.EITHER)


def _note(place: Place, ending: Ending) -> None:
    """Note how the task of the record here has ended; a disk that refuses this, too, leaves the record open."""
    workspace, task_id = pointed_task(place)
    if task_id:
        values = {"task": f"{workspace}/{task_id}", "given_up": ending.given_up}
        with contextlib.suppress(OSError, AgentSyncError):
            files.write_atomic(_file(place), json.dumps(values).encode(), after_cut=AfterPowerCut.EITHER)


def _noted(place: Place, record: Record) -> Ending | None:
    """Return how the task of a record has ended, if that was noted."""
    try:
        values = read_json(files.read_own(_file(place)) or b"null")
    except (ValueError, files.NotPlain, OSError):
        return None
    if not isinstance(values, dict) or values.get("task") != f"{record.workspace}/{record.task_id}":
        return None
    return Ending(str(values.get("given_up", "")))


def _file(place: Place) -> Path:
    return Path(place.state_dir) / RECORD_ENDING
