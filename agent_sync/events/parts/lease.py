"""Renews the lease of a claim when that is due, in a process of its own: no hook waits for a remote."""

import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from agent_sync.context import Context
from agent_sync.hook_event import BUSY, IDLE, EventPart, HookEvent
from agent_sync.leases.intents import pending_here
from agent_sync.leases.rules import is_mine, renewal_due_at
from agent_sync.system import clock, files
from agent_sync.task.claim.model import Claim, LeaseNote
from agent_sync.worktree import RENEWAL_LOCK, RENEWAL_TRIED

if TYPE_CHECKING:
    from agent_sync.leases.results import LeaseOutcome

# A remote in trouble is left alone for this part of the lease's time.
TRIES_PER_TTL = 16
NETWORK_LIMIT = 60.0
LOOK_AGAIN = timedelta(minutes=5)


def part(context: Context, event: HookEvent, _gate: object) -> EventPart:
    """The lease's part in an event: keep it alive."""
    return start_due_renewal(context, session_id=event.session_id)


def start_due_renewal(context: Context, *, session_id: str) -> EventPart:
    """Start a renewal if one is due; otherwise say when."""
    claim = context.store.read()
    if claim is None or claim.lease is None or not claim.may_act:
        return IDLE
    if not _is_made_here(context, claim):
        # Asked again later: a command may be writing down just now that it got the lease.
        return EventPart(was_idle=True, due=clock.now() + LOOK_AGAIN)
    now = clock.now()
    due = max(filter(None, [_renewal_due_at(claim.lease, now), _next_try(context, claim.lease, now)]))
    if now < due:
        return EventPart(was_idle=True, due=due)
    _start(context, session_id)
    return BUSY


def renew(context: Context, *, session_id: str) -> None:
    """Renew the lease, unless another process is at it or has just done it; tell of a loss at the next event."""
    with files.locked_if_free(Path(context.place.state_dir) / RENEWAL_LOCK) as is_alone:
        claim = context.store.read()
        if (
            not is_alone
            or claim is None
            or claim.lease is None
            or not claim.may_act
            or not _is_made_here(context, claim)
        ):
            return
        now = clock.now()
        if now >= _renewal_due_at(claim.lease, now):
            _settle(context, claim, _renewal(context, claim, claim.lease, session_id), session_id)


def _renewal(context: Context, claim: Claim, lease: LeaseNote, session_id: str) -> "LeaseOutcome":
    # An event only starts the process that comes here.
    from agent_sync.leases.fence import change_of, keeper_of, proof_in

    change = change_of(claim, session=session_id)
    return keeper_of(context, lease, limit_s=NETWORK_LIMIT).renew(proof_in(claim, lease), change)


def _settle(context: Context, claim: Claim, outcome: "LeaseOutcome", session_id: str) -> None:
    from agent_sync.leases.fence import lease_note, remember
    from agent_sync.leases.results import NotHeld, Unknown, Won
    from agent_sync.leases.words import held_by
    from agent_sync.task.decision import messages
    from agent_sync.task.decision.actions import BranchPushed, LeaseLost
    from agent_sync.task.decision.evolve import evolve

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


def _is_made_here(context: Context, claim: Claim) -> bool:
    """Tell whether this worktree got the lease of a claim itself; a claim file alone can name any lease."""
    if claim.lease is None:
        return False
    written = context.store.last_written()
    is_same_issue = written is not None and written.issue_number == claim.issue_number
    if written and written.lease and is_same_issue and written.lease.nonce == claim.lease.nonce:
        return True
    pending = pending_here(context.place, claim.issue_number)
    return pending is not None and pending.nonce == claim.lease.nonce


def _renewal_due_at(lease: LeaseNote, now: datetime) -> datetime:
    return renewal_due_at(lease.renewed_at, lease.ttl_s, now)


def _next_try(context: Context, lease: LeaseNote, now: datetime) -> datetime | None:
    """Return when the remote may be tried again after an attempt that has not renewed the lease."""
    try:
        tried = (Path(context.place.state_dir) / RENEWAL_TRIED).stat().st_mtime
        at = datetime.fromtimestamp(tried, tz=UTC)
    except (OSError, ValueError, OverflowError):
        return None
    # One from the future means that the clock was set back.
    return None if at > now else at + timedelta(seconds=lease.ttl_s / TRIES_PER_TTL)


def _start(context: Context, session_id: str) -> None:
    """Start a process that nobody waits for and that outlives the hook."""
    tried = files.state_directory(Path(context.place.state_dir)) / RENEWAL_TRIED
    try:
        tried.touch(files.PRIVATE)
        subprocess.Popen(
            # Without -P the repository's own directory could stand in for this package.
            [sys.executable, "-P", "-m", "agent_sync.events.parts.renewal_process", context.place.root, session_id],
            cwd="/",
            env=dict(context.environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError as error:
        context.log.write(clock.now(), "trouble", error=str(error), what_for="renewing the lease")
