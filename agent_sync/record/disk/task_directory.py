"""The directory of one task, as far as deleting it goes: exactly what agent-sync wrote there, and in which order."""

import contextlib
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from agent_sync.system import files

# As in the store: whoever writes the record holds it.
LOCK_NAME = "hook.lock"
LOCK_WAIT = 5.0
_ARTIFACTS = "artifacts"
_DERIVED = ("HOOK.md", "task.json", "task.log", "hook-history-*.jsonl")
_RECORD = "hook.json"


@dataclass(frozen=True)
class TaskDirectory:
    """Where one task's record lies."""

    path: Path

    @property
    def workspace(self) -> Path:
        """Return the directory of the workspace the task belongs to."""
        return self.path.parent.parent

    @property
    def holds_record(self) -> bool:
        """Tell whether there is anything that could be read as a record."""
        return any(self.path.glob(f"{_RECORD}*"))

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Keep every writer of the record out; the lock's own file is never deleted."""
        with files.locked(self.path / LOCK_NAME, wait=LOCK_WAIT, doing=f"deleting the record of {self.path.name}"):
            yield

    def delete_files(self) -> None:
        """Delete the record with all that belongs to it; hook.json goes last, so that a rest is found again."""
        self._delete_artifacts()
        for name in _DERIVED:
            self._delete(name, f"{name}.*.tmp")
        self._delete(f"{_RECORD}.*")
        files.sync_directory(self.path)
        files.delete(self.path / _RECORD)

    def _delete_artifacts(self) -> None:
        artifacts = self.path / _ARTIFACTS
        if artifacts.is_dir() and not artifacts.is_symlink():
            shutil.rmtree(artifacts)
        else:
            artifacts.unlink(missing_ok=True)

    def _delete(self, *patterns: str) -> None:
        for pattern in patterns:
            for file in self.path.glob(pattern):
                file.unlink(missing_ok=True)


def tasks_in(workspace: Path) -> tuple[TaskDirectory, ...]:
    """Return the tasks of a workspace; a link to somewhere else is none."""
    tasks = workspace / "tasks"
    if not tasks.is_dir() or tasks.is_symlink():
        return ()
    inside = (path for path in sorted(tasks.iterdir()) if path.is_dir() and not path.is_symlink())
    return tuple(TaskDirectory(path) for path in inside)
