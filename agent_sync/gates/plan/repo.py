"""The repository a project lies in: where in it, and which of the project's files differ between two trees."""

from pathlib import Path

from agent_sync.lazy_dataclasses import dataclass
from agent_sync.system import git_history, git_tree
from agent_sync.system.git import Git
from agent_sync.worktree import Place

DETACHED = "HEAD"


@dataclass(frozen=True)
class Repo:
    """The repository a project lives in, and where in it."""

    git: Git
    place: Place
    project: Path

    @property
    def prefix(self) -> str:
        """The project's directory inside the worktree, with a slash, or nothing at its root."""
        inside = self.project.resolve().relative_to(Path(self.place.root).resolve()).as_posix()
        return "" if inside == "." else f"{inside}/"

    def head(self) -> str:
        """Return the commit that is checked out; nothing in an empty repository."""
        return self.commit("HEAD") or ""

    def branch(self) -> str:
        """Return the branch that is checked out, or `HEAD` where there is none."""
        return self.git.current_branch() or DETACHED

    def commit(self, name: str) -> str | None:
        """Return the commit a name stands for."""
        return git_history.commit_of(self.git, name)

    def tracks(self, path: Path) -> bool:
        """Tell whether the index or HEAD has this file, or files below it."""
        return self.git.tracks(path.relative_to(Path(self.place.root).resolve()).as_posix())

    def changed(self, before: str, after: str, variables: dict[str, str]) -> tuple[str, ...]:
        """Return the project's files that differ between two trees, as paths from the project's root."""
        how = ("--name-only", "-z")
        found = git_tree.difference(self.git, before, after, *how, below=self.prefix, variables=variables)
        return tuple(name for name in found.split("\0") if name)

    def patch(self, before: str, after: str, variables: dict[str, str]) -> str:
        """Return the difference between two trees as a patch."""
        return git_tree.difference(self.git, before, after, "--patch", below=self.prefix, variables=variables)
