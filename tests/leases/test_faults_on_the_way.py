"""Pushes that are cut off, refused or slow, over HTTP: the verdict comes from the ref."""

import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
from support.leases import git, later

from agent_sync.leases.claim_refs import transport_at
from agent_sync.leases.keeper import LeaseKeeper
from agent_sync.leases.model import proof_of
from agent_sync.leases.refs.values import Where
from agent_sync.leases.results import Doubt, NotHeld, Unknown, Won

CLAIMER = Path(__file__).with_name("claimer.py")
TROUBLE = ["drop_before", "drop_after_apply", "status:502", "delay:0.3", "truncate", "garbage"]


@pytest.mark.parametrize("fault", TROUBLE)
def test_trouble_while_acquiring(github, fault):
    """Whatever happens to the push, whoever is free to have the issue has it, once."""
    ann = github.worker("ann")
    github.fault(fault)
    won = ann.keeper.acquire(7, ann.request())
    assert isinstance(won, Won)
    assert (won.tip.sha, won.tip.lease.epoch) == (github.tip(), 1)
    assert len(github.history()) == 1


@pytest.mark.parametrize("fault", ["drop_before", "status:502"])
def test_trouble_while_losing(github, fault):
    """Whatever happens to the push, whoever comes second is told who was first."""
    ann, bob = github.worker("ann"), github.worker("bob")
    mine = ann.holds()
    github.fault(fault)
    lost = bob.keeper.acquire(7, bob.request())
    assert isinstance(lost, NotHeld)
    assert proof_of(lost.tip.lease) == mine


@pytest.mark.parametrize("order", ["renew", "release", "finish"])
@pytest.mark.parametrize("fault", ["drop_before", "drop_after_apply"])
def test_trouble_while_holding(github, fault, order):
    """A holder's order takes effect once, with the answer lost or the question."""
    ann = github.worker("ann")
    mine = ann.holds()
    github.fault(fault)
    won = getattr(ann.keeper, order)(mine, later())
    assert isinstance(won, Won)
    assert (won.tip.sha, won.tip.lease.serial) == (github.tip(), 1)
    assert ann.intents() == []


def test_lasting_trouble_is_unknown_and_then_forgotten(github):
    """While pushes fail and reads work it is unknown who will have the issue; later the same attempt goes on."""
    ann = github.worker("ann")
    github.fault("status:502", times=100)
    outcome = ann.keeper.acquire(7, ann.request())
    assert isinstance(outcome, Unknown)
    assert (outcome.doubt, outcome.refused, github.tip()) == (Doubt.UNWRITTEN, False, "")
    [intent] = ann.intents()
    github.control("DELETE", "faults")
    won = ann.keeper.acquire(7, ann.request(5))
    assert isinstance(won, Won)
    assert ann.intents() == [intent]


def test_lost_answer_and_no_look(github):
    """A push that landed, whose answer was lost and after which nothing can be read, is unknown now and won later."""
    ann, bob = github.worker("ann"), github.worker("bob")
    github.fault("drop_after_apply")
    github.fault("status:502", times=100, service="git-upload-pack")
    outcome = ann.keeper.acquire(7, ann.request())
    assert isinstance(outcome, Unknown)
    assert outcome.doubt is Doubt.UNREACHABLE
    landed = github.tip()
    github.control("DELETE", "faults")
    assert isinstance(bob.keeper.acquire(7, bob.request()), NotHeld)
    again = ann.keeper.acquire(7, ann.request(60))
    assert isinstance(again, Won)
    assert (again.tip.sha, again.tip.lease.epoch) == (landed, 1)


def test_held_and_unreachable_is_unknown(github):
    """A remote that cannot be read says nothing: not free, not lost."""
    ann = github.worker("ann")
    mine = ann.holds()
    git(ann.root, "remote", "set-url", "origin", "http://127.0.0.1:9/octo/demo.git")
    keeper = ann.keeper
    outcomes = [keeper.renew(mine, later()), keeper.acquire(8, ann.request()), keeper.read(7), keeper.list()]
    assert [(type(one), one.doubt) for one in outcomes] == [(Unknown, Doubt.UNREACHABLE)] * 4


def test_hanging_remote_is_given_up(github):
    """A remote that does not answer within the limit is unreachable, and what was meant is kept."""
    ann = github.worker("ann")
    github.fault("delay:5")
    github.fault("delay:5", service="git-upload-pack")
    outcome = LeaseKeeper(transport_at(Where.REMOTE, ann.git, "origin", limit_s=1), ann.place).acquire(7, ann.request())
    assert isinstance(outcome, Unknown)
    assert len(ann.intents()) == 1


@pytest.mark.parametrize("order", ["acquire", "take-over", "release"])
@pytest.mark.parametrize("moment", ["arriving second", "arriving first", "landed"])
def test_killed_while_pushing(github, order, moment):
    """Whoever is killed with its push under way or landed has its wish in the next run, in one epoch."""
    ann, bob = github.worker("ann"), github.worker("bob")
    mine = ann.holds() if order == "release" else None
    if order == "take-over":
        bob.holds()
    before = github.tip()
    github.fault("delay:1" if moment != "landed" else "drop_after_apply")
    with _claimer(ann, order):
        _wait_until(ann.intents if moment != "landed" else lambda: github.tip() != before)
        time.sleep(0.4 if moment != "landed" else 0)
    if moment == "arriving first":
        github.fault("delay:1")
    # What the killed one had started goes on: its push may still arrive, before or after the next.
    outcome = _again(ann, order, mine)
    assert isinstance(outcome, Won), outcome
    time.sleep(1 if moment != "landed" else 0)
    held = github.lease(github.tip())
    assert (held["nonce"], held["epoch"]) == (outcome.tip.lease.nonce, 2 if order == "take-over" else 1)
    assert held["state"] == ("released" if order == "release" else "held")
    assert held["holder"]["agent"] == "ann"


def _again(worker, order, mine):
    match order:
        case "acquire":
            return worker.keeper.acquire(7, worker.request(7300))
        case "take-over":
            return worker.keeper.take_over(worker.keeper.read(7), worker.request(7300))
        case "release":
            return worker.keeper.release(mine, later())


@contextmanager
def _claimer(worker, order):
    """Start a claimer, and kill it when the block ends."""
    command = [sys.executable, str(CLAIMER), "once", str(worker.root), "7", order]
    process = subprocess.Popen(command, env=dict(os.environ), stdout=subprocess.DEVNULL)
    try:
        yield
    finally:
        process.send_signal(signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL


def _wait_until(is_so):
    give_up = time.monotonic() + 20
    while not is_so():
        assert time.monotonic() < give_up
        time.sleep(0.005)


def test_lost_against_the_same_tip_keeps_the_attempt(github):
    """While a takeover may still arrive, being told of the old holder does not make us forget it."""
    ann, bob = github.worker("ann"), github.worker("bob")
    bob.holds()
    seen = ann.keeper.read(7)
    github.fault("status:502", times=100)
    assert isinstance(ann.keeper.take_over(seen, ann.request(7200)), Unknown)
    github.control("DELETE", "faults")
    [intent] = ann.intents()
    assert isinstance(ann.keeper.acquire(7, ann.request(7201)), NotHeld)
    assert ann.intents() == [intent]
