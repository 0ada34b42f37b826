"""Stores new objects: as files where that is plain, else with one process, which is sent them as a small pack."""

import hashlib
import os
import re
import stat
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path

from agent_sync.errors import GitFailed
from agent_sync.lazy_dataclasses import dataclass
from agent_sync.lazy_patterns import pattern
from agent_sync.system.git import Git
from agent_sync.system.git_answers import NotLoose, object_file
from agent_sync.system.scratch import scratch_file
from agent_sync.worktree import Place

_KINDS = {"commit": 1, "tree": 2, "blob": 3}
_SHA256_LENGTH = 64
_VERSION = 2
# As git makes them: nobody changes an object.
_READ_ONLY = 0o444
# Whoever shares a repository with others needs modes that only git works out.
_SHARED = pattern(rb"sharedrepository|\[include", re.IGNORECASE)


@dataclass(frozen=True)
class GitObject:
    """One object as git hashes it: its kind and its bytes."""

    kind: str
    content: bytes


@dataclass
class NewObjects:
    """Objects to be stored together, each by its name; `algorithm` is the repository's."""

    algorithm: str
    found: dict[str, GitObject]

    def add(self, kind: str, content: bytes) -> str:
        """Add one object and return its name."""
        one = GitObject(kind, content)
        name = hashlib.new(self.algorithm, _hashed(one), usedforsecurity=False).hexdigest()
        self.found[name] = one
        return name

    def add_tree(self, files: Mapping[str, bytes]) -> str:
        """Add text files, at most one folder deep, and return the name of their tree."""
        folders: dict[str, dict[str, bytes]] = {}
        entries: list[tuple[str, str, str]] = []
        for path, content in files.items():
            folder, slash, name = path.partition("/")
            if slash:
                folders.setdefault(folder, {})[name] = content
            else:
                entries.append((path, "100644", self.add("blob", content)))
        entries += ((folder, "40000", self.add_tree(inside)) for folder, inside in folders.items())
        # Git sorts a folder as if its name ended in a slash.
        entries.sort(key=lambda entry: f"{entry[0]}/" if entry[1] == "40000" else entry[0])
        lines = (f"{mode} {name}\0".encode() + bytes.fromhex(sha) for name, mode, sha in entries)
        return self.add("tree", b"".join(lines))

    def pack(self) -> bytes:
        """Return all of them as one pack."""
        body = b"PACK" + _VERSION.to_bytes(4, "big") + len(self.found).to_bytes(4, "big")
        body += b"".join(map(_packed, self.found.values()))
        return body + hashlib.new(self.algorithm, body, usedforsecurity=False).digest()


def new_objects(git: Git, known: Sequence[str]) -> NewObjects:
    """Return an empty set of objects for a repository; commits that are known to it tell how it names them."""
    known_name = next(iter(known), "") or git.commit_at("HEAD") or ""
    if known_name:
        return NewObjects("sha256" if len(known_name) == _SHA256_LENGTH else "sha1", {})
    return NewObjects(git.ask("rev-parse", "--show-object-format").stdout.strip() or "sha1", {})


def store_objects(git: Git, objects: NewObjects, *, attempted: str) -> None:
    """Store objects in the repository."""
    try:
        if git.place:
            _store_files(git.place, objects.found)
            return
    except NotLoose:
        pass
    _unpack(git, objects, attempted)


def _store_files(place: Place, objects: Mapping[str, GitObject]) -> None:
    """Write objects as files; those that are there already stay as they are."""
    _refuse_shared(place)
    try:
        for name, one in objects.items():
            _write(place, name, one)
    except OSError as error:
        raise NotLoose from error


def _write(place: Place, name: str, one: GitObject) -> None:
    path = Path(object_file(place, name))
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
        is_shared = (Path(place.common_dir) / "objects").stat().st_mode & stat.S_ISGID
    except OSError as error:
        raise NotLoose from error
    if is_shared or _SHARED.search(config):
        raise NotLoose


def _hashed(one: GitObject) -> bytes:
    return f"{one.kind} {len(one.content)}\0".encode() + one.content


def _unpack(git: Git, objects: NewObjects, attempted: str) -> None:
    """Have git take the pack apart and keep what is in it."""
    with scratch_file() as pack, scratch_file() as errors:
        pack.write(objects.pack())
        pack.seek(0)
        status = git.feed("unpack-objects", "-q", stdin=pack, errors=errors)
        if status:
            errors.seek(0)
            reason = " ".join(errors.read().decode(errors="replace").split())[:300]
            raise GitFailed(f"git said: {reason or f'exit code {status}'}", attempted=attempted)


def _packed(one: GitObject) -> bytes:
    """Return an object as a pack has it: kind and size in as many bytes as they need, then its deflated bytes."""
    size = len(one.content)
    head, size = [_KINDS[one.kind] << 4 | size & 0x0F], size >> 4
    while size:
        head[-1] |= 0x80
        head.append(size & 0x7F)
        size >>= 7
    return bytes(head) + zlib.compress(one.content)
