"""Work hooks to test with."""

from datetime import UTC, datetime, timedelta
from typing import Any

from agent_sync.work.hook import moves
from agent_sync.work.hook.evidence import Standpoint, evidence_of
from agent_sync.work.hook.model import Handoff, HookError, HookResult, HookTask, ResultStatus, WorkHook
from agent_sync.work.hook.moves import Assignment, Holding
from agent_sync.work.hook.names import WorkerName

NOW = datetime(2026, 11, 16, 12, 0, tzinfo=UTC)
WORKER = WorkerName("main", "w1")
TOOLS = ("git", "agent-sync", "file-system")
NONCE = "1" * 32
MINUTE = timedelta(minutes=1)


def task(issue: int = 42, **fields: Any) -> HookTask:
    """Return the task of an issue."""
    values: dict[str, Any] = {
        "id": f"issue-{issue}",
        "type": "code",
        "input": {"issue": issue, "title": "Fix it"},
        "assigned": NOW,
    }
    return HookTask(**(values | fields))


def holding(issue: int = 42, **fields: Any) -> Holding:
    """Return the holding the work goes with."""
    values: dict[str, Any] = {
        "issue": issue,
        "epoch": 1,
        "nonce": NONCE,
        "worktree": "a" * 32,
        "branch": "claude/x-42",
        "by": "tester",
    }
    return Holding(**(values | fields))


def slung(issue: int = 42, **fields: Any) -> WorkHook:
    """Return a hook with work on it that nobody has begun."""
    return moves.after_sling(None, Assignment(task(issue, **fields), TOOLS), holding(issue), WORKER).hook


def started(issue: int = 42, **fields: Any) -> WorkHook:
    """Return a hook whose work is under way."""
    return moves.after_start(slung(issue, **fields), holding(issue), NOW + MINUTE, is_resumed=False).hook


def handed_off(issue: int = 42) -> WorkHook:
    """Return a hook whose work was left for the next session."""
    handoff = Handoff(
        reason="context_limit",
        resume_point="write the test",
        branch="claude/x-42",
        head_sha="b" * 40,
        at=NOW + 2 * MINUTE,
        by="main/w1",
        count=1,
    )
    return moves.after_handoff(started(issue), handoff, holding(issue)).hook


def result(hook: WorkHook, *, fails: bool = False, recoverable: bool = True) -> HookResult:
    """Return a result for a hook's task."""
    assert hook.task
    output: dict[str, Any] | None = None if fails else {"patch": "done"}
    evidence = evidence_of(hook.task, output, NOW + 3 * MINUTE, Standpoint("b" * 40, "c" * 40))
    error = HookError(code="E1", message="it broke", recoverable=recoverable) if fails else None
    status = ResultStatus.FAILED if fails else ResultStatus.COMPLETE
    return HookResult(task_id=hook.task.id, status=status, output=output, error=error, evidence=evidence)


def complete(issue: int = 42) -> WorkHook:
    """Return a hook whose work is done."""
    hook = started(issue)
    return moves.after_result(hook, result(hook), holding(issue)).hook


def failed(issue: int = 42, *, recoverable: bool = True) -> WorkHook:
    """Return a hook whose work has failed."""
    hook = started(issue)
    return moves.after_result(hook, result(hook, fails=True, recoverable=recoverable), holding(issue)).hook
