"""Carries out what `repairs` has found, one atomic change each, and only if it is still so."""

from dataclasses import dataclass
from datetime import datetime
from typing import assert_never

from agent_sync.context import Context
from agent_sync.errors import AgentSyncError, GitFailed
from agent_sync.leases.model import State as LeaseState, Tip
from agent_sync.leases.rules import has_moved
from agent_sync.system import clock
from agent_sync.work.escalation import ask_human
from agent_sync.work.holdings import Wanted, claim_step, ending_step, holding_of, tip_of, waiting_claim
from agent_sync.work.hook import moves
from agent_sync.work.hook.evidence import Standpoint, evidence_of
from agent_sync.work.hook.model import Hook, HookError, HookResult, HookStatus, Outcome
from agent_sync.work.hook.moves import Holding, Moved
from agent_sync.work.hook.orders import Order, Step, carry_out
from agent_sync.work.hook.reading import history, look
from agent_sync.work.hook.shelf import shelf_for
from agent_sync.work.hook.sight import HookSeen, Sight
from agent_sync.work.hook.states import State
from agent_sync.work.repairs import Finding, Mending, findings

EXHAUSTED = "attempts-exhausted"


@dataclass(frozen=True)
class Mended:
    """A finding and what became of it."""

    finding: Finding
    is_done: bool
    trouble: str = ""


def examine(context: Context) -> tuple[Sight, tuple[Finding, ...]]:
    """Return everything as it is now, and what is wrong with it."""
    sight = look(shelf_for(context, clock.now()))
    return sight, findings(sight, clock.now())


def mend(context: Context, found: tuple[Finding, ...]) -> tuple[Mended, ...]:
    """Mend what can be mended; one trouble does not stop the others."""
    return tuple(_mended(context, finding) for finding in found)


def _mended(context: Context, finding: Finding) -> Mended:
    if finding.mending is Mending.TELL:
        return Mended(finding, is_done=False)
    try:
        done = carry_out(context, lambda sight, now: _order(context, sight, finding, now))
        if finding.mending is Mending.GIVE_UP and done.value:
            ask_human(context, done.value)
    except AgentSyncError as error:
        return Mended(finding, is_done=False, trouble=str(error))
    return Mended(finding, is_done=bool(done.shas))


def _order(context: Context, sight: Sight, finding: Finding, now: datetime) -> Order[Hook | None]:
    """Return what mends a finding; nothing where it is no longer so."""
    seen = sight.hooks.get(finding.worker) if finding.worker else None
    if finding not in findings(sight, now):
        return Order(seen.hook if seen else None)
    match finding.mending:
        case Mending.TELL:
            return Order(None)
        case Mending.RELEASE:
            tip = tip_of(sight, finding.issue or 0)
            return Order(None, (ending_step(tip, now),) if tip else ())
        case Mending.RESTORE:
            return _hook_order(seen, _restored(context, seen, now))
        case Mending.CANCEL:
            return _hook_order(seen, moves.cancelled(_hook(seen), now, finding.reason))
        case Mending.GIVE_UP:
            return _hook_order(seen, _given_up(_hook(seen), finding, now))
        case Mending.REQUEUE:
            return _requeued(context, sight, seen, finding, now)
        case _:
            assert_never(finding.mending)


def _hook_order(seen: HookSeen | None, moved: Moved) -> Order[Hook | None]:
    return Order(moved.hook, (Step(seen.name.ref, seen.sha, moved),) if seen else ())


def _requeued(
    context: Context, sight: Sight, seen: HookSeen | None, finding: Finding, now: datetime
) -> Order[Hook | None]:
    """Claim the issue for the hook again, and put the work back, in one change."""
    hook = _hook(seen)
    if seen is None or finding.issue is None:
        return Order(None)
    before = tip_of(sight, finding.issue)
    if before and before.lease.state is LeaseState.HELD:
        _refuse_moved_branch(context, before)
    lease = waiting_claim(context, Wanted(finding.issue, seen.name, hook.status.branch), before, now)
    moved = moves.requeued(hook, holding_of(lease, lease.holder.user), now, finding.reason)
    return Order(moved.hook, (claim_step(finding.issue, lease, before), Step(seen.name.ref, seen.sha, moved)))


def _refuse_moved_branch(context: Context, before: Tip) -> None:
    """Stop where the branch has moved since the claim was last renewed: somebody is at work there."""
    remote, branch = context.settings.git.remote, before.lease.branch
    context.git.try_to_fetch(remote, branch)
    head = context.git.remote_head_of(remote, branch)
    if head and has_moved(context.git.committed_at(head), before.lease, clock.now()):
        message = f"Branch {branch} has moved since the claim was last renewed: someone may be working on it."
        raise GitFailed(message, attempted="putting the work back", helps=f"git log {remote}/{branch}")


def _given_up(hook: Hook, finding: Finding, now: datetime) -> Moved:
    task = hook.task
    assert task is not None  # noqa: S101  # findings about claims are about work
    error = HookError(code=EXHAUSTED, message=finding.reason, recoverable=False)
    evidence = evidence_of(task, None, now, Standpoint())
    result = HookResult(task_id=task.id, status=Outcome.FAILED, error=error, evidence=evidence)
    said = hook.status
    holding = Holding(said.issue or 0, said.epoch, said.nonce, said.worktree, said.branch, "agent-sync")
    return moves.finished(hook, result, holding)


def _restored(context: Context, seen: HookSeen | None, now: datetime) -> Moved:
    """Return the last state of a hook that can be read; an empty one where there is none."""
    readable = [
        entry.hook for entry in history(shelf_for(context, now)) if seen and entry.worker == seen.name and entry.hook
    ]
    if not readable:
        return Moved(Hook(HookStatus(status=State.EMPTY, since=now)), "Restore an empty hook")
    task = readable[-1].task
    return Moved(readable[-1], f"Restore {task.id if task else 'an empty hook'}")


def _hook(seen: HookSeen | None) -> Hook:
    assert seen is not None  # noqa: S101  # a finding about a hook has one
    assert seen.hook is not None  # noqa: S101  # only damage has none, and that is restored
    return seen.hook
