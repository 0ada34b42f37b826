"""A real repository with a remote and a record, in the words of a test about checkpoints."""

import itertools
import os
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

from agent_sync.record.machine.machine import with_first_event, with_move
from agent_sync.record.machine.model import Record
from agent_sync.record.machine.states import RecordMove, RecordState
from agent_sync.record.machine.templates import steps_of
from agent_sync.record.observe.activity import with_git_activity
from agent_sync.settings import Settings
from agent_sync.system.git import Git
from agent_sync.system.processes import Processes
from agent_sync.worktree import Place, worktree


def sh(root: Path, *command: str, **variables: str) -> str:
    """Run git and return what it says."""
    environment = os.environ | {"GIT_EDITOR": "true"} | variables
    done = subprocess.run(["git", *command], cwd=root, check=True, capture_output=True, env=environment)
    return done.stdout.decode(errors="replace").strip()


class History:
    """A record that is reconciled with a repository."""

    def __init__(self, root: Path, *, branch: str = "") -> None:
        self.root = root
        self.settings = Settings()
        # A little earlier than now, because git counts in whole seconds.
        self.now = datetime.now(UTC)
        self.record = _running(root, branch, self.now)
        self._numbers = itertools.count(1)

    @property
    def git(self) -> Git:
        """Git in the worktree."""
        return Git(str(self.root), Processes(), os.environ)

    @property
    def place(self) -> Place:
        """The worktree."""
        found = worktree(str(self.root))
        assert found
        return found

    def look(self, *, later: float = 0) -> list[str]:
        """Reconcile, and return the descriptions of the checkpoints that are new."""
        self.now += timedelta(seconds=later)
        before = self.record.checkpoints_total
        self.record = self.reconciled()
        new = self.record.checkpoints_total - before
        return [checkpoint.description for checkpoint in self.record.checkpoints[len(self.record.checkpoints) - new :]]

    def reconciled(self) -> Record:
        """Return what reconciling makes of the record."""
        return with_git_activity(self.record, self.git, self.place, self.settings, self.now, randomness=self._drawn)

    def commit(self, subject: str, *options: str, name: str = "") -> str:
        """Commit a change by plain git."""
        file = self.root / (name or f"{subject}.txt")
        file.write_text(f"{subject} {next(self._numbers)}\n")
        sh(self.root, "add", "--", file.name)
        sh(self.root, "commit", "-q", "-m", subject, *options)
        return self.head

    @property
    def head(self) -> str:
        """The commit that is checked out."""
        return sh(self.root, "rev-parse", "HEAD")

    def _drawn(self, size: int) -> bytes:
        return next(self._numbers).to_bytes(size, "big")


def _running(root: Path, branch: str, now: datetime) -> Record:
    record = Record(
        task_id="fix-cache",
        workspace="demo",
        task_index=0,
        description="fix the cache",
        template="bugfix",
        created_at=now,
        updated_at=now,
        state=RecordState.INITIALIZING,
        steps=steps_of("bugfix", Settings()),
        worktree=str(root),
        branch=branch,
    )
    return with_move(
        with_move(with_first_event(record, now), RecordMove.SETUP_COMPLETE, now), RecordMove.START_STEP, now
    )
