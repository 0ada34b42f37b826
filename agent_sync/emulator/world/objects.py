"""Writing single objects into a bare repository: blobs and trees, as an interface without git does."""

import subprocess
from dataclasses import dataclass

from agent_sync.emulator.world.bare import ZERO, BareRepository, GitFailed

TREE_MODE = "040000"


@dataclass(frozen=True)
class NewEntry:
    """One path of a new tree: an object that exists, a text, or (with neither) a path that goes."""

    path: str
    mode: str
    sha: str | None = None
    content: str | None = None


def has_object(git: BareRepository, sha: str, kind: str) -> bool:
    """Say whether the repository holds an object of a kind under a SHA."""
    return git.succeeds("cat-file", "-e", f"{sha}^{{{kind}}}")


def write_blob(git: BareRepository, content: bytes) -> str:
    """Store a file and return its SHA."""
    command = ["git", "hash-object", "-w", "--stdin"]
    done = subprocess.run(command, cwd=git.path, env=git.environment(), input=content, capture_output=True, check=True)
    return done.stdout.decode().strip()


def write_tree(git: BareRepository, entries: list[NewEntry], *, base: str | None) -> str:
    """Store a tree that has these entries on top of another one, and return its SHA."""
    index = {"GIT_INDEX_FILE": str(git.path / "emulator-index")}
    git.run("read-tree", *([base] if base else ["--empty"]), extra=index)
    for entry in entries:
        _place(git, entry, index)
    return git.run("write-tree", extra=index)


def _place(git: BareRepository, entry: NewEntry, index: dict[str, str]) -> None:
    sha = entry.sha if entry.content is None else write_blob(git, entry.content.encode())
    if sha is None:
        git.run("update-index", "--index-info", text=f"0 {ZERO}\t{entry.path}\n", extra=index)
    elif entry.mode == TREE_MODE:
        git.run("read-tree", f"--prefix={entry.path.rstrip('/')}/", sha, extra=index)
    else:
        if not has_object(git, sha, "object"):
            raise GitFailed(f"{sha} does not exist")
        git.run("update-index", "--add", "--cacheinfo", f"{entry.mode},{sha},{entry.path}", extra=index)
