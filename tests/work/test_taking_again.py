"""Work that comes back to the worktree it left: the claim file there goes on with the new holding."""

from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

import pytest

from agent_sync.leases.fence import lease_stop, must_hold
from agent_sync.system import clock
from agent_sync.task.decision.actions import LeaseLost, LeftOnHook
from agent_sync.work.handoff import HandoffNote, hand_off
from agent_sync.work.repair import examine, repair
from agent_sync.work.sling import Sling, sling
from agent_sync.work.take import take

SHORT = {"AGENT_SYNC_LEASE_TTL_S": "1", "AGENT_SYNC_LEASE_ALLOWANCE_S": "0"}


def handed_off(machine):
    """Leave the work for the next session."""
    hand_off(machine.context(), "w1", HandoffNote())


@contextmanager
def long_ago():
    """Let what is done now have been done two seconds ago."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(clock, "now", lambda: datetime.now(UTC) - timedelta(seconds=2))
        yield


def put_back(machine):
    """Let the work, which has run out, be put back on the hook, as if its session had died."""
    context = machine.context(**SHORT)
    assert [one.is_done for one in repair(context, examine(context)[1])] == [True]


def test_claim_file_goes_on_with_the_new_holding(fleet):
    """Whoever takes its own work again holds it, although the file there was written for the holding before."""
    machine = fleet.machine("one")
    sling(machine.context(), Sling(42, "w1"))

    def take_long_ago():
        with long_ago():
            return take(machine.context(**SHORT), "w1")

    def check_it_goes_on(leave, *, is_noticed, take_again=lambda: take(machine.context(), "w1")):
        leave(machine)
        if is_noticed:
            claim = machine.context().store.read()
            lost = claim.model_copy(update={"lease": claim.lease.model_copy(update={"lost_to": "w1"})})
            with machine.context().store.locked() as token:
                machine.context().store.save(token, seen=claim, changed=lost)
        begun = take_again()
        assert begun.work.runs
        claim = machine.context().store.read()
        assert (claim.lease.nonce, claim.lease.sha) == (begun.work.tip.lease.nonce, begun.work.tip.sha)
        assert not claim.is_lost
        must_hold(machine.context(), claim, attempted="going on")

    take_long_ago()
    # What is handed off is pushed, and whoever has just pushed is at work: nothing is put back after that.
    check_it_goes_on(put_back, is_noticed=True, take_again=take_long_ago)
    check_it_goes_on(put_back, is_noticed=False)
    check_it_goes_on(handed_off, is_noticed=False)
    check_it_goes_on(handed_off, is_noticed=True)


def test_worktree_that_lost_the_work_stays_out(fleet):
    """Work that another machine resumed is lost here, and its claim file is not touched."""
    one, two = fleet.machine("one"), fleet.machine("two")
    sling(one.context(), Sling(42, "w1"))
    take(one.context(), "w1")
    handed_off(one)
    take(two.context(), "w1")
    claim = one.context().store.read()
    assert lease_stop(one.context(), claim) == LeftOnHook("main/w1")
    assert isinstance(lease_stop(one.context(), claim, looks_again=True), LeaseLost)


def test_taking_what_has_expired_is_a_sign_of_life(fleet):
    """Work that a new session goes on with after a long pause is not put back under its hands."""
    machine = fleet.machine("one")
    sling(machine.context(), Sling(42, "w1"))
    with long_ago():
        first = take(machine.context(**SHORT), "w1").work.tip
    assert [one.kind for one in examine(machine.context(**SHORT))[1]] == ["expired"]
    again = take(machine.context(**SHORT), "w1").work.tip
    assert (again.lease.nonce, again.lease.epoch) == (first.lease.nonce, first.lease.epoch)
    assert again.lease.renewed_at > first.lease.renewed_at
    assert again.sha == fleet.refs()["refs/agentsync/claims/42"]
