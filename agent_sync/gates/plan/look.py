"""One look at the working directory: which files differ from the index there, and which are new."""

from functools import cached_property
from pathlib import Path

from agent_sync.gates.plan.repo import Repo
from agent_sync.lazy_dataclasses import dataclass
from agent_sync.system import git_tree
from agent_sync.worktree import CLAIM_NAME

# How many fields stand before the path.
_CHANGED_FIELDS, _UNMERGED_FIELDS = 8, 10
_ABSENT = "000000"
_AS_STAGED, _UNMERGED = ".", "u"


@dataclass(frozen=True)
class FileState:
    """A file as a commit or the index has it: its mode and the name of its content."""

    mode: str
    content: str


@dataclass(frozen=True)
class TrackedChange:
    """A tracked file that is not everywhere the same: in HEAD, in the index, on disk. None is one that is not there."""

    path: str
    head: FileState | None
    staged: FileState | None
    # Whether it is on disk, and otherwise than it is staged.
    is_on_disk: bool
    is_edited: bool
    # A submodule with changes that its commit does not have.
    is_dirty_submodule: bool = False


@dataclass(frozen=True)
class Look:
    """What git says of the working directory, without the tools' own files."""

    tracked: tuple[TrackedChange, ...] = ()
    untracked: tuple[str, ...] = ()

    @cached_property
    def edited(self) -> tuple[str, ...]:
        """The files that are not on disk as the index has them, new ones included."""
        return (*(one.path for one in self.tracked if one.is_edited), *self.untracked)

    @property
    def has_dirty_submodule(self) -> bool:
        """Whether a submodule has changes that its commit does not have."""
        return any(one.is_dirty_submodule for one in self.tracked)


def take_look(repo: Repo, log_dir: Path, variables: dict[str, str] | None = None, *, with_staged: bool = False) -> Look:
    """Compare the working directory with the index, or with one of ours that the variables name.

    What is staged and lies on disk just so is left out unless asked for: in an index of ours that can be very much.
    """
    own = OwnFiles.of(repo, log_dir)
    records = git_tree.status(repo.git, variables or {}).split("\0")
    names = (record[2:].removesuffix("/") for record in records if record.startswith("? "))
    changed = (record for record in records if record.startswith(("1 ", "u ")))
    wanted = (record for record in changed if with_staged or record[3] != _AS_STAGED or record[0] == _UNMERGED)
    tracked = tuple(_change(record, own) for record in wanted)
    return Look(tracked, tuple(name for name in names if not own.has(name)))


def file_state(mode: str, content: str) -> FileState | None:
    """Return what git says of a file; None where it says that there is none."""
    return None if mode == _ABSENT else FileState(mode, content)


def _change(record: str, own: "OwnFiles") -> TrackedChange:
    if record[0] == _UNMERGED:
        *fields, path = record.split(" ", _UNMERGED_FIELDS)
        ours = file_state(fields[4], fields[8])
        return TrackedChange(path, ours, None, fields[6] != _ABSENT, is_edited=not own.has(path))
    *fields, path = record.split(" ", _CHANGED_FIELDS)
    _, how, submodule, head_mode, mode, on_disk, head, content = fields
    is_dirty = submodule.startswith("S") and submodule[2:] != ".."
    # Of a submodule its commit counts, of the tools' own files what is staged.
    is_edited = how[1] != _AS_STAGED and not own.has(path) and not (is_dirty and submodule[1] == _AS_STAGED)
    states = (file_state(head_mode, head), file_state(mode, content))
    return TrackedChange(path, *states, on_disk != _ABSENT, is_edited=is_edited, is_dirty_submodule=is_dirty)


@dataclass(frozen=True)
class OwnFiles:
    """What lies in the working directory and is not part of the work: claim, log directory, view of the work hooks."""

    directories: tuple[str, ...]

    @classmethod
    def of(cls, repo: Repo, log_dir: Path) -> "OwnFiles":
        """Return them for a worktree and its log directory."""
        root = Path(repo.place.root).resolve()
        logs = (log_dir.relative_to(root).as_posix(),) if root in log_dir.parents else ()
        return cls((".forge", *logs))

    def has(self, path: str) -> bool:
        """Tell whether a path is one of them."""
        if path.startswith(CLAIM_NAME):
            return "/" not in path
        return path.startswith(self.directories) and any(
            path == one or path.startswith(f"{one}/") for one in self.directories
        )
