"""The repository a project lies in: where in it, and which of the project's files differ between two trees."""

import os
from dataclasses import field
from pathlib import Path

from agent_sync.lazy_dataclasses import dataclass
from agent_sync.quiet.answer import state_of
from agent_sync.system import git_history, git_tree
from agent_sync.system.git import Git
from agent_sync.worktree import Place

DETACHED = "HEAD"
_USUAL, _LEFT_OUT = "\0H ", "S"


@dataclass(frozen=True)
class Repo:
    """The repository a project lives in, and where in it."""

    git: Git
    place: Place
    project: Path
    # What git tracks, by how the index lay on disk and where HEAD was.
    _listed: dict[str, str] = field(default_factory=dict, repr=False, compare=False)

    @property
    def index(self) -> Path:
        """The worktree's index."""
        return Path(self.place.git_dir) / "index"

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
        """Tell whether the index or HEAD has this file, or files below it, under whatever spelling."""
        name = path.relative_to(Path(self.place.root).resolve()).as_posix().casefold()
        listed = self._listing().casefold()
        if f" {name}/" not in listed and f" {name}\0" not in listed:
            return False
        return any(f"{entry[2:]}/".startswith(f"{name}/") for entry in listed.split("\0"))

    def hidden(self) -> tuple[str, ...]:
        """List the files that git was told not to look at, but for those it was told to leave out and that are gone."""
        listed, root = self._listing(), self.place.root
        if f"\0{listed}".count(_USUAL) == listed.count("\0"):
            return ()
        told = ((entry[0], entry[2:]) for entry in listed.split("\0")[:-1])
        return tuple(
            name
            for letter, name in told
            if letter.islower() or (letter == _LEFT_OUT and os.path.lexists(f"{root}/{name}"))
        )

    def _listing(self) -> str:
        """List what git tracks; asked again if the index or HEAD changes."""
        head = self.head()
        seen = f"{state_of(str(self.index))} {head}"
        if seen not in self._listed:
            self._listed[seen] = git_tree.tracked(self.git, head)
        return self._listed[seen]

    def changed(self, before: str, after: str, variables: dict[str, str]) -> tuple[str, ...]:
        """Return the project's files that differ between two trees, as paths from the project's root."""
        how = ("--name-only", "-z")
        found = git_tree.difference(self.git, before, after, *how, below=self.prefix, variables=variables)
        return tuple(name for name in found.split("\0") if name)

    def patch(self, before: str, after: str, variables: dict[str, str]) -> str:
        """Return the difference between two trees as a patch."""
        return git_tree.difference(self.git, before, after, "--patch", below=self.prefix, variables=variables)
