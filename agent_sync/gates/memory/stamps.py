"""Leaves what lets the next stop be answered at once: why no gate ran, and how everything lay on disk then."""

import contextlib
import time
from datetime import datetime
from pathlib import Path

from agent_sync.context import Context
from agent_sync.gates.memory import keeping
from agent_sync.gates.plan import snapshot as snapshots
from agent_sync.gates.plan.repo import Repo
from agent_sync.gates.run.results import RunResult
from agent_sync.gates.status import Status
from agent_sync.quiet import gate as quick, unchanged

# A file written within this time could be written again without a new time stamp (kernel clock ticks).
SETTLED_S = 0.05


def leave_interval(context: Context, root: Path, log_dir: str, *, due: datetime, before: str) -> None:
    """Note until when ordinary stops need no look, if nothing changed while this one was looked at."""
    if quick.look(context.place, str(root), log_dir) == before:
        _write(quick.stamp_file(context.place), f"{due.timestamp()}\n{log_dir}\n{before}")


def leave_pass(context: Context, root: Path, log_dir: str, *, result: RunResult) -> None:
    """Note the work that has passed, if it certainly still is what lies there."""
    if result.status is not Status.PASSED or not result.unchanged_since or not result.base:
        return
    repo = Repo(context.git, context.place, root)
    began = time.time()
    first = _text(context, root, log_dir, result)
    if first is None or snapshots.has_hidden(repo) or _is_fresh(context, result, began=began):
        return
    snapshot = snapshots.take(repo, Path(log_dir))
    if snapshot.tree == result.tree and snapshot.is_complete and _text(context, root, log_dir, result) == first:
        head = f"{result.unchanged_since}\n{log_dir}\n{result.base}"
        _write(quick.pass_file(context.place), f"{head}\n{first}")


def _text(context: Context, root: Path, log_dir: str, result: RunResult) -> str | None:
    return quick.whole(context.place, str(root), log_dir, base=result.base)


def _is_fresh(context: Context, result: RunResult, *, began: float) -> bool:
    """Tell whether a file of the work is so new that its next change might not show."""
    changed = unchanged.changed_files(context.place) or []
    newest = max((_moment(Path(context.place.root) / name) for name in changed), default=0.0)
    return bool(result.tree) and newest > began - SETTLED_S


def _moment(path: Path) -> float:
    try:
        found = path.lstat()
    except OSError:
        return 0.0
    return max(found.st_mtime, found.st_ctime)


def _write(target: str, text: str) -> None:
    with contextlib.suppress(OSError):
        keeping.keep(Path(target), text.encode("utf-8", "surrogateescape"))
