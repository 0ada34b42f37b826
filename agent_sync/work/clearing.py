"""Takes finished work off a hook."""

from dataclasses import dataclass
from datetime import datetime

from agent_sync.context import Context
from agent_sync.leases.identity import holder_here
from agent_sync.work.held import readable
from agent_sync.work.hook.model import Hook
from agent_sync.work.hook.moves import cleared
from agent_sync.work.hook.names import WorkerName
from agent_sync.work.hook.orders import Order, Step, carry_out
from agent_sync.work.hook.sight import Sight
from agent_sync.work.hook.states import State


@dataclass(frozen=True)
class Cleared:
    """A hook that is empty now; `before` is what hung there, if anything did."""

    worker: WorkerName
    before: Hook | None
    notes: tuple[str, ...] = ()


def clear(context: Context, name: str, *, dry_run: bool = False) -> Cleared:
    """Take work that is complete, failed or cancelled off a hook; its history stays."""

    def decide(sight: Sight, now: datetime) -> Order[Cleared]:
        seen = readable(sight, name, attempted="clearing a hook")
        if seen.hook is None or seen.hook.state is State.EMPTY:
            return Order(Cleared(seen.name, None, sight.notes))
        moved = cleared(seen.hook, now, holder_here(context.place).user)
        return Order(Cleared(seen.name, seen.hook, sight.notes), (Step(seen.name.ref, seen.sha, moved),))

    return carry_out(context, decide, dry_run=dry_run).value
