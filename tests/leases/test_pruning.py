"""Refs that nobody needs are deleted by compare-and-swap, over every transport."""

from datetime import timedelta

import pytest
from support.leases import git
from support.work_hooks import NOW

from agent_sync.leases.model import LeaseState
from agent_sync.leases.pruning import DueRef, is_claim_over, prune
from agent_sync.leases.refs.values import CLAIMS, NewCommit, RefUpdate, Where
from agent_sync.leases.results import EndedClaim

SEVEN, EIGHT = f"{CLAIMS}7", f"{CLAIMS}8"
DAY = timedelta(days=1)


def due(ref, sha):
    """Return a ref whose time is over."""
    return DueRef(ref, sha, NOW, "claim")


def test_only_refs_that_have_not_moved_are_deleted(shared):
    """Of two that were judged, the one that somebody has claimed since stays; the other goes, here and there."""
    ann, bob = shared.worker("ann").transport, shared.worker("bob").transport
    first, second = (ann.write(NewCommit(word)) for word in ("First\n", "Second\n"))
    ann.swap([RefUpdate(SEVEN, "", first), RefUpdate(EIGHT, "", first)])
    judged = (due(SEVEN, first), due(EIGHT, first))
    bob.fetch([CLAIMS])
    other = bob.write(NewCommit("Second\n"))
    bob.swap([RefUpdate(SEVEN, first, other)])
    assert [one.ref for one in prune(ann, judged)] == [EIGHT]
    assert git(shared.shared, "for-each-ref", "--format=%(refname)", CLAIMS) == SEVEN
    assert [ref.name for ref in ann.known(CLAIMS)] == [SEVEN]
    assert second


def test_what_is_gone_is_not_deleted_twice(shared):
    """A second run finds nothing to do."""
    ann = shared.worker("ann").transport
    first = ann.write(NewCommit("First\n"))
    ann.swap([RefUpdate(SEVEN, "", first)])
    assert prune(ann, [due(SEVEN, first)]) == (due(SEVEN, first),)
    assert prune(ann, [due(SEVEN, first)]) == ()


@pytest.mark.parametrize(
    ("age", "is_over"),
    [
        (30 * DAY, True),
        (31 * DAY, True),
        (29 * DAY, False),
        # Dated in the future by a wrong clock: it counts as now.
        (-300 * DAY, False),
    ],
)
def test_claims_that_may_go(age, is_over):
    """A claim goes so many days after it ended."""
    ended = EndedClaim(7, "a" * 40, LeaseState.DONE, "e" * 32, NOW - age, Where.REMOTE)
    assert is_claim_over(ended, NOW, 30 * DAY) is is_over
