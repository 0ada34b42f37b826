"""Carries a plan out: the record first, then every file, each atomically."""

from pathlib import Path

from agent_sync.errors import WrongState
from agent_sync.setup.install import record as records
from agent_sync.setup.install.plan import InstallPlan
from agent_sync.setup.install.tree import Tree
from agent_sync.system import files
from agent_sync.task.claim.exclude import LOCK_NAME

LOCK_WAIT_S = 5.0


def install(tree: Tree, shared: Path, plan: InstallPlan) -> None:
    """Write what is missing.

    An entry about a file that a crash kept from being written says nothing about any file, so the record goes first.
    """
    new = tuple(change.written for change in plan.changes if change.written)
    with files.locked(shared / LOCK_NAME, wait=LOCK_WAIT_S, doing="setting agent-sync up"):
        # Another worktree may have been set up since the plan was made.
        records.save(shared, records.load(shared).with_entries(new))
        _write(tree, plan)


def uninstall(tree: Tree, shared: Path, plan: InstallPlan) -> None:
    """Take everything of ours out, and forget it last."""
    with files.locked(shared / LOCK_NAME, wait=LOCK_WAIT_S, doing="taking agent-sync out"):
        _write(tree, plan)
        records.forget(shared)


def _write(tree: Tree, plan: InstallPlan) -> None:
    changed = next((change.path for change in plan.changes if tree.read(change.path) != change.before), None)
    if changed:
        raise WrongState(f"{changed} was changed meanwhile. Nothing was written.", helps="run the command again")
    for change in plan.changes:
        if change.after is None:
            tree.delete(change.path)
        else:
            tree.write(change.path, change.after)
