"""Where records live: one home for all clones, a workspace per clone, a directory per task."""

import hashlib
import json
import os
import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from agent_sync.errors import BadInput, BadRecord, RecordUnavailable
from agent_sync.record.disk import generations
from agent_sync.record.disk.atlas import atlas_home, make_home
from agent_sync.record.disk.disk import disk, held
from agent_sync.record.disk.store import RecordStore
from agent_sync.record.machine.model import Record
from agent_sync.record.page.outline import outline
from agent_sync.system import files
from agent_sync.system.json_reading import read_json
from agent_sync.worktree import Place

SLUG_LIMIT = 60
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]*")


@dataclass(frozen=True)
class Home:
    """The directory that holds every workspace and the index of tasks."""

    root: Path
    render: Callable[[Record], str] = outline

    def workspaces(self) -> list[str]:
        """Return the names of all workspaces."""
        with disk("listing the workspaces"):
            return _names(self.root / "workspaces")

    def tasks(self, workspace: str) -> list[str]:
        """Return the tasks of a workspace that have a record, usable or not."""
        home = self._workspace(workspace) / "tasks"
        with disk("listing the tasks"):
            return [name for name in _names(home) if generations.is_there(home / name)]

    def store(self, workspace: str, task_id: str) -> RecordStore:
        """Return the store of one task."""
        directory = self._workspace(workspace) / "tasks" / _refused_unless_plain(task_id)
        return RecordStore(directory, self.render)

    def begin(self, workspace: str, wanted: str, make: Callable[[str, int], Record]) -> tuple[RecordStore, Record]:
        """Write the first record of a new task: `make` is told its id, numbered if taken, and its index.

        The index is written first, so that a crash leaves a gap and never the same index twice.
        """
        with disk("making the home of the records"):
            make_home(self.root)
        with held(self.root / "index.lock", "beginning a task"):
            task_id = self._free_id(workspace, wanted)
            with disk("counting the tasks"):
                index = self._next_index()
                files.write_atomic(self.root / "index.json", json.dumps({"next": index + 1}).encode() + b"\n")
            store = self.store(workspace, task_id)
            return store, store.create(make(task_id, index))

    def put_aside(self, store: RecordStore, now: datetime) -> Path:
        """Move a task whose record cannot be used out of the way, with all that lies there; return where to."""
        directory = store.directory
        aside = directory.parent.parent / "damaged" / f"{directory.name}-{now:%Y%m%dT%H%M%S%fZ}"
        with disk("putting a damaged record aside"):
            files.make_directory(aside.parent, mode=0o700)
            directory.rename(aside)
            files.sync_directory(aside.parent)
            files.sync_directory(directory.parent)
        return aside

    def _workspace(self, name: str) -> Path:
        return self.root / "workspaces" / _refused_unless_plain(name)

    def _free_id(self, workspace: str, wanted: str) -> str:
        taken = set(self.tasks(workspace))
        numbered = (f"{wanted}-{number}" for number in range(2, len(taken) + 3))
        return wanted if wanted not in taken else next(name for name in numbered if name not in taken)

    def _next_index(self) -> int:
        """Return the index that follows the last; where the file is lost, the records themselves are asked."""
        try:
            values = read_json(files.read_own(self.root / "index.json") or b"null")
            found = values["next"]
        except (ValueError, TypeError, KeyError):
            found = None
        return found if isinstance(found, int) and found >= 0 else self._highest_index() + 1

    def _highest_index(self) -> int:
        found = [-1]
        for workspace in self.workspaces():
            for task_id in self.tasks(workspace):
                try:
                    record = self.store(workspace, task_id).read()
                except (BadRecord, RecordUnavailable):
                    continue
                found.append(record.task_index if record else -1)
        return max(found)


def home_of(environment: Mapping[str, str], render: Callable[[Record], str] = outline) -> Home:
    """Return the home that the environment names."""
    return Home(atlas_home(environment), render)


def workspace_of(place: Place) -> str:
    """Return the name all worktrees of a clone share: its directory's, told apart by where its git directory is."""
    common = os.path.realpath(place.common_dir)
    path = Path(common)
    name = path.parent.name if path.name == ".git" else path.name.removesuffix(".git")
    return f"{slug(name) or 'workspace'}-{hashlib.sha256(os.fsencode(common)).hexdigest()[:6]}"


def issue_task(number: int) -> str:
    """Return the id wanted for the task of an issue."""
    return f"issue-{number}"


def text_task(text: str) -> str:
    """Return the id wanted for a task that was described in words."""
    return slug(text) or "task"


def slug(text: str) -> str:
    """Return letters, digits and hyphens of a text, cut between words where it is too long."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    words = "-".join(re.findall(r"[a-z0-9]+", plain))
    if len(words) <= SLUG_LIMIT:
        return words
    return words[: SLUG_LIMIT + 1].rpartition("-")[0] or words[:SLUG_LIMIT]


def _names(directory: Path) -> list[str]:
    try:
        with os.scandir(directory) as entries:
            return sorted(entry.name for entry in entries if entry.is_dir() and _NAME.fullmatch(entry.name))
    except FileNotFoundError:
        return []


def _refused_unless_plain(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise BadInput(f"{name!r} cannot be the name of a workspace or task.", helps="agent-sync status --all")
    return name
