"""Has the lease of a claim renewed when that is due, by a process of its own: no hook waits for a remote."""

import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

from agent_sync.context import Context
from agent_sync.hook_event import BUSY, IDLE, EventPart, HookEvent
from agent_sync.leases.intents import pending_here
from agent_sync.leases.rules import renewal_due_at
from agent_sync.system import clock, files
from agent_sync.task.claim.model import Claim, LeaseNote
from agent_sync.worktree import RENEWAL_TRIED, Place

# A remote in trouble is left alone for this part of the lease's time.
TRIES_PER_TTL = 16
LOOK_AGAIN = timedelta(minutes=5)


def part(context: Context, event: HookEvent, _gate: object) -> EventPart:
    """The lease's part in an event: keep it alive."""
    return start_due_renewal(context, session_id=event.session_id)


def start_due_renewal(context: Context, *, session_id: str) -> EventPart:
    """Start a renewal if one is due; otherwise say when."""
    claim = context.store.read()
    if claim is None or claim.lease is None or not claim.may_act:
        return IDLE
    if not is_made_here(context, claim):
        # Asked again later: a command may be writing down just now that it got the lease.
        return EventPart(was_idle=True, due=clock.now() + LOOK_AGAIN)
    now = clock.now()
    lease = claim.lease
    regular = renewal_due_at(lease.renewed_at, lease.ttl_s, now)
    due = max(filter(None, [regular, _next_try(context, lease, now)]))
    if now < due:
        return EventPart(was_idle=True, due=due)
    _start(context, session_id)
    return BUSY


def is_made_here(context: Context, claim: Claim) -> bool:
    """Tell whether this worktree got the lease of a claim itself; a claim file alone can name any lease."""
    if claim.lease is None:
        return False
    written = context.store.last_written()
    is_same_issue = written is not None and written.issue_number == claim.issue_number
    if written and written.lease and is_same_issue and written.lease.nonce == claim.lease.nonce:
        return True
    pending = pending_here(context.place, claim.issue_number)
    return pending is not None and pending.nonce == claim.lease.nonce


def asked_at(place: Place) -> datetime | None:
    """Return when an event of a worktree last asked for a renewal."""
    try:
        tried = (Path(place.state_dir) / RENEWAL_TRIED).stat().st_mtime
        return datetime.fromtimestamp(tried, tz=UTC)
    except (OSError, ValueError, OverflowError):
        return None


def _next_try(context: Context, lease: LeaseNote, now: datetime) -> datetime | None:
    """Return when the remote may be tried again after an attempt that has not renewed the lease."""
    at = asked_at(context.place)
    # One from the future means that the clock was set back.
    return None if at is None or at > now else at + timedelta(seconds=lease.ttl_s / TRIES_PER_TTL)


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
