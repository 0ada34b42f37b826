"""Remembers what `init` wrote, so that `uninstall` takes out exactly that."""

import hashlib
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from agent_sync.lazy_dataclasses import dataclass
from agent_sync.plain.json_reading import read_json
from agent_sync.setup.install.edits import Edit
from agent_sync.system import files

NAME = "install.json"
VERSION = 1
# Worktrees share the record and may hold different versions of a file; older entries than this are of no use.
KEPT = 200


@dataclass(frozen=True)
class Written:
    """One file as `init` left it: what it was (None: not there), what it became, and the insertions between."""

    path: str
    before: str | None
    after: str
    edits: tuple[Edit, ...] = ()


@dataclass(frozen=True)
class InstallRecord:
    """Everything that was written, newest last."""

    entries: tuple[Written, ...] = ()

    def of(self, path: str, content: bytes) -> Written | None:
        """Return how a file came to be exactly this."""
        wanted = digest(content)
        return next((e for e in reversed(self.entries) if (e.path, e.after) == (path, wanted)), None)

    def knows(self, path: str) -> bool:
        """Tell whether we ever wrote this file, whatever became of it."""
        return any(entry.path == path for entry in self.entries)

    def with_entries(self, more: tuple[Written, ...]) -> "InstallRecord":
        """Return the record with more entries; of two about the same content the new one counts."""
        new = {(entry.path, entry.after) for entry in more}
        kept = [entry for entry in self.entries if (entry.path, entry.after) not in new]
        return InstallRecord((*kept, *more)[-KEPT:])


def digest(content: bytes) -> str:
    """Return what tells one content from another."""
    return hashlib.sha256(content).hexdigest()


def load(directory: Path) -> InstallRecord:
    """Return the record; one that cannot be read is as good as none, since entries are recognised by shape too."""
    try:
        values = read_json((directory / NAME).read_bytes())
        return InstallRecord(tuple(_entry_json(entry) for entry in values["files"]))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return InstallRecord()


def save(directory: Path, record: InstallRecord) -> None:
    """Write the record."""
    values = {"version": VERSION, "files": [asdict(entry) for entry in record.entries]}
    files.state_directory(directory)
    files.write_atomic(directory / NAME, (json.dumps(values, indent=1) + "\n").encode())


def forget(directory: Path) -> None:
    """Delete the record."""
    (directory / NAME).unlink(missing_ok=True)


def _entry_json(values: dict[str, Any]) -> Written:
    edits = tuple(Edit(int(edit["at"]), str(edit["text"])) for edit in values["edits"])
    before = values["before"]
    return Written(str(values["path"]), None if before is None else str(before), str(values["after"]), edits)
