"""Reconciles all claims of a repository: one fetch, two requests for a hundred claims, a bounded number of writes."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from typing import assert_never

from agent_sync.context import Context
from agent_sync.errors import AgentSyncError, MissingScope, NotFound
from agent_sync.fleet.reading import Fleet, read_fleet
from agent_sync.lazy_dataclasses import dataclass
from agent_sync.leases.claim_refs import ClaimRef, claim_ref, read_claims, transport_here
from agent_sync.leases.ended import ended_claim
from agent_sync.leases.identity import worktree_id
from agent_sync.leases.keeper import LeaseKeeper
from agent_sync.leases.model import LeaseState, Tip, proof_of
from agent_sync.leases.pruning import due_claim, prune
from agent_sync.leases.refs.values import RefTransport
from agent_sync.leases.results import LeaseChange, Unknown
from agent_sync.reconcile.fleet_comparison import (
    ClaimSides,
    FleetDifference,
    FleetRemedy,
    fleet_differences,
    unreadable_difference,
)
from agent_sync.system import clock
from agent_sync.task.decision.claims_seen import ClaimAsked
from agent_sync.task.decision.facts import Card
from agent_sync.task.decision.outside_text import one_line
from agent_sync.task.freeing import Freed, clear_ended, free_expired
from agent_sync.work.housekeeping import Retained, prune_refs

# So many repairs are made in one run; the next one makes the rest.
MOST_REPAIRS = 20
NOTHING = Freed("")
# Of claims that have ended so many are looked at in one run, the oldest first.
MOST_ENDED = 100


@dataclass(frozen=True)
class Repaired:
    """A difference, and what became of it."""

    difference: FleetDifference
    is_done: bool = False
    trouble: str = ""
    # What stays as it was.
    note: str = ""


@dataclass(frozen=True)
class FleetCompared:
    """How many claims were compared, what differs, and why only what this clone knows was looked at."""

    claims: int
    differences: tuple[FleetDifference, ...]
    reason: str = ""


def compare_all(context: Context) -> FleetCompared:
    """Return what differs about any claim of the repository."""
    fleet, transport = read_fleet(context), transport_here(context)
    where = transport.where
    tips = [*(tip for tip in fleet.held if tip.where is where), *_oldest_ended(transport, fleet)]
    reason = "" if fleet.where is where else fleet.reason
    spoilt = tuple(unreadable_difference(one) for one in fleet.unreadable)
    if not tips:
        return FleetCompared(len(spoilt), spoilt, reason)
    github = context.gateway.claims([_question(tip) for tip in tips])
    cards, note = _cards(context, tips)
    own, now, settings = worktree_id(context.place), clock.now(), context.settings
    sides = [
        ClaimSides(
            tip, github.issue(tip.lease.issue), cards.get(tip.lease.issue), is_own=tip.lease.holder.worktree == own
        )
        for tip in tips
    ]
    found = [
        one
        for side in sides
        for one in fleet_differences(side, now, settings.board, allowance_s=settings.lease.allowance_s)
    ]
    if any(one.remedy is FleetRemedy.PRUNE for one in found):
        prunable = _prunable(context)
        found = [one for one in found if one.remedy is not FleetRemedy.PRUNE or claim_ref(one.issue) in prunable]
    reason = "; ".join(filter(None, [reason, note]))
    return FleetCompared(len(tips) + len(spoilt), (*spoilt, *found), reason)


def _cards(context: Context, tips: Sequence[Tip]) -> tuple[Mapping[int, Card], str]:
    """Return the cards; a board that is out of reach does not keep claims from being compared."""
    try:
        return context.gateway.cards([tip.lease.issue for tip in tips]), ""
    except (MissingScope, NotFound) as error:
        return {}, f"cards were not compared: {error.happened}"


def _prunable(context: Context) -> frozenset[str]:
    """Return the refs of ended claims that neither a work hook nor rescued files still need."""
    any_age = Retained(timedelta(), timedelta.max)
    return frozenset(one.ref for one in prune_refs(context, clock.now(), any_age, dry_run=True).refs)


def _oldest_ended(transport: RefTransport, fleet: Fleet) -> Iterator[Tip]:
    """Return the oldest of the claims that have ended, read in full."""
    oldest = sorted((one for one in fleet.ended if one.where is transport.where), key=lambda one: one.at)
    refs = [ClaimRef(one.issue, one.sha) for one in oldest[:MOST_ENDED]]
    yield from (one for one in read_claims(transport, refs) if isinstance(one, Tip))


def _question(tip: Tip) -> ClaimAsked:
    """Return what to ask of a claim; of one that has ended its pull request does not matter."""
    is_held, lease = tip.lease.state is LeaseState.HELD, tip.lease
    return ClaimAsked(lease.issue, lease.pr, lease.branch) if is_held else ClaimAsked(lease.issue)


def repair_all(context: Context, found: Sequence[FleetDifference]) -> tuple[Repaired, ...]:
    """Repair what is ours, up to the limit; one trouble does not stop the others."""
    left, results = MOST_REPAIRS, []
    for one in found:
        if not one.is_ours:
            results.append(Repaired(one))
        elif left:
            left -= 1
            results.append(_repair(context, one))
        else:
            results.append(Repaired(one, trouble=f"more than {MOST_REPAIRS} repairs: run it again"))
    return tuple(results)


def _repair(context: Context, one: FleetDifference) -> Repaired:
    try:
        freed = _carry_out(context, one)
    except AgentSyncError as error:
        freed = Freed("", str(error))
    trouble = freed.trouble
    context.log.write(clock.now(), "reconciled", issue=one.issue, remedy=one.remedy.value, trouble=trouble or None)
    note = one_line("; ".join(freed.stays), limit=300)
    return Repaired(one, is_done=not trouble, trouble=one_line(trouble, limit=300), note=note)


def _carry_out(context: Context, one: FleetDifference) -> Freed:
    """Carry a remedy out; return what was wrong, and what stays."""
    if one.tip is None:
        return NOTHING
    match one.remedy:
        case FleetRemedy.TOLD:
            return NOTHING
        case FleetRemedy.FREE:
            return free_expired(context, one.tip)
        case FleetRemedy.DATE:
            return Freed("", _date(context, one.tip))
        case FleetRemedy.CARD:
            if one.change and one.tip.lease.state is not LeaseState.HELD:
                return clear_ended(context, one.tip.lease, one.change.status)
            if one.change:
                context.gateway.move_card(one.change)
            return NOTHING
        case FleetRemedy.PRUNE:
            return Freed("", _prune(context, one.tip))
        case _:
            assert_never(one.remedy)


def _date(context: Context, tip: Tip) -> str:
    """Renew a lease in its holder's name, so that it runs out one time to live from now for everybody."""
    keeper = LeaseKeeper(transport_here(context), context.place)
    outcome = keeper.renew(proof_of(tip.lease), LeaseChange(clock.now()))
    return outcome.reason if isinstance(outcome, Unknown) else ""


def _prune(context: Context, tip: Tip) -> str:
    """Delete a claim ref, if it still is what it was."""
    return "" if prune(transport_here(context), (due_claim(ended_claim(tip)),)) else "the ref has changed meanwhile"
