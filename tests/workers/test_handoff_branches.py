"""The branch of a handoff: the task's own, whatever happens to be checked out."""

import pytest

from agent_sync.errors import BadInput
from agent_sync.workers.handoff import Note, hand_off
from agent_sync.workers.sling import Sling, sling
from agent_sync.workers.take import take

BRANCH = "claude/fix-it-42"


@pytest.mark.parametrize("away", [("main",), ("--detach", "main")], ids=["another branch", "no branch"])
def test_handoff_beside_the_branch_is_refused(fleet, away):
    """With something else checked out nothing is pushed: neither that, nor a handoff without the work."""
    machine = fleet.machine("one")
    sling(machine.desk(), Sling(42, "w1"))
    take(machine.desk(), "w1")
    work = machine.commit("done.txt")
    machine.git("switch", "-q", *away)
    machine.commit("stray.txt")
    before = fleet.refs()
    with pytest.raises(BadInput, match=rf"the work's branch is {BRANCH}.*Do not end the session"):
        hand_off(machine.desk(), "w1", Note())
    assert fleet.refs() == before
    machine.git("switch", "-q", BRANCH)
    assert hand_off(machine.desk(), "w1", Note()).handoff.head_sha == work
    assert (fleet.refs()[f"refs/heads/{BRANCH}"], fleet.refs()["refs/heads/main"]) == (work, before["refs/heads/main"])


def test_branch_that_was_changed_in_the_claim_goes_along(fleet):
    """A claim that was moved to another branch hands that one off, and the next session finds it."""
    one, two = fleet.machine("one"), fleet.machine("two")
    sling(one.desk(), Sling(42, "w1"))
    take(one.desk(), "w1")
    one.git("switch", "-q", "-c", "better-name")
    work = one.commit("done.txt")
    store = one.desk().store
    claim = store.read()
    with store.locked() as token:
        store.save(token, seen=claim, changed=claim.model_copy(update={"branch": "better-name"}))
    hand_off(one.desk(), "w1", Note())
    take(two.desk(), "w1")
    assert (two.git("branch", "--show-current"), two.git("rev-parse", "HEAD")) == ("better-name", work)
