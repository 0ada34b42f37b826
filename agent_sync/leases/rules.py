"""The rules of leases, pure: when one has expired, who may take it over, and what the next one says."""

from datetime import datetime, timedelta
from enum import StrEnum

from agent_sync.leases.model import Lease, Mine, Mode, State, Tip
from agent_sync.leases.results import Change, Request

ALLOWANCE_S = 60.0
RENEWALS_PER_TTL = 4
# How the phase of a claim begins that is kept for a worker; the worker's name follows.
SLUNG = "slung to "


class Standing(StrEnum):
    """Where a holder stands with what it holds."""

    HELD = "held"
    FINISHED = "finished"
    LOST = "lost"
    VANISHED = "vanished"


class Objection(StrEnum):
    """Why a lease may not be taken over; the value is the sentence."""

    ENDED = "it is not held by anybody; it can simply be claimed"
    MANUAL = "it was claimed by hand and never expires"
    NOT_EXPIRED = "it has not expired"
    BRANCH_MOVED = "its work branch has moved since it was last renewed"
    OPEN_PULL = "its pull request is open, so a human must agree"


def is_expired(lease: Lease, now: datetime, allowance_s: float = ALLOWANCE_S) -> bool:
    """Tell whether a lease has run out, with an allowance for clocks that differ."""
    return lease.mode is Mode.AUTO and now > lease.renewed_at + timedelta(seconds=lease.ttl_s + allowance_s)


def renewal_due_at(renewed_at: datetime, ttl_s: float) -> datetime:
    """Return when a lease should be renewed: a quarter of its time after it was last."""
    return renewed_at + timedelta(seconds=ttl_s / RENEWALS_PER_TTL)


def objection_to_taking_over(  # noqa: PLR0913  # every fact that can speak against it
    lease: Lease,
    now: datetime,
    *,
    branch_moved: bool,
    has_open_pull: bool,
    consent: bool,
    allowance_s: float = ALLOWANCE_S,
) -> Objection | None:
    """Return what speaks against taking a lease from its holder, if anything does."""
    if lease.state is not State.HELD:
        return Objection.ENDED
    if lease.mode is Mode.MANUAL:
        return Objection.MANUAL
    if not is_expired(lease, now, allowance_s):
        return Objection.NOT_EXPIRED
    if branch_moved:
        return Objection.BRANCH_MOVED
    return Objection.OPEN_PULL if has_open_pull and not consent else None


def is_mine(lease: Lease, nonce: str) -> bool:
    """Tell whether a lease is the holding that a nonce stands for."""
    return lease.nonce == nonce


def standing(mine: Mine, tip: Tip | None) -> Standing:
    """Tell where a holder stands, from what its ref holds now."""
    if tip is None:
        return Standing.VANISHED
    if not is_mine(tip.lease, mine.nonce) or tip.lease.epoch > mine.epoch:
        return Standing.LOST
    return Standing.HELD if tip.lease.state is State.HELD else Standing.FINISHED


def acquired(issue: int, request: Request, nonce: str, before: Tip | None) -> Lease:
    """Return the first lease of a holding, one epoch after whatever was there before."""
    return Lease(
        issue=issue,
        holder=request.holder,
        epoch=before.lease.epoch + 1 if before else 1,
        nonce=nonce,
        state=State.HELD,
        acquired_at=request.now,
        renewed_at=request.now,
        ttl_s=request.ttl_s,
        mode=request.mode,
        branch=request.branch,
        pr=request.pr,
        phase=request.phase,
        prev=before.sha if before else "",
    )


def renewed(before: Tip, change: Change) -> Lease:
    """Return a lease that runs anew from now; a clock that was set back does not shorten it."""
    lease = before.lease
    named = {"branch": change.branch, "pr": change.pr, "phase": change.phase, "mode": change.mode}
    said: dict[str, object] = {name: value for name, value in named.items() if value is not None}
    if change.session is not None:
        said["holder"] = lease.holder.model_copy(update={"session": change.session})
    return _next(before, said | {"renewed_at": max(change.now, lease.renewed_at)})


def ended(before: Tip, state: State, now: datetime) -> Lease:
    """Return a lease that its holder has given back, or whose work is done."""
    return _next(before, {"state": state, "renewed_at": max(now, before.lease.renewed_at)})


def parent_of_renewal(before: Tip) -> str:
    """Return the commit a renewal continues: the one that began the holding.

    A renewal replaces the one before it, so the chain grows with holders and not with time.
    """
    return before.lease.began or before.sha


def _next(before: Tip, changes: dict[str, object]) -> Lease:
    steps = {"prev": before.sha, "began": parent_of_renewal(before), "serial": before.lease.serial + 1}
    # Built anew and not copied, so that every value is checked.
    fields = {name: getattr(before.lease, name) for name in Lease.model_fields}
    return Lease.model_validate(fields | (before.lease.model_extra or {}) | changes | steps)
