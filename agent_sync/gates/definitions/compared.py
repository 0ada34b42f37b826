"""Tells how two gate configurations differ: a branch may not quietly move its own goal."""

from collections.abc import Callable
from dataclasses import fields

from agent_sync.gates.config.model import EntryPoint, GateCheck, GateProject, Review

# A change in this direction makes a gate easier to pass.
_LOOSER: dict[str, Callable[[int, int], bool]] = {
    "run_in_ci": lambda old, new: bool(old and not new),
    "run_locally": lambda old, new: bool(old and not new),
    "enabled": lambda old, new: bool(old and not new),
    "num_reviews": lambda old, new: new < old,
}
_SPELLED = {"default_preference": "cli.default_preference", "adapters": "cli.adapters"}
_QUIET = frozenset({"file", "name", "fix_instructions", "fix_with_skill", "parallel", "fail_fast"})


def definition_changes(before: GateProject, now: GateProject) -> tuple[str, ...]:
    """Return the differences between two configurations."""
    lines = [*_gates("check", before.checks, now.checks), *_gates("review", before.reviews, now.reviews)]
    lines += _entries(before.entry_points, now.entry_points)
    if before.hook_enabled is not False and now.hook_enabled is False:
        lines.append("loosened: stop_hook.enabled is false, so no stop runs the gates")
    elif before.hook_enabled != now.hook_enabled:
        lines.append("changed: stop_hook.enabled")
    if now.base_branch != before.base_branch:
        lines.append(f"changed: base_branch from {before.base_branch} to {now.base_branch}")
    if now.max_retries < before.max_retries:
        lines.append(f"loosened: max_retries from {before.max_retries} to {now.max_retries}")
    if now.rerun_threshold > before.rerun_threshold:
        lines.append(f"loosened: rerun_new_issue_threshold to {now.rerun_threshold.name.lower()}")
    for name in ("log_dir", "max_previous_logs", "default_preference", "adapters"):
        if getattr(before, name) != getattr(now, name):
            lines.append(f"changed: {_SPELLED.get(name, name)}")
    return tuple(lines)


def _gates(
    kind: str, before: dict[str, GateCheck] | dict[str, Review], now: dict[str, GateCheck] | dict[str, Review]
) -> list[str]:
    lines = [f"removed: {kind} {name}" for name in before if name not in now]
    lines += [f"added: {kind} {name}" for name in now if name not in before]
    for name in before.keys() & now.keys():
        changed = [part.name for part in fields(before[name]) if part.name not in _QUIET]
        changed = [part for part in changed if getattr(before[name], part) != getattr(now[name], part)]
        lines += [_change_line(f"{kind} {name}", part, before[name], now[name]) for part in changed]
    return sorted(lines)


def _change_line(gate: str, part: str, before: GateCheck | Review, now: GateCheck | Review) -> str:
    old, new = getattr(before, part), getattr(now, part)
    is_looser = part in _LOOSER and _LOOSER[part](old, new)
    return f"{'loosened' if is_looser else 'changed'}: {gate}, {part}"


def _entries(before: tuple[EntryPoint, ...], now: tuple[EntryPoint, ...]) -> list[str]:
    """Return what single parts of the project lost, and which parts are new."""
    old, new = _by_path(before), _by_path(now)
    lines: list[str] = []
    for path, entry in old.items():
        current = new.get(path)
        if current is None:
            lines.append(f"loosened: entry point {path} is gone")
            continue
        lost = [*(set(entry.checks) - set(current.checks)), *(set(entry.reviews) - set(current.reviews))]
        lines += [f"loosened: {path} is no longer guarded by {name}" for name in sorted(lost)]
        lines += [
            f"loosened: {path} excludes {left_out}" for left_out in current.exclude if left_out not in entry.exclude
        ]
        won = [*(set(current.checks) - set(entry.checks)), *(set(current.reviews) - set(entry.reviews))]
        lines += [f"changed: {path} is now guarded by {name}" for name in sorted(won)]
    return [*lines, *(f"added: entry point {path}" for path in new if path not in old)]


def _by_path(points: tuple[EntryPoint, ...]) -> dict[str, EntryPoint]:
    """Return the parts of a project by path; what is said of one path in several places counts together."""
    found: dict[str, EntryPoint] = {}
    for point in points:
        known = found.get(point.path, EntryPoint(point.path))
        found[point.path] = EntryPoint(
            point.path,
            (*known.exclude, *point.exclude),
            (*known.checks, *point.checks),
            (*known.reviews, *point.reviews),
        )
    return found
