"""Asks git which files a step has touched, and how the working tree stands."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from agent_sync.errors import GitFailed
from agent_sync.record.disk.paths import shown
from agent_sync.system.git import Git
from agent_sync.worktree import CLAIM_NAME

MOST = 200
_COMMIT = re.compile(r"[0-9a-f]{40,64}")
# Our own files are not the work: the claim with its temporary copies, and the view of the work hooks.
_OUTSIDE = ("--", ".", f":(exclude,top){CLAIM_NAME}*", ":(exclude,top).forge")
# How many fields stand before the path in each kind of line of `status --porcelain=v2`.
_FIELDS = {"1": 8, "2": 9, "u": 10, "?": 1}
_RENAMED = "2"


@dataclass(frozen=True)
class TreeState:
    """The working tree: its branch (empty on a detached HEAD), commit, changes, and the tree of that commit."""

    branch: str
    head: str
    dirty: bool
    tree: str


@dataclass(frozen=True)
class _Status:
    branch: str
    head: str
    changed: tuple[str, ...]


def files_touched(git: Git, base_commit: str) -> tuple[str, ...]:
    """Return the first files, by name, that differ from the commit the step began at, untracked ones included."""
    names = {*_status(git).changed, *_committed(git, base_commit)}
    return tuple(sorted(shown(name) for name in names))[:MOST]


def working_tree_state(git: Git) -> TreeState:
    """Return branch, commit, whether anything is uncommitted, and the tree of the commit."""
    status = _status(git)
    tree = git.ask("rev-parse", "--verify", "--quiet", f"{status.head}^{{tree}}").stdout.strip() if status.head else ""
    return TreeState(status.branch, status.head, bool(status.changed), tree)


def _committed(git: Git, base: str) -> tuple[str, ...]:
    """Return what commits have changed since; a base that is gone says nothing."""
    if not _COMMIT.fullmatch(base):
        return ()
    arguments = ("diff", "--name-only", "--no-renames", "--no-ext-diff", "-z", base, "HEAD")
    return tuple(name for name in git.ask(*arguments, *_OUTSIDE).stdout.split("\0") if name)


def _status(git: Git) -> _Status:
    arguments = ("status", "--porcelain=v2", "--branch", "-z", "--untracked-files=all")
    found = git.ask(*arguments, *_OUTSIDE)
    if found.status:
        raise GitFailed(f"git said: {' '.join(found.stderr.split())[:300]}", attempted="looking at the working tree")
    lines = found.stdout.split("\0")
    branch, head = _header(lines, "# branch.head "), _header(lines, "# branch.oid ")
    return _Status("" if branch == "(detached)" else branch, "" if head == "(initial)" else head, tuple(_names(lines)))


def _header(lines: list[str], title: str) -> str:
    return next((line.removeprefix(title) for line in lines if line.startswith(title)), "")


def _names(lines: list[str]) -> Iterator[str]:
    """Yield every path; a renamed file is followed by a line of its own with the name it had."""
    rest = iter(lines)
    for line in rest:
        fields = _FIELDS.get(line[:1])
        if fields is None or line[1:2] != " ":
            continue
        yield line.split(" ", fields)[fields]
        if line.startswith(_RENAMED):
            yield next(rest, "")
