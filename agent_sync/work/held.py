"""Finds the work this worktree is at, and stops whoever has lost it."""

from dataclasses import dataclass

from agent_sync.context import Context
from agent_sync.errors import BadHook, BadInput, Conflict
from agent_sync.leases.identity import worktree_id
from agent_sync.leases.model import State as LeaseState, Tip
from agent_sync.work.holdings import tip_of
from agent_sync.work.hook.model import Hook
from agent_sync.work.hook.names import WorkerName, worker_named
from agent_sync.work.hook.sight import HookSeen, Sight, holder_text


@dataclass(frozen=True)
class HeldWork:
    """A hook whose work this worktree is at, and the claim that proves it."""

    name: WorkerName
    sha: str
    hook: Hook
    tip: Tip


def held_work(context: Context, sight: Sight, name: str, *, attempted: str) -> HeldWork:
    """Return the work of a hook that this worktree holds; name whoever holds it instead."""
    seen = readable(sight, name, attempted=attempted)
    hook, issue = seen.hook, seen.hook.status.issue if seen.hook else None
    if hook is None or issue is None:
        raise BadInput(f"{seen.name} has no work.", attempted=attempted, helps="agent-sync worker list")
    tip = tip_of(sight, issue)
    is_ours = tip and tip.lease.nonce == hook.status.nonce and tip.lease.holder.worktree == worktree_id(context.place)
    if tip is None or not is_ours or tip.lease.state is not LeaseState.HELD:
        whose = f"held by {holder_text(tip)}" if tip and tip.lease.state is LeaseState.HELD else "not held by anyone"
        message = f"Issue #{issue} is not held by this worktree; it is {whose}."
        raise Conflict(message, attempted=attempted, helps="agent-sync worker take")
    return HeldWork(seen.name, seen.sha, hook, tip)


def readable(sight: Sight, name: str, *, attempted: str) -> HookSeen:
    """Return a worker's hook; stop where there is none, or where it is damaged."""
    worker = worker_named(name, sight.hooks)
    seen = sight.hooks.get(worker)
    if seen is None:
        raise BadInput(f"{worker} has no hook.", attempted=attempted, helps="agent-sync worker list")
    if seen.hook is None:
        raise BadHook(seen.damage, attempted=attempted, helps="agent-sync worker repair")
    return seen
