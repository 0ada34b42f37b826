"""Decides, pure, what is wrong with hooks and claims and what would repair it; each finding has its reason."""

from collections.abc import Iterator
from datetime import datetime
from enum import StrEnum

from agent_sync.lazy_dataclasses import dataclass
from agent_sync.leases.model import LeaseState, Tip
from agent_sync.leases.results import Unreadable
from agent_sync.leases.rules import SLUNG
from agent_sync.task.decision.outside_text import quoted
from agent_sync.work.hook.attempts import lost_tries
from agent_sync.work.hook.model import MOST_ATTEMPTS, WorkHook
from agent_sync.work.hook.names import WorkerName
from agent_sync.work.hook.states import ACTIVE, WorkState
from agent_sync.work.hook.view import HookSeen, WorkView, is_overdue, lease_seen
from agent_sync.work.take_decision import LeaseSeen


class Repair(StrEnum):
    """What a repair does; `tell` leaves it to a human."""

    TELL = "tell"
    CANCEL = "cancel"
    REQUEUE = "requeue"
    GIVE_UP = "give up"
    RESTORE = "restore"
    RELEASE = "release"


REPAIR_TEXTS = {
    Repair.TELL: "a human must look",
    Repair.CANCEL: "take the work off the hook",
    Repair.REQUEUE: "claim the issue again and put the work back on the hook",
    Repair.GIVE_UP: "mark the work as failed and ask a human",
    Repair.RESTORE: "restore the last readable state",
    Repair.RELEASE: "release the claim",
}


@dataclass(frozen=True)
class HookFinding:
    """One thing that is wrong, why, and what would repair it."""

    kind: str
    repair: Repair
    reason: str
    worker: WorkerName | None = None
    issue: int | None = None


def findings(view: WorkView, now: datetime) -> tuple[HookFinding, ...]:
    """Return everything that is wrong, hook by hook, then claim by claim."""
    found = [one for seen in view.hooks.values() for one in _about_hook(view, seen, now)]
    return (*found, *_about_claims(view))


def _about_hook(view: WorkView, seen: HookSeen, now: datetime) -> Iterator[HookFinding]:
    hook = seen.hook
    if hook is None:
        repair = Repair.TELL if seen.is_too_new or seen.is_blocked else Repair.RESTORE
        yield HookFinding("damaged", repair, seen.damage, seen.name)
        return
    for wrong in seen.tampering:
        yield HookFinding("evidence", Repair.TELL, wrong, seen.name, hook.status.issue)
    if is_overdue(hook, now) and hook.task and hook.task.timeout:
        reason = f"{hook.task.id} was due by {hook.task.timeout:%Y-%m-%d %H:%M} UTC"
        yield HookFinding("overdue", Repair.TELL, reason, seen.name, hook.status.issue)
    if hook.state in ACTIVE:
        yield from _about_claim_of(view, seen.name, hook, now)


def _about_claim_of(view: WorkView, name: WorkerName, hook: WorkHook, now: datetime) -> Iterator[HookFinding]:
    issue = hook.status.issue
    match lease_seen(view, hook, worktree="", now=now):
        case LeaseSeen.LOST:
            yield HookFinding("orphaned", Repair.CANCEL, f"somebody else holds issue #{issue}", name, issue)
        case LeaseSeen.MISSING:
            yield _without_claim(view, name, hook)
        case LeaseSeen.EXPIRED:
            yield _expired_claim(view, name, hook)
        case LeaseSeen.UNKNOWN:
            yield HookFinding("unreadable claim", Repair.TELL, f"the claim of #{issue} cannot be read", name, issue)
        case _:
            pass


def _without_claim(view: WorkView, name: WorkerName, hook: WorkHook) -> HookFinding:
    issue = hook.status.issue
    tip = view.claims.get(issue or 0)
    if isinstance(tip, Tip):
        ended = "done" if tip.lease.state is LeaseState.DONE else "given back"
        return HookFinding("orphaned", Repair.CANCEL, f"the claim of #{issue} is {ended}", name, issue)
    if hook.state is WorkState.BLOCKED:
        return HookFinding("orphaned", Repair.CANCEL, f"nobody holds issue #{issue}, and it is blocked", name, issue)
    if hook.state is WorkState.PENDING:
        # It has not begun, so hanging it up once more is a sling like the first.
        return HookFinding(
            "orphaned", Repair.CANCEL, f"nobody holds issue #{issue}, and it was not started", name, issue
        )
    return HookFinding("orphaned", Repair.REQUEUE, f"nobody holds issue #{issue}", name, issue)


def _expired_claim(view: WorkView, name: WorkerName, hook: WorkHook) -> HookFinding:
    issue = hook.status.issue
    tip = view.claims.get(issue or 0)
    pull = tip.lease.pr if isinstance(tip, Tip) else None
    if pull:
        reason = f"the claim of #{issue} has expired, and its PR #{pull} may be open"
        return HookFinding("expired", Repair.TELL, reason, name, issue)
    lost = len(lost_tries(hook.attempts, hook.task.id)) if hook.task else 0
    reason = f"the claim of #{issue} has expired (attempt {lost + 1} of {MOST_ATTEMPTS})"
    repair = Repair.GIVE_UP if lost + 1 >= MOST_ATTEMPTS else Repair.REQUEUE
    return HookFinding("expired", repair, reason, name, issue)


def _about_claims(view: WorkView) -> Iterator[HookFinding]:
    """Find claims that cannot be read, and those made for a hook on which their work does not hang."""
    told = {seen.hook.status.issue for seen in view.hooks.values() if seen.hook and seen.hook.state in ACTIVE}
    for issue, tip in sorted(view.claims.items()):
        if isinstance(tip, Unreadable) and issue not in told:
            yield HookFinding("unreadable claim", Repair.TELL, tip.unknown.reason.rstrip("."), issue=issue)
    hung = {seen.hook.status.nonce for seen in view.hooks.values() if seen.hook}
    # What hangs on a hook that cannot be read may be this very work.
    if any(seen.hook is None for seen in view.hooks.values()):
        return
    for issue, tip in sorted(view.claims.items()):
        if isinstance(tip, Unreadable) or tip.lease.state is not LeaseState.HELD:
            continue
        if tip.lease.phase.startswith(SLUNG) and tip.lease.nonce not in hung:
            reason = f"#{issue} is claimed as {quoted(tip.lease.phase, limit=60)}, but is on no hook"
            yield HookFinding("claim without hook", Repair.RELEASE, reason, issue=issue)
