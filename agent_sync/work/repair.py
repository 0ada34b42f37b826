"""Repairs what `findings` has found, one atomic change each, and only if it is still so."""

from datetime import datetime
from typing import assert_never

from agent_sync.context import Context
from agent_sync.errors import AgentSyncError, GitFailed
from agent_sync.lazy_dataclasses import dataclass
from agent_sync.leases.claim_refs import transport_here
from agent_sync.leases.model import LeaseState, Tip
from agent_sync.system import clock, git_branches
from agent_sync.work.branches import is_branch_at_work
from agent_sync.work.claims import (
    WantedClaim,
    branch_of_work,
    claim_change,
    ending_change,
    holding_of,
    tip_of,
    waiting_claim,
)
from agent_sync.work.escalation import ask_human
from agent_sync.work.findings import HookFinding, Repair, findings
from agent_sync.work.hook import moves
from agent_sync.work.hook.evidence import Standpoint, evidence_of
from agent_sync.work.hook.model import HookError, HookResult, HookStatus, ResultStatus, WorkHook
from agent_sync.work.hook.moves import Holding, Moved
from agent_sync.work.hook.orders import Order, carry_out, hook_change
from agent_sync.work.hook.reading import history, view_here
from agent_sync.work.hook.states import WorkState
from agent_sync.work.hook.view import HookSeen, WorkView

EXHAUSTED = "attempts-exhausted"


@dataclass(frozen=True)
class RepairResult:
    """A finding and what became of it."""

    finding: HookFinding
    is_done: bool
    trouble: str = ""


def examine(context: Context) -> tuple[WorkView, tuple[HookFinding, ...]]:
    """Return everything as it is now, and what is wrong with it."""
    view = view_here(context, all_claims=True)
    return view, findings(view, clock.now())


def repair(context: Context, found: tuple[HookFinding, ...]) -> tuple[RepairResult, ...]:
    """Repair what can be repaired; one trouble does not stop the others."""
    return tuple(_repair_one(context, finding) for finding in found)


def _repair_one(context: Context, finding: HookFinding) -> RepairResult:
    if finding.repair is Repair.TELL:
        return RepairResult(finding, is_done=False)
    try:
        done = carry_out(context, lambda view, now: _order(context, view, finding, now), issue=finding.issue)
        if finding.repair is Repair.GIVE_UP and done.value:
            ask_human(context, done.value)
    except AgentSyncError as error:
        return RepairResult(finding, is_done=False, trouble=str(error))
    return RepairResult(finding, is_done=bool(done.shas))


def _order(context: Context, view: WorkView, finding: HookFinding, now: datetime) -> Order[WorkHook | None]:
    """Return what repairs a finding; nothing where it is no longer so."""
    seen = view.hooks.get(finding.worker) if finding.worker else None
    if finding not in findings(view, now):
        return Order(seen.hook if seen else None)
    match finding.repair:
        case Repair.TELL:
            return Order(None)
        case Repair.RELEASE:
            tip = tip_of(view, finding.issue or 0)
            return Order(None, (ending_change(tip, now),) if tip else ())
        case Repair.RESTORE:
            return _hook_order(seen, now, _last_readable(context, seen, now))
        case Repair.CANCEL:
            return _hook_order(seen, now, moves.after_cancel(_hook(seen), now, finding.reason))
        case Repair.GIVE_UP:
            return _hook_order(seen, now, _after_giving_up(_hook(seen), finding, now))
        case Repair.REQUEUE:
            return _requeue(context, view, seen, finding, now)
        case _:
            assert_never(finding.repair)


def _hook_order(seen: HookSeen | None, now: datetime, moved: Moved) -> Order[WorkHook | None]:
    return Order(moved.hook, (hook_change(seen.name.ref, seen.sha, moved, now),) if seen else ())


def _requeue(
    context: Context, view: WorkView, seen: HookSeen | None, finding: HookFinding, now: datetime
) -> Order[WorkHook | None]:
    """Claim the issue for the hook again, and put the work back, in one change."""
    hook = _hook(seen)
    if seen is None or finding.issue is None:
        return Order(None)
    before = tip_of(view, finding.issue)
    if before and before.lease.state is LeaseState.HELD:
        _refuse_moved_branch(context, before)
    lease = waiting_claim(context, WantedClaim(finding.issue, seen.name, branch_of_work(view, hook)), before, now)
    moved = moves.after_requeue(hook, holding_of(lease, lease.holder.user), now, finding.reason)
    hook_now = hook_change(seen.name.ref, seen.sha, moved, now)
    return Order(moved.hook, (claim_change(finding.issue, lease, before), hook_now))


def _refuse_moved_branch(context: Context, before: Tip) -> None:
    """Stop where the branch has moved since the claim was last renewed: somebody is at work there."""
    remote, branch = context.remotes.push, before.lease.branch
    git_branches.try_to_fetch(context.git, remote, branch)
    if is_branch_at_work(context, before, clock.now()):
        message = f"Branch {branch} has moved since the claim was last renewed: someone may be working on it."
        raise GitFailed(message, attempted="putting the work back", helps=f"git log {remote}/{branch}")


def _after_giving_up(hook: WorkHook, finding: HookFinding, now: datetime) -> Moved:
    task = hook.task
    assert task is not None  # noqa: S101  # findings about claims are about work
    error = HookError(code=EXHAUSTED, message=finding.reason, recoverable=False)
    evidence = evidence_of(task, None, now, Standpoint())
    result = HookResult(task_id=task.id, status=ResultStatus.FAILED, error=error, evidence=evidence)
    said = hook.status
    holding = Holding(said.issue or 0, said.epoch, said.nonce, said.worktree, said.branch, "agent-sync")
    return moves.after_result(hook, result, holding)


def _last_readable(context: Context, seen: HookSeen | None, now: datetime) -> Moved:
    """Return the last state of a hook that can be read; an empty one where there is none."""
    readable = [one.hook for one in history(transport_here(context)) if seen and one.worker == seen.name and one.hook]
    if not readable:
        return Moved(WorkHook(HookStatus(status=WorkState.EMPTY, since=now)), "Restore an empty hook")
    task = readable[-1].task
    return Moved(readable[-1], f"Restore {task.id if task else 'an empty hook'}")


def _hook(seen: HookSeen | None) -> WorkHook:
    assert seen is not None  # noqa: S101  # a finding about a hook has one
    assert seen.hook is not None  # noqa: S101  # only damage has none, and that is restored
    return seen.hook
