"""What a worker does with what hangs on its hook."""

import itertools

import pytest

from agent_sync.work.hook.states import WorkState
from agent_sync.work.take_decision import RUNS, HookUnread, LeaseSeen, TakeVerdict, WorktreeHolds, take_decision

NONE, SOME = False, True
ROWS = [
    # The crash table.
    ("PENDING", WorkState.PENDING, LeaseSeen.WAITING, NONE, WorktreeHolds.FREE, TakeVerdict.START),
    (
        "IN_PROGRESS with a partial result",
        WorkState.IN_PROGRESS,
        LeaseSeen.MINE,
        SOME,
        WorktreeHolds.SAME,
        TakeVerdict.RESUME,
    ),
    (
        "IN_PROGRESS without a partial result",
        WorkState.IN_PROGRESS,
        LeaseSeen.MINE,
        NONE,
        WorktreeHolds.SAME,
        TakeVerdict.RESTART,
    ),
    ("COMPLETE", WorkState.COMPLETE, LeaseSeen.MINE, NONE, WorktreeHolds.SAME, TakeVerdict.WAIT),
    ("FAILED", WorkState.FAILED, LeaseSeen.MISSING, NONE, WorktreeHolds.FREE, TakeVerdict.WAIT),
    # What it leaves open.
    ("no hook", HookUnread.MISSING, LeaseSeen.MISSING, NONE, WorktreeHolds.FREE, TakeVerdict.WAIT),
    ("EMPTY", WorkState.EMPTY, LeaseSeen.MISSING, NONE, WorktreeHolds.FREE, TakeVerdict.WAIT),
    ("unreadable", HookUnread.UNREADABLE, LeaseSeen.UNKNOWN, NONE, WorktreeHolds.FREE, TakeVerdict.REPORT_DAMAGED),
    ("HANDED_OFF", WorkState.HANDED_OFF, LeaseSeen.WAITING, SOME, WorktreeHolds.FREE, TakeVerdict.RESUME),
    ("HANDED_OFF here", WorkState.HANDED_OFF, LeaseSeen.MINE, SOME, WorktreeHolds.SAME, TakeVerdict.RESUME),
    ("BLOCKED", WorkState.BLOCKED, LeaseSeen.WAITING, NONE, WorktreeHolds.FREE, TakeVerdict.WAIT),
    ("CANCELLED", WorkState.CANCELLED, LeaseSeen.MISSING, NONE, WorktreeHolds.FREE, TakeVerdict.WAIT),
    ("slung from here", WorkState.PENDING, LeaseSeen.MINE, NONE, WorktreeHolds.FREE, TakeVerdict.START),
    (
        "PENDING, another issue here",
        WorkState.PENDING,
        LeaseSeen.WAITING,
        NONE,
        WorktreeHolds.OTHER,
        TakeVerdict.FINISH_FIRST,
    ),
    ("IN_PROGRESS elsewhere", WorkState.IN_PROGRESS, LeaseSeen.ELSEWHERE, SOME, WorktreeHolds.FREE, TakeVerdict.WAIT),
    ("IN_PROGRESS, expired", WorkState.IN_PROGRESS, LeaseSeen.EXPIRED, SOME, WorktreeHolds.FREE, TakeVerdict.RESUME),
    (
        "IN_PROGRESS, expired, nothing saved",
        WorkState.IN_PROGRESS,
        LeaseSeen.EXPIRED,
        NONE,
        WorktreeHolds.FREE,
        TakeVerdict.RESTART,
    ),
    (
        "IN_PROGRESS, expired, another issue here",
        WorkState.IN_PROGRESS,
        LeaseSeen.EXPIRED,
        SOME,
        WorktreeHolds.OTHER,
        TakeVerdict.FINISH_FIRST,
    ),
    ("PENDING with commits", WorkState.PENDING, LeaseSeen.WAITING, SOME, WorktreeHolds.FREE, TakeVerdict.RESUME),
    ("IN_PROGRESS, lost", WorkState.IN_PROGRESS, LeaseSeen.LOST, SOME, WorktreeHolds.SAME, TakeVerdict.REPORT_ORPHANED),
    (
        "PENDING without a claim",
        WorkState.PENDING,
        LeaseSeen.MISSING,
        NONE,
        WorktreeHolds.FREE,
        TakeVerdict.REPORT_ORPHANED,
    ),
    ("claim not to be read", WorkState.PENDING, LeaseSeen.UNKNOWN, NONE, WorktreeHolds.FREE, TakeVerdict.WAIT),
]


@pytest.mark.parametrize(
    ("state", "lease", "partial", "worktree", "wanted"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS]
)
def test_verdict(state, lease, partial, worktree, wanted):
    """Each situation has one verdict."""
    assert take_decision(state, lease, has_partial=partial, worktree=worktree).verdict is wanted


def test_nothing_runs_without_the_claim():
    """No combination makes a session work on what is not, or not surely, its own; what has expired is taken over."""
    everything = itertools.product([*WorkState, *HookUnread], LeaseSeen, (NONE, SOME), WorktreeHolds)
    for state, lease, partial, worktree in everything:
        found = take_decision(state, lease, has_partial=partial, worktree=worktree)
        assert found.reason
        if found.verdict in RUNS:
            assert lease in {LeaseSeen.MINE, LeaseSeen.WAITING, LeaseSeen.EXPIRED}
            assert found.is_take_over is (lease is LeaseSeen.EXPIRED)
            assert worktree is not WorktreeHolds.OTHER
