"""A real bare repository, asked and changed through git itself."""

import functools
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from agent_sync.emulator.world.bare_files import lay_out, ref_at, refs_below, stored, stored_tree_of_one
from agent_sync.emulator.world.hooks import UPDATE_HOOK

ZERO = "0" * 40

# The machine's own configuration must neither help nor disturb.
ENVIRONMENT = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}

_ABOUT_OBJECTS = frozenset({"ls-tree", "merge-base", "rev-list", "show"})
_OBJECTS = re.compile(r"[0-9a-f]{40}(?:\.\.[0-9a-f]{40})?")

OLDEST_GIT = (2, 38)  # the first whose merge-tree can write a merge without a working tree


def unusable_git() -> str | None:
    """Say what is wrong with this machine's git, if anything is."""
    program = shutil.which("git")
    return _unfit(program) if program else "git is not installed"


@functools.cache
def _unfit(program: str) -> str | None:
    plain = {**os.environ, **ENVIRONMENT}
    said = subprocess.run([program, "--version"], env=plain, capture_output=True, text=True, check=False).stdout.strip()
    version = re.search(r"(\d+)\.(\d+)", said)
    is_fit = version is not None and (int(version[1]), int(version[2])) >= OLDEST_GIT
    return None if is_fit else f"it says {said!r}"


class GitFailed(Exception):
    """Git ended with an error; the message is what it wrote."""


@dataclass(frozen=True)
class Author:
    """Who a commit is by, and when."""

    name: str
    email: str
    when: str


@dataclass(frozen=True)
class Commit:
    """What a commit says."""

    sha: str
    tree: str
    parents: tuple[str, ...]
    author: Author
    committer: Author
    message: str


@dataclass(frozen=True)
class TreeEntry:
    """A file or directory at one commit; `kind` is git's word, `blob` or `tree`."""

    kind: str
    sha: str
    size: int
    path: str


def _is_lasting(arguments: tuple[str, ...]) -> bool:
    """Tell whether a question is about objects that are named in full: its answer never changes."""
    asked = arguments[1 : arguments.index("--")] if "--" in arguments else arguments[1:]
    names = [word for word in asked if not word.startswith("-")]
    return arguments[0] in _ABOUT_OBJECTS and all(map(_OBJECTS.fullmatch, names))


class BareRepository:
    """One bare repository on disk, one method per question or change."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._known: dict[tuple[str, ...], subprocess.CompletedProcess[str]] = {}
        self._merges: dict[tuple[str, str], str | None] = {}

    def create(self, default_branch: str) -> None:
        """Make the repository with the settings a server needs."""
        lay_out(self.path, default_branch)
        self.refuse_refs([])
        hook = self.path / "hooks" / "update"
        hook.write_text(UPDATE_HOOK)
        hook.chmod(0o755)

    def refuse_refs(self, patterns: list[str]) -> None:
        """Let pushes to refs that match one of the patterns be refused from now on."""
        (self.path / "refused-refs").write_text("".join(f"{pattern}\n" for pattern in patterns))

    def run(self, *arguments: str, text: str = "", extra: dict[str, str] | None = None) -> str:
        """Run git in the repository and return what it printed."""
        done = self._finished(arguments, text, extra)
        if done.returncode:
            raise GitFailed(done.stderr.strip() or f"git {arguments[0]} failed")
        return done.stdout.rstrip("\n")

    def succeeds(self, *arguments: str) -> bool:
        """Run git in the repository and say whether it ended well."""
        return self._finished(arguments, "", None).returncode == 0

    def _finished(
        self, arguments: tuple[str, ...], text: str, extra: dict[str, str] | None
    ) -> subprocess.CompletedProcess[str]:
        if arguments in self._known:
            return self._known[arguments]
        done = self._ran(arguments, text, extra)
        if _is_lasting(arguments) and done.returncode in {0, 1}:
            self._known[arguments] = done
        return done

    def _ran(
        self, arguments: tuple[str, ...], text: str, extra: dict[str, str] | None
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["git", *arguments],
            cwd=self.path,
            env=self.environment() | (extra or {}),
            input=text,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            check=False,
        )

    def environment(self) -> dict[str, str]:
        """Return the environment every git process of this repository gets."""
        return {
            "PATH": os.environ.get("PATH", os.defpath), "HOME": str(self.path), "GIT_DIR": str(self.path)
        } | ENVIRONMENT  # fmt: skip

    def refs(self, prefix: str = "refs/") -> dict[str, str]:
        """Return every ref under a prefix with the object it names."""
        return refs_below(self.path, prefix)

    def ref(self, name: str) -> str | None:
        """Return what one full ref name points at, if it exists."""
        return ref_at(self.path, name)

    def resolve(self, name: str) -> str | None:
        """Return the commit a branch, tag, full ref or SHA means, if there is one."""
        if branch := self.ref(f"refs/heads/{name}"):
            return branch
        for candidate in (f"refs/tags/{name}", name):
            done = self._finished(
                ("rev-parse", "--verify", "--quiet", "--end-of-options", candidate + "^{commit}"), "", None
            )
            if done.returncode == 0:
                return done.stdout.strip()
        return None

    def set_ref(self, name: str, new: str | None, *, old: str | None) -> None:
        """Move, create (old is zeros) or delete (new is None) a ref, if it still is what it was."""
        if new is None:
            self.run("update-ref", "-d", name, *([old] if old else []))
        else:
            self.run("update-ref", name, new, *([old] if old else []))

    def is_ancestor(self, older: str, newer: str) -> bool:
        """Say whether one commit is contained in the other."""
        return self.succeeds("merge-base", "--is-ancestor", older, newer)

    def commits_between(self, base: str, head: str) -> list[str]:
        """Return the commits head has and base has not, oldest first."""
        return self.run("rev-list", "--reverse", "--topo-order", f"{base}..{head}").split()

    def commit(self, sha: str) -> Commit:
        """Read one commit."""
        layout = "%H%x00%T%x00%P%x00%an%x00%ae%x00%aI%x00%cn%x00%ce%x00%cI%x00%B"
        parts = self.run("show", "--no-patch", f"--format={layout}", sha).split("\0")
        return Commit(
            sha=parts[0], tree=parts[1], parents=tuple(parts[2].split()),
            author=Author(*parts[3:6]), committer=Author(*parts[6:9]), message=parts[9].rstrip("\n"),
        )  # fmt: skip

    def tree_entry(self, commit: str, path: str) -> TreeEntry | None:
        """Return the file or directory at a path, if there is one."""
        return next(iter(self._listed(commit, path)), None)

    def tree_entries(self, commit: str, path: str) -> list[TreeEntry]:
        """Return what a directory holds."""
        return self._listed(commit, path + "/")

    def _listed(self, commit: str, path: str) -> list[TreeEntry]:
        lines = self.run("ls-tree", "-z", "-l", commit, "--", path).split("\0")
        pairs = [line.split("\t", 1) for line in lines if line]
        parted = [(head.split(), name) for head, name in pairs]
        return [
            TreeEntry(kind, sha, 0 if size == "-" else int(size), name) for (_mode, kind, sha, size), name in parted
        ]

    def blob(self, sha: str) -> bytes:
        """Return the bytes of a file."""
        command = ["git", "cat-file", "blob", sha]
        return subprocess.run(command, cwd=self.path, env=self.environment(), capture_output=True, check=True).stdout

    def merged_tree(self, ours: str, theirs: str) -> str | None:
        """Return the tree of a merge of two commits, or None if they conflict."""
        if (ours, theirs) not in self._merges:
            done = self._finished(("merge-tree", "--write-tree", ours, theirs), "", None)
            if done.returncode not in {0, 1}:
                raise GitFailed(done.stderr.strip())
            tree = done.stdout.split("\n", 1)[0]
            self._merges[ours, theirs] = tree if done.returncode == 0 else None
        return self._merges[ours, theirs]

    def write_commit(
        self, tree: str, parents: list[str], message: str, *, author: Author, committer: Author | None = None
    ) -> str:
        """Store a commit and return its SHA."""
        committer = committer or author
        identity = {
            "GIT_AUTHOR_NAME": author.name, "GIT_AUTHOR_EMAIL": author.email, "GIT_AUTHOR_DATE": author.when,
            "GIT_COMMITTER_NAME": committer.name, "GIT_COMMITTER_EMAIL": committer.email,
            "GIT_COMMITTER_DATE": committer.when,
        }  # fmt: skip
        flags = [flag for parent in parents for flag in ("-p", parent)]
        return self.run("commit-tree", tree, *flags, text=message, extra=identity)

    def tree_with_file(self, base: str | None, path: str, content: str) -> str:
        """Return the tree of a commit (or an empty one) with one file set."""
        blob = stored(self.path, "blob", content.encode())
        if base is None and "/" not in path:
            return stored_tree_of_one(self.path, path, blob)
        index = {"GIT_INDEX_FILE": str(self.path / "emulator-index")}
        self.run("read-tree", *([base] if base else ["--empty"]), extra=index)
        self.run("update-index", "--add", "--cacheinfo", f"100644,{blob},{path}", extra=index)
        return self.run("write-tree", extra=index)
