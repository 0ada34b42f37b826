"""The rules of leases, pure: what counts as one, when it has expired, who may take it over, what the next one says."""

import json
import zlib
from datetime import datetime, timedelta
from enum import StrEnum

from agent_sync.errors import BadLease, LeaseTooNew
from agent_sync.leases.model import (
    FILE_NAME,
    LARGEST,
    SCHEMA_VERSION,
    Holder,
    Lease,
    LeaseMode,
    LeaseProof,
    LeaseState,
    Tip,
)
from agent_sync.leases.results import LeaseChange, LeaseRequest
from agent_sync.plain.fields import Refused
from agent_sync.task.claim.model import LARGEST_NUMBER, LONGEST_TTL_S, following
from agent_sync.task.decision.claimable import name_after

ALLOWANCE_S = 60.0
RENEWALS_PER_TTL = 4
# Renewals come by up to this part of their interval earlier or later, so that machines do not push in step.
JITTER = 0.2
# Whoever renews takes along what falls due within this part of the interval: they are one push from then on.
TAKEN_ALONG = 0.25
# How the phase of a claim begins that is kept for a worker; the worker's name follows.
SLUNG = "slung to "


class HoldingState(StrEnum):
    """Where a holder stands with what it holds."""

    HELD = "held"
    FINISHED = "finished"
    LOST = "lost"
    VANISHED = "vanished"


class TakeOverObjection(StrEnum):
    """Why a lease may not be taken over; the value is the sentence."""

    ENDED = "it is not held by anybody; it can simply be claimed"
    MANUAL = "it was claimed by hand and never expires"
    NOT_EXPIRED = "it has not expired"
    BRANCH_MOVED = "its work branch has moved since it was last renewed"
    OPEN_PULL = "its pull request is open, so a human must agree"


def is_expired(lease: Lease, now: datetime, allowance_s: float = ALLOWANCE_S) -> bool:
    """Tell whether a lease has run out, with an allowance for clocks that differ."""
    return lease.mode is LeaseMode.AUTO and now > expires_at(lease, now) + span(allowance_s)


def expires_at(lease: Lease, now: datetime) -> datetime:
    """Return when a lease runs out, without any allowance for clocks."""
    return heard_of_at(lease.renewed_at, now) + span(lease.ttl_s)


def heard_of_at(at: datetime, now: datetime, allowance_s: float = ALLOWANCE_S) -> datetime:
    """Return when a holder gave a sign of life: a time in the future is of a wrong clock, and counts as now."""
    return now if is_ahead(at, now, allowance_s) else at


def is_ahead(at: datetime, now: datetime, allowance_s: float = ALLOWANCE_S) -> bool:
    """Tell whether a time lies further in the future than clocks may differ."""
    return at > now + span(allowance_s)


def is_dated_ahead(lease: Lease, now: datetime) -> bool:
    """Tell whether a lease that should run out cannot, because a wrong clock has dated its last renewal."""
    is_held = lease.state is LeaseState.HELD and lease.mode is LeaseMode.AUTO
    return is_held and is_ahead(lease.renewed_at, now)


def span(seconds: float) -> timedelta:
    """Return a length of time that can be added to any moment of ours: at most the longest a lease may last."""
    return timedelta(seconds=max(0.0, min(LONGEST_TTL_S, seconds)))


def renewal_due_at(renewed_at: datetime, ttl_s: float, now: datetime) -> datetime:
    """Return when a lease should be renewed: about a quarter of its time after it was last, or now after a wrong clock.

    How much earlier or later follows from that last moment alone, so that leases renewed together stay together.
    """
    if is_ahead(renewed_at, now):
        return now
    chance = zlib.crc32(f"{renewed_at.timestamp():.6f}".encode()) / 2**32
    return renewed_at + _interval(ttl_s) * (1 - JITTER + 2 * JITTER * chance)


def may_be_taken_along(renewed_at: datetime, ttl_s: float, now: datetime) -> bool:
    """Tell whether a lease falls due so soon that another renewal takes it along."""
    return now >= renewal_due_at(renewed_at, ttl_s, now) - _interval(ttl_s) * TAKEN_ALONG


def _interval(ttl_s: float) -> timedelta:
    return span(ttl_s) / RENEWALS_PER_TTL


def has_moved(committed_at: float, lease: Lease, now: datetime, allowance_s: float = ALLOWANCE_S) -> bool:
    """Tell whether a branch has moved since its holder's last sign of life; a commit of the future tells nothing."""
    return lease.renewed_at.timestamp() < committed_at <= (now + span(allowance_s)).timestamp()


def is_at_work(committed_at: float, lease: Lease, now: datetime, allowance_s: float = ALLOWANCE_S) -> bool:
    """Tell whether a commit shows that a holder is at work: one since the last renewal counts as long as a renewal."""
    lasts = span(lease.ttl_s) + span(allowance_s)
    return has_moved(committed_at, lease, now) and now.timestamp() <= committed_at + lasts.total_seconds()


def objection_to_taking_over(  # noqa: PLR0913  # every fact that can speak against it
    lease: Lease,
    now: datetime,
    *,
    branch_moved: bool,
    has_open_pull: bool,
    consent: bool,
    allowance_s: float = ALLOWANCE_S,
) -> TakeOverObjection | None:
    """Return what speaks against taking a lease from its holder, if anything does."""
    if lease.state is not LeaseState.HELD:
        return TakeOverObjection.ENDED
    if lease.mode is LeaseMode.MANUAL:
        return TakeOverObjection.MANUAL
    if not is_expired(lease, now, allowance_s):
        return TakeOverObjection.NOT_EXPIRED
    if branch_moved:
        return TakeOverObjection.BRANCH_MOVED
    return TakeOverObjection.OPEN_PULL if has_open_pull and not consent else None


def is_mine(lease: Lease, nonce: str) -> bool:
    """Tell whether a lease is the holding that a nonce stands for."""
    return lease.nonce == nonce


def holding_state(mine: LeaseProof, tip: Tip | None) -> HoldingState:
    """Tell where a holder stands, from what its ref holds now."""
    if tip is None:
        return HoldingState.VANISHED
    if not is_mine(tip.lease, mine.nonce) or tip.lease.epoch > mine.epoch:
        return HoldingState.LOST
    return HoldingState.HELD if tip.lease.state is LeaseState.HELD else HoldingState.FINISHED


def acquired_lease(issue: int, request: LeaseRequest, nonce: str, before: Tip | None) -> Lease:
    """Return the first lease of a holding, one epoch after whatever was there before."""
    if before and before.lease.epoch == LARGEST_NUMBER:
        raise BadLease(f"The claim of #{issue} is at its last epoch, {LARGEST_NUMBER}, after which none can follow.")
    holder = request.holder
    if before and request.is_new_agent:
        name = name_after(holder.agent, before.lease.holder.agent)
        holder = Holder.model_validate(holder.model_dump() | {"agent": name})
    return Lease(
        issue=issue,
        holder=holder,
        epoch=before.lease.epoch + 1 if before else 1,
        nonce=nonce,
        state=LeaseState.HELD,
        acquired_at=request.now,
        renewed_at=request.now,
        ttl_s=request.ttl_s,
        mode=request.mode,
        branch=request.branch,
        pr=request.pr,
        phase=request.phase,
        prev=before.sha if before else "",
    )


def replacing_lease(issue: int, request: LeaseRequest, nonce: str, before: str) -> Lease:
    """Return a released lease that follows a commit which cannot be read; the nonce tells it from all before."""
    first = acquired_lease(issue, request, nonce, None)
    return first.model_copy(update={"state": LeaseState.RELEASED, "prev": before})


def renewed_lease(before: Tip, change: LeaseChange) -> Lease:
    """Return a lease that runs anew from now; a clock that was set back a little does not shorten it."""
    lease = before.lease
    named = {"branch": change.branch, "pr": change.pr, "phase": change.phase, "mode": change.mode}
    said: dict[str, object] = {name: value for name, value in named.items() if value is not None}
    if change.session is not None:
        # Built anew and not copied, like the lease itself.
        said["holder"] = Holder.model_validate(lease.holder.model_dump() | {"session": change.session})
    return _next(before, said | _at(lease, change.now))


def ended_lease(before: Tip, state: LeaseState, now: datetime) -> Lease:
    """Return a lease that its holder has given back, or whose work is done."""
    return _next(before, {"state": state} | _at(before.lease, now))


def _at(lease: Lease, now: datetime) -> dict[str, object]:
    """Return the times of a lease that changes now, without those of a clock that was far ahead."""
    renewed_at = max(now, heard_of_at(lease.renewed_at, now))
    return {"renewed_at": renewed_at, "acquired_at": min(lease.acquired_at, renewed_at)}


def parent_of_renewal(before: Tip) -> str:
    """Return the commit a renewal continues: the one that began the holding.

    A renewal replaces the one before it, so the chain grows with holders and not with time.
    """
    return before.lease.began or before.sha


def _next(before: Tip, changes: dict[str, object]) -> Lease:
    steps = {"prev": before.sha, "began": parent_of_renewal(before), "serial": following(before.lease.serial)}
    # Not copied, so that every value is checked.
    fields = {name: getattr(before.lease, name) for name in Lease.model_fields}
    return Lease.model_validate(fields | before.lease.model_extra | changes | steps)


def parse(content: bytes, *, issue: int) -> Lease:
    """Turn the bytes of a claim into a lease of that issue, or say why they cannot be used."""
    if len(content) > LARGEST:
        raise BadLease(f"The claim of #{issue} cannot be read: {FILE_NAME} is larger than {LARGEST} bytes.")
    try:
        lease = Lease.model_validate_json(content)
    except Refused as error:
        _refuse_newer(content, issue)
        problem = error.details[0]
        field = ".".join(str(part) for part in problem["loc"]) or FILE_NAME
        raise BadLease(f"The claim of #{issue} cannot be read: {field}: {problem['msg']}.") from error
    if lease.issue != issue:
        raise BadLease(f"The claim of #{issue} speaks of #{lease.issue}.")
    return lease


def _refuse_newer(content: bytes, issue: int) -> None:
    try:
        version = json.loads(content)["schema_version"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return
    if isinstance(version, int) and SCHEMA_VERSION < version <= LARGEST_NUMBER:
        message = f"The claim of #{issue} has schema_version {version}; this agent-sync knows {SCHEMA_VERSION}."
        raise LeaseTooNew(message, helps="pipx upgrade agent-sync-github")
