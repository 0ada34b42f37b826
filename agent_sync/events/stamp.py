"""Leaves the stamp by which the next hook knows that nothing has changed since a full run found nothing to do."""

import contextlib
import os
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from agent_sync.quiet import answer as quiet
from agent_sync.system import files, temporaries
from agent_sync.worktree import Place

# A file written within this time could be written again without a new time stamp (kernel clock ticks).
SETTLED_NS = 50_000_000


@dataclass(frozen=True)
class Sight:
    """How everything lay when the run began: what every hook watches, further files, and what the run itself wrote."""

    seen: str
    watch: tuple[str, ...] = ()
    wrote: tuple[str, ...] = ()

    def is_still(self, look: str) -> bool:
        """Tell whether nobody else has changed anything."""
        return _without(self.wrote, self.seen) == _without(self.wrote, look)


def leave(place: Place, hook: str, sight: Sight, *, due: datetime | None, now: datetime) -> None:
    """Write the stamp, unless something changed during the run or may still change unseen."""
    look = quiet.look(place, hook)
    if not sight.is_still(look) or _is_fresh(place, sight, now):
        return
    moment = quiet.NEVER if due is None else str(due.timestamp())
    target = Path(quiet.stamp_file(place, hook))
    # Only speed is lost with it: a read-only git directory is no reason to complain.
    with contextlib.suppress(OSError):
        files.state_directory(target.parent)
        temporaries.sweep(target)
        temporary = temporaries.temporary_of(target)
        temporary.touch(files.PRIVATE)
        text = "\n".join((moment, "\0".join(sight.watch), look))
        temporary.write_text(text, encoding="utf-8", errors="surrogateescape")
        temporary.replace(target)


def _without(paths: tuple[str, ...], look: str) -> list[str]:
    return [line for line in look.split("\0") if not line.startswith(tuple(f"{path} " for path in paths))]


def _is_fresh(place: Place, sight: Sight, now: datetime) -> bool:
    oldest_safe = now.timestamp() * 1e9 - SETTLED_NS
    others = set(quiet.watched(place)) - set(sight.wrote)
    return any(_changed(path) > oldest_safe for path in others)


def _changed(path: str) -> int:
    try:
        return os.lstat(path).st_mtime_ns
    except OSError:
        return 0
