"""Counts the tries at a task: three, and then a human is asked."""

from collections.abc import Sequence
from datetime import datetime

from agent_sync.task.claim.model import following
from agent_sync.work.hook.model import MOST_ATTEMPTS, Attempt, AttemptEnding, HookError


def tries_at(attempts: Sequence[Attempt], task: str) -> tuple[Attempt, ...]:
    """Return the tries at one task, oldest first."""
    return tuple(sorted((one for one in attempts if one.task_id == task), key=lambda one: one.number))


def is_running(attempts: Sequence[Attempt], task: str) -> bool:
    """Tell whether a try at a task has not ended."""
    return any(one.outcome is AttemptEnding.RUNNING for one in tries_at(attempts, task))


def with_new_attempt(attempts: Sequence[Attempt], task: str, now: datetime) -> tuple[Attempt, ...]:
    """Return the tries with a new one begun; one that still runs was given up."""
    closed = with_ended_attempt(attempts, task, AttemptEnding.ABANDONED, now)
    number = following(max((one.number for one in tries_at(closed, task)), default=0))
    return (*closed, Attempt(task_id=task, number=number, started=now))


def with_ended_attempt(
    attempts: Sequence[Attempt], task: str, outcome: AttemptEnding, now: datetime, error: HookError | None = None
) -> tuple[Attempt, ...]:
    """Return the tries with the running one ended."""
    changes = {"ended": now, "outcome": outcome, "error": error}
    return tuple(
        one.model_copy(update=changes) if one.task_id == task and one.outcome is AttemptEnding.RUNNING else one
        for one in attempts
    )


def lost_tries(attempts: Sequence[Attempt], task: str) -> tuple[Attempt, ...]:
    """Return the tries that came to nothing."""
    return tuple(
        one for one in tries_at(attempts, task) if one.outcome in {AttemptEnding.FAILED, AttemptEnding.ABANDONED}
    )


def reason_to_escalate(attempts: Sequence[Attempt], task: str) -> str:
    """Return why a human must look before the task is tried again; empty where it simply may be."""
    lost = lost_tries(attempts, task)
    if len(lost) >= MOST_ATTEMPTS:
        return f"{len(lost)} attempts have failed"
    fatal = [one for one in lost if one.error and not one.error.recoverable]
    return f"it failed for good ({fatal[-1].error.code})" if fatal and fatal[-1].error else ""


def merged_attempts(chains: Sequence[Sequence[Attempt]], task: str) -> tuple[Attempt, ...]:
    """Return every try at a task that any hook has seen, each once, in the order they began."""
    newest: dict[datetime, Attempt] = {}
    for one in (attempt for chain in chains for attempt in chain if attempt.task_id == task):
        known = newest.get(one.started)
        if known is None or known.outcome is AttemptEnding.RUNNING:
            newest[one.started] = one
    ordered = sorted(newest.values(), key=lambda one: one.started)
    return tuple(one.model_copy(update={"number": place}) for place, one in enumerate(ordered, start=1))
