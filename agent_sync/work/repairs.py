"""Decides, pure, what is wrong with hooks and claims and what would mend it; each finding has its reason."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from agent_sync.leases.model import State as LeaseState, Tip
from agent_sync.leases.results import Unreadable
from agent_sync.leases.rules import SLUNG
from agent_sync.task.decision.outside_text import quoted
from agent_sync.work.hook.attempts import lost_tries
from agent_sync.work.hook.evidence import disagreements
from agent_sync.work.hook.model import MOST_ATTEMPTS, Hook
from agent_sync.work.hook.names import WorkerName
from agent_sync.work.hook.sight import HookSeen, Sight, is_overdue, lease_seen
from agent_sync.work.hook.states import ACTIVE, State
from agent_sync.work.prime import LeaseSeen


class Mending(StrEnum):
    """What a repair does; `tell` leaves it to a human."""

    TELL = "tell"
    CANCEL = "cancel"
    REQUEUE = "requeue"
    GIVE_UP = "give up"
    RESTORE = "restore"
    RELEASE = "release"


SENTENCES = {
    Mending.TELL: "a human must look",
    Mending.CANCEL: "take the work off the hook",
    Mending.REQUEUE: "claim the issue again and put the work back on the hook",
    Mending.GIVE_UP: "mark the work as failed and ask a human",
    Mending.RESTORE: "restore the last readable state",
    Mending.RELEASE: "release the claim",
}


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong, why, and what would mend it."""

    kind: str
    mending: Mending
    reason: str
    worker: WorkerName | None = None
    issue: int | None = None


def findings(sight: Sight, now: datetime) -> tuple[Finding, ...]:
    """Return everything that is wrong, hook by hook, then claim by claim."""
    found = [one for seen in sight.hooks.values() for one in _about_hook(sight, seen, now)]
    return (*found, *_about_claims(sight))


def _about_hook(sight: Sight, seen: HookSeen, now: datetime) -> Iterator[Finding]:
    hook = seen.hook
    if hook is None:
        mending = Mending.TELL if seen.is_too_new or seen.is_blocked else Mending.RESTORE
        yield Finding("damaged", mending, seen.damage, seen.name)
        return
    for wrong in (*disagreements(hook), *(f"{path} does not say what is there" for path in seen.stray)):
        yield Finding("evidence", Mending.TELL, wrong, seen.name, hook.status.issue)
    if is_overdue(hook, now) and hook.task and hook.task.timeout:
        reason = f"{hook.task.id} was due by {hook.task.timeout:%Y-%m-%d %H:%M} UTC"
        yield Finding("overdue", Mending.TELL, reason, seen.name, hook.status.issue)
    if hook.state in ACTIVE:
        yield from _about_claim_of(sight, seen.name, hook, now)


def _about_claim_of(sight: Sight, name: WorkerName, hook: Hook, now: datetime) -> Iterator[Finding]:
    issue = hook.status.issue
    match lease_seen(sight, hook, worktree="", now=now):
        case LeaseSeen.LOST:
            yield Finding("orphaned", Mending.CANCEL, f"somebody else holds issue #{issue}", name, issue)
        case LeaseSeen.MISSING:
            yield _without_claim(sight, name, hook)
        case LeaseSeen.EXPIRED:
            yield _expired(sight, name, hook)
        case LeaseSeen.UNKNOWN:
            yield Finding("unreadable claim", Mending.TELL, f"the claim of #{issue} cannot be read", name, issue)
        case _:
            pass


def _without_claim(sight: Sight, name: WorkerName, hook: Hook) -> Finding:
    issue = hook.status.issue
    tip = sight.claims.get(issue or 0)
    if isinstance(tip, Tip):
        ended = "done" if tip.lease.state is LeaseState.DONE else "given back"
        return Finding("orphaned", Mending.CANCEL, f"the claim of #{issue} is {ended}", name, issue)
    if hook.state is State.BLOCKED:
        return Finding("orphaned", Mending.CANCEL, f"nobody holds issue #{issue}, and it is blocked", name, issue)
    if hook.state is State.PENDING:
        # It has not begun, so hanging it up once more is a sling like the first.
        return Finding("orphaned", Mending.CANCEL, f"nobody holds issue #{issue}, and it was not started", name, issue)
    return Finding("orphaned", Mending.REQUEUE, f"nobody holds issue #{issue}", name, issue)


def _expired(sight: Sight, name: WorkerName, hook: Hook) -> Finding:
    issue = hook.status.issue
    tip = sight.claims.get(issue or 0)
    pull = tip.lease.pr if isinstance(tip, Tip) else None
    if pull:
        reason = f"the claim of #{issue} has expired, and its PR #{pull} may be open"
        return Finding("expired", Mending.TELL, reason, name, issue)
    lost = len(lost_tries(hook.attempts, hook.task.id)) if hook.task else 0
    reason = f"the claim of #{issue} has expired (attempt {lost + 1} of {MOST_ATTEMPTS})"
    mending = Mending.GIVE_UP if lost + 1 >= MOST_ATTEMPTS else Mending.REQUEUE
    return Finding("expired", mending, reason, name, issue)


def _about_claims(sight: Sight) -> Iterator[Finding]:
    """Find claims that cannot be read, and those made for a hook on which their work does not hang."""
    told = {seen.hook.status.issue for seen in sight.hooks.values() if seen.hook and seen.hook.state in ACTIVE}
    for issue, tip in sorted(sight.claims.items()):
        if isinstance(tip, Unreadable) and issue not in told:
            yield Finding("unreadable claim", Mending.TELL, tip.unknown.reason.rstrip("."), issue=issue)
    hung = {seen.hook.status.nonce for seen in sight.hooks.values() if seen.hook}
    # What hangs on a hook that cannot be read may be this very work.
    if any(seen.hook is None for seen in sight.hooks.values()):
        return
    for issue, tip in sorted(sight.claims.items()):
        if isinstance(tip, Unreadable) or tip.lease.state is not LeaseState.HELD:
            continue
        if tip.lease.phase.startswith(SLUNG) and tip.lease.nonce not in hung:
            reason = f"#{issue} is claimed as {quoted(tip.lease.phase, limit=60)}, but is on no hook"
            yield Finding("claim without hook", Mending.RELEASE, reason, issue=issue)
