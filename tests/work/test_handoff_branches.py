"""What a handoff takes along, the task's own branch, and what it leaves: a claim file that is at rest."""

import pytest

from agent_sync.errors import Conflict, WrongState
from agent_sync.events.exchange import parse
from agent_sync.events.parts import recovery
from agent_sync.events.parts.briefing import head_line
from agent_sync.leases.fence import push_or_refuse
from agent_sync.task.decision.facts import Trigger
from agent_sync.task.decision.situations import OnHook
from agent_sync.task.situation_here import situation_here
from agent_sync.work.handoff import HandoffNote, hand_off
from agent_sync.work.sling import Sling, sling
from agent_sync.work.take import take

BRANCH = "claude/fix-it-42"


def test_handoff_beside_the_branch_is_refused(fleet):
    """With something else checked out nothing is pushed: neither that, nor a handoff without the work."""
    machine = fleet.machine("one")
    sling(machine.context(), Sling(42, "w1"))
    take(machine.context(), "w1")
    work = machine.commit("done.txt")
    before = fleet.refs()
    for away in (("main",), ("--detach", "main")):
        machine.git("switch", "-q", *away)
        machine.commit(f"stray{len(away)}.txt")
        with pytest.raises(WrongState, match=rf"the work's branch is {BRANCH}.*Do not end the session"):
            hand_off(machine.context(), "w1", HandoffNote())
        assert fleet.refs() == before, away
    machine.git("switch", "-q", BRANCH)
    assert hand_off(machine.context(), "w1", HandoffNote()).handoff.head_sha == work
    assert (fleet.refs()[f"refs/heads/{BRANCH}"], fleet.refs()["refs/heads/main"]) == (work, before["refs/heads/main"])


def test_branch_that_was_changed_in_the_claim_goes_along(fleet):
    """A claim that was moved to another branch hands that one off, and the next session finds it."""
    one, two = fleet.machine("one"), fleet.machine("two")
    sling(one.context(), Sling(42, "w1"))
    take(one.context(), "w1")
    one.git("switch", "-q", "-c", "better-name")
    work = one.commit("done.txt")
    store = one.context().store
    claim = store.read()
    with store.locked() as token:
        store.save(token, seen=claim, changed=claim.model_copy(update={"branch": "better-name"}))
    hand_off(one.context(), "w1", HandoffNote())
    take(two.context(), "w1")
    assert (two.git("branch", "--show-current"), two.git("rev-parse", "HEAD")) == ("better-name", work)


def test_work_that_was_handed_off_rests_here(fleet):
    """Until it is taken again the old worktree is told to leave the work alone, and pushes and renews nothing."""
    machine = fleet.machine("one")
    sling(machine.context(), Sling(42, "w1"))
    take(machine.context(), "w1")
    before = machine.context().store.read()
    event = parse(Trigger.SESSION_START, b'{"session_id": "s2"}')

    def check_it_rests():
        claim = machine.context().store.read()
        stands = situation_here(machine.context())
        assert (stands, claim.is_lost, claim.may_act) == (OnHook(42, "main/w1"), False, False)
        assert head_line(claim, stands).endswith("`agent-sync worker take` resumes it.")
        assert recovery.part(machine.context(), event, None).agent == ()
        with pytest.raises(Conflict, match="left on the hook of main/w1"):
            push_or_refuse(machine.context(), claim, BRANCH, machine.git("rev-parse", "HEAD"))

    hand_off(machine.context(), "w1", HandoffNote())
    check_it_rests()
    # Killed after the push, the handoff has left the claim as it was.
    machine.context().store.file.write_bytes(before.to_json())
    (machine.root / ".git/agentsync/claim.base.json").write_bytes(before.to_json())
    assert hand_off(machine.context(), "w1", HandoffNote()).is_repeat
    check_it_rests()
    take(machine.context(), "w1")
    assert machine.context().store.read().may_act
    assert "[ATLAS RECOVERY]" in recovery.part(machine.context(), event, None).agent[0]
