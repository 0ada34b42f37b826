"""Leaves the stamp by which the next hook knows that nothing has changed since a full run found nothing to do."""

from datetime import datetime

from agent_sync.lazy_dataclasses import dataclass
from agent_sync.quiet import answer as quiet
from agent_sync.quiet.answer import Stamp
from agent_sync.system.stamps import are_settled, leave_stamp
from agent_sync.worktree import Place, hook_stamp


@dataclass(frozen=True)
class WatchedFiles:
    """How everything was when the run began: what every hook watches, further files, and what the run itself wrote."""

    seen: str
    watch: tuple[str, ...] = ()
    wrote: tuple[str, ...] = ()

    def is_still(self, look: str) -> bool:
        """Tell whether nobody else has changed anything."""
        return _without(self.wrote, self.seen) == _without(self.wrote, look)


def leave(place: Place, hook: str, watched: WatchedFiles, *, due: datetime | None, now: datetime) -> None:
    """Write the stamp, unless something changed during the run or may still change unseen."""
    look = quiet.look(place, hook)
    others = set(quiet.watched(place)) - set(watched.wrote)
    if watched.is_still(look) and are_settled(others, now.timestamp()):
        moment = quiet.NEVER if due is None else str(due.timestamp())
        leave_stamp(hook_stamp(place, hook), Stamp(moment, watched.watch, look))


def _without(paths: tuple[str, ...], look: str) -> list[str]:
    return [line for line in look.split("\0") if not line.startswith(tuple(f"{path} " for path in paths))]
