"""Which record a worktree is working on: a pointer in its git directory, and a search should that be lost."""

import contextlib
import os
from pathlib import Path

from agent_sync.errors import BadRecord
from agent_sync.record.disk.derived import TASK
from agent_sync.record.disk.disk import disk
from agent_sync.record.disk.home import Home, workspace_of
from agent_sync.record.disk.store import RecordStore
from agent_sync.record.machine.model import Record
from agent_sync.record.machine.states import TERMINAL
from agent_sync.record.page.told import situation_told
from agent_sync.system import files
from agent_sync.system.json_reading import read_json
from agent_sync.task.decision.situations import Crashed, WaitingForHuman
from agent_sync.worktree import Place

NAME = "record"
_PARTS = 2
Active = tuple[RecordStore, Record]


def point(place: Place, record: Record) -> None:
    """Make a record the one its worktree works on."""
    with disk("pointing to the recovery record"):
        file = Path(files.state_directory(Path(place.state_dir))) / NAME
        # The second line is for the status line, which cannot read a whole record.
        files.write_atomic(file, f"{record.workspace}/{record.task_id}\n{_interruption(record)}".encode())


def touch(place: Place) -> None:
    """Let every hook look again: the pointer is among the files whose change ends their quiet."""
    with contextlib.suppress(OSError):
        os.utime(Path(place.state_dir) / NAME)


def unpoint(place: Place) -> None:
    """Forget which record the worktree worked on."""
    file = Path(place.state_dir) / NAME
    if file.exists():
        with disk("forgetting the recovery record"):
            files.delete(file)


def is_pointed(place: Place) -> bool:
    """Tell whether the worktree has a pointer, whatever it points at."""
    return (Path(place.state_dir) / NAME).exists()


def active_record(place: Place, home: Home) -> Active | None:
    """Return the record the worktree works on; one that has ended is never it, and a broken one is not none."""
    return _pointed(place, home) or _searched(place, home)


def unusable_record(place: Place, home: Home) -> RecordStore | None:
    """Return the record that would be the worktree's, could it be read."""
    workspace = workspace_of(place)
    named = _named(place, home)
    own = (home.store(workspace, task_id) for task_id in home.tasks(workspace))
    stores = [*([named] if named else []), *(store for store in own if _is_open(store, place))]
    return next((store for store in stores if not _is_readable(store)), None)


def _pointed(place: Place, home: Home) -> Active | None:
    store = _named(place, home)
    record = store.read() if store else None
    return _unless_ended(store, record) if store and record and _is_of(place, record) else None


def _named(place: Place, home: Home) -> RecordStore | None:
    """Return the store that the pointer names, if there is one."""
    try:
        text = (files.read_own(Path(place.state_dir) / NAME) or b"").decode()
    except (files.NotPlain, UnicodeDecodeError, OSError):
        return None
    parts = text.partition("\n")[0].strip().split("/")
    return home.store(*parts) if len(parts) == _PARTS and parts[1] in _tasks(home, parts[0]) else None


def _is_open(store: RecordStore, place: Place) -> bool:
    """Tell by task.json alone whether a task belongs to the worktree and has not ended."""
    summary = _summary(store)
    return summary.get("outcome") not in set(TERMINAL) and summary.get("worktree", place.root) == place.root


def _is_readable(store: RecordStore) -> bool:
    try:
        store.read()
    except BadRecord:
        return False
    return True


def _is_of(place: Place, record: Record) -> bool:
    """Tell a worktree that was moved, whose record goes with it, from a copy of one that is still there."""
    return record.worktree == place.root or not os.path.lexists(record.worktree)


def _may_be_of(place: Place, record: Record) -> bool:
    """Tell whether a record that nothing points at can be this worktree's: another may have lain at the same path."""
    is_held = record.issue_number is None or Path(place.claim_file).exists()
    return record.worktree == place.root and is_held


def _searched(place: Place, home: Home) -> Active | None:
    """Return the newest record of this worktree that has not ended."""
    workspace = workspace_of(place)
    found: list[Active] = []
    for task_id in home.tasks(workspace):
        store = home.store(workspace, task_id)
        summary = _summary(store)
        if summary.get("outcome") in set(TERMINAL):
            continue
        try:
            record = store.read()
        except BadRecord:
            # Of a record that cannot be read, task.json still tells whose it is.
            if summary.get("worktree", place.root) != place.root:
                continue
            raise
        active = _unless_ended(store, record)
        found += [active] if active and _may_be_of(place, active[1]) else []
    return max(found, key=lambda one: one[1].updated_at, default=None)


def _interruption(record: Record) -> str:
    stands = situation_told(record)
    return f"{type(stands).__name__}\n" if isinstance(stands, WaitingForHuman | Crashed) else ""


def _tasks(home: Home, workspace: str) -> list[str]:
    return home.tasks(workspace) if workspace in home.workspaces() else []


def _unless_ended(store: RecordStore, record: Record | None) -> Active | None:
    return None if record is None or record.state in TERMINAL else (store, record)


def _summary(store: RecordStore) -> dict[str, object]:
    """Return what task.json says; it is written after hook.json, so an end that it tells of is a fact."""
    try:
        values = read_json(files.read_own(store.directory / TASK) or b"null")
    except (ValueError, files.NotPlain, OSError):
        return {}
    return values if isinstance(values, dict) else {}
