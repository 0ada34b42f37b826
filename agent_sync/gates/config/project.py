"""Reads `.gauntlet/` of one project: the main file, the checks and the reviews, and how they fit together."""

import os
from dataclasses import replace
from pathlib import Path

from agent_sync import worktree as place
from agent_sync.gates.config.gate_files import read_checks, read_reviews
from agent_sync.gates.config.model import (
    AdapterOptions,
    EntryPoint,
    GateProject,
    LoadedProject,
    Priority,
    Problem,
)
from agent_sync.gates.config.reading import ConfigText, Notes, read_config
from agent_sync.gates.config.tables import ConfigFile, EntryPointTable
from agent_sync.gates.definitions import definition_files
from agent_sync.gates.reviews.adapters import ADAPTERS, adapter_of
from agent_sync.worktree import GATE_DIR, GATE_LOG_DIR

CONFIG_NAME = "config.yml"
CI_NAME = "ci.yml"


def find_project(start: str, stop: str) -> Path | None:
    """Return the nearest directory from `start` up to `stop` that holds gates; other repositories in between do not."""
    found = place.gate_root(start, str(Path(stop).resolve()))
    return Path(found) if found else None


def load_project(root: Path, directory: Path | None = None) -> LoadedProject:
    """Read everything below `.gauntlet/`, or a copy of it elsewhere; what is wrong is listed, never raised."""
    notes = Notes()
    directory = directory or root / GATE_DIR
    nothing = GateProject(root, directory, log_dir=root / GATE_LOG_DIR)
    for name, reason in definition_files.on_disk(directory).refused:
        notes.error(directory / name, 1, f"is refused: {reason}")
    text = None if notes.problems else read_config(directory / CONFIG_NAME, notes)
    table = text.table(ConfigFile) if text else None
    if text is None or table is None:
        return LoadedProject(nothing, tuple(notes.problems))
    _note_odd_settings(text, table)
    project = replace(
        _project(root, text, table),
        directory=directory,
        checks=read_checks(directory, notes),
        reviews=read_reviews(directory, notes, table.cli.default_preference),
    )
    _fit_together(project, text)
    return LoadedProject(project, tuple(notes.problems))


def unread_files(project: GateProject) -> tuple[Problem, ...]:
    """Return a warning for each file that agent-gauntlet reads and agent-sync does not; runs do not repeat it."""
    file = project.directory / CI_NAME
    message = "is not read: agent-sync makes no CI jobs of gates; run `agent-sync gate run` in a job of your own"
    return (Problem(file, 1, message, is_error=False),) if file.is_file() else ()


def _project(root: Path, text: ConfigText, table: ConfigFile) -> GateProject:
    return GateProject(
        root=root,
        base_branch=table.base_branch,
        log_dir=_log_dir(root, text, table.log_dir),
        allow_parallel=table.allow_parallel,
        max_retries=table.max_retries,
        max_previous_logs=table.max_previous_logs,
        rerun_threshold=Priority[table.rerun_new_issue_threshold.upper()],
        default_preference=table.cli.default_preference,
        adapters={
            name: AdapterOptions(one.allow_tool_use, one.thinking_budget or "", one.model or "")
            for name, one in table.cli.adapters.items()
        },
        entry_points=tuple(_entry_point(text, number, one) for number, one in enumerate(table.entry_points)),
        hook_enabled=table.stop_hook.enabled,
    )


def _note_odd_settings(text: ConfigText, table: ConfigFile) -> None:
    """Note what is well-formed and still wrong, or without effect."""
    if not table.entry_points:
        text.error(("entry_points",), "must list at least one part of the project")
    for name in table.cli.default_preference:
        if adapter_of(name) is None:
            known = ", ".join(ADAPTERS)
            text.warn(("cli", "default_preference"), f"names `{name}`, which is not known; known: {known}")
    if table.stop_hook.run_interval_minutes is not None:
        message = "is ignored in a project: how often to run is each user's own choice"
        text.warn(("stop_hook", "run_interval_minutes"), message)


def _log_dir(root: Path, text: ConfigText, given: str) -> Path:
    """Return the log directory: one of the project's own, because what lies in it is moved and deleted."""
    top = root.resolve()
    plain = Path(os.path.normpath(top / (Path(given).expanduser() if given.startswith("~/") else given)))
    resolved = _resolved(plain)
    if {".git", GATE_DIR} & set(plain.parts[len(top.parts) :]) or resolved == top:
        text.error(("log_dir",), f"must be a directory of its own, not `{given}`")
    elif resolved is None or top not in resolved.parents:
        text.warn(("log_dir",), f"must be inside the project, not `{given}`; `{GATE_LOG_DIR}` is used instead")
    elif resolved != plain:
        text.warn(("log_dir",), f"must not lead through a link, as `{given}` does; `{GATE_LOG_DIR}` is used instead")
    else:
        return plain
    return top / GATE_LOG_DIR


def _resolved(path: Path) -> Path | None:
    """Return where a path leads to; nothing where links lead round in circles."""
    try:
        return path.resolve()
    except (OSError, RuntimeError, ValueError):
        return None


def _entry_point(text: ConfigText, number: int, table: EntryPointTable) -> EntryPoint:
    if table.path.startswith("/") or ".." in table.path.split("/"):
        text.error(("entry_points", number, "path"), f"must be inside the project, not `{table.path}`")
    return EntryPoint(_plain(table.path) or ".", table.exclude, _unique(table.checks), _unique(table.reviews))


def _plain(path: str) -> str:
    while path.startswith("./"):
        path = path[2:]
    return path.rstrip("/")


def _unique(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))


def _fit_together(project: GateProject, text: ConfigText) -> None:
    """Note names that lead nowhere."""
    for entry in project.entry_points:
        for kind, names, known in (
            ("check", entry.checks, project.checks),
            ("review", entry.reviews, project.reviews),
        ):
            for name in names:
                if name not in known:
                    defined = ", ".join(sorted(known)) or "none"
                    message = f"names the {kind} `{name}` for `{entry.path}`, which is not defined; defined: {defined}"
                    text.error(("entry_points",), message)
    if any(entry.reviews for entry in project.entry_points) and not project.default_preference:
        text.error(("cli",), "must list the reviewer programs in `default_preference`, because there are reviews")
