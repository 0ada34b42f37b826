"""What each move makes of a hook, pure: the next value and the message of the commit that carries it."""

from dataclasses import replace
from datetime import datetime

from agent_sync.lazy_dataclasses import dataclass
from agent_sync.work.hook import attempts
from agent_sync.work.hook.evidence import task_hash
from agent_sync.work.hook.model import (
    MOST_ATTEMPTS,
    Attempt,
    AttemptEnding,
    Handoff,
    HookContext,
    HookResult,
    HookStatus,
    HookTask,
    ResultStatus,
    WorkHook,
)
from agent_sync.work.hook.names import WorkerName
from agent_sync.work.hook.states import HookMove, WorkState, state_after


@dataclass(frozen=True)
class Holding:
    """The holding of the claim that a hook's work goes with, and who writes."""

    issue: int
    epoch: int
    nonce: str
    worktree: str
    branch: str
    by: str


@dataclass(frozen=True)
class Moved:
    """A hook after a move, and the commit's message."""

    hook: WorkHook
    message: str


@dataclass(frozen=True)
class Assignment:
    """What is slung: the task, its tools, and what was tried before."""

    task: HookTask
    tools: tuple[str, ...]
    tried: tuple[Attempt, ...] = ()


def after_sling(before: WorkHook | None, work: Assignment, holding: Holding, worker: WorkerName) -> Moved:
    """Hang work on a hook that holds none."""
    task = work.task
    after = state_after(before.state if before else WorkState.EMPTY, HookMove.SLING)
    lost = attempts.lost_tries(work.tried, task.id)
    context = HookContext(
        task_id=task.id, task_hash=task_hash(task), previous_attempts=lost[-MOST_ATTEMPTS:], tools=work.tools
    )
    status = _status(after, holding, task.assigned)
    return Moved(WorkHook(status, task, context, attempts=work.tried), f"Sling {task.id} to {worker}")


def after_start(before: WorkHook, holding: Holding, now: datetime, *, is_resumed: bool) -> Moved:
    """Begin the work, or continue it: after a handoff as the same attempt, after a crash or a failure as a new one."""
    task = _task_of(before)
    status = _status(state_after(before.state, HookMove.START), holding, now)
    is_left = before.state is not WorkState.IN_PROGRESS and attempts.is_running(before.attempts, task.id)
    is_same = is_resumed and is_left
    tried = before.attempts if is_same else attempts.with_new_attempt(before.attempts, task.id, now)
    verb = "Resume" if is_resumed else "Start"
    return Moved(replace(before, status=status, attempts=tried), f"{verb} {task.id}")


def after_handoff(before: WorkHook, handoff: Handoff, holding: Holding) -> Moved:
    """Leave the work for the next session."""
    task = _task_of(before)
    status = _status(state_after(before.state, HookMove.HAND_OFF), holding, handoff.at)
    message = f"Handoff checkpoint\n\n{task.id}, handoff {handoff.count}"
    return Moved(replace(before, status=status, handoff=handoff), message)


def after_result(before: WorkHook, result: HookResult, holding: Holding) -> Moved:
    """Put the result on the hook."""
    task, now = _task_of(before), result.evidence.timestamp
    is_complete = result.status is ResultStatus.COMPLETE
    status = _status(state_after(before.state, HookMove.COMPLETE if is_complete else HookMove.FAIL), holding, now)
    outcome = AttemptEnding.COMPLETE if is_complete else AttemptEnding.FAILED
    tried = attempts.with_ended_attempt(before.attempts, task.id, outcome, now, result.error)
    verb = "Complete" if is_complete else "Fail"
    return Moved(replace(before, status=status, result=result, attempts=tried), f"{verb} {task.id}")


def after_block(before: WorkHook, now: datetime, reason: str) -> Moved:
    """Note that something stands in the way of the work."""
    return _with_reason(before, HookMove.BLOCK, now, reason, f"Block {_task_of(before).id}")


def after_cancel(before: WorkHook, now: datetime, reason: str) -> Moved:
    """Take the work off without a result."""
    task = _task_of(before)
    moved = _with_reason(before, HookMove.CANCEL, now, reason, f"Cancel {task.id}")
    tried = attempts.with_ended_attempt(before.attempts, task.id, AttemptEnding.ABANDONED, now)
    return replace(moved, hook=replace(moved.hook, attempts=tried))


def after_requeue(before: WorkHook, holding: Holding, now: datetime, reason: str) -> Moved:
    """Put work whose worker is gone back on the hook; a handoff stays, so that it can be resumed."""
    task = _task_of(before)
    status = _status(state_after(before.state, HookMove.REQUEUE), holding, now)
    tried = attempts.with_ended_attempt(before.attempts, task.id, AttemptEnding.ABANDONED, now)
    hook = replace(before, status=status.model_copy(update={"reason": reason}), attempts=tried)
    return Moved(hook, f"Requeue {task.id}")


def after_clear(before: WorkHook, now: datetime, by: str) -> Moved:
    """Take what is done off the hook."""
    status = HookStatus(status=state_after(before.state, HookMove.CLEAR), since=now, by=by)
    return Moved(WorkHook(status), f"Clear {_task_of(before).id}")


def restored_state(hook: WorkHook) -> WorkState:
    """Return what a state becomes when it is restored: its session is not, and what blocked it is asked anew."""
    match hook.state:
        case WorkState.IN_PROGRESS:
            return WorkState.PENDING
        case WorkState.BLOCKED:
            return WorkState.HANDED_OFF if hook.handoff else WorkState.PENDING
        case state:
            return state


def after_rollback(wanted: WorkHook, holding: Holding | None, now: datetime, reason: str) -> Moved:
    """Restore an earlier state of a hook; work that waits again goes with a new holding."""
    state, task = restored_state(wanted), wanted.task
    before = wanted.status.model_copy(update={"since": now})
    status = (_status(state, holding, now) if holding else before).model_copy(update={"reason": reason})
    hook = replace(wanted, status=status)
    if task and wanted.state is WorkState.IN_PROGRESS:
        tried = attempts.with_ended_attempt(wanted.attempts, task.id, AttemptEnding.ABANDONED, now)
        hook = replace(hook, attempts=tried)
    return Moved(hook, f"Roll back {task.id if task else 'to an empty hook'}\n\n{reason}")


def _status(state: WorkState, holding: Holding, now: datetime) -> HookStatus:
    return HookStatus(
        status=state,
        since=now,
        issue=holding.issue,
        by=holding.by,
        worktree=holding.worktree,
        branch=holding.branch,
        epoch=holding.epoch,
        nonce=holding.nonce,
    )


def _with_reason(before: WorkHook, move: HookMove, now: datetime, reason: str, message: str) -> Moved:
    changes = {"status": state_after(before.state, move), "since": now, "reason": reason}
    return Moved(replace(before, status=before.status.model_copy(update=changes)), message)


def _task_of(hook: WorkHook) -> HookTask:
    if hook.task is None:
        # The layout lets no such hook in; the table lets none move.
        state_after(WorkState.EMPTY, HookMove.START)
        raise AssertionError
    return hook.task
