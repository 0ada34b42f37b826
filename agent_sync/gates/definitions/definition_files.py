"""The files below `.gauntlet/`, of the work tree or of a commit, read within bounds and never through a link."""

import hashlib
import os
from collections.abc import Iterator, Mapping
from dataclasses import field
from pathlib import Path

from agent_sync.gates.plan.repo import Repo
from agent_sync.lazy_dataclasses import dataclass
from agent_sync.system import files, git_history
from agent_sync.system.git_history import TreeEntry
from agent_sync.worktree import GATE_DIR

MOST_FILES = 500
MOST_BYTES = 4 << 20
_LINK, _SUBMODULE = "120000", "160000"


@dataclass(frozen=True)
class DefinitionFiles:
    """What lies below `.gauntlet/`: contents by path from there, and what is not read with the reason."""

    contents: Mapping[str, bytes] = field(default_factory=dict)
    refused: tuple[tuple[str, str], ...] = ()

    @property
    def digest(self) -> str:
        """One name for these very contents."""
        whole = hashlib.sha256()
        for name, content in sorted(self.contents.items()):
            for part in (os.fsencode(name), content):
                whole.update(len(part).to_bytes(8, "big") + part)
        return whole.hexdigest()


def on_disk(directory: Path) -> DefinitionFiles:
    """Read the definitions that lie in a directory; a link anywhere in it is refused, not followed."""
    if directory.is_symlink():
        return DefinitionFiles(refused=(("", "it is a symbolic link"),))
    contents: dict[str, bytes] = {}
    left = MOST_BYTES
    for path in _paths(directory):
        name = path.relative_to(directory).as_posix()
        try:
            content = files.read_plain(path, largest=left) or b""
        except files.NotPlain as reason:
            return DefinitionFiles(contents, ((name, _why(reason, left)),))
        left -= len(content)
        contents[name] = content
        if len(contents) > MOST_FILES:
            return DefinitionFiles(contents, (("", f"it holds more than {MOST_FILES} files"),))
    return DefinitionFiles(contents)


def _why(reason: files.NotPlain, left: int) -> str:
    text = str(reason)
    return f"all files together are larger than {MOST_BYTES} bytes" if f"than {left} bytes" in text else text


def _paths(directory: Path) -> Iterator[Path]:
    for folder, below, names in os.walk(directory, followlinks=False):
        below.sort()
        # A link to a directory stands among the directories and is not gone into; it is refused like any link.
        links = [name for name in below if (Path(folder) / name).is_symlink()]
        yield from (Path(folder) / name for name in sorted((*names, *links)))


def entries(repo: Repo, commit: str) -> dict[str, TreeEntry]:
    """Return the definition files of a commit, by path from the repository's top."""
    return git_history.files_in(repo.git, commit, (f"{repo.prefix}{GATE_DIR}",))


def contents(repo: Repo, listed: Mapping[str, TreeEntry]) -> dict[str, bytes]:
    """Return what files of a commit hold; links, submodules and what exceeds the bounds are left out."""
    wanted: dict[str, str] = {}
    left = MOST_BYTES
    for path, entry in sorted(listed.items()):
        left -= entry.size
        if entry.mode not in {_LINK, _SUBMODULE} and left >= 0 and len(wanted) < MOST_FILES:
            wanted[path] = entry.object_name
    if not wanted:
        return {}
    return dict(zip(wanted, _blobs(repo.git.contents(list(wanted.values()))), strict=True))


def _blobs(batch: bytes) -> Iterator[bytes]:
    """Cut the answers of `git cat-file --batch` apart."""
    at = 0
    while at < len(batch):
        end = batch.index(b"\n", at)
        size = batch[at:end].split()[-1]
        # A partial clone may lack an object.
        taken = int(size) if size.isdigit() else -1
        yield batch[end + 1 : end + 1 + max(taken, 0)]
        at = end + 1 + taken + 1


def below(prefix: str, found: Mapping[str, bytes]) -> DefinitionFiles:
    """Return the definitions among files of a commit, by path from `.gauntlet/`."""
    start = f"{prefix}{GATE_DIR}/"
    # A tree that was made by hand can name what no checkout would: such a path is not followed.
    inside = (path for path in found if path.startswith(start) and not {"..", ".", ""} & set(path.split("/")))
    return DefinitionFiles({path[len(start) :]: found[path] for path in inside})
