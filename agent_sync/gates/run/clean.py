"""Moves the logs of a session aside, and knows when a session is over."""

import shutil
from pathlib import Path

from agent_sync.gates.memory.state import GateState
from agent_sync.gates.plan.changes import Base
from agent_sync.gates.plan.repo import Repo
from agent_sync.gates.run.logs import LogDir
from agent_sync.system import git_history
from agent_sync.worktree import GATE_STATE

PREVIOUS = "previous"
_OLD_MARKERS = (".session_ref", ".stop-hook-active", ".block-timestamps")


def clean(logs: LogDir, repo: Repo, *, keep: int, with_state: bool) -> bool:
    """Move the current logs to `previous/`, older ones one step on; without current logs nothing is lost."""
    if not logs.path.exists():
        return False
    logs.refuse_foreign(repo)
    current = logs.current()
    record = logs.path / GATE_STATE
    moving = [*current, *([record] if with_state and record.is_file() else [])]
    if not moving:
        return False
    if keep == 0:
        for path in moving:
            path.unlink(missing_ok=True)
    else:
        if current:
            _rotate(logs.path, keep)
        _move(moving, logs.path / PREVIOUS)
    for name in _OLD_MARKERS:
        (logs.path / name).unlink(missing_ok=True)
    return True


def context_change(repo: Repo, state: GateState | None, base: Base) -> str:
    """Return why the recorded session is over: another branch, or its work is in the base; nothing if it is not."""
    if state is None:
        return ""
    branch = repo.branch()
    if state.branch and state.branch != branch:
        return f"the branch changed from {state.branch} to {branch}"
    # On a branch without commits of its own HEAD is in the base from the start, which says nothing.
    if not state.commit or state.was_in_base or base.commit is None:
        return ""
    if git_history.has_merged(repo.git, base.commit, state.commit):
        return f"commit {state.commit[:12]} was merged into {base.name}"
    return ""


def _rotate(directory: Path, keep: int) -> None:
    # A link in its place is not gone into.
    shutil.rmtree(_numbered(directory, keep - 1), ignore_errors=True)
    for number in range(keep - 1, 0, -1):
        older = _numbered(directory, number - 1)
        if older.is_dir():
            older.replace(_numbered(directory, number))


def _numbered(directory: Path, number: int) -> Path:
    return directory / (f"{PREVIOUS}.{number}" if number else PREVIOUS)


def _move(files: list[Path], target: Path) -> None:
    target.mkdir(exist_ok=True)
    for path in files:
        path.replace(target / path.name)
