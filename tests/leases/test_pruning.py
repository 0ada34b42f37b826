"""Refs that nobody needs are deleted by compare-and-swap, over every transport."""

from datetime import timedelta

import pytest
from support.leases import git
from support.work_hooks import NOW

from agent_sync.leases.model import Holder, Lease, LeaseMode, LeaseState
from agent_sync.leases.pruning import DueRef, is_claim_over, prune
from agent_sync.leases.refs.values import CLAIMS, NewCommit, RefUpdate

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
    ("state", "age", "is_over"),
    [
        (LeaseState.DONE, 30 * DAY, True),
        (LeaseState.RELEASED, 31 * DAY, True),
        (LeaseState.DONE, 29 * DAY, False),
        (LeaseState.HELD, 300 * DAY, False),
        # Dated in the future by a wrong clock: it counts as now.
        (LeaseState.DONE, -300 * DAY, False),
    ],
)
def test_claims_that_may_go(state, age, is_over):
    """A claim goes so many days after it ended, and never while it is held."""
    holder = Holder(host="h", user="u", worktree="w")
    lease = Lease(
        issue=7,
        holder=holder,
        epoch=3,
        nonce="e" * 32,
        state=state,
        acquired_at=NOW - age,
        renewed_at=NOW - age,
        ttl_s=60.0,
        mode=LeaseMode.AUTO,
    )
    assert is_claim_over(lease, NOW, 30 * DAY) is is_over
