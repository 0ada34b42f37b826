"""Takes a picture of the working directory as a git tree; index, stash and objects of the user stay untouched."""

import contextlib
import hashlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from agent_sync.gates.plan.look import Look, OwnFiles, take_look
from agent_sync.gates.plan.repo import Repo
from agent_sync.lazy_dataclasses import dataclass
from agent_sync.quiet.answer import state_of
from agent_sync.system import files, git_tree
from agent_sync.worktree import CLAIM_NAME, GATE_SNAPSHOTS

KEPT = 3
NEW = ".new"
# A snapshot without contents.
BARE = ".bare"


@dataclass(frozen=True)
class Snapshot:
    """A tree, where its objects are, and whether it really holds everything."""

    tree: str
    variables: dict[str, str]
    is_complete: bool = True
    # The files that were not on disk as the user's index had them.
    edited: tuple[str, ...] = ()
    # Our index of that moment, and how the user's lay on disk then.
    index: Path | None = None
    user_index: str = ""


def take(repo: Repo, log_dir: Path, *, with_contents: bool = False) -> Snapshot:
    """Return the tree of the working directory, untracked files included, without the tools' own files.

    Contents that are in no commit are stored only if asked for: names and trees can be compared without them.
    """
    home = _home(repo)
    files.private_directory(home)
    work = home / f"{os.getpid()}{NEW}"
    shutil.rmtree(work, ignore_errors=True)
    files.private_directory(work / "objects")
    try:
        return _built(repo, log_dir, work, with_contents=with_contents)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def take_again(repo: Repo, log_dir: Path, earlier: Snapshot) -> Snapshot:
    """Return the picture as it is now: the earlier one, if a look shows that nothing has changed since."""
    is_same_index = earlier.index and earlier.index.exists() and earlier.user_index == _user_index(repo)
    if is_same_index and not take_look(repo, log_dir, _with_index(repo, earlier)).edited:
        return earlier
    return take(repo, log_dir)


def _with_index(repo: Repo, snapshot: Snapshot) -> dict[str, str]:
    return object_variables(repo) | {"GIT_INDEX_FILE": str(snapshot.index)}


def _user_index(repo: Repo) -> str:
    """Return how the user's index lies on disk, and what else decides which files belong to the work."""
    exclude = Path(repo.place.common_dir) / "info" / "exclude"
    return f"{state_of(str(repo.index))} {state_of(str(exclude))}"


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


def prune(repo: Repo) -> None:
    """Delete all but the newest snapshots; failing to is no harm."""
    kept = sorted((path for path in _home(repo).glob("*") if path.is_dir()), key=_age, reverse=True)
    for old in kept[KEPT:]:
        shutil.rmtree(old, ignore_errors=True)


def _built(repo: Repo, log_dir: Path, work: Path, *, with_contents: bool) -> Snapshot:
    user_index = _user_index(repo)
    variables = _private(repo, work)
    hidden = repo.hidden()
    if hidden:
        git_tree.watch_again(repo.git, hidden, variables)
    look = take_look(repo, log_dir, variables)
    is_complete = _fill(repo, log_dir, look, variables, with_contents=with_contents)
    tree = git_tree.write_tree(repo.git, variables)
    kept = _home(repo) / (tree if with_contents else f"{tree}{BARE}")
    if kept.exists():
        # An empty repository has no index.
        with contextlib.suppress(FileNotFoundError):
            (work / "index").replace(kept / "index")
    else:
        work.replace(kept)
    os.utime(kept)
    return Snapshot(tree, object_variables(repo), is_complete, look.edited, kept / "index", user_index)


def _private(repo: Repo, work: Path) -> dict[str, str]:
    if repo.index.exists():
        # With its time: git tells by it which entries may have changed unseen since.
        shutil.copy2(repo.index, work / "index")
    return {
        "GIT_INDEX_FILE": str(work / "index"),
        "GIT_OBJECT_DIRECTORY": str(work / "objects"),
        "GIT_ALTERNATE_OBJECT_DIRECTORIES": _listed(Path(repo.place.common_dir) / "objects"),
    }


def _fill(repo: Repo, log_dir: Path, look: Look, variables: dict[str, str], *, with_contents: bool) -> bool:
    """Bring our index to what lies on disk; False where a file could not be read, or a submodule is not clean."""
    is_complete = (
        not look.edited
        or git_tree.bring_up_to_date(repo.git, look.edited, variables, with_contents=with_contents)
        or git_tree.add_all(repo.git, tuple(_outside(repo, log_dir)), variables)
    )
    has_submodules = (Path(repo.place.root) / ".gitmodules").exists()
    return is_complete and not (has_submodules and look.has_dirty_submodule)


def _outside(repo: Repo, log_dir: Path) -> Iterator[str]:
    """List the tools' own files as patterns that leave them out."""
    # Spelt as a pattern, because git refuses to be told of a path by name that is ignored anyway.
    yield f":(exclude,top,glob){CLAIM_NAME[:-1]}[{CLAIM_NAME[-1]}]*"
    own = OwnFiles.of(repo, log_dir).directories
    # To name what is ignored anyway, git refuses.
    ignored = repo.git.ignored(own)
    yield from (f":(exclude,top,literal){name}" for name in own if name not in ignored)


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
