"""Decides what a worker does with what hangs on its hook: one table over state, lease, partial result and worktree."""

from dataclasses import dataclass
from enum import StrEnum
from typing import assert_never

from agent_sync.work.hook.states import State


class LeaseSeen(StrEnum):
    """How the claim of the work stands, seen from this worktree."""

    MINE = "mine"
    WAITING = "waiting"  # kept for whoever takes the work
    ELSEWHERE = "elsewhere"  # another worktree is at it
    EXPIRED = "expired"
    LOST = "lost"  # somebody else holds the issue
    MISSING = "missing"
    UNKNOWN = "unknown"


class Desktop(StrEnum):
    """What this worktree holds."""

    FREE = "free"
    SAME = "same"
    OTHER = "other"


class Verdict(StrEnum):
    """What to do."""

    START = "start"
    RESUME = "resume"
    RESTART = "restart"
    WAIT = "wait"
    FINISH_FIRST = "finish first"
    REPORT_ORPHANED = "report orphaned"
    REPORT_DAMAGED = "report damaged"


class Read(StrEnum):
    """How a hook could be read at all."""

    MISSING = "missing"
    UNREADABLE = "unreadable"


@dataclass(frozen=True)
class Prime:
    """The verdict and its reason."""

    verdict: Verdict
    reason: str


# Verdicts that make a session work.
RUNS = frozenset({Verdict.START, Verdict.RESUME, Verdict.RESTART})


def prime(state: State | Read, lease: LeaseSeen, *, has_partial: bool, desktop: Desktop) -> Prime:
    """Return what a worker does now."""
    match state:
        case Read.UNREADABLE:
            return Prime(Verdict.REPORT_DAMAGED, "the hook cannot be read")
        case Read.MISSING | State.EMPTY:
            return Prime(Verdict.WAIT, "nothing is on the hook")
        case State.COMPLETE | State.FAILED | State.CANCELLED:
            return Prime(Verdict.WAIT, f"the work is {state}; the worker is free")
        case State.BLOCKED:
            return Prime(Verdict.WAIT, "the work is blocked")
        case State.PENDING | State.HANDED_OFF | State.IN_PROGRESS:
            return _claimed(state, lease, has_partial=has_partial, desktop=desktop)


def _claimed(state: State, lease: LeaseSeen, *, has_partial: bool, desktop: Desktop) -> Prime:
    match lease:
        case LeaseSeen.UNKNOWN:
            return Prime(Verdict.WAIT, "the claim cannot be read, so the holder is unknown")
        case LeaseSeen.LOST:
            return Prime(Verdict.REPORT_ORPHANED, "somebody else holds the issue")
        case LeaseSeen.MISSING:
            return Prime(Verdict.REPORT_ORPHANED, "nobody holds the issue")
        case LeaseSeen.EXPIRED:
            return Prime(Verdict.REPORT_ORPHANED, "the claim has expired")
        case LeaseSeen.ELSEWHERE:
            return Prime(Verdict.WAIT, "another worktree is working on it")
        case LeaseSeen.MINE | LeaseSeen.WAITING:
            if desktop is Desktop.OTHER:
                return Prime(Verdict.FINISH_FIRST, "this worktree holds another issue")
            return _begun(state, has_partial=has_partial)
        case _:
            assert_never(lease)


def _begun(state: State, *, has_partial: bool) -> Prime:
    if state is State.HANDED_OFF:
        return Prime(Verdict.RESUME, "it was handed off")
    if state is State.IN_PROGRESS:
        if has_partial:
            return Prime(Verdict.RESUME, "it was in progress, and part of it is done")
        return Prime(Verdict.RESTART, "it was in progress, and nothing of it was saved")
    return Prime(Verdict.START, "it was not started yet")
