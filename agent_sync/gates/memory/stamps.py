"""Leaves what lets the next stop be answered at once: why no gate ran, and how everything was on disk then."""

import os
import time
from datetime import datetime
from pathlib import Path

from agent_sync.context import Context
from agent_sync.gates.plan import snapshot as snapshots
from agent_sync.gates.plan.repo import Repo
from agent_sync.gates.run.results import RunResult
from agent_sync.gates.status import Status
from agent_sync.quiet import answer as quiet, gate as quick
from agent_sync.quiet.answer import Stamp
from agent_sync.system.stamps import are_settled, leave_stamp


def leave_interval(context: Context, root: Path, log_dir: str, *, due: datetime, before: str) -> None:
    """Note until when ordinary stops need no look, if nothing changed while this one was looked at."""
    if quick.look(context.place, str(root), log_dir) == before:
        leave_stamp(quick.interval_stamp(context.place), Stamp(str(due.timestamp()), (log_dir,), before))


def leave_pass(context: Context, root: Path, log_dir: str, *, result: RunResult) -> None:
    """Note the work that has passed, or that there is none, if it certainly is unchanged still."""
    has_passed = result.status is Status.PASSED and bool(result.unchanged_since)
    if not (has_passed or result.status is Status.NO_CHANGES) or not _is_plain(result.base):
        return
    repo = Repo(context.git, context.place, root)
    began = time.time()
    first = _whole(context, root, log_dir, result)
    if first is None or repo.hidden():
        return
    snapshot = snapshots.take(repo, Path(log_dir))
    # A file that is too new could change again without that it shows.
    paths = (os.path.join(context.place.root, name) for name in snapshot.edited)  # noqa: PTH118  # as git names them
    if not are_settled(paths, began, with_inodes=True):
        return
    is_same = snapshot.tree == (result.tree if has_passed else result.seen) and snapshot.is_complete
    if is_same and _whole(context, root, log_dir, result) == first:
        details = (result.unchanged_since if has_passed else quick.NO_CHANGES, log_dir, result.base)
        leave_stamp(quick.pass_stamp(context.place), Stamp(quiet.NEVER, details, first))


def _is_plain(base: str) -> bool:
    """Tell whether the quick path can say a name as it is."""
    return bool(base) and base.isascii() and base.isprintable() and not {'"', "\\"} & set(base)


def _whole(context: Context, root: Path, log_dir: str, result: RunResult) -> str | None:
    return quick.whole(context.place, str(root), log_dir, base=result.base)
