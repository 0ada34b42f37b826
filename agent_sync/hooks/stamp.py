"""Leaves the stamp by which the next hook knows that nothing has changed since a full run found nothing to do."""

import contextlib
import os
from datetime import datetime
from pathlib import Path

from agent_sync import files, quiet
from agent_sync.place import Place

# A file written within this time could be written again without a new time stamp (kernel clock ticks).
SETTLED_NS = 50_000_000


def leave(  # noqa: PLR0913  # whose, how it lay, and until when
    place: Place, hook: str, *, seen: str, due: datetime | None, now: datetime, watch: tuple[str, ...] = ()
) -> None:
    """Write the stamp, unless something changed during the run or may still change unseen."""
    if quiet.look(place, hook) != seen or _is_fresh(place, now):
        return
    moment = quiet.NEVER if due is None else str(due.timestamp())
    target = Path(quiet.stamp_file(place, hook))
    # Only speed is lost with it: a read-only git directory is no reason to complain.
    with contextlib.suppress(OSError):
        files.state_directory(target.parent)
        temporary = target.with_name(f"{target.name}.{os.getpid()}.tmp")
        temporary.write_text("\n".join((moment, "\0".join(watch), seen)), encoding="utf-8", errors="surrogateescape")
        temporary.replace(target)


def _is_fresh(place: Place, now: datetime) -> bool:
    oldest_safe = now.timestamp() * 1e9 - SETTLED_NS
    return any(_changed(path) > oldest_safe for path in quiet.watched(place))


def _changed(path: str) -> int:
    try:
        return os.lstat(path).st_mtime_ns
    except OSError:
        return 0
