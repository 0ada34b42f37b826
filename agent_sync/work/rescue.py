"""Keeps what is not committed as a commit of its own; the index and the files of the worktree stay untouched."""

import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from agent_sync.context import Context
from agent_sync.errors import GitFailed
from agent_sync.leases.refs.objects import committed
from agent_sync.worktree import CLAIM_NAME

# Neither a file monitor nor a hook of the user may see, or write because of, what happens in our index.
_ALONE = (
    "-c", "core.fsmonitor=false", "-c", "core.untrackedCache=false", "-c", "core.splitIndex=false",
    "-c", "core.hooksPath=/dev/null", "-c", "advice.addEmbeddedRepo=false", "-c", "gc.auto=0",
)  # fmt: skip
# As a pattern, because git refuses to be told of a path by name that is ignored anyway.
_OUTSIDE = f":(exclude,top,glob){CLAIM_NAME[:-1]}[{CLAIM_NAME[-1]}]*"
SLOW_LIMIT = 120.0
# How git lists what is a commit of another repository.
_LINK = "160000 "


def rescue_commit(context: Context, *, issue: int, before: str, when: int) -> str:
    """Store the working directory, untracked files included, as a child of HEAD and of the rescue before."""
    with tempfile.TemporaryDirectory(prefix="agent-sync-") as directory:
        index = Path(directory) / "index"
        own = Path(context.place.git_dir) / "index"
        if own.exists():
            # With its time: git tells by it which entries may have changed unseen since.
            shutil.copy2(own, index)
        variables = {"GIT_INDEX_FILE": str(index)}
        _must(context, variables, "add", "-A", "--", ":/", _OUTSIDE)
        tree = _must(context, variables, "write-tree")
    head = context.git.ask("rev-parse", "--verify", "--quiet", "HEAD").stdout.strip()
    return committed(context.git, tree, f"Rescue of #{issue}: not committed yet\n", f"{head} {before}".strip(), when)


def not_kept(context: Context, commit: str, changed: Sequence[str]) -> tuple[str, ...]:
    """Return the changed paths of which a rescue notes a commit only: submodules and other repositories within."""
    listed = context.git.ask("ls-tree", "-r", "-z", commit).stdout.split("\0")
    links = {entry.partition("\t")[2] for entry in listed if entry.startswith(_LINK)}
    return tuple(path for path in (one.rstrip("/") for one in changed) if path in links)


def _must(context: Context, variables: dict[str, str], *arguments: str) -> str:
    done = context.git.ask(*_ALONE, *arguments, variables=variables, timeout=SLOW_LIMIT)
    if done.status:
        reason = " ".join(done.stderr.split())[:300]
        raise GitFailed(f"git said: {reason}", attempted="keeping what is not committed")
    return done.stdout.strip()
