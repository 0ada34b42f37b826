"""Renews what is due in a clone: the leases of all its worktrees in one push, each settled in its own worktree."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from agent_sync.context import Context, context_at
from agent_sync.errors import AgentSyncError
from agent_sync.events.parts.lease import asked_at, is_made_here
from agent_sync.fleet.attending import is_kept_by_neighbours
from agent_sync.fleet.reading import WorktreeClaim, claims_here
from agent_sync.fleet.seen import KEPT_BY_WATCH, Session
from agent_sync.fleet.worktrees import seen_in
from agent_sync.lazy_dataclasses import dataclass
from agent_sync.leases.fence import change_of, keeper_of, lease_note, proof_in, remember
from agent_sync.leases.keeper import LeaseKeeper
from agent_sync.leases.results import LeaseOutcome, NotHeld, Unknown, Won
from agent_sync.leases.rules import is_mine, may_be_taken_along, renewal_due_at
from agent_sync.leases.together import Renewal, renew_together
from agent_sync.leases.words import held_by
from agent_sync.system import clock, files
from agent_sync.task.claim.model import Claim, LeaseNote
from agent_sync.task.decision import messages
from agent_sync.task.decision.actions import BranchPushed, LeaseLost
from agent_sync.task.decision.evolve import evolve
from agent_sync.worktree import RENEWAL_LOCK, worktree

NETWORK_LIMIT = 60.0


@dataclass(frozen=True)
class Held:
    """A lease of this clone that is to be kept, in whose worktree, by whom, and for which session."""

    context: Context
    claim: Claim
    lease: LeaseNote
    keeper: LeaseKeeper
    session_id: str

    @property
    def root(self) -> str:
        """The worktree that holds it."""
        return self.context.place.root

    def is_due(self, now: datetime) -> bool:
        """Tell whether it is time."""
        return now >= renewal_due_at(self.lease.renewed_at, self.lease.ttl_s, now)

    def is_due_soon(self, now: datetime) -> bool:
        """Tell whether another renewal takes it along."""
        return may_be_taken_along(self.lease.renewed_at, self.lease.ttl_s, now)


def renew_due(context: Context, *, session_id: str) -> None:
    """Renew what is due in this clone, unless another process is at it: that one sees what was asked for meanwhile."""
    with files.locked_if_free(Path(context.place.shared_dir) / RENEWAL_LOCK) as is_alone:
        done: set[str] = set()
        while is_alone and (due := [one for one in _due(context, session_id) if one.root not in done]):
            done |= {one.root for one in due}
            for batch in _batches(due):
                _renew(batch)


def _due(context: Context, session_id: str) -> list[Held]:
    """Return what goes into one push: nothing before one lease is due, and then whatever falls due soon."""
    now = clock.now()
    kept = [one for one in (*_own(context, session_id), *_of_neighbours(context, now)) if one.is_due_soon(now)]
    return kept if any(one.is_due(now) for one in kept) else []


def _own(context: Context, session_id: str) -> Iterator[Held]:
    claim = context.store.read()
    if claim and claim.lease and claim.may_act and is_made_here(context, claim):
        yield _held(context, claim, claim.lease, session_id)


def _held(context: Context, claim: Claim, lease: LeaseNote, session_id: str) -> Held:
    return Held(context, claim, lease, keeper_of(context, lease, limit_s=NETWORK_LIMIT), session_id)


def _of_neighbours(context: Context, now: datetime) -> Iterator[Held]:
    """Return the leases of the clone's other worktrees that fall due soon and that their own rules would renew."""
    for found in claims_here(context):
        lease, place = found.claim.lease if found.claim else None, worktree(found.root)
        if lease is None or place is None or place.root == context.place.root:
            continue
        if may_be_taken_along(lease.renewed_at, lease.ttl_s, now):
            try:
                yield from _kept(context_at(place, context.environment))
            except (AgentSyncError, OSError) as error:
                # One worktree in trouble does not hold the others.
                context.log.write(now, "trouble", error=str(error), worktree=found.root, trigger="renewal")


def _kept(there: Context) -> Iterator[Held]:
    """Return the lease of another worktree, if that worktree's own rules would renew it."""
    claim, place = there.store.read(), there.place
    if claim is None or claim.lease is None or not is_made_here(there, claim):
        return
    seen = seen_in(there, WorktreeClaim(place.root, claim))
    if is_kept_by_neighbours(seen, clock.now(), asked_at=asked_at(place), quiet_s=there.settings.fleet.quiet_s):
        session_id = KEPT_BY_WATCH if seen.session is Session.ENDED else seen.session_id
        yield _held(there, claim, claim.lease, session_id)


def _batches(due: Sequence[Held]) -> list[list[Held]]:
    """Return what one push can hold: leases of one transport, and each issue once, whoever claims to have it."""
    batches: list[list[Held]] = []
    for held in due:
        batch = next((one for one in batches if _fits(held, one)), None)
        if batch is None:
            batches.append([held])
        else:
            batch.append(held)
    return batches


def _fits(held: Held, batch: Sequence[Held]) -> bool:
    own, other = held.keeper.transport, batch[0].keeper.transport
    is_same = (type(own), own.url, own.prefix) == (type(other), other.url, other.prefix)
    return is_same and all(one.claim.issue_number != held.claim.issue_number for one in batch)


def _renew(batch: Sequence[Held]) -> None:
    # One moment for all: when they fall due next follows from it.
    now = clock.now()
    outcomes = renew_together([_renewal(held, now) for held in batch])
    for held, outcome in zip(batch, outcomes, strict=True):
        try:
            _settle(held.context, held.claim, outcome, held.session_id)
        except (AgentSyncError, OSError) as error:
            # The ref has moved; that worktree finds out with its next renewal.
            held.context.log.write(now, "trouble", error=str(error), worktree=held.root, trigger="renewal")


def _renewal(held: Held, now: datetime) -> Renewal:
    change = replace(change_of(held.claim, session=held.session_id), now=now)
    return Renewal(held.keeper, proof_in(held.claim, held.lease), change)


def _settle(context: Context, claim: Claim, outcome: LeaseOutcome, session_id: str) -> None:
    """Put on record what came of a renewal; a loss is told at the worktree's next event."""
    match outcome:
        case Won(tip):
            remember(context, claim, BranchPushed("", lease_note(tip)))
            context.log.write(clock.now(), "renewed", issue=claim.issue_number, epoch=tip.lease.epoch)
        case NotHeld(tip) if claim.lease and is_mine(tip.lease, claim.lease.nonce):
            # Ended by a command of ours that is about to delete the file.
            context.log.write(clock.now(), "lease-ended", issue=claim.issue_number, state=tip.lease.state.value)
        case NotHeld(tip):
            lost = LeaseLost(held_by(tip.lease))
            context.outbox.add([messages.lease_lost(evolve(claim, lost), session_id)])
            remember(context, claim, lost)
            context.log.write(clock.now(), "lease-lost", issue=claim.issue_number, to=lost.lost_to)
        case Unknown(doubt, reason):
            context.log.write(clock.now(), "trouble", error=reason, issue=claim.issue_number, doubt=doubt.value)
