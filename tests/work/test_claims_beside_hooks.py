"""Plain claims beside work hooks: what is slung to a worker is the worker's, even for whoever has slung it."""

import pytest

from agent_sync.errors import Conflict, Refused
from agent_sync.task.claiming import Wish, take as claim
from agent_sync.work.repair import examine
from agent_sync.work.sling import Sling, sling
from agent_sync.work.take import take


def test_slung_work_cannot_be_claimed_by_its_slinger(fleet):
    """A claim that waits for a worker is not restored in the worktree that slung it: only the hook gives it out."""
    one, two = fleet.machine("one"), fleet.machine("two")
    sling(one.context(), Sling(42, "w1"))
    before = fleet.refs()
    for wish, error in ((Wish(), Conflict), (Wish(take_over=True), Refused)):
        with pytest.raises(error, match='held by "main/w1"'):
            claim(one.context(), fleet.issues.tasks[42], wish)
    assert (one.context().store.read(), fleet.refs(), fleet.issues.claimed) == (None, before, [])
    assert take(two.context(), "w1").work.runs


def test_begun_work_whose_file_was_lost_is_restored(fleet):
    """Work that this worktree has taken is its own; a lost claim file is written anew."""
    one = fleet.machine("one")
    sling(one.context(), Sling(42, "w1"))
    tip = take(one.context(), "w1").work.tip
    (one.root / ".agent-claim.json").unlink()
    fleet.issues.branch_pull = lambda _branch: None
    assert claim(one.context(), fleet.issues.tasks[42], Wish()).claim.lease.nonce == tip.lease.nonce


@pytest.mark.parametrize("is_own", [False, True], ids=["somebody else's", "our own sling"])
def test_what_is_known_to_be_held_is_not_claimed_offline(fleet, is_own):
    """A remote that cannot be reached does not free an issue that this clone has seen held."""
    one, two = fleet.machine("one"), fleet.machine("two")
    sling((one if is_own else two).context(), Sling(42, "w1"))
    examine(one.context())
    one.git("config", "remote.origin.url", f"file://{fleet.home}/gone.git")
    with pytest.raises(Conflict, match='held by "main/w1"'):
        claim(one.context(), fleet.issues.tasks[42], Wish())
    assert (one.context().store.read(), fleet.issues.claimed) == (None, [])
    assert claim(one.context(), fleet.issues.tasks[43], Wish()).claim.lease.where == "clone"
