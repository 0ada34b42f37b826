"""Looks at how files lie on disk: size, time and the beginning of their hash."""

import hashlib
import os
import stat
from collections.abc import Iterable
from datetime import UTC, datetime
from itertools import islice

from agent_sync.record.disk.paths import meant
from agent_sync.record.machine.model import FileSnapshot

MOST = 50
# Larger files are told by size and time alone: a checkpoint must not take seconds.
LARGEST = 10_000_000
_SHOWN = 16
_CHUNK = 1 << 16


def snapshots(root: str, paths: Iterable[str]) -> tuple[FileSnapshot, ...]:
    """Return how the first files of `paths` lie in the worktree; those that are gone say so."""
    return tuple(_snapshot(root, path) for path in islice(paths, MOST))


def _snapshot(root: str, path: str) -> FileSnapshot:
    name = meant(path)
    try:
        if not _is_inside(name):
            raise FileNotFoundError(name)
        file = os.path.join(root, name)  # noqa: PTH118  # names that are no text must stay what they are
        found = os.lstat(file)
    except (OSError, ValueError):
        return FileSnapshot(path=path, exists=False)
    moment = datetime.fromtimestamp(int(found.st_mtime), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return FileSnapshot(path=path, size=found.st_size, mod_time=moment, sha256=_hash(file, found))


def _is_inside(name: str) -> bool:
    """Tell whether a name stays in the worktree; the record is a file that anybody may have edited."""
    return not name.startswith("/") and ".." not in name.split("/")


def _hash(file: str, found: os.stat_result) -> str:
    """Return the beginning of the hash; what is no file, too large or unreadable has none."""
    try:
        if stat.S_ISLNK(found.st_mode):
            # What a link says is its content, as it is for git; what lies behind it is not looked at.
            return hashlib.sha256(os.fsencode(os.readlink(file))).hexdigest()[:_SHOWN]  # noqa: PTH115
        if not stat.S_ISREG(found.st_mode) or found.st_size > LARGEST:
            return ""
        return _content_hash(file)
    except OSError:
        return ""


def _content_hash(file: str) -> str:
    digest, left = hashlib.sha256(), LARGEST
    # It may have become a link or a pipe since it was looked at; neither is followed or waited for.
    descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as content:
        while left > 0 and (chunk := content.read(_CHUNK)):
            digest.update(chunk)
            left -= len(chunk)
    return digest.hexdigest()[:_SHOWN]
