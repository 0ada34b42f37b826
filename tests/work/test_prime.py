"""What a worker does with what hangs on its hook."""

import itertools

import pytest

from agent_sync.work.hook.states import State
from agent_sync.work.prime import RUNS, Desktop, LeaseSeen, Read, Verdict, prime

NONE, SOME = False, True
ROWS = [
    # The crash table.
    ("PENDING", State.PENDING, LeaseSeen.WAITING, NONE, Desktop.FREE, Verdict.START),
    ("IN_PROGRESS with a partial result", State.IN_PROGRESS, LeaseSeen.MINE, SOME, Desktop.SAME, Verdict.RESUME),
    ("IN_PROGRESS without a partial result", State.IN_PROGRESS, LeaseSeen.MINE, NONE, Desktop.SAME, Verdict.RESTART),
    ("COMPLETE", State.COMPLETE, LeaseSeen.MINE, NONE, Desktop.SAME, Verdict.WAIT),
    ("FAILED", State.FAILED, LeaseSeen.MISSING, NONE, Desktop.FREE, Verdict.WAIT),
    # What it leaves open.
    ("no hook", Read.MISSING, LeaseSeen.MISSING, NONE, Desktop.FREE, Verdict.WAIT),
    ("EMPTY", State.EMPTY, LeaseSeen.MISSING, NONE, Desktop.FREE, Verdict.WAIT),
    ("unreadable", Read.UNREADABLE, LeaseSeen.UNKNOWN, NONE, Desktop.FREE, Verdict.REPORT_DAMAGED),
    ("HANDED_OFF", State.HANDED_OFF, LeaseSeen.WAITING, SOME, Desktop.FREE, Verdict.RESUME),
    ("HANDED_OFF here", State.HANDED_OFF, LeaseSeen.MINE, SOME, Desktop.SAME, Verdict.RESUME),
    ("BLOCKED", State.BLOCKED, LeaseSeen.WAITING, NONE, Desktop.FREE, Verdict.WAIT),
    ("CANCELLED", State.CANCELLED, LeaseSeen.MISSING, NONE, Desktop.FREE, Verdict.WAIT),
    ("slung from here", State.PENDING, LeaseSeen.MINE, NONE, Desktop.FREE, Verdict.START),
    ("PENDING, another issue here", State.PENDING, LeaseSeen.WAITING, NONE, Desktop.OTHER, Verdict.FINISH_FIRST),
    ("IN_PROGRESS elsewhere", State.IN_PROGRESS, LeaseSeen.ELSEWHERE, SOME, Desktop.FREE, Verdict.WAIT),
    ("IN_PROGRESS, expired", State.IN_PROGRESS, LeaseSeen.EXPIRED, SOME, Desktop.FREE, Verdict.REPORT_ORPHANED),
    ("IN_PROGRESS, lost", State.IN_PROGRESS, LeaseSeen.LOST, SOME, Desktop.SAME, Verdict.REPORT_ORPHANED),
    ("PENDING without a claim", State.PENDING, LeaseSeen.MISSING, NONE, Desktop.FREE, Verdict.REPORT_ORPHANED),
    ("claim not to be read", State.PENDING, LeaseSeen.UNKNOWN, NONE, Desktop.FREE, Verdict.WAIT),
]


@pytest.mark.parametrize(
    ("state", "lease", "partial", "desktop", "wanted"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS]
)
def test_verdict(state, lease, partial, desktop, wanted):
    """Each situation has one verdict."""
    assert prime(state, lease, has_partial=partial, desktop=desktop).verdict is wanted


def test_nothing_runs_without_the_claim():
    """No combination makes a session work on what is not, or not surely, its own."""
    everything = itertools.product([*State, *Read], LeaseSeen, (NONE, SOME), Desktop)
    for state, lease, partial, desktop in everything:
        found = prime(state, lease, has_partial=partial, desktop=desktop)
        assert found.reason
        if found.verdict in RUNS:
            assert lease in {LeaseSeen.MINE, LeaseSeen.WAITING}
            assert desktop is not Desktop.OTHER
