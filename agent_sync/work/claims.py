"""The claim that goes with a hook's work: how it is kept for a worker, begun, left waiting and ended, in one place."""

from dataclasses import replace
from datetime import datetime

from agent_sync.context import Context
from agent_sync.errors import BadHook, BadInput, BadLease, Conflict, WrongState
from agent_sync.lazy_dataclasses import dataclass
from agent_sync.leases.claim_refs import claim_commit, claim_ref
from agent_sync.leases.identity import fresh_id, holder_here, worktree_id
from agent_sync.leases.model import Holder, Lease, LeaseMode, LeaseState, Tip
from agent_sync.leases.refs.compare_and_swap import RefChange
from agent_sync.leases.results import LeaseChange, LeaseRequest, Unreadable
from agent_sync.leases.rules import SLUNG, acquired_lease, ended_lease, parent_of_renewal, renewed_lease
from agent_sync.task.freeing import FREED
from agent_sync.work.hook.model import WorkHook
from agent_sync.work.hook.moves import Holding
from agent_sync.work.hook.names import WorkerName, worker_named
from agent_sync.work.hook.states import WorkState
from agent_sync.work.hook.view import HookSeen, WorkView, holder_text

WORKING = "coding"


@dataclass(frozen=True)
class WantedClaim:
    """Whose claim is wanted, for which issue and branch."""

    issue: int
    worker: WorkerName
    branch: str
    pull: int | None = None


def tip_of(view: WorkView, issue: int) -> Tip | None:
    """Return who holds an issue; a claim that cannot be read is never a free one."""
    tip = view.claims.get(issue)
    if isinstance(tip, Unreadable):
        raise BadLease(tip.unknown.reason, attempted=f"looking who holds #{issue}", helps="agent-sync worker repair")
    return tip


def branch_of_work(view: WorkView, hook: WorkHook) -> str:
    """Return the branch of a hook's work; while that is under way its claim learns first of another branch."""
    tip = view.claims.get(hook.status.issue or 0)
    is_its_claim = isinstance(tip, Tip) and tip.lease.nonce == hook.status.nonce
    if isinstance(tip, Tip) and is_its_claim and hook.state is WorkState.IN_PROGRESS:
        return tip.lease.branch or hook.status.branch
    return hook.status.branch


def refuse_held(view: WorkView, issue: int) -> Tip | None:
    """Return what the claim ref of an issue that nobody holds was last; name the holder of any other."""
    tip = tip_of(view, issue)
    if tip and tip.lease.state is LeaseState.HELD:
        message = f"Issue #{issue} is held by {holder_text(tip)}."
        raise Conflict(message, attempted=f"claiming issue #{issue}", helps="agent-sync worker list")
    return tip


def waiting_claim(context: Context, wanted: WantedClaim, before: Tip | None, now: datetime) -> Lease:
    """Return a claim that waits for its worker, however long that takes."""
    request = LeaseRequest(
        _holder(context, wanted), now, context.settings.lease.ttl_s, LeaseMode.MANUAL, wanted.branch, wanted.pull
    )
    return _claim(wanted, replace(request, phase=f"{SLUNG}{wanted.worker}"), before)


def working_claim(context: Context, wanted: WantedClaim, before: Tip | None, now: datetime) -> Lease:
    """Return a claim of this worktree, which runs out without a sign of life."""
    request = LeaseRequest(
        _holder(context, wanted), now, context.settings.lease.ttl_s, LeaseMode.AUTO, wanted.branch, wanted.pull
    )
    return _claim(wanted, replace(request, phase=WORKING), before)


def claim_change(issue: int, lease: Lease, before: Tip | None, note: str = "") -> RefChange:
    """Return the change that begins a new holding, with a note for people."""
    old = before.sha if before else ""
    return RefChange(claim_ref(issue), old, claim_commit(lease, old, note))


def renewal_change(tip: Tip, now: datetime, *, mode: LeaseMode | None = None, phase: str) -> RefChange:
    """Return the change that keeps a holding; it also proves that the holding is still there."""
    lease = renewed_lease(tip, LeaseChange(now, mode=mode, phase=phase))
    return RefChange(claim_ref(lease.issue), tip.sha, claim_commit(lease, parent_of_renewal(tip)))


def ending_change(tip: Tip, now: datetime, state: LeaseState = LeaseState.RELEASED) -> RefChange:
    """Return the change that gives a holding back, or says that its work is done."""
    lease = ended_lease(tip, state, now)
    return RefChange(claim_ref(lease.issue), tip.sha, claim_commit(lease, tip.sha))


def taken_away(
    context: Context, tip: Tip, now: datetime, note: str, state: LeaseState = LeaseState.RELEASED
) -> RefChange:
    """Return the change that ends a holding under a new nonce: its session finds its claim lost, not finished."""
    lease, me = tip.lease, holder_here(context.place)
    request = LeaseRequest(me, now, context.settings.lease.ttl_s, LeaseMode.MANUAL, lease.branch, lease.pr, FREED)
    begun = acquired_lease(lease.issue, request, fresh_id(), tip)
    return RefChange(
        claim_ref(lease.issue), tip.sha, claim_commit(begun.model_copy(update={"state": state}), tip.sha, note)
    )


def holding_of(lease: Lease, by: str) -> Holding:
    """Return a claim's holding as a hook remembers it."""
    return Holding(lease.issue, lease.epoch, lease.nonce, lease.holder.worktree, lease.branch, by)


@dataclass(frozen=True)
class HeldWork:
    """A hook whose work this worktree is at, and the claim that proves it."""

    name: WorkerName
    sha: str
    hook: WorkHook
    tip: Tip


def held_work(context: Context, view: WorkView, name: str, *, attempted: str) -> HeldWork:
    """Return the work of a hook that this worktree holds; otherwise say who holds it."""
    seen = readable_hook(view, name, attempted=attempted)
    hook, issue = seen.hook, seen.hook.status.issue if seen.hook else None
    if hook is None or issue is None:
        raise WrongState(f"{seen.name} has no work.", attempted=attempted, helps="agent-sync worker list")
    tip, claim = tip_of(view, issue), context.store.read()
    noted = claim.lease if claim and claim.issue_number == issue else None
    is_held = tip is not None and tip.lease.state is LeaseState.HELD
    is_here = tip is not None and tip.lease.holder.worktree == worktree_id(context.place)
    # The claim file may be of an earlier holding, whose session has lost the work although the worktree is the same.
    nonces = {hook.status.nonce, noted.nonce if noted else hook.status.nonce}
    if tip and is_held and is_here and nonces == {tip.lease.nonce}:
        return HeldWork(seen.name, seen.sha, hook, tip)
    whose = f"held by {holder_text(tip)}" if tip and is_held else "not held by anyone"
    helps = "agent-sync release" if is_held and not is_here and noted else "agent-sync worker take"
    message = f"Issue #{issue} is not held by this worktree; it is {whose}. Nothing was written; the work here stays."
    raise Conflict(message, attempted=attempted, helps=helps)


def readable_hook(view: WorkView, name: str, *, attempted: str) -> HookSeen:
    """Return a worker's hook; stop where there is none, or where it is damaged."""
    worker = worker_named(name, view.hooks)
    seen = view.hooks.get(worker)
    if seen is None:
        raise BadInput(f"{worker} has no hook.", attempted=attempted, helps="agent-sync worker list")
    if seen.hook is None:
        raise BadHook(seen.damage, attempted=attempted, helps="agent-sync worker repair")
    return seen


def _holder(context: Context, wanted: WantedClaim) -> Holder:
    return holder_here(context.place, agent=str(wanted.worker))


def _claim(wanted: WantedClaim, request: LeaseRequest, before: Tip | None) -> Lease:
    return acquired_lease(wanted.issue, request, fresh_id(), before)
