"""Finds the record of the task that a worktree works on, opens it, and changes it."""

import contextlib
import hashlib
import os
import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import field
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from agent_sync.errors import BadConfig, BadInput, BadRecord
from agent_sync.lazy_dataclasses import dataclass
from agent_sync.lazy_patterns import pattern
from agent_sync.plain.json_reading import read_json
from agent_sync.quiet import answer as quiet
from agent_sync.record.crash.owner import SystemProcesses, client_process, is_above
from agent_sync.record.disk.contents import TASK_JSON, outline
from agent_sync.record.disk.store import HOOK_JSON, OpenRecord, RecordStore, disk_errors, has_record
from agent_sync.record.machine.model import Owner, Record
from agent_sync.record.machine.states import TERMINAL, RecordState
from agent_sync.record.page.next_steps import situation_of_record
from agent_sync.record.page.render import page
from agent_sync.settings import Settings
from agent_sync.system import files
from agent_sync.system.disk import AfterPowerCut
from agent_sync.system.git import Git
from agent_sync.task.decision.situations import Crashed, WaitingForHuman
from agent_sync.worktree import ATLAS_HOME, RECORD_ENDING, RECORD_POINTER, Place

SLUG_LIMIT = 60
_NAME = pattern(r"[a-z0-9][a-z0-9._-]*")
# Here the next word or work of a session changes the state, so no hook may be answered by its stamp.
_EVENTFUL = frozenset({RecordState.RECOVERING, RecordState.AWAITING_HUMAN})


def atlas_home(environment: Mapping[str, str]) -> Path:
    """Return the directory of keys and records: $ATLAS_HOME, or ~/.atlas."""
    given, home = environment.get("ATLAS_HOME", ""), environment.get("HOME", "")
    if not given and not home:
        message = "Neither HOME nor ATLAS_HOME is set: records and keys need an absolute path."
        raise BadConfig(message, helps="set HOME")
    if given.startswith("~/") and home:
        given = home + given[1:]
    path = Path(given) if given else Path(home) / ATLAS_HOME
    if not path.is_absolute():
        raise BadConfig(f"ATLAS_HOME must be an absolute path, not {str(path)!r}.", helps="unset ATLAS_HOME")
    return path


@dataclass(frozen=True)
class Home:
    """The directory that holds the records of all clones: a workspace per clone, a directory per task."""

    root: Path
    render: Callable[[Record], str] = outline

    def workspaces(self) -> list[str]:
        """Return the names of all workspaces."""
        with disk_errors("listing the workspaces"):
            return _plain_names(self.root / "workspaces")

    def tasks(self, workspace: str) -> list[str]:
        """Return the tasks of a workspace that have a record, usable or not."""
        tasks = self._tasks_of(workspace)
        with disk_errors("listing the tasks"):
            return [name for name in _plain_names(tasks) if has_record(tasks / name)]

    def store(self, workspace: str, task_id: str) -> RecordStore:
        """Return the store of one task."""
        return RecordStore(self._tasks_of(workspace) / _must_be_plain(task_id), self.render)

    def _tasks_of(self, workspace: str) -> Path:
        return self.root / "workspaces" / _must_be_plain(workspace) / "tasks"


def workspace_of(place: Place) -> str:
    """Return the name all worktrees of a clone share: its directory's, with a hash of where its git directory is."""
    common = os.path.realpath(place.common_dir)
    path = Path(common)
    name = path.parent.name if path.name == ".git" else path.name.removesuffix(".git")
    return f"{slug(name) or 'workspace'}-{hashlib.sha256(os.fsencode(common)).hexdigest()[:6]}"


def slug(text: str) -> str:
    """Return letters, digits and hyphens of a text, cut between words where it is too long."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    words = "-".join(re.findall(r"[a-z0-9]+", plain))
    if len(words) <= SLUG_LIMIT:
        return words
    return words[: SLUG_LIMIT + 1].rpartition("-")[0] or words[:SLUG_LIMIT]


class _LastRead(NamedTuple):
    """The record as it was last read, and what tells that version of its file from others."""

    state: str
    found: OpenRecord


@dataclass
class Recorder:
    """The record of one worktree."""

    place: Place
    settings: Settings
    environment: Mapping[str, str]
    git: Git
    _last_read: _LastRead | None = field(default=None, init=False, repr=False)

    @cached_property
    def home(self) -> Home | None:
        """Where records are kept; None where nobody has a home, or no record is wanted."""
        has_home = self.environment.get("ATLAS_HOME") or self.environment.get("HOME")
        if not self.settings.record.enabled or not has_home:
            return None
        return Home(atlas_home(self.environment), lambda record: page(record, self.environment))

    def owner(self, session_id: str, known: Owner | None = None) -> Owner:
        """Return the process on whose behalf this one runs; a command that the known owner has started is its own."""
        proc = SystemProcesses()
        if known and not session_id and is_above(known, proc):
            # Whatever else is in between, `timeout` or a script, is gone when the command is.
            return known.model_copy(update={"has_left": False})
        return client_process(proc, session_id=session_id)

    def current(self) -> OpenRecord | None:
        """Return the record of the task in progress here, read once as long as its files do not change."""
        if self.home is None:
            return None
        # Taken before the record is read: whoever writes meanwhile makes it differ the next time.
        state = _hook_json_state(pointed_store(self.place, self.home))
        if self._last_read and state == self._last_read.state:
            return self._last_read.found
        found = active_record(self.place, self.home)
        if found and not is_pointed(self.place):
            # The pointer was lost.
            point(self.place, found.record)
        is_ending_noted = os.path.lexists(Path(self.place.state_dir) / RECORD_ENDING)
        if is_ending_noted or (found is None and is_pointed(self.place)):
            from agent_sync.record.disk.ending import made_up_for

            found = made_up_for(self.place, self.home, found)
        self._last_read = _LastRead(state, found) if found and state else None
        return found

    def change(self, change: Callable[[Record], Record], now: datetime) -> Record | None:
        """Change the record of the task in progress here, if there is one; an equal record is not written."""
        found = self.current()
        if found is None:
            return None
        changed = found.store.update(change, now)
        if changed.state in TERMINAL:
            unpoint(self.place)
        elif changed.state is not found.record.state and _EVENTFUL & {changed.state, found.record.state}:
            point(self.place, changed)
        return changed


def point(place: Place, record: Record) -> None:
    """Make a record the one its worktree works on."""
    with disk_errors("pointing to the recovery record"):
        file = Path(files.state_directory(Path(place.state_dir))) / RECORD_POINTER
        # The second line is for the status line, which cannot read a whole record.
        content = f"{record.workspace}/{record.task_id}\n{_interruption(record)}".encode()
        # Without it the record is found by a search.
        files.write_atomic(file, content, after_cut=AfterPowerCut.EITHER)


def touch_pointer(place: Place) -> None:
    """Let every hook look again: the pointer is among the files whose change ends their quiet."""
    with contextlib.suppress(OSError):
        os.utime(_pointer(place))


def unpoint(place: Place) -> None:
    """Forget which record the worktree worked on."""
    if is_pointed(place):
        with disk_errors("forgetting the recovery record"):
            files.delete(_pointer(place), after_cut=AfterPowerCut.EITHER)


def is_pointed(place: Place) -> bool:
    """Tell whether the worktree has a pointer, whatever it points at."""
    return _pointer(place).exists()


def pointed_task(place: Place) -> tuple[str, str]:
    """Return the workspace and the task that the pointer names; nothing where there is no pointer of ours."""
    try:
        text = (files.read_own(_pointer(place)) or b"").decode()
    except (files.NotPlain, UnicodeDecodeError, OSError):
        return "", ""
    workspace, _, task_id = text.partition("\n")[0].strip().partition("/")
    return (workspace, task_id) if workspace and task_id and "/" not in task_id else ("", "")


def active_record(place: Place, home: Home) -> OpenRecord | None:
    """Return the record the worktree works on; one that has ended is never it, and a broken one is not none."""
    return _pointed_record(place, home) or _newest_record(place, home)


def pointed_store(place: Place, home: Home) -> RecordStore | None:
    """Return the store that the pointer names, if there is one."""
    workspace, task_id = pointed_task(place)
    if workspace not in home.workspaces():
        return None
    return home.store(workspace, task_id) if task_id in home.tasks(workspace) else None


def task_summary(store: RecordStore) -> dict[str, object]:
    """Return what task.json says; it is written after hook.json, so an end that it tells of is a fact."""
    try:
        values = read_json(files.read_own(store.directory / TASK_JSON) or b"null")
    except (ValueError, files.NotPlain, OSError):
        return {}
    return values if isinstance(values, dict) else {}


def _pointed_record(place: Place, home: Home) -> OpenRecord | None:
    store = pointed_store(place, home)
    record = store.read() if store else None
    # A worktree that was moved takes its record along; a copy of one that is still there does not.
    is_own = record is not None and (record.worktree == place.root or not os.path.lexists(record.worktree))
    return _unless_ended(store, record) if store and is_own else None


def _newest_record(place: Place, home: Home) -> OpenRecord | None:
    """Return the newest record of this worktree that has not ended."""
    workspace = workspace_of(place)
    found: list[OpenRecord] = []
    for task_id in home.tasks(workspace):
        store = home.store(workspace, task_id)
        summary = task_summary(store)
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
        found += [active] if active and _may_be_of(place, active.record) else []
    return max(found, key=lambda one: one.record.updated_at, default=None)


def _may_be_of(place: Place, record: Record) -> bool:
    """Tell whether a record that nothing points at can be this worktree's: another may have had the same path."""
    is_held = record.issue_number is None or Path(place.claim_file).exists()
    return record.worktree == place.root and is_held


def _unless_ended(store: RecordStore, record: Record | None) -> OpenRecord | None:
    return None if record is None or record.state in TERMINAL else OpenRecord(store, record)


def _hook_json_state(store: RecordStore | None) -> str:
    """Return what tells one version of a record's file from another, without opening it; nothing without a file."""
    file = str(store.directory / HOOK_JSON) if store else ""
    state = quiet.state_of(file) if file else "-"
    return "" if state == "-" else f"{file} {state}"


def _interruption(record: Record) -> str:
    stands = situation_of_record(record)
    return f"{type(stands).__name__}\n" if isinstance(stands, WaitingForHuman | Crashed) else ""


def _pointer(place: Place) -> Path:
    return Path(place.state_dir) / RECORD_POINTER


def _plain_names(directory: Path) -> list[str]:
    try:
        with os.scandir(directory) as entries:
            return sorted(entry.name for entry in entries if entry.is_dir() and _NAME.fullmatch(entry.name))
    except FileNotFoundError:
        return []


def _must_be_plain(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise BadInput(f"{name!r} cannot be the name of a workspace or task.", helps="agent-sync status --all")
    return name
