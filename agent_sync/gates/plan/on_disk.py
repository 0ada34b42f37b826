"""Finds which files on disk differ from a commit, without building a tree of them."""

import hashlib
import os
import stat
from collections.abc import Mapping
from pathlib import Path

from agent_sync.gates.plan.look import FileState, TrackedChange, file_state, take_look
from agent_sync.gates.plan.repo import Repo
from agent_sync.system import git_tree

_LINK, _PROGRAM, _PLAIN = "120000", "100755", "100644"
_SHA1_LENGTH = 40


def changed_on_disk(repo: Repo, log_dir: Path, before: str) -> tuple[str, ...]:
    """Return the project's files that are not on disk as a commit or tree has them, as paths from its root."""
    head = repo.head()
    committed = git_tree.entries_before(repo.git, before, head) if head else {}
    look = take_look(repo, log_dir, with_staged=True)
    earlier = {one.path: one.head for one in look.tracked}
    earlier |= {path: file_state(*entry) for path, entry in committed.items()}
    known = {one.path: _differs(one, earlier[one.path]) for one in look.tracked}
    # A file may be staged as deleted and lie there all the same.
    known |= {path: None if earlier.get(path) else True for path in look.untracked}
    unclear = {path: was for path, was in earlier.items() if was and known.get(path, True) is None}
    changed = {path for path in {*committed, *known} if known.get(path, True)} | _otherwise_on_disk(repo, unclear)
    prefix = repo.prefix
    inside = sorted((path for path in changed if path.startswith(prefix)), key=os.fsencode)
    return tuple(path.removeprefix(prefix) for path in inside)


def _differs(one: TrackedChange, earlier: FileState | None) -> bool | None:
    """Tell whether a file on disk differs from what it was; None where only its content can tell."""
    if not one.is_edited:
        return one.staged != earlier
    if not one.is_on_disk or earlier is None:
        return one.is_on_disk or earlier is not None
    return True if one.staged == earlier else None


def _otherwise_on_disk(repo: Repo, earlier: Mapping[str, FileState]) -> set[str]:
    """Return the files whose mode or content is not what it was."""
    modes = {path: _mode(f"{repo.place.root}/{path}") for path in earlier}
    same_mode = [path for path, was in earlier.items() if was.mode == modes[path]]
    plain = [path for path in same_mode if modes[path] != _LINK]
    now = dict(zip(plain, git_tree.contents_now(repo.git, plain) if plain else (), strict=False))
    now |= {path: _link(f"{repo.place.root}/{path}", earlier[path]) for path in same_mode if modes[path] == _LINK}
    return {path for path, was in earlier.items() if now.get(path) != was.content}


def _mode(path: str) -> str:
    """Return the mode that git would give a file; nothing for what is none."""
    try:
        found = os.lstat(path).st_mode
    except OSError:
        return ""
    if stat.S_ISLNK(found):
        return _LINK
    return (_PROGRAM if found & stat.S_IXUSR else _PLAIN) if stat.S_ISREG(found) else ""


def _link(path: str, was: FileState) -> str:
    """Return the name git would give to what a link says, in the repository's kind of hash."""
    try:
        target = os.fsencode(Path(path).readlink())
    except OSError:
        return ""
    kind = "sha1" if len(was.content) == _SHA1_LENGTH else "sha256"
    return hashlib.new(kind, b"blob %d\0" % len(target) + target, usedforsecurity=False).hexdigest()
