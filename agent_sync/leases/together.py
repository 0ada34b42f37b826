"""Renews many leases in one push, each ref from exactly what it was: one that was lost does not hold the others."""

import time
from collections.abc import Sequence

from agent_sync.lazy_dataclasses import dataclass
from agent_sync.leases.claim_refs import claim_ref, known_claim
from agent_sync.leases.keeper import LeaseKeeper, without_branch
from agent_sync.leases.model import Lease, LeaseProof
from agent_sync.leases.orders import HolderOrder, LeaseAnswer
from agent_sync.leases.refs.compare_and_swap import (
    PAUSE_S,
    Swapped,
    SwapPlan,
    Tried,
    failed_try,
    is_pruned,
    written_updates,
)
from agent_sync.leases.refs.values import Pushed, PushResult, RefTransport, RefUpdate
from agent_sync.leases.results import ClaimSeen, Doubt, LeaseChange, LeaseOutcome, Unknown


@dataclass(frozen=True)
class Renewal:
    """One lease to renew: who keeps it for its worktree, what proves it, and what it tells others."""

    keeper: LeaseKeeper
    mine: LeaseProof
    change: LeaseChange


def renew_together(renewals: Sequence[Renewal]) -> list[LeaseOutcome]:
    """Renew leases of one transport; return what came of each, which its own worktree settles."""
    orders = [one.keeper.renewal(one.mine, one.change) for one in renewals]
    answers = _carry_out(renewals[0].keeper.transport, orders)
    settled = (one.keeper.settled(order, answers[order.issue]) for one, order in zip(renewals, orders, strict=True))
    return [without_branch(outcome) for outcome in settled]


def _carry_out(transport: RefTransport, orders: Sequence[HolderOrder]) -> dict[int, Swapped[Lease] | LeaseAnswer]:
    """Carry out orders by their issues in rounds of one look and one push, until each has its answer."""
    answers: dict[int, Swapped[Lease] | LeaseAnswer] = {}
    tried: dict[int, Tried[Lease]] = {}
    seen = _first_looks(transport, orders)
    while left := [order for order in orders if order.issue not in answers]:
        decided = {order.issue: order.decide(seen[order.issue], tried.get(order.issue)) for order in left}
        plans = {issue: plan for issue, plan in decided.items() if isinstance(plan, SwapPlan)}
        answers |= {issue: answer for issue, answer in decided.items() if not isinstance(answer, SwapPlan)}
        going = [order for order in left if order.issue in plans]
        ended = _swap(transport, going, plans, tried)
        answers |= {issue: one for issue, one in ended.items() if isinstance(one, Swapped)}
        tried |= {issue: one for issue, one in ended.items() if isinstance(one, Tried)}
        again = [order for order in going if order.issue not in answers]
        if again:
            # Others, and a server in trouble, get a moment before the next attempt.
            time.sleep(PAUSE_S * (max(tried[order.issue].number for order in again) - 1))
            seen |= _looks(transport, again)
    return answers


def _swap(
    transport: RefTransport,
    orders: Sequence[HolderOrder],
    plans: dict[int, SwapPlan[Lease]],
    tried: dict[int, Tried[Lease]],
) -> dict[int, Swapped[Lease] | Tried[Lease]]:
    """Swap what is planned, all that is meant on disk before; return how each ended."""
    if not orders:
        return {}
    updates, pushed = _swap_written(transport, orders, plans)
    if any(map(is_pruned, pushed)):
        updates, pushed = _swap_written(transport, orders, plans)
    ended: dict[int, Swapped[Lease] | Tried[Lease]] = {}
    for order, one in zip(orders, pushed, strict=True):
        plan, own = plans[order.issue], updates[order.issue]
        has_landed = one.result is PushResult.LANDED
        failure = failed_try(plan, own, one, tried.get(order.issue))
        ended[order.issue] = Swapped(plan.value, own, one) if has_landed else failure
    return ended


def _swap_written(
    transport: RefTransport, orders: Sequence[HolderOrder], plans: dict[int, SwapPlan[Lease]]
) -> tuple[dict[int, tuple[RefUpdate, ...]], tuple[Pushed, ...]]:
    updates = {order.issue: written_updates(transport, order, plans[order.issue]) for order in orders}
    return updates, transport.swap_each([updates[order.issue][0] for order in orders])


def _first_looks(transport: RefTransport, orders: Sequence[HolderOrder]) -> dict[int, ClaimSeen]:
    """Return what is known of each ref; those that must be read are read together."""
    known: dict[int, ClaimSeen] = {order.issue: order.known_tip(transport) for order in orders}
    return known | _looks(transport, [order for order in orders if known[order.issue] is None])


def _looks(transport: RefTransport, orders: Sequence[HolderOrder]) -> dict[int, ClaimSeen]:
    """Read the refs of orders in one go."""
    trouble = transport.fetch([claim_ref(order.issue) for order in orders]) if orders else ""
    if trouble:
        return {order.issue: Unknown(Doubt.UNREACHABLE, trouble) for order in orders}
    return {order.issue: known_claim(transport, order.issue) for order in orders}
