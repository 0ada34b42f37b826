"""Decides what a worker does with the work on its hook, from state, lease, partial result and worktree."""

from enum import StrEnum
from typing import assert_never

from agent_sync.lazy_dataclasses import dataclass
from agent_sync.work.hook.states import WorkState


class LeaseSeen(StrEnum):
    """How the claim of the work stands, seen from this worktree."""

    MINE = "mine"
    WAITING = "waiting"  # kept for the worker
    ELSEWHERE = "elsewhere"  # another worktree is at it
    EXPIRED = "expired"  # of another worktree
    LOST = "lost"  # somebody else holds the issue
    MISSING = "missing"
    UNKNOWN = "unknown"


class WorktreeHolds(StrEnum):
    """What this worktree holds."""

    FREE = "free"
    SAME = "same"
    OTHER = "other"


class TakeVerdict(StrEnum):
    """What to do."""

    START = "start"
    RESUME = "resume"
    RESTART = "restart"
    WAIT = "wait"
    FINISH_FIRST = "finish first"
    REPORT_ORPHANED = "report orphaned"
    REPORT_DAMAGED = "report damaged"


class HookUnread(StrEnum):
    """How a hook could be read at all."""

    MISSING = "missing"
    UNREADABLE = "unreadable"


@dataclass(frozen=True)
class TakeDecision:
    """The verdict and its reason."""

    verdict: TakeVerdict
    reason: str
    # The claim of another worktree has expired: the rules of a take-over apply.
    is_take_over: bool = False


# Verdicts that make a session work.
RUNS = frozenset({TakeVerdict.START, TakeVerdict.RESUME, TakeVerdict.RESTART})


def take_decision(
    state: WorkState | HookUnread, lease: LeaseSeen, *, has_partial: bool, worktree: WorktreeHolds
) -> TakeDecision:
    """Return what a worker does now."""
    match state:
        case HookUnread.UNREADABLE:
            return TakeDecision(TakeVerdict.REPORT_DAMAGED, "the hook cannot be read")
        case HookUnread.MISSING | WorkState.EMPTY:
            return TakeDecision(TakeVerdict.WAIT, "nothing is on the hook")
        case WorkState.COMPLETE | WorkState.FAILED | WorkState.CANCELLED:
            return TakeDecision(TakeVerdict.WAIT, f"the work is {state}; the worker is free")
        case WorkState.BLOCKED:
            return TakeDecision(TakeVerdict.WAIT, "the work is blocked")
        case WorkState.PENDING | WorkState.HANDED_OFF | WorkState.IN_PROGRESS:
            return _with_lease(state, lease, has_partial=has_partial, worktree=worktree)


def _with_lease(state: WorkState, lease: LeaseSeen, *, has_partial: bool, worktree: WorktreeHolds) -> TakeDecision:
    match lease:
        case LeaseSeen.UNKNOWN:
            return TakeDecision(TakeVerdict.WAIT, "the claim cannot be read, so the holder is unknown")
        case LeaseSeen.LOST:
            return TakeDecision(TakeVerdict.REPORT_ORPHANED, "somebody else holds the issue")
        case LeaseSeen.MISSING:
            return TakeDecision(TakeVerdict.REPORT_ORPHANED, "nobody holds the issue")
        case LeaseSeen.ELSEWHERE:
            return TakeDecision(TakeVerdict.WAIT, "another worktree is working on it")
        case LeaseSeen.MINE | LeaseSeen.WAITING | LeaseSeen.EXPIRED:
            if worktree is WorktreeHolds.OTHER:
                return TakeDecision(TakeVerdict.FINISH_FIRST, "this worktree holds another issue")
            return _without_hindrance(state, has_partial=has_partial, is_expired=lease is LeaseSeen.EXPIRED)
        case _:
            assert_never(lease)


def _without_hindrance(state: WorkState, *, has_partial: bool, is_expired: bool) -> TakeDecision:
    if state is WorkState.HANDED_OFF:
        return TakeDecision(TakeVerdict.RESUME, "it was handed off", is_expired)
    if state is WorkState.IN_PROGRESS:
        was = "its claim has expired" if is_expired else "it was in progress"
        if has_partial:
            return TakeDecision(TakeVerdict.RESUME, f"{was}, and part of it is done", is_expired)
        return TakeDecision(TakeVerdict.RESTART, f"{was}, and nothing of it was saved", is_expired)
    if has_partial:
        return TakeDecision(TakeVerdict.RESUME, "part of it is done", is_expired)
    return TakeDecision(TakeVerdict.START, "it was not started yet", is_expired)
