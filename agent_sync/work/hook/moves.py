"""What each move makes of a hook, pure: the next value and the message of the commit that carries it."""

from dataclasses import dataclass, replace
from datetime import datetime

from agent_sync.work.hook import attempts
from agent_sync.work.hook.evidence import task_hash
from agent_sync.work.hook.model import (
    MOST_ATTEMPTS,
    Attempt,
    Ending,
    Handoff,
    Hook,
    HookContext,
    HookResult,
    HookStatus,
    HookTask,
    Outcome,
)
from agent_sync.work.hook.names import WorkerName
from agent_sync.work.hook.states import Move, State, state_after


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

    hook: Hook
    message: str


@dataclass(frozen=True)
class Assignment:
    """What is slung: the task, its tools, and what was tried before."""

    task: HookTask
    tools: tuple[str, ...]
    tried: tuple[Attempt, ...] = ()


def slung(before: Hook | None, work: Assignment, holding: Holding, worker: WorkerName) -> Moved:
    """Hang work on a hook that holds none."""
    task = work.task
    after = state_after(before.state if before else State.EMPTY, Move.SLING)
    lost = attempts.lost_tries(work.tried, task.id)
    context = HookContext(
        task_id=task.id, task_hash=task_hash(task), previous_attempts=lost[-MOST_ATTEMPTS:], tools=work.tools
    )
    status = _status(after, holding, task.assigned)
    return Moved(Hook(status, task, context, attempts=work.tried), f"Sling {task.id} to {worker}")


def started(before: Hook, holding: Holding, now: datetime, *, is_resumed: bool) -> Moved:
    """Begin the work, or go on with it: going on is the same attempt, beginning a new one."""
    task = _task_of(before)
    status = _status(state_after(before.state, Move.START), holding, now)
    tried = before.attempts if is_resumed else attempts.begun(before.attempts, task.id, now)
    verb = "Resume" if is_resumed else "Start"
    return Moved(replace(before, status=status, attempts=tried), f"{verb} {task.id}")


def handed_off(before: Hook, handoff: Handoff, holding: Holding) -> Moved:
    """Leave the work for the next session."""
    task = _task_of(before)
    status = _status(state_after(before.state, Move.HAND_OFF), holding, handoff.at)
    message = f"Handoff checkpoint\n\n{task.id}, handoff {handoff.count}"
    return Moved(replace(before, status=status, handoff=handoff), message)


def finished(before: Hook, result: HookResult, holding: Holding) -> Moved:
    """Put the result on the hook."""
    task, now = _task_of(before), result.evidence.timestamp
    is_complete = result.status is Outcome.COMPLETE
    status = _status(state_after(before.state, Move.COMPLETE if is_complete else Move.FAIL), holding, now)
    outcome = Ending.COMPLETE if is_complete else Ending.FAILED
    tried = attempts.ended(before.attempts, task.id, outcome, now, result.error)
    verb = "Complete" if is_complete else "Fail"
    return Moved(replace(before, status=status, result=result, attempts=tried), f"{verb} {task.id}")


def blocked(before: Hook, now: datetime, reason: str) -> Moved:
    """Note that something stands in the way of the work."""
    return _noted(before, Move.BLOCK, now, reason, f"Block {_task_of(before).id}")


def cancelled(before: Hook, now: datetime, reason: str) -> Moved:
    """Take the work off without a result."""
    task = _task_of(before)
    moved = _noted(before, Move.CANCEL, now, reason, f"Cancel {task.id}")
    tried = attempts.ended(before.attempts, task.id, Ending.ABANDONED, now)
    return replace(moved, hook=replace(moved.hook, attempts=tried))


def requeued(before: Hook, holding: Holding, now: datetime, reason: str) -> Moved:
    """Put work whose worker is gone back on the hook; a handoff stays, so that it can be resumed."""
    task = _task_of(before)
    status = _status(state_after(before.state, Move.REQUEUE), holding, now)
    tried = attempts.ended(before.attempts, task.id, Ending.ABANDONED, now)
    hook = replace(before, status=status.model_copy(update={"reason": reason}), attempts=tried)
    return Moved(hook, f"Requeue {task.id}")


def cleared(before: Hook, now: datetime, by: str) -> Moved:
    """Take what is done off the hook."""
    status = HookStatus(status=state_after(before.state, Move.CLEAR), since=now, by=by)
    return Moved(Hook(status), f"Clear {_task_of(before).id}")


def _status(state: State, holding: Holding, now: datetime) -> HookStatus:
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


def _noted(before: Hook, move: Move, now: datetime, reason: str, message: str) -> Moved:
    changes = {"status": state_after(before.state, move), "since": now, "reason": reason}
    return Moved(replace(before, status=before.status.model_copy(update=changes)), message)


def _task_of(hook: Hook) -> HookTask:
    if hook.task is None:
        # The layout lets no such hook in; the table lets none move.
        state_after(State.EMPTY, Move.START)
        raise AssertionError
    return hook.task
