"""Reads `.gauntlet/` of one project: the main file, the checks and the reviews, and how they fit together."""

import os
from dataclasses import replace
from pathlib import Path

from agent_sync import worktree as place
from agent_sync.gates.config.gate_files import read_checks, read_reviews
from agent_sync.gates.config.model import (
    CONFIG_DIR,
    LOG_DIR,
    MOST_PREVIOUS,
    MOST_RETRIES,
    AdapterOptions,
    EntryPoint,
    Loaded,
    Priority,
    Project,
)
from agent_sync.gates.config.reading import Notes, Table, read_table
from agent_sync.gates.definitions import definition_files
from agent_sync.gates.reviews.adapters import ADAPTERS, adapter_of

CONFIG_NAME = "config.yml"
BUDGETS = ("off", "low", "medium", "high")
_LEVELS = ("debug", "info", "warning", "error")


def find_project(start: str, stop: str) -> Path | None:
    """Return the nearest directory from `start` up to `stop` that holds gates; other repositories in between do not."""
    found = place.gate_root(start, str(Path(stop).resolve()))
    return Path(found) if found else None


def load_project(root: Path, directory: Path | None = None) -> Loaded:
    """Read everything below `.gauntlet/`, or a copy of it elsewhere; what is wrong is listed, never raised."""
    notes = Notes()
    directory = directory or root / CONFIG_DIR
    nothing = Project(root, directory, log_dir=root / LOG_DIR)
    for name, reason in definition_files.on_disk(directory).refused:
        notes.error(directory / name, 1, f"is refused: {reason}")
    table = None if notes.problems else read_table(directory / CONFIG_NAME, notes)
    if table is None:
        return Loaded(nothing, tuple(notes.problems))
    preference, adapters = _cli(table)
    project = replace(
        _project(root, table),
        directory=directory,
        default_preference=preference,
        adapters=adapters,
        checks=read_checks(directory, notes),
        reviews=read_reviews(directory, notes, preference),
    )
    _fit_together(project, table)
    table.finish()
    return Loaded(project, tuple(notes.problems))


def _project(root: Path, table: Table) -> Project:
    threshold = table.choice("rerun_new_issue_threshold", ("critical", "high", "medium", "low"), "medium")
    _tolerated(table)
    return Project(
        root=root,
        base_branch=table.text("base_branch", "origin/main"),
        log_dir=_log_dir(root, table),
        allow_parallel=table.flag("allow_parallel", default=True),
        max_retries=table.whole("max_retries", 3, most=MOST_RETRIES),
        max_previous_logs=table.whole("max_previous_logs", 3, most=MOST_PREVIOUS),
        rerun_threshold=Priority[threshold.upper()],
        entry_points=_entry_points(table),
        hook_enabled=_stop_hook(table),
    )


def _log_dir(root: Path, table: Table) -> Path:
    """Return the log directory: one of the project's own, because what lies in it is moved and deleted."""
    given = table.text("log_dir", LOG_DIR)
    top = root.resolve()
    plain = Path(os.path.normpath(top / (Path(given).expanduser() if given.startswith("~/") else given)))
    resolved = _resolved(plain)
    if {".git", CONFIG_DIR} & set(plain.parts[len(top.parts) :]) or resolved == top:
        table.error("log_dir", f"must be a directory of its own, not `{given}`")
    elif resolved is None or top not in resolved.parents:
        table.warn("log_dir", f"must be inside the project, not `{given}`; `{LOG_DIR}` is used instead")
    elif resolved != plain:
        table.warn("log_dir", f"must not lead through a link, as `{given}` does; `{LOG_DIR}` is used instead")
    else:
        return plain
    return top / LOG_DIR


def _resolved(path: Path) -> Path | None:
    """Return where a path leads to; nothing where links lead round in circles."""
    try:
        return path.resolve()
    except (OSError, RuntimeError, ValueError):
        return None


def _cli(table: Table) -> tuple[tuple[str, ...], dict[str, AdapterOptions]]:
    cli = table.table("cli")
    preference = cli.texts("default_preference")
    for name in preference:
        if adapter_of(name) is None:
            cli.warn("default_preference", f"names `{name}`, which is not known; known: {', '.join(ADAPTERS)}")
    cli.ignore("check_usage_limit")
    adapters = {name: _adapter(options) for name, options in cli.table("adapters").named().items()}
    cli.finish()
    return preference, adapters


def _adapter(table: Table) -> AdapterOptions:
    options = AdapterOptions(
        table.flag("allow_tool_use", default=True),
        table.choice("thinking_budget", BUDGETS, ""),
        table.text("model"),
    )
    table.finish()
    return options


def _entry_points(table: Table) -> tuple[EntryPoint, ...]:
    found = tuple(_entry_point(entry) for entry in table.tables("entry_points"))
    if not found:
        table.error("entry_points", "must list at least one part of the project")
    return found


def _entry_point(table: Table) -> EntryPoint:
    path = table.text("path", required=True)
    if path.startswith("/") or ".." in path.split("/"):
        table.error("path", f"must be inside the project, not `{path}`")
    entry = EntryPoint(
        _plain(path) or ".", table.texts("exclude"), _unique(table.texts("checks")), _unique(table.texts("reviews"))
    )
    table.finish()
    return entry


def _plain(path: str) -> str:
    while path.startswith("./"):
        path = path[2:]
    return path.rstrip("/")


def _unique(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))


def _stop_hook(table: Table) -> bool | None:
    hook = table.table("stop_hook")
    enabled = hook.flag("enabled", default=True) if "enabled" in hook else None
    if "run_interval_minutes" in hook:
        hook.warn("run_interval_minutes", "is ignored in a project: how often to run is each user's own choice")
    hook.ignore("enabled", "run_interval_minutes", "auto_push_pr", "auto_fix_pr")
    hook.finish()
    return enabled


def _tolerated(table: Table) -> None:
    """Read what other tools use, so that a slip in it is still found."""
    debug = table.table("debug_log")
    debug.flag("enabled", default=False)
    debug.number("max_size_mb", 10, most=1 << 20)
    debug.finish()
    logging = table.table("logging")
    logging.choice("level", _LEVELS, "debug")
    for name, formats in (("console", ("pretty", "json")), ("file", ("text", "json"))):
        sink = logging.table(name)
        sink.flag("enabled", default=True)
        sink.choice("format", formats, formats[0])
        sink.finish()
    logging.finish()


def _fit_together(project: Project, table: Table) -> None:
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
                    table.error("entry_points", message)
    if any(entry.reviews for entry in project.entry_points) and not project.default_preference:
        table.error("cli", "must list the reviewer programs in `default_preference`, because there are reviews")
