"""Takes a picture of the working directory as a git tree; index, stash and objects of the user stay untouched."""

import hashlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from agent_sync.gates.plan.repo import Repo
from agent_sync.lazy_dataclasses import dataclass
from agent_sync.system import files, git_tree
from agent_sync.worktree import CLAIM_NAME, GATE_SNAPSHOTS

KEPT = 3
NEW = ".new"


@dataclass(frozen=True)
class Snapshot:
    """A tree, where its objects are, and whether it really holds everything."""

    tree: str
    variables: dict[str, str]
    is_complete: bool = True


def take(repo: Repo, log_dir: Path) -> Snapshot:
    """Return the tree of the working directory, untracked files included, without the tools' own files."""
    outside = tuple(_outside(repo, log_dir))
    hidden = _hidden(repo)
    head = repo.head()
    if head and not hidden and not git_tree.is_dirty(repo.git, outside):
        return Snapshot(git_tree.tree_of(repo.git, head), object_variables(repo))
    return _built(repo, outside, hidden)


def object_variables(repo: Repo) -> dict[str, str]:
    """Return the variables with which git reads the snapshots kept so far beside its own objects."""
    found = [_listed(path) for path in sorted(_home(repo).glob("*/objects")) if path.parent.suffix != NEW]
    own = repo.git.environment.get("GIT_ALTERNATE_OBJECT_DIRECTORIES", "")
    kept = ":".join([*found, *([own] if own else [])])
    return {"GIT_ALTERNATE_OBJECT_DIRECTORIES": kept} if kept else {}


def _listed(path: Path) -> str:
    """Quote a path for a list whose separator it may contain."""
    text = str(path)
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"' if ":" in text or '"' in text else text


def has_hidden(repo: Repo) -> bool:
    """Tell whether git was told not to look at some files."""
    return bool(_hidden(repo))


def prune(repo: Repo) -> None:
    """Delete all but the newest snapshots; failing to is no harm."""
    kept = sorted((path for path in _home(repo).glob("*") if path.is_dir()), key=_age, reverse=True)
    for old in kept[KEPT:]:
        shutil.rmtree(old, ignore_errors=True)


def _built(repo: Repo, outside: tuple[str, ...], hidden: tuple[str, ...]) -> Snapshot:
    home = _home(repo)
    files.private_directory(home)
    work = home / f"{os.getpid()}{NEW}"
    shutil.rmtree(work, ignore_errors=True)
    files.private_directory(work / "objects")
    try:
        variables = _private(repo, work)
        is_complete = _fill(repo, outside, hidden, variables)
        tree = git_tree.write_tree(repo.git, variables)
        kept = home / tree
        if not kept.exists():
            (work / "index").unlink(missing_ok=True)
            work.replace(kept)
        os.utime(kept)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return Snapshot(tree, object_variables(repo), is_complete)


def _private(repo: Repo, work: Path) -> dict[str, str]:
    index = Path(repo.place.git_dir) / "index"
    if index.exists():
        # With its time: git tells by it which entries may have changed unseen since.
        shutil.copy2(index, work / "index")
    return {
        "GIT_INDEX_FILE": str(work / "index"),
        "GIT_OBJECT_DIRECTORY": str(work / "objects"),
        "GIT_ALTERNATE_OBJECT_DIRECTORIES": _listed(Path(repo.place.common_dir) / "objects"),
    }


def _fill(repo: Repo, outside: tuple[str, ...], hidden: tuple[str, ...], variables: dict[str, str]) -> bool:
    """Bring our index to what lies on disk; False where a file could not be read, or a submodule is not clean."""
    if hidden:
        git_tree.watch_again(repo.git, hidden, variables)
    is_complete = git_tree.add_all(repo.git, outside, variables)
    if not is_complete or not (Path(repo.place.root) / ".gitmodules").exists():
        return is_complete
    return git_tree.has_clean_submodules(repo.git, outside, variables)


def _outside(repo: Repo, log_dir: Path) -> Iterator[str]:
    """List what is not part of the work: the claim file, the log directory, the view of the work hooks."""
    # Spelt as a pattern, because git refuses to be told of a path by name that is ignored anyway.
    yield f":(exclude,top,glob){CLAIM_NAME[:-1]}[{CLAIM_NAME[-1]}]*"
    root = Path(repo.place.root).resolve()
    own = [".forge"] + ([log_dir.relative_to(root).as_posix()] if root in log_dir.parents else [])
    # To name what is ignored anyway, git refuses.
    ignored = repo.git.ignored(own)
    yield from (f":(exclude,top,literal){name}" for name in own if name not in ignored)


def _hidden(repo: Repo) -> tuple[str, ...]:
    """List the files that git was told not to look at although they are there."""
    root = Path(repo.place.root)
    return tuple(
        name for name, is_left_out in git_tree.unwatched(repo.git) if not is_left_out or os.path.lexists(root / name)
    )


def _home(repo: Repo) -> Path:
    return Path(repo.place.state_dir) / GATE_SNAPSHOTS


def _age(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def digest(parts: Iterator[bytes]) -> str:
    """Return one name for a sequence of byte strings, each told apart from its neighbours."""
    whole = hashlib.sha256()
    for part in parts:
        whole.update(len(part).to_bytes(8, "big") + part)
    return whole.hexdigest()
