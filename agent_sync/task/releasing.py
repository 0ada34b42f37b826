"""Gives a task back: the board and the assignment, the lease, and the claim file last."""

from agent_sync.context import Context
from agent_sync.errors import AgentSyncError, Refused
from agent_sync.lazy_dataclasses import dataclass
from agent_sync.leases import fence
from agent_sync.leases.claim_refs import read_claim, transport_here
from agent_sync.leases.identity import known_worktree_id
from agent_sync.leases.model import Lease, LeaseState, Tip
from agent_sync.leases.results import Doubt, Unknown
from agent_sync.leases.rules import HoldingState, holding_state
from agent_sync.leases.words import holder_name
from agent_sync.record import keep as recording
from agent_sync.record.disk.ending import abandon
from agent_sync.system import clock
from agent_sync.task.claim.model import Claim
from agent_sync.task.claim.phases import Phase
from agent_sync.task.decision.actions import LeaseLost, LeaseUnknown, LeftOnHook
from agent_sync.task.decision.claimable import login_of
from agent_sync.task.decision.decide import card_change
from agent_sync.task.decision.facts import Card, PullState
from agent_sync.task.decision.outside_text import one_line
from agent_sync.task.decision.tasks import Task
from agent_sync.task.freeing import replace_unreadable


@dataclass(frozen=True)
class GivenBack:
    """How giving a task back ended: what was wrong with the board, or where the task is already."""

    trouble: str = ""
    gone_to: str = ""


@dataclass(frozen=True)
class LeftClaim:
    """A claim without a file, as its lease tells it; `is_here` where it is of this worktree, which holds no other."""

    claim: Claim
    is_here: bool


def give_back(context: Context, claim: Claim, *, reason: str, force: bool, is_here: bool = True) -> GivenBack:
    """Give the task back: board and assignment while no one else can have it, then the lease, then the file."""
    # GitHub is asked before the ref is read, so that no request lies between that look and the write.
    asked = _ask(context, claim, force=force)
    given = _end(context, claim, asked, fence.lease_now(context, claim), reason=reason, force=force)
    if is_here:
        why = f"the claim was given back{': ' + reason if reason else ''}"
        recording.attempt(context, lambda context: abandon(context, why))
        with context.store.locked() as token:
            context.store.delete(token, claim)
    return given


def left_claim(context: Context, issue: int) -> LeftClaim | None:
    """Return the claim that this worktree holds without a file, or that a worktree of this clone held which is gone."""
    tip = read_claim(transport_here(context), issue)
    if not isinstance(tip, Tip) or tip.lease.state is not LeaseState.HELD:
        return None
    lease = tip.lease
    if not fence.is_left_behind(context, lease):
        return None
    pull = context.gateway.branch_pull(lease.branch) if lease.branch and not lease.pr else None
    claim = Claim(
        schema_version=1,
        issue_number=issue,
        branch=lease.branch,
        agent_id=lease.holder.agent,
        phase=Phase(lease.phase) if lease.phase in set(Phase) else Phase.CODING,
        pr_number=pull.number if pull else lease.pr,
        lease=fence.lease_note(tip),
    )
    is_own = lease.holder.worktree == known_worktree_id(context.place)
    return LeftClaim(claim, is_own and context.store.read() is None)


def _ask(context: Context, claim: Claim, *, force: bool) -> Task | AgentSyncError:
    """Return the task; what stands against giving it back counts only while it is held here."""
    try:
        task = context.gateway.task(claim.issue_number)
        if not force and claim.pr_number:
            pull = context.gateway.pull(claim.pr_number, with_checks=False)
            if pull.state is PullState.OPEN:
                message = f"PR #{claim.pr_number} is open."
                helps = "close or merge it first, or leave it open: agent-sync release --force"
                return Refused(message, attempted=f"giving issue #{claim.issue_number} back", helps=helps)
    except AgentSyncError as error:
        return error
    return task


def _end(  # noqa: PLR0913  # the claim, what is there now, and what the user wants
    context: Context,
    claim: Claim,
    asked: Task | AgentSyncError,
    seen: Tip | Unknown | fence.LeaseStop | None,
    *,
    reason: str,
    force: bool,
) -> GivenBack:
    """End what is this claim's, and nothing of another holder."""
    if isinstance(seen, LeaseLost | LeftOnHook):
        return GivenBack(gone_to=fence.whereabouts(seen))
    is_lost = isinstance(seen, Tip) and _is_lost(claim, seen)
    if isinstance(seen, Tip) and is_lost and seen.lease.state is LeaseState.HELD:
        return GivenBack(gone_to=_held_now(seen.lease))
    forced_by = seen.doubt if isinstance(seen, Unknown) and force else None
    doubt = fence.doubt_of(context, claim, seen) if isinstance(seen, Unknown) else seen
    try:
        if forced_by is Doubt.UNREADABLE and claim.lease:
            replace_unreadable(context, fence.keeper_of(context, claim.lease), claim.issue_number, reason=reason)
        if is_lost or forced_by in {Doubt.UNREADABLE, Doubt.VANISHED}:
            return GivenBack(_clear_named(context, claim, asked, reason))
        if isinstance(doubt, LeaseUnknown):
            fence.refuse(context, claim, doubt, attempted=f"giving issue #{claim.issue_number} back")
        trouble = _clear(context, claim, asked, reason)
        other = _release_lease(context, claim, reason)
    except AgentSyncError as error:
        if not force:
            raise
        return GivenBack(_release_anyway(context, claim, str(error), reason))
    if other is None or other.lease.state is not LeaseState.HELD:
        return GivenBack(trouble)
    return GivenBack(_restore(context, other.lease), _held_now(other.lease))


def _is_lost(claim: Claim, seen: Tip) -> bool:
    return bool(claim.lease and holding_state(fence.proof_in(claim, claim.lease), seen) is HoldingState.LOST)


def _held_now(lease: Lease) -> str:
    return f"held by {holder_name(lease)} now"


def _release_lease(context: Context, claim: Claim, reason: str) -> Tip | None:
    """Release the lease; what hangs on a worker's hook is given back in the same push."""
    if not fence.worker_of(claim):
        return fence.release(context, claim)
    from agent_sync.work.endings.with_claim import release_with_hook

    return release_with_hook(context, claim, reason)


def _release_anyway(context: Context, claim: Claim, trouble: str, reason: str) -> str:
    """Release at least the lease where GitHub could not be told."""
    try:
        _release_lease(context, claim, reason)
    except AgentSyncError as error:
        later = f"Run `agent-sync release {claim.issue_number}` once the remote answers."
        return f"{trouble} {error.happened} {later}"
    return trouble


def _clear(context: Context, claim: Claim, asked: Task | AgentSyncError, reason: str) -> str:
    """Take assignment, Status and Agent back, unless the board names another holder; return what was wrong."""
    if isinstance(asked, AgentSyncError):
        raise asked
    holder = asked.card.agent if isinstance(asked.card, Card) else None
    if not asked.is_open or holder not in {None, claim.agent_id}:
        held = f"held by {one_line(holder)}" if holder else "closed"
        return f"Issue #{asked.number} is {held}; it was left as it is."
    change, trouble = card_change(asked.card, status=context.settings.board.ready, agent="")
    context.log.write(clock.now(), "release", issue=claim.issue_number, reason=reason or None)
    return context.gateway.release_task(asked, change) or trouble


def _clear_named(context: Context, claim: Claim, asked: Task | AgentSyncError, reason: str) -> str:
    """Clear what a lease that has ended left on GitHub, where the card still names this claim."""
    if isinstance(asked, Task) and not (isinstance(asked.card, Card) and asked.card.agent == claim.agent_id):
        return ""
    return _clear(context, claim, asked, reason)


def _restore(context: Context, lease: Lease) -> str:
    """Give back to a new holder what was cleared at the moment of its take-over; return what was wrong."""
    try:
        task = context.gateway.task(lease.issue)
        if isinstance(task.card, Card) and task.card.agent:
            return ""
        change, trouble = card_change(task.card, status=context.settings.board.in_progress, agent=lease.holder.agent)
        if login_of(lease.holder.agent).casefold() == task.viewer.login.casefold():
            return context.gateway.claim_task(task, change) or trouble
        if change:
            context.gateway.move_card(change)
    except AgentSyncError as error:
        return str(error)
    return trouble
