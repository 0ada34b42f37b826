"""Tells which claims of this machine nobody looks after, and what is due for them: pure."""

from datetime import datetime, timedelta

from agent_sync.fleet.seen import FleetSeen, HeldTask, Session, WorktreeSeen
from agent_sync.leases.model import LeaseMode
from agent_sync.leases.rules import renewal_due_at
from agent_sync.task.claim.model import Claim
from agent_sync.task.claim.phases import Phase, WithheldBy
from agent_sync.task.decision.facts import Pull, PullState
from agent_sync.task.decision.feedback.merging import feedback_of, pull_verdict
from agent_sync.task.decision.feedback.reviews import Wake

# What only an agent can put right is not tried again by itself.
_MAY_PASS = frozenset({WithheldBy.GITHUB})


def unattended(seen: FleetSeen) -> tuple[HeldTask, ...]:
    """Return the claims of this machine that may act and that no live session looks after."""
    return tuple(held for held in seen.held if _is_unattended(held))


def _is_unattended(held: HeldTask) -> bool:
    here, lease = held.here, held.lease
    if here is None or here.claim is None or here.session is Session.ALIVE or not here.claim.may_act:
        return False
    note = here.claim.lease
    return note is None or lease is None or note.nonce == lease.nonce


def is_step_due(claim: Claim, pull: Pull | None, *, wake: Wake, remote: str) -> bool:
    """Tell whether the task can be brought on without an agent: the world has moved, or a step was left undone."""
    if claim.phase is Phase.READY_FOR_PR:
        return claim.withheld is None or claim.withheld.by in _MAY_PASS
    if claim.phase is Phase.DONE:
        return claim.withheld is None
    if claim.status and claim.status not in {claim.last_synced_status, claim.refused_status}:
        return True
    return claim.is_pull_open and (pull is None or has_moved(claim, pull, wake=wake, remote=remote))


def has_moved(claim: Claim, pull: Pull, *, wake: Wake, remote: str) -> bool:
    """Tell whether a pull request is no longer as the claim remembers it."""
    if pull.state is not PullState.OPEN or claim.closed_unmerged:
        return not (claim.closed_unmerged and pull.state is PullState.CLOSED)
    found, known = pull_verdict(pull), claim.checks
    if known is None or (known.sha, known.state, known.passed) != (found.sha, found.ci.value, found.passed):
        return True
    return known.failed != found.failed or claim.feedback != feedback_of(pull, wake=wake, remote=remote)


def is_kept_by_neighbours(here: WorktreeSeen, now: datetime, *, asked_at: datetime | None, quiet_s: float) -> bool:
    """Tell whether another worktree's renewal may take this one's lease along, which its own rules must allow.

    Its pull request waits; or its session has asked for it since the last time; or that session lives and has shown
    signs of work. A lease that is kept by nothing else runs out, however busy the neighbours are.
    """
    claim = here.claim
    lease = claim.lease if claim else None
    if claim is None or lease is None or LeaseMode(lease.mode) is not LeaseMode.AUTO or not claim.may_act:
        return False
    is_waiting = claim.phase is not Phase.CODING and claim.pr_number is not None and not claim.closed_unmerged
    has_asked = asked_at is not None and lease.renewed_at < asked_at <= now
    is_at_work = here.last_sign is not None and now - here.last_sign <= timedelta(seconds=quiet_s)
    return is_waiting or has_asked or (here.session is Session.ALIVE and is_at_work)


def is_renewal_due(held: HeldTask, now: datetime) -> bool:
    """Tell whether a lease is to be kept for its holder.

    One of a task that nobody codes on any more is left to run out, so that somebody else can take it.
    """
    claim, lease = held.here.claim if held.here else None, held.lease
    if claim is None or lease is None or lease.mode is not LeaseMode.AUTO or claim.phase is Phase.CODING:
        return False
    return now >= renewal_due_at(lease.renewed_at, lease.ttl_s, now)
