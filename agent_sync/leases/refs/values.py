"""The values of refs and of changes to them, and the interface of whatever keeps them."""

from collections.abc import Mapping, Sequence
from dataclasses import field
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple, Protocol

from agent_sync.lazy_dataclasses import dataclass

OURS = "refs/agentsync/"
CLAIMS = f"{OURS}claims/"
HOOKS = f"{OURS}hooks/"
RESCUE = f"{OURS}rescue/"
PROBES = f"{OURS}probe/"
TRACKING = f"{OURS}tracking/"


def names_above(name: str) -> tuple[str, ...]:
    """Return the names that must be folders, and no refs, for a ref of ours to be made; git takes none of two parts."""
    parts = name.split("/")
    return tuple("/".join(parts[:end]) for end in range(len(parts) - 1, 2, -1))


class Where(StrEnum):
    """How far refs are seen: by everybody who shares the remote, or in this clone only."""

    REMOTE = "remote"
    CLONE = "clone"


class PushResult(StrEnum):
    """What is known of a change of refs before anything is read."""

    LANDED = "landed"
    REJECTED = "rejected"
    SILENT = "silent"
    # The refs have moved; the branch that should go with them has not.
    BRANCH_REFUSED = "branch-refused"


@dataclass(frozen=True)
class RefUpdate:
    """One ref from `old` (empty: must not exist) to `new` (empty: deleted)."""

    ref: str
    old: str
    new: str


@dataclass(frozen=True)
class BranchHead:
    """A branch and the commit it moves forward to."""

    name: str
    sha: str


@dataclass(frozen=True)
class Pushed:
    """How a change of refs ended; the text is git's, for people only."""

    result: PushResult
    text: str = ""
    # Whether anything may have been sent: a remote that git cannot even ask for its refs gets nothing.
    was_sent: bool = True


class FoundRef(NamedTuple):
    """A ref and the object it is at; `kind` is that object's, where it was asked for."""

    name: str
    sha: str
    kind: str = ""


@dataclass(frozen=True)
class FileAt:
    """One file of one commit."""

    commit: str
    path: str


@dataclass(frozen=True)
class TooLarge:
    """A file that was not read."""

    size: int


Blob = bytes | TooLarge | None


@dataclass(frozen=True)
class NewCommit:
    """A commit to be written: text files, at most one folder deep, under our own name."""

    message: str
    files: Mapping[str, bytes] = field(default_factory=dict)
    parents: tuple[str, ...] = ()
    when: int = 0


@dataclass(frozen=True)
class PastCommit:
    """A commit of a history: its first parent, its time and its message."""

    parent: str
    at: datetime
    message: str


class RefTransport(Protocol):
    """Whoever keeps refs below `refs/agentsync/`; names are always those, wherever a copy is stored."""

    @property
    def where(self) -> Where:
        """How far its refs are seen."""

    @property
    def reason(self) -> str:
        """Why refs are kept here and not on the remote; empty on the remote."""

    @property
    def prefix(self) -> str:
        """Below what this clone stores the refs, in place of `refs/agentsync/`."""

    @property
    def url(self) -> str:
        """Which remote it writes to, for what is remembered of it; empty in this clone."""

    def fetch(self, names: Sequence[str]) -> str:
        """Bring refs, or all below a name that ends in a slash, up to date; return what went wrong, if anything."""

    def known(self, name: str, *, with_kinds: bool = False) -> tuple[FoundRef, ...]:
        """Return a ref and all below it as they were last fetched or swapped, without asking anybody."""

    def read(self, files: Sequence[FileAt], *, largest: int) -> list[Blob]:
        """Return files of commits that are known; none that is larger than it may be is read."""

    def history(self, tips: Sequence[str], *, most: int) -> dict[str, PastCommit]:
        """Return the commits behind some tips that are known, at most so many of each, by their shas."""

    def write(self, commit: NewCommit) -> str:
        """Store a commit and return its sha; no ref moves."""

    def keep(self, tree: str, commit: NewCommit) -> str:
        """Store a commit of files that this clone has as a tree, and return its sha; no ref moves."""

    def swap(self, updates: Sequence[RefUpdate], branch: BranchHead | None = None) -> Pushed:
        """Move all refs and a branch, or none of them, if each still is what it was."""

    def swap_each(self, updates: Sequence[RefUpdate]) -> tuple[Pushed, ...]:
        """Move every ref that still is what it was, whatever became of the others; return how each of them ended."""

    def above(self, name: str) -> str:
        """Return a ref whose name git would need as a folder to make another; empty where none is in the way."""
