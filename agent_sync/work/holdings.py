"""The claim that goes with a hook's work: how it is kept for a worker, begun, left waiting and ended, in one place."""

from dataclasses import dataclass, replace
from datetime import datetime

from agent_sync.context import Context
from agent_sync.errors import BadLease, Conflict
from agent_sync.leases.identity import fresh_id, holder_here
from agent_sync.leases.model import Holder, Lease, Mode, State, Tip
from agent_sync.leases.results import Change, Request, Unreadable
from agent_sync.leases.rules import SLUNG, acquired, ended, parent_of_renewal, renewed
from agent_sync.work.hook.moves import Holding
from agent_sync.work.hook.names import WorkerName, claim_ref
from agent_sync.work.hook.orders import Step
from agent_sync.work.hook.sight import Sight, holder_text

WORKING = "coding"


@dataclass(frozen=True)
class Wanted:
    """Whose claim is wanted, for which issue and branch."""

    issue: int
    worker: WorkerName
    branch: str
    pull: int | None = None


def tip_of(sight: Sight, issue: int) -> Tip | None:
    """Return who holds an issue; a claim that cannot be read is never a free one."""
    tip = sight.claims.get(issue)
    if isinstance(tip, Unreadable):
        raise BadLease(tip.unknown.reason, attempted=f"looking who holds #{issue}", helps="agent-sync worker repair")
    return tip


def refuse_held(sight: Sight, issue: int) -> Tip | None:
    """Return what the claim ref of an issue that nobody holds was last; name the holder of any other."""
    tip = tip_of(sight, issue)
    if tip and tip.lease.state is State.HELD:
        message = f"Issue #{issue} is held by {holder_text(tip)}."
        raise Conflict(message, attempted=f"claiming issue #{issue}", helps="agent-sync worker list")
    return tip


def waiting_claim(context: Context, wanted: Wanted, before: Tip | None, now: datetime) -> Lease:
    """Return a claim that waits for its worker, however long that takes."""
    request = Request(
        _holder(context, wanted), now, context.settings.lease.ttl_s, Mode.MANUAL, wanted.branch, wanted.pull
    )
    return _claim(wanted, replace(request, phase=f"{SLUNG}{wanted.worker}"), before)


def working_claim(context: Context, wanted: Wanted, before: Tip | None, now: datetime) -> Lease:
    """Return a claim of this worktree, which runs out without a sign of life."""
    request = Request(
        _holder(context, wanted), now, context.settings.lease.ttl_s, Mode.AUTO, wanted.branch, wanted.pull
    )
    return _claim(wanted, replace(request, phase=WORKING), before)


def claim_step(issue: int, lease: Lease, before: Tip | None) -> Step:
    """Return the step that begins a new holding."""
    old = before.sha if before else ""
    return Step(claim_ref(issue), old, lease, old)


def renewal_step(tip: Tip, now: datetime, *, mode: Mode, phase: str) -> Step:
    """Return the step that keeps a holding; it also proves that the holding is still there."""
    lease = renewed(tip, Change(now, mode=mode, phase=phase))
    return Step(claim_ref(lease.issue), tip.sha, lease, parent_of_renewal(tip))


def ending_step(tip: Tip, now: datetime) -> Step:
    """Return the step that gives a holding back."""
    return Step(claim_ref(tip.lease.issue), tip.sha, ended(tip, State.RELEASED, now), tip.sha)


def holding_of(lease: Lease, by: str) -> Holding:
    """Return a claim's holding as a hook remembers it."""
    return Holding(lease.issue, lease.epoch, lease.nonce, lease.holder.worktree, lease.branch, by)


def _holder(context: Context, wanted: Wanted) -> Holder:
    return holder_here(context.place, agent=str(wanted.worker))


def _claim(wanted: Wanted, request: Request, before: Tip | None) -> Lease:
    return acquired(wanted.issue, request, fresh_id(), before)
