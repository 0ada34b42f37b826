"""Remembers which trees have passed, for all worktrees of the repository; a failure is never remembered."""

import contextlib
import json
import os
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from agent_sync import __version__
from agent_sync.gates.config.model import GateProject
from agent_sync.gates.definitions import definition_files
from agent_sync.gates.memory import keeping
from agent_sync.gates.plan.changes import Changes
from agent_sync.gates.plan.repo import Repo
from agent_sync.gates.plan.snapshot import Snapshot, digest
from agent_sync.lazy_dataclasses import dataclass
from agent_sync.system import files
from agent_sync.worktree import GATE_PASSES, Place

KEPT = 200


@dataclass(frozen=True)
class Pass:
    """A full run without failures: of which tree, when, and which gates it had."""

    tree: str
    at: str
    status: str
    jobs: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def pass_key(repo: Repo, project: GateProject, snapshot: Snapshot, changes: Changes) -> str:
    """Return the name of exactly this work: tree, gate definitions, comparison and environment."""

    def parts() -> Iterator[bytes]:
        yield snapshot.tree.encode()
        yield changes.before.encode()
        yield f"{changes.mode} {changes.base.name} {__version__} {os.uname().sysname} {repo.prefix}".encode()
        yield definition_files.on_disk(project.directory).digest.encode()

    return digest(parts())


def recall(place: Place, key: str) -> Pass | None:
    """Return the pass remembered under a key."""
    try:
        values = json.loads(files.read_own(_file(place, key)) or b"null")
        return Pass(**{**values, "jobs": tuple(values["jobs"]), "warnings": tuple(values["warnings"])})
    except (files.NotPlain, ValueError, TypeError, KeyError, OSError, RecursionError):
        return None


def remember(place: Place, key: str, passed: Pass) -> None:
    """Keep a pass; not being able to costs a repeated run, nothing else."""
    with contextlib.suppress(OSError):
        file = _file(place, key)
        keeping.keep(file, json.dumps(asdict(passed)).encode())
        kept = sorted(file.parent.glob("*.json"), key=lambda path: path.stat().st_mtime, reverse=True)
        for old in kept[KEPT:]:
            old.unlink(missing_ok=True)


def _file(place: Place, key: str) -> Path:
    return Path(place.shared_dir) / GATE_PASSES / f"{key}.json"
