"""Whatever was done to a worktree: the snapshot is the tree that `git add -A` would make of it, and detect agrees."""

import os
import random
import shutil
import subprocess
from pathlib import Path

import pytest
from support.gauntlet import GatedProject
from support.prove import PROVE

from agent_sync.gates.plan.on_disk import changed_on_disk
from agent_sync.gates.plan.snapshot import take, take_again
from agent_sync.worktree import worktree

NAMES = ["a", "b.txt", "d/x", "d/y z", "d/e/deep", "é", "line\nbreak", "-odd", "run.sh", "kept.log", "data.bin"]
OWN = [".agent-claim.json", "gauntlet_logs/x.log", ".forge/x"]
STEPS = 8


class Worktree:
    """A worktree to which things happen, by chance."""

    def __init__(self, root: Path, chance: random.Random) -> None:
        self.root, self.chance = root, chance
        self.project = GatedProject.__new__(GatedProject)
        self.project.root = root

    def git(self, *arguments: str, check: bool = True, **variables: str) -> str:
        """Run git in the worktree."""
        done = subprocess.run(
            ["git", *arguments], cwd=self.root, env=os.environ | variables, check=check, capture_output=True, text=True
        )
        return done.stdout.strip()

    def step(self) -> None:
        """Do one thing; what is impossible just now does nothing."""
        kinds = [
            self._write, self._write, self._write, self._same_size, self._delete, self._stage, self._stage, self._unstage,
            self._forget, self._mode, self._link, self._directory_for_file, self._intend, self._hide, self._commit, self._ignore,
            self._attributes, self._own, self._rename, self._force, self._touch, self._stash, self._submodule_commit,
        ]  # fmt: skip
        self.chance.choice(kinds)()

    def _path(self) -> Path:
        return self.root / self.chance.choice(NAMES)

    def _name(self) -> str:
        return self.chance.choice(NAMES)

    def _put(self, path: Path, text: str) -> None:
        for above in reversed(path.relative_to(self.root).parents):
            here = self.root / above
            if here.is_symlink() or here.is_file():
                here.unlink()
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        path.unlink(missing_ok=True) if path.is_symlink() else None
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def _write(self) -> None:
        self._put(self._path(), self.chance.choice(["1\n", "2\n", "two\r\nlines\r\n", "", "$Id$\n"]))

    def _same_size(self) -> None:
        """Replace a file within the same tick by another of the same size, its times put back."""
        path = self._path()
        if path.is_file() and not path.is_symlink() and path.stat().st_size:
            before = path.stat()
            path.write_bytes(bytes(reversed(path.read_bytes())))
            os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))

    def _delete(self) -> None:
        path = self._path()
        if path.is_file() or path.is_symlink():
            path.unlink()

    def _stage(self) -> None:
        self.git("add", "-A", "--", ":(literal)" + self._name(), check=False)

    def _unstage(self) -> None:
        self.git("reset", "-q", "--", ":(literal)" + self._name(), check=False)

    def _forget(self) -> None:
        self.git("rm", "-q", "--cached", "--ignore-unmatch", "--", ":(literal)" + self._name(), check=False)

    def _mode(self) -> None:
        path = self._path()
        if path.is_file() and not path.is_symlink():
            path.chmod(self.chance.choice([0o644, 0o755]))

    def _link(self) -> None:
        path = self._path()
        self._put(path, "")
        path.unlink()
        path.symlink_to(self.chance.choice(["a", "nowhere", "d"]))

    def _directory_for_file(self) -> None:
        self._put(self.root / "a" / "inside", "1\n")

    def _intend(self) -> None:
        self.git("add", "--intent-to-add", "--", ":(literal)" + self._name(), check=False)

    def _hide(self) -> None:
        flag = self.chance.choice(["assume-unchanged", "skip-worktree", "no-assume-unchanged", "no-skip-worktree"])
        self.git("update-index", f"--{flag}", "--", self._name(), check=False)

    def _commit(self) -> None:
        self.git("commit", "-q", "-m", "x", check=False)

    def _ignore(self) -> None:
        self._put(self.root / ".gitignore", self.chance.choice(["*.log\n", "d/\n", "", "b.txt\n*.bin\n"]))

    def _attributes(self) -> None:
        lines = self.chance.choice(["* text=auto\n", "*.bin filter=upper\n", "", "*.sh ident\n"])
        self._put(self.root / ".gitattributes", lines)

    def _own(self) -> None:
        self._put(self.root / self.chance.choice(OWN), self.chance.choice("12"))

    def _rename(self) -> None:
        here, there = self._path(), self._path()
        if here.is_file() and here != there and not there.is_dir():
            self._put(there, "") if not there.exists() else None
            if here.is_file():
                here.replace(there)

    def _force(self) -> None:
        self.git("add", "-f", "--", ":(literal)" + self._name(), check=False)

    def _touch(self) -> None:
        path = self._path()
        if path.exists():
            os.utime(path)

    def _stash(self) -> None:
        self.git("stash", "-q", check=False)

    def _submodule_commit(self) -> None:
        inner = self.root / "sub"
        if inner.is_dir():
            subprocess.run(["git", "commit", "-q", "--allow-empty", "-m", "y"], cwd=inner, check=True)

    def plain_tree(self, scratch: Path) -> tuple[str, dict[str, str]]:
        """Return what `git add -A` makes of the worktree, in an index and object directory of its own."""
        shutil.rmtree(scratch, ignore_errors=True)
        (scratch / "objects").mkdir(parents=True)
        place = worktree(str(self.root))
        assert place
        index = Path(place.git_dir) / "index"
        if index.exists():
            shutil.copy2(index, scratch / "index")
        stored = {
            "GIT_INDEX_FILE": str(scratch / "index"),
            "GIT_OBJECT_DIRECTORY": str(scratch / "objects"),
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": f"{place.common_dir}/objects",
        }
        for entry in self.git("ls-files", "-v", "-z").split("\0"):
            name = entry[2:]
            if entry[:1].islower() or (entry[:1] == "S" and os.path.lexists(self.root / name)):
                self.git("update-index", "--no-assume-unchanged", "--", name, **stored)
                self.git("update-index", "--no-skip-worktree", "--", name, **stored)
        own = [":(exclude,top,glob).agent-claim.jso[n]*", ":(exclude,top,glob).forg[e]/**"]
        own += [":(exclude,top,glob)gauntlet_log[s]/**"]
        self.git("-c", "advice.addEmbeddedRepo=false", "add", "-A", "--sparse", "--", ".", *own, **stored)
        return self.git("write-tree", **stored), stored


def made(root: Path, kind: str) -> Path:
    """Make a repository of some kind."""
    algorithm = ["--object-format=sha256"] if kind == "sha256" else []
    subprocess.run(["git", "init", "-q", "-b", "main", *algorithm, str(root)], check=True)

    def git(*arguments: str) -> None:
        subprocess.run(
            ["git", "-c", "protocol.file.allow=always", *arguments], cwd=root, check=True, capture_output=True
        )

    git("config", "filter.upper.clean", "tr a-z A-Z")
    for name in NAMES[:7]:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("1\n")
    git("add", "-A")
    git("commit", "-q", "-m", "first")
    if kind == "submodule":
        subprocess.run(["git", "clone", "-q", str(root), str(root.parent / "inner")], check=True, capture_output=True)
        git("submodule", "--quiet", "add", str(root.parent / "inner"), "sub")
        git("commit", "-q", "-m", "submodule")
    if kind == "sparse":
        git("sparse-checkout", "set", "--no-cone", "/*", "!/d/e/")
    if kind == "nested":
        subprocess.run(["git", "clone", "-q", str(root), str(root / "nested")], check=True, capture_output=True)
    if kind == "linked":
        git("worktree", "add", "-q", "-b", "other", str(root.parent / "linked"))
        return root.parent / "linked"
    if kind == "crlf":
        git("config", "core.autocrlf", "input")
    if kind == "version 4":
        git("update-index", "--index-version", "4")
    return root


@pytest.mark.parametrize("seed", range(30 if PROVE else 1))
@pytest.mark.parametrize("kind", ["usual", "sha256", "linked", "submodule", "nested", "sparse", "crlf", "version 4"])
def test_a_snapshot_is_what_git_would_add(tmp_path, kind, seed):
    """After anything that can happen to files and index: the same tree, the same changed files, a true second look."""
    root = made(tmp_path / "root", kind)
    work = Worktree(root, random.Random(f"{kind} {seed}"))  # noqa: S311  # chance, not secrecy
    first = work.git("rev-parse", "HEAD")
    logs = root / "gauntlet_logs"
    before = take(work.project.repo(), logs)
    for _ in range(STEPS):
        for _ in range(work.chance.randint(1, 3)):
            work.step()
        repo = work.project.repo()
        tree, stored = work.plain_tree(tmp_path / "plain")
        again = take_again(repo, logs, before)
        before = take(repo, logs, with_contents=bool(work.chance.randint(0, 1)))
        assert (before.tree, again.tree) == (tree, tree)
        if not repo.hidden():
            differing = work.git("diff-tree", "-r", "-z", "--name-only", "--no-renames", first, tree, **stored)
            assert list(changed_on_disk(repo, logs, first)) == [name for name in differing.split("\0") if name]
