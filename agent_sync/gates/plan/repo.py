"""What the gate asks git: where HEAD is, what the base is, and which files differ between two trees."""

from dataclasses import dataclass
from pathlib import Path

from agent_sync.errors import GitFailed
from agent_sync.system.git import Git
from agent_sync.worktree import Place

# Hashing a large working directory takes its time.
SLOW_LIMIT = 120.0
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
        found = self.git.ask("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
        return found.stdout.strip() or None

    def tree(self, name: str) -> str:
        """Return the tree of a commit."""
        return self._must("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{tree}}").strip()

    def empty_tree(self) -> str:
        """Return the name of the tree that holds nothing, in this repository's kind of hash."""
        return self._must("hash-object", "-t", "tree", "/dev/null").strip()

    def merge_base(self, one: str, other: str) -> str | None:
        """Return the youngest commit both have; none in unrelated or cut-off histories."""
        return self.git.ask("merge-base", one, other).stdout.strip() or None

    def is_ancestor(self, old: str, new: str) -> bool:
        """Tell whether `new` contains `old`."""
        return self.git.ask("merge-base", "--is-ancestor", old, new).status == 0

    def tracks(self, path: Path) -> bool:
        """Tell whether the index or HEAD has this file, or files below it."""
        return self.git.tracks(path.relative_to(Path(self.place.root).resolve()).as_posix())

    def changed(self, before: str, after: str, variables: dict[str, str]) -> tuple[str, ...]:
        """Return the project's files that differ between two trees, as paths from the project's root."""
        found = self._diff(before, after, "--name-only", "-z", variables=variables)
        return tuple(name for name in found.split("\0") if name)

    def patch(self, before: str, after: str, variables: dict[str, str]) -> str:
        """Return the difference between two trees as a patch."""
        return self._diff(before, after, "--patch", variables=variables)

    def _diff(self, before: str, after: str, *how: str, variables: dict[str, str]) -> str:
        # Renames stay pairs of a deletion and an addition: both places matter to the gates.
        fixed = ("--no-renames", "--no-ext-diff", "--no-textconv", "--no-color", "--src-prefix=a/", "--dst-prefix=b/")
        inside = (f"--relative={self.prefix}",) if self.prefix else ()
        arguments = ("-c", "core.quotePath=false", "diff-tree", "-r", *fixed, *inside, *how, before, after)
        return self._must(*arguments, variables=variables)

    def _must(self, *arguments: str, variables: dict[str, str] | None = None) -> str:
        done = self.git.ask(*arguments, variables=variables, timeout=SLOW_LIMIT)
        if done.status:
            reason = " ".join(done.stderr.split())[:300]
            raise GitFailed(f"git said: {reason or f'exit code {done.status}'}", attempted="comparing what changed")
        return done.stdout
