"""Commits and trees as GitHub's interface shows and takes them."""

from agent_sync.lazy_dataclasses import dataclass


@dataclass(frozen=True)
class Signature:
    """Who wrote a commit, and when, as git writes it: `2026-03-01T12:00:00Z`."""

    name: str
    email: str
    date: str


@dataclass(frozen=True)
class ApiCommit:
    """A commit as the interface shows it, or takes it."""

    tree: str
    parents: tuple[str, ...]
    author: Signature
    committer: Signature
    message: str
    sha: str = ""


@dataclass(frozen=True)
class TreeEntry:
    """One line of a tree, with its whole path below the root."""

    path: str
    mode: str
    kind: str
    sha: str
    size: int = 0
