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
from agent_sync.leases.fence import lease_stop, push_or_refuse
from agent_sync.leases.keeper import LeaseKeeper
from agent_sync.leases.refs.values import Where
from agent_sync.leases.words import lease_line
from agent_sync.system import clock
from agent_sync.task.claiming import Wish, take

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


def test_others_see_a_lease_that_runs_from_now(shared, ann):
    """Years ahead count as now: an hour is left, whoever asks, and the refusal says so."""
    bob = shared.machine("bob")
    row = rows_of(everything(bob.context()), clock.now(), allowance_s=60)[0]
    assert (row["expired"], row["expiry"]) == (False, "expires in 1 h")
    # As old as the claim itself, which was made a moment ago.
    assert row["age"].endswith(" s")
    year = f"{clock.now():%Y}"
    with pytest.raises(Refused, match=f"it has not expired.* it expires at {year}-"):
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
