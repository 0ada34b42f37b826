"""Tells whether the work that passed is unchanged: one `git status`, and the stats of the files it names.

Like the rest of the quick path it loads `os` alone, and in any doubt it has no answer.
"""

import os

from agent_sync.quiet import answer as quiet
from agent_sync.worktree import GATE_DIR, Place

MOST_FILES = 2000
_READ = 65536
# With these git would look at something else than this worktree.
_MISLEADING = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_PREFIX", "GIT_COMMON_DIR")
_STATUS = (
    "git", "--no-optional-locks", "-c", "core.fsmonitor=false", "status", "--porcelain=v2", "--branch", "-z",
    "--untracked-files=all", "--ignore-submodules=none", "--no-renames",
)  # fmt: skip
_CHANGED_FIELDS = 8


def work(where: Place, root: str, base: str) -> str | None:
    """Return what tells this work from any other, as text; None where that would take too long."""
    if any(os.environ.get(name) for name in _MISLEADING):
        return None
    status = _status(where.root)
    names = None if status is None else _files_in_status(status)
    definitions = None if names is None else _definitions(root)
    if status is None or names is None or definitions is None:
        return None
    watched = [os.path.join(where.root, name) for name in names]
    watched += [os.path.join(where.git_dir, "index"), *_refs(where.common_dir, base), *definitions]
    lines = [base, os.fsdecode(status), *(f"{path} {quiet.state_of(path)}" for path in watched)]
    return "\0".join(lines)


def _status(root: str) -> bytes | None:
    """Run git without the module that usually does it: loading that would take longer than git."""
    reader, writer = os.pipe()
    quietly = [
        (os.POSIX_SPAWN_DUP2, writer, 1),
        (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
    ]
    words = ["git", "-C", root, *_STATUS[1:]]
    try:
        pid = os.posix_spawnp("git", words, {**os.environ, "LC_ALL": "C"}, file_actions=quietly)
    except OSError:
        os.close(reader)
        return None
    finally:
        os.close(writer)
    chunks = []
    while chunk := os.read(reader, _READ):
        chunks.append(chunk)
    os.close(reader)
    _, code = os.waitpid(pid, 0)
    return b"".join(chunks) if code == 0 else None


def _files_in_status(status: bytes) -> list[str] | None:
    """Return the files a status names; None for conflicts, submodules and too many files."""
    found: list[str] = []
    for record in os.fsdecode(status).split("\0"):
        kind = record[:1]
        if kind == "?":
            found.append(record[2:])
        elif kind == "1":
            fields = record.split(" ", _CHANGED_FIELDS)
            if fields[2] != "N...":
                return None
            found.append(fields[_CHANGED_FIELDS])
        elif kind not in {"#", ""}:
            return None
    return found if len(found) <= MOST_FILES else None


def _refs(common_dir: str, base: str) -> list[str]:
    """List where the base branch can be written down, whatever kind of name it is."""
    inside = ("packed-refs", "reftable/tables.list", "refs/remotes/origin/HEAD")
    spelled = (base, f"refs/{base}", f"refs/heads/{base}", f"refs/tags/{base}")
    remote = (f"refs/remotes/{base}", f"refs/remotes/origin/{base}", f"refs/remotes/{base}/HEAD")
    return [os.path.join(common_dir, *name.split("/")) for name in (*inside, *spelled, *remote)]


def _definitions(root: str) -> list[str] | None:
    """List everything below `.gauntlet/`: git does not tell of what it ignores; None for too many files."""
    found: list[str] = []
    for directory, below, names in os.walk(os.path.join(root, GATE_DIR)):
        found += (os.path.join(directory, name) for name in (*below, *names, "."))
        if len(found) > MOST_FILES:
            return None
    return sorted(found)
