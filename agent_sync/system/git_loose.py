"""Objects that git keeps one by one, each in a file: read and written without a process.

In any doubt there is no answer here, and git is asked: an object may be in a pack or in another repository.
"""

import hashlib
import os
import re
import stat
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path

from agent_sync.lazy_dataclasses import dataclass
from agent_sync.system.git_answers import has_replacements
from agent_sync.worktree import Place

_NAME = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_SHA256_LENGTH = 64
_LARGEST = 1 << 20
# As git makes them: nobody changes an object.
_READ_ONLY = 0o444
_TREE = "tree"
# Whoever shares a repository with others needs modes that only git works out.
_SHARED = re.compile(rb"sharedrepository|\[include", re.IGNORECASE)


class NotLoose(Exception):
    """What was asked for is not in a file of its own here, or not in one that is clear."""


@dataclass(frozen=True)
class GitObject:
    """One object as git hashes it: its kind and its bytes."""

    kind: str
    content: bytes


def object_name(one: GitObject, algorithm: str) -> str:
    """Return the name of an object in a repository that names them by an algorithm."""
    return hashlib.new(algorithm, _hashed(one), usedforsecurity=False).hexdigest()


def tree_of(place: Place, commit: str) -> str:
    """Return the tree of a commit."""
    if has_replacements(place):
        raise NotLoose
    kind, _, tree = _read(place, commit, "commit").partition(b"\n")[0].decode("ascii", "replace").partition(" ")
    if kind != _TREE or not _NAME.fullmatch(tree):
        raise NotLoose
    return tree


def file_at(place: Place, commit: str, path: str) -> bytes | None:
    """Return a file of a commit; None where the commit has no such file."""
    *folders, name = path.split("/")
    tree = tree_of(place, commit)
    for folder in folders:
        mode, tree = _entry(place, tree, folder)
        if not stat.S_ISDIR(mode):
            return None
    mode, found = _entry(place, tree, name)
    return _read(place, found, "blob") if stat.S_ISREG(mode) or stat.S_ISLNK(mode) else None


def store(place: Place, objects: Mapping[str, GitObject]) -> None:
    """Write objects as files; those that are there already stay as they are."""
    _refuse_shared(place)
    try:
        for name, one in objects.items():
            _write(place, name, one)
    except OSError as error:
        raise NotLoose from error


def _entry(place: Place, tree: str, name: str) -> tuple[int, str]:
    """Return mode and object of an entry of a tree; no mode where there is none."""
    content = _read(place, tree, _TREE)
    try:
        found = (entry for entry in _entries(content, len(tree) // 2) if entry[1] == os.fsencode(name))
        mode, _, sha = next(found, (0, b"", ""))
    except ValueError as error:
        # Nobody checks what others have pushed.
        raise NotLoose from error
    return mode, sha


def _entries(content: bytes, length: int) -> Iterator[tuple[int, bytes, str]]:
    at = 0
    while at < len(content):
        end = content.index(b"\0", at)
        mode, _, name = content[at:end].partition(b" ")
        at = end + 1 + length
        yield int(mode, 8), name, content[end + 1 : at].hex()


def _read(place: Place, name: str, kind: str) -> bytes:
    """Return the bytes of an object whose file is whole and of a kind."""
    if not _NAME.fullmatch(name):
        raise NotLoose
    try:
        with _path(place, name).open("rb") as file:
            unpacked = zlib.decompressobj()
            found = unpacked.decompress(file.read(_LARGEST), _LARGEST)
    except (OSError, zlib.error) as error:
        raise NotLoose from error
    one = GitObject(kind, found.partition(b"\0")[2])
    algorithm = "sha256" if len(name) == _SHA256_LENGTH else "sha1"
    if not unpacked.eof or object_name(one, algorithm) != name:
        raise NotLoose
    return one.content


def _write(place: Place, name: str, one: GitObject) -> None:
    path = _path(place, name)
    if path.exists():
        return
    path.parent.mkdir(exist_ok=True)
    # Git itself sweeps files of this name that a killed writer left.
    temporary = path.with_name(f"tmp_obj_{os.urandom(8).hex()}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, _READ_ONLY)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(zlib.compress(_hashed(one)))
        temporary.rename(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _refuse_shared(place: Place) -> None:
    try:
        config = (Path(place.common_dir) / "config").read_bytes()
        is_shared = _objects(place).stat().st_mode & stat.S_ISGID
    except OSError as error:
        raise NotLoose from error
    if is_shared or _SHARED.search(config):
        raise NotLoose


def _hashed(one: GitObject) -> bytes:
    return f"{one.kind} {len(one.content)}\0".encode() + one.content


def _objects(place: Place) -> Path:
    return Path(place.common_dir) / "objects"


def _path(place: Place, name: str) -> Path:
    return _objects(place) / name[:2] / name[2:]
