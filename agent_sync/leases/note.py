"""Turns a lease into what the claim file remembers of it, and back into a proof."""

from collections.abc import Mapping
from datetime import datetime

from agent_sync.context import Context
from agent_sync.leases import rules
from agent_sync.leases.keeper import CloneKeeper, RemoteKeeper, keeper_for
from agent_sync.leases.model import Mine, Mode, Tip, Where
from agent_sync.leases.refs.intents import pending_here
from agent_sync.leases.results import Change
from agent_sync.system import clock
from agent_sync.system.git import NETWORK_LIMIT
from agent_sync.task.claim.model import Claim, LeaseNote


def noted(tip: Tip) -> LeaseNote:
    """Return what a claim remembers of the lease it has."""
    lease = tip.lease
    return LeaseNote(
        where=tip.where.value,
        epoch=lease.epoch,
        nonce=lease.nonce,
        sha=tip.sha,
        renewed_at=lease.renewed_at,
        ttl_s=lease.ttl_s,
        mode=lease.mode.value,
    )


def mine_in(claim: Claim, lease: LeaseNote) -> Mine:
    """Return what proves that a claim's lease is its own."""
    return Mine(claim.issue_number, lease.epoch, lease.nonce)


def mode_here(environment: Mapping[str, str]) -> Mode:
    """Return whether a claim made now expires: a session's hooks renew it, a person at a terminal does not."""
    return Mode.AUTO if environment.get("CLAUDECODE") == "1" else Mode.MANUAL


def change_of(claim: Claim, *, session: str = "") -> Change:
    """Return what a renewal tells others of the claim as it is now."""
    return Change(
        clock.now(),
        branch=claim.branch or None,
        pr=claim.pr_number,
        phase=claim.phase.value,
        session=session or None,
    )


def keeper_of(context: Context, lease: LeaseNote, *, limit_s: float = NETWORK_LIMIT) -> RemoteKeeper | CloneKeeper:
    """Return whoever keeps a lease that was got earlier."""
    if Where(lease.where) is Where.REMOTE:
        return RemoteKeeper(context.git, context.place, context.settings.git.remote, limit_s=limit_s)
    return keeper_for(context.git, context.place, context.settings, clock.now(), where=Where.CLONE)


def is_made_here(context: Context, claim: Claim) -> bool:
    """Tell whether this worktree got the lease of a claim itself; a claim file alone can name any lease."""
    if claim.lease is None:
        return False
    written, pending = context.store.last_written(), pending_here(context.place, claim.issue_number)
    is_same_issue = written is not None and written.issue_number == claim.issue_number
    saved = written.lease.nonce if written and written.lease and is_same_issue else ""
    return claim.lease.nonce in {saved, pending.nonce if pending else ""}


def renewal_due_at(lease: LeaseNote, now: datetime) -> datetime:
    """Return when a lease should be renewed."""
    return rules.renewal_due_at(lease.renewed_at, lease.ttl_s, now)
