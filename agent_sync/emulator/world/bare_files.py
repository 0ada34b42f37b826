"""A bare repository as files: what can be made and read without starting git."""

import hashlib
import re
import zlib
from pathlib import Path

_CONFIG = """[core]
\trepositoryformatversion = 0
\tfilemode = true
\tbare = true
\tlogAllRefUpdates = false
[receive]
\tadvertisePushOptions = false
\tautogc = false
\thideRefs = refs/pull
[uploadpack]
\tallowAnySHA1InWant = true
\tallowFilter = true
[gc]
\tauto = 0
"""
_SHA = re.compile(r"[0-9a-f]{40}")
FILE_MODE = b"100644"


def lay_out(path: Path, default_branch: str) -> None:
    """Write the files that make a directory a bare repository, with the settings a server needs."""
    for name in ("objects/info", "objects/pack", "refs/heads", "refs/tags", "hooks"):
        (path / name).mkdir(parents=True, exist_ok=True)
    (path / "HEAD").write_text(f"ref: refs/heads/{default_branch}\n")
    (path / "config").write_text(_CONFIG)


def stored(path: Path, kind: str, content: bytes) -> str:
    """Store an object and return its SHA."""
    whole = f"{kind} {len(content)}\0".encode() + content
    sha = hashlib.sha1(whole, usedforsecurity=False).hexdigest()
    file = path / "objects" / sha[:2] / sha[2:]
    if not file.exists():
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(zlib.compress(whole))
    return sha


def stored_tree_of_one(path: Path, name: str, blob: str) -> str:
    """Store the tree that holds a single file."""
    return stored(path, "tree", FILE_MODE + b" " + name.encode() + b"\0" + bytes.fromhex(blob))


def lay_first_commit(path: Path, branch: str, tree: str, author: str) -> None:
    """Begin a branch with a commit; the author is written as git does, with the moment."""
    commit = f"tree {tree}\nauthor {author}\ncommitter {author}\n\nInitial commit\n"
    (path / "refs" / "heads" / branch).write_text(stored(path, "commit", commit.encode()) + "\n")


def ref_at(path: Path, name: str) -> str | None:
    """Return what one full ref name points at, if it exists."""
    if not name.startswith("refs/") or ".." in name or name.endswith("/"):
        return None
    try:
        return _sha_in((path / name).read_text())
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return _packed(path).get(name)


def refs_below(path: Path, prefix: str) -> dict[str, str]:
    """Return every ref under a prefix with the object it names, in the order of their names."""
    loose = {}
    for file in (path / "refs").rglob("*"):
        name = str(file.relative_to(path))
        if name.startswith(prefix) and not name.endswith(".lock") and file.is_file():
            loose[name] = ref_at(path, name)
    packed = {name: sha for name, sha in _packed(path).items() if name.startswith(prefix)}
    return {name: sha for name, sha in sorted((packed | loose).items()) if sha}


def _packed(path: Path) -> dict[str, str]:
    try:
        lines = (path / "packed-refs").read_text().splitlines()
    except FileNotFoundError:
        return {}
    # Lines that begin otherwise are comments, and what annotated tags point at.
    return {name: sha for sha, _, name in (line.partition(" ") for line in lines) if _SHA.fullmatch(sha)}


def _sha_in(text: str) -> str | None:
    return text.strip() if _SHA.fullmatch(text.strip()) else None
