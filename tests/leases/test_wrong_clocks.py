"""Leases that a wrong clock has dated: the holder renews at once, and nobody waits for years."""

import time
from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from support.fleet import fleet_in

from agent_sync.cli.fleet.fleet import rows_of
from agent_sync.errors import Refused
from agent_sync.events.parts.lease import start_due_renewal
from agent_sync.fleet.reading import read_fleet as everything
from agent_sync.hook_event import BUSY
from agent_sync.leases.claim_refs import transport_at
from agent_sync.leases.fence import change_of, keeper_of, lease_stop, proof_in, push_or_refuse
from agent_sync.leases.keeper import LeaseKeeper
from agent_sync.leases.refs.values import Where
from agent_sync.leases.results import Won
from agent_sync.leases.words import lease_line
from agent_sync.reconcile.fleet_comparison import FleetRemedy
from agent_sync.reconcile.fleet_repairing import compare_all, repair_all
from agent_sync.system import clock
from agent_sync.task.claiming import Wish, take
from agent_sync.task.decision.claims_seen import ClaimedIssue, ClaimsSeen

AHEAD = datetime(2039, 1, 1, tzinfo=UTC)
SESSION = {"CLAUDECODE": "1"}


@pytest.fixture
def shared(tmp_path):
    """Set up a shared repository."""
    return fleet_in(tmp_path)


@pytest.fixture
def ann(shared):
    """Let Ann claim issue 42 in a session, and push while her clock is years ahead."""
    machine = shared.machine("ann")
    context = machine.context(**SESSION)
    claim = take(context, shared.issues.task(42), Wish()).claim
    with time_machine.travel(AHEAD):
        sha = machine.commit("a.txt")
        push_or_refuse(context, claim, claim.branch, sha)
    assert machine.context().store.read().lease.renewed_at >= AHEAD
    return machine


def lease_of(machine):
    """Return what the claim ref holds, as a machine sees it."""
    context = machine.context()
    return LeaseKeeper(transport_at(Where.REMOTE, context.git, "origin"), context.place).read(42).lease


DATED = "its last renewal is dated 2039-01-01 00:00 UTC, in the future"


def test_others_see_when_a_lease_is_dated(shared, ann):
    """A time years ahead says nothing of when the lease runs out: it is shown as it is, to those who look or want it."""
    bob = shared.machine("bob")
    row = rows_of(everything(bob.context()), clock.now(), allowance_s=60)[0]
    assert (row["expired"], row["expires_at"], row["expiry"]) == (False, None, DATED)
    # As old as the claim itself, which was made a moment ago.
    assert row["age"].endswith(" s")
    with pytest.raises(Refused, match=f"it has not expired.* {DATED}"):
        take(bob.context(**SESSION), shared.issues.task(42), Wish(take_over=True))
    held = ann.context().store.read()
    assert "expires in 1 h" in lease_line(held.lease, lease_stop(ann.context(), held), remote="origin")


@pytest.mark.filterwarnings("ignore:subprocess:ResourceWarning")
def test_holder_renews_at_the_next_event(shared, ann):
    """With the clock right again the renewal is due at once, and leaves no trace of the wrong time."""
    before = clock.now()
    assert start_due_renewal(ann.context(**SESSION), session_id="s") == BUSY
    give_up = time.monotonic() + 30
    while ann.context().store.read().lease.renewed_at >= AHEAD:
        assert time.monotonic() < give_up
        time.sleep(0.1)
    lease = lease_of(shared.machine("bob"))
    assert before <= lease.renewed_at <= clock.now()
    assert lease.acquired_at <= lease.renewed_at
    assert not start_due_renewal(ann.context(**SESSION), session_id="s").due > clock.now() + timedelta(minutes=18)


@pytest.mark.filterwarnings("ignore:subprocess:ResourceWarning")
def test_holder_renews_what_another_has_dated_anew(shared, ann):
    """The renewal of a holder whose lease was put right by somebody else finds it its own, and the next one moves it."""
    shared.issues.claims = lambda _asked: ClaimsSeen("octo", (ClaimedIssue(42, "Fix it", "u", is_open=True),))
    shared.issues.cards = lambda _issues: {}
    janitor = shared.machine("janitor").context()
    (done,) = repair_all(janitor, compare_all(janitor).differences)
    assert (done.difference.remedy, done.is_done) == (FleetRemedy.DATE, True)
    dated = lease_of(ann).renewed_at
    assert dated < AHEAD
    with time_machine.travel(clock.now() + timedelta(minutes=20)):
        context = ann.context(**SESSION)
        claim = context.store.read()
        for _ in range(2):
            outcome = keeper_of(context, claim.lease).renew(proof_in(claim, claim.lease), change_of(claim))
            assert isinstance(outcome, Won)
    assert lease_of(ann).renewed_at > dated + timedelta(minutes=19)


def test_holder_that_is_gone_can_be_followed(shared, ann):
    """A lease that nobody renews runs out one time to live after the first who wanted it, not in years."""
    bob = shared.machine("bob")
    for minutes in (0, 59):
        with time_machine.travel(clock.now() + timedelta(minutes=minutes)), pytest.raises(Refused, match="not expired"):
            take(bob.context(**SESSION), shared.issues.task(42), Wish(take_over=True))
    shared.issues.branch_pull = lambda _branch: None
    with time_machine.travel(clock.now() + timedelta(minutes=62)):
        taken = take(bob.context(**SESSION), shared.issues.task(42), Wish(take_over=True))
    assert taken.claim.lease.epoch == 2
    assert (bob.root / "a.txt").exists()
    assert lease_of(ann).renewed_at < AHEAD
