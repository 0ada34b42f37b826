"""Repairs the differences that are ours, each by its one writer; doing it twice changes nothing."""

from collections.abc import Sequence

from agent_sync.context import Context
from agent_sync.leases.fence import change_of, keeper_of, lease_note, proof_in, remember
from agent_sync.leases.results import NotHeld, Won
from agent_sync.leases.words import held_by
from agent_sync.reconcile.comparison import TaskSeen
from agent_sync.reconcile.difference import Difference, Remedy
from agent_sync.record import keep as recording
from agent_sync.system import clock
from agent_sync.task.claim.model import Claim
from agent_sync.task.claiming import finish
from agent_sync.task.decision.actions import BranchPushed, LeaseLost
from agent_sync.task.decision.facts import Trigger
from agent_sync.task.loop import acting_alone, drive
from agent_sync.work.findings import Repair
from agent_sync.work.repair import repair as repair_hooks

# What the next round of the loop needs first comes first.
_LOOP = frozenset({Remedy.SYNC, Remedy.CARD, Remedy.MIRROR})


def repair(context: Context, seen: TaskSeen, found: Sequence[Difference]) -> None:
    """Do what repairs these differences; a loss of the lease ends everything that would be written to GitHub."""
    wanted = {one.remedy for one in found if one.is_ours}
    if Remedy.NOTE_LOSS in wanted and isinstance(seen.lease, LeaseLost):
        remember(context, seen.claim, seen.lease)
    if Remedy.MIRROR in wanted:
        with acting_alone(context, "finishing the claim"):
            finish(context, seen.claim)
    if Remedy.CARD in wanted:
        _let_card_be_written(context, seen.claim)
    if wanted & _LOOP:
        drive(context, Trigger.SYNC, session_id="terminal")
    claim = context.store.read()
    # What the loop has changed, others should see, too.
    if claim and (Remedy.RENEW in wanted or _told(claim) != _told(seen.claim)):
        _renew(context, claim)
    if Remedy.RECORD in wanted:
        recording.catch_up(context)
    if Remedy.HOOK in wanted:
        repair_hooks(context, tuple(one for one in seen.findings if one.repair is not Repair.TELL))
    context.log.write(clock.now(), "reconciled", issue=seen.claim.issue_number, remedies=sorted(wanted))


def _let_card_be_written(context: Context, claim: Claim) -> None:
    """Forget what was last written on the card: the loop writes it again, as after a board that was in trouble."""
    with context.store.locked() as token:
        context.store.save(token, seen=claim, changed=claim.model_copy(update={"last_synced_status": None}))


def _told(claim: Claim) -> tuple[str, int | None, str]:
    """Return what a lease tells others of a claim."""
    return claim.branch, claim.pr_number, claim.phase.value


def _renew(context: Context, claim: Claim) -> None:
    if claim.lease is None or not claim.may_act:
        return
    match keeper_of(context, claim.lease).renew(proof_in(claim, claim.lease), change_of(claim)):
        case Won(tip):
            remember(context, claim, BranchPushed("", lease_note(tip)))
        case NotHeld(tip) if tip.lease.nonce != claim.lease.nonce:
            remember(context, claim, LeaseLost(held_by(tip.lease)))
        case _:
            # What could not be renewed now is tried again by the session's own renewal.
            return
