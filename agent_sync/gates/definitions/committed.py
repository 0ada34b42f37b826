"""What commits have at some paths, asked of git in one question, and read from disk where the same lies there."""

import hashlib
import os
import stat
from collections.abc import Iterable, Mapping
from pathlib import Path

from agent_sync.system import files, git_tree
from agent_sync.system.git import Git

_SHA1_LENGTH = 40
_FOLDER, _PROGRAM, _PLAIN = b"40000", b"100755", b"100644"
# Mode and name of what stands at a path.
_Entries = dict[str, tuple[bytes, bytes]]


class Committed:
    """The names of objects at paths of commits; each is asked for once."""

    def __init__(self, git: Git, paths: Iterable[str]) -> None:
        self._git = git
        self._paths = tuple(paths)
        self._known: dict[tuple[str, str], str] = {}

    def ask(self, *commits: str) -> None:
        """Find what these commits have at all the paths."""
        wanted = [(commit, path) for commit in dict.fromkeys(commits) if commit for path in self._paths]
        missing = [pair for pair in wanted if pair not in self._known]
        if missing:
            names = git_tree.object_names(self._git, [f"{commit}:{path}" for commit, path in missing])
            self._known |= dict(zip(missing, names, strict=True))

    def name(self, commit: str, path: str) -> str:
        """Return the name of what a commit has at one of the paths; nothing where it has nothing."""
        if commit and (commit, path) not in self._known:
            self.ask(commit)
        return self._known.get((commit, path), "")

    def content(self, commit: str, path: str, beside: Path) -> bytes:
        """Return what a file of a commit holds; a file on disk that holds the same saves a question."""
        name = self.name(commit, path)
        try:
            here = files.read_plain(beside) or b""
        except (files.NotPlain, OSError):
            here = b""
        if not name or blob_name(here, like=name) == name:
            return here if name else b""
        return self._git.ask("cat-file", "blob", name).stdout.encode(errors="surrogateescape")


def blob_name(content: bytes, *, like: str) -> str:
    """Return the name that git gives to a content, in the kind of hash that another name has."""
    return _hashed(b"blob", content, like).hex()


def tree_name(directory: Path, contents: Mapping[str, bytes], *, like: str) -> str:
    """Return the name that git gives to a directory with these files, in the kind of hash that another name has."""
    found: _Entries = {}
    for path, content in contents.items():
        mode = _PROGRAM if (directory / path).lstat().st_mode & stat.S_IXUSR else _PLAIN
        found[path] = (mode, _hashed(b"blob", content, like))
    return _tree(found, like).hex()


def _tree(entries: _Entries, like: str) -> bytes:
    folders: dict[str, _Entries] = {}
    rows: _Entries = {}
    for path, entry in entries.items():
        first, slash, rest = path.partition("/")
        if slash:
            folders.setdefault(first, {})[rest] = entry
        else:
            rows[first] = entry
    # Git sorts a folder as if its name ended with a slash.
    ordered = [(os.fsencode(name), *entry) for name, entry in rows.items()]
    ordered += [(os.fsencode(f"{name}/"), _FOLDER, _tree(below, like)) for name, below in folders.items()]
    lines = (mode + b" " + name.removesuffix(b"/") + b"\0" + digest for name, mode, digest in sorted(ordered))
    return _hashed(b"tree", b"".join(lines), like)


def _hashed(kind: bytes, content: bytes, like: str) -> bytes:
    algorithm = "sha1" if len(like) == _SHA1_LENGTH else "sha256"
    return hashlib.new(algorithm, b"%b %d\0" % (kind, len(content)) + content, usedforsecurity=False).digest()
