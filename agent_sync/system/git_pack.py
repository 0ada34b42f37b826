"""Stores new objects: as files where that is plain, else with one process, which is sent them as a small pack."""

import hashlib
import zlib
from collections.abc import Mapping, Sequence

from agent_sync.errors import GitFailed
from agent_sync.lazy_dataclasses import dataclass
from agent_sync.system import git_loose
from agent_sync.system.git import Git
from agent_sync.system.git_loose import GitObject, NotLoose, object_name
from agent_sync.system.scratch import scratch_file

_KINDS = {"commit": 1, "tree": 2, "blob": 3}
_SHA256_LENGTH = 64
_VERSION = 2


@dataclass
class NewObjects:
    """Objects to be stored together, each by its name; `algorithm` is the repository's."""

    algorithm: str
    found: dict[str, GitObject]

    def add(self, kind: str, content: bytes) -> str:
        """Add one object and return its name."""
        one = GitObject(kind, content)
        name = object_name(one, self.algorithm)
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
            git_loose.store(git.place, objects.found)
            return
    except NotLoose:
        pass
    _unpack(git, objects, attempted)


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
