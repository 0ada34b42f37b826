"""Tells how the gate definitions differ from those of the base: a branch may not quietly move its own goal."""

import tempfile
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path

from agent_sync.gauntlet.changes import Changes, Mode
from agent_sync.gauntlet.config import load_project
from agent_sync.gauntlet.model import CONFIG_DIR, Check, EntryPoint, Project, Review
from agent_sync.gauntlet.repo import Repo

# A change in this direction makes a gate easier to pass.
_LOOSER: dict[str, Callable[[int, int], bool]] = {
    "run_in_ci": lambda old, new: bool(old and not new),
    "run_locally": lambda old, new: bool(old and not new),
    "enabled": lambda old, new: bool(old and not new),
    "num_reviews": lambda old, new: new < old,
}
_QUIET = frozenset({"file", "name", "fix_instructions", "fix_with_skill", "parallel", "fail_fast"})


def definition_changes(repo: Repo, changes: Changes, project: Project) -> tuple[str, ...]:
    """Return one line per gate that this work added, removed, loosened or changed; nothing if it touched none."""
    touched = any(path.startswith(f"{CONFIG_DIR}/") for path in changes.files)
    if changes.mode is not Mode.FULL or not touched:
        return ()
    before = _project_at(repo, changes.before)
    if before is None:
        return ("the gates are new on this branch",)
    return compared(before, project)


def compared(before: Project, now: Project) -> tuple[str, ...]:
    """Return the differences between two configurations."""
    lines = [*_gates("check", before.checks, now.checks), *_gates("review", before.reviews, now.reviews)]
    lines += _entries(before.entry_points, now.entry_points)
    if now.max_retries < before.max_retries:
        lines.append(f"loosened: max_retries from {before.max_retries} to {now.max_retries}")
    if now.rerun_threshold > before.rerun_threshold:
        lines.append(f"loosened: rerun_new_issue_threshold to {now.rerun_threshold.name.lower()}")
    return tuple(lines)


def _gates(
    kind: str, before: dict[str, Check] | dict[str, Review], now: dict[str, Check] | dict[str, Review]
) -> list[str]:
    lines = [f"removed: {kind} {name}" for name in before if name not in now]
    lines += [f"added: {kind} {name}" for name in now if name not in before]
    for name in before.keys() & now.keys():
        changed = [part.name for part in fields(before[name]) if part.name not in _QUIET]
        changed = [part for part in changed if getattr(before[name], part) != getattr(now[name], part)]
        lines += [_described(kind, name, part, (before[name], now[name])) for part in changed]
    return sorted(lines)


def _described(kind: str, name: str, part: str, gates: tuple[Check | Review, Check | Review]) -> str:
    old, new = getattr(gates[0], part), getattr(gates[1], part)
    is_looser = part in _LOOSER and _LOOSER[part](old, new)
    return f"{'loosened' if is_looser else 'changed'}: {kind} {name}, {part}"


def _entries(before: tuple[EntryPoint, ...], now: tuple[EntryPoint, ...]) -> list[str]:
    """Return what single parts of the project lost."""
    current = {entry.path: entry for entry in now}
    lines: list[str] = []
    for entry in before:
        new = current.get(entry.path)
        if new is None:
            lines.append(f"loosened: entry point {entry.path} is gone")
            continue
        lost = [*(set(entry.checks) - set(new.checks)), *(set(entry.reviews) - set(new.reviews))]
        lines += [f"loosened: {entry.path} is no longer guarded by {name}" for name in sorted(lost)]
        lines += [f"loosened: {entry.path} excludes {path}" for path in new.exclude if path not in entry.exclude]
    return lines


def _project_at(repo: Repo, commit: str) -> Project | None:
    """Return the configuration as it was at a commit; None where there was none that could be read."""
    where = f"{repo.prefix}{CONFIG_DIR}"
    listed = repo.git.ask("ls-tree", "-r", "-z", "--name-only", "--full-tree", commit, "--", where)
    names = [name for name in listed.stdout.split("\0") if name]
    if listed.status or not names:
        return None
    with tempfile.TemporaryDirectory(prefix="agent-sync-") as scratch:
        for name in names:
            target = Path(scratch) / name[len(repo.prefix) :]
            target.parent.mkdir(parents=True, exist_ok=True)
            content = repo.git.ask("cat-file", "blob", f"{commit}:{name}").stdout
            target.write_text(content, encoding="utf-8", errors="surrogateescape")
        loaded = load_project(Path(scratch))
    return None if loaded.errors else loaded.project
