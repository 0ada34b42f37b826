"""Pushes that are cut off, refused or slow, over HTTP: the verdict comes from the ref."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from itertools import product
from pathlib import Path

from support.leases import git, later

from agent_sync.leases.claim_refs import transport_at
from agent_sync.leases.keeper import LeaseKeeper
from agent_sync.leases.model import proof_of
from agent_sync.leases.refs.values import Where
from agent_sync.leases.results import Doubt, NotHeld, Unknown, Won

CLAIMER = Path(__file__).with_name("claimer.py")
TROUBLE = ["drop_before", "drop_after_apply", "status:502", "delay:0.3", "truncate", "garbage"]


def test_trouble_while_acquiring(github):
    """Whatever happens to the push, whoever is free to have the issue has it, once."""
    ann = github.worker("ann")
    for issue, fault in enumerate(TROUBLE, start=1):
        github.fault(fault)
        won = ann.keeper.acquire(issue, ann.request())
        assert isinstance(won, Won), fault
        assert (won.tip.sha, won.tip.lease.epoch) == (github.tip(issue), 1), fault
        assert len(github.history(issue)) == 1, fault


def test_trouble_while_losing(github):
    """Whatever happens to the push, whoever comes second is told who was first."""
    ann, bob = github.worker("ann"), github.worker("bob")
    for issue, fault in enumerate(("drop_before", "status:502"), start=1):
        mine = ann.holds(issue)
        github.fault(fault)
        lost = bob.keeper.acquire(issue, bob.request())
        assert isinstance(lost, NotHeld), fault
        assert proof_of(lost.tip.lease) == mine, fault


def test_trouble_while_holding(github):
    """A holder's order takes effect once, with the answer lost or the question."""
    ann = github.worker("ann")
    issue = 0
    for fault in ("drop_before", "drop_after_apply"):
        mine, serial = None, 0
        for order in ("renew", "release", "finish"):
            # A renewed lease is still held; any other order needs one anew.
            if mine is None:
                issue, serial = issue + 1, 0
                mine = ann.holds(issue)
            github.fault(fault)
            won = getattr(ann.keeper, order)(mine, later(60 * (serial + 1)))
            serial += 1
            assert isinstance(won, Won), (fault, order)
            assert (won.tip.sha, won.tip.lease.serial) == (github.tip(issue), serial), (fault, order)
            assert ann.intents() == [], (fault, order)
            mine = mine if order == "renew" else None


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


MOMENTS = ("arriving second", "arriving first", "landed")
ORDERS = ("acquire", "take-over", "release")


def test_killed_while_pushing(github):
    """Whoever is killed with its push under way or landed has its wish in the next run, in one epoch."""
    ann, bob = github.worker("ann"), github.worker("bob")
    outcomes = {}
    with _claimers() as begin:
        for issue, (moment, order) in enumerate(product(MOMENTS, ORDERS), start=1):
            if order == "take-over":
                bob.holds(issue)
            mine = ann.holds(issue) if order == "release" else None
            before, intents = github.tip(issue), ann.intents()
            github.fault("delay:1" if moment != "landed" else "drop_after_apply")
            with begin(ann, issue, order):
                if moment == "landed":
                    _wait_until(lambda issue=issue, before=before: github.tip(issue) != before)
                else:
                    _wait_until(lambda intents=intents: ann.intents() != intents)
                    time.sleep(0.4)
            if moment == "arriving first":
                github.fault("delay:1")
            # What the killed one had started goes on: its push may still arrive, before or after the next.
            outcomes[issue, moment, order] = _again(ann, issue, order, mine)
    time.sleep(1)
    for (issue, *case), outcome in outcomes.items():
        assert isinstance(outcome, Won), (case, outcome)
        held = github.lease(github.tip(issue))
        epoch = 2 if "take-over" in case else 1
        assert (held["nonce"], held["epoch"]) == (outcome.tip.lease.nonce, epoch), case
        assert held["state"] == ("released" if "release" in case else "held"), case
        assert held["holder"]["agent"] == "ann", case


def _again(worker, issue, order, mine):
    match order:
        case "acquire":
            return worker.keeper.acquire(issue, worker.request(7300))
        case "take-over":
            return worker.keeper.take_over(worker.keeper.read(issue), worker.request(7300))
        case "release":
            return worker.keeper.release(mine, later())


# Loads once; every line is the arguments of a claimer, which is forked and whose end is told.
CLAIMERS = """
import json, os, sys
import claimer
for line in sys.stdin:
    child = os.fork()
    if child == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        claimer.main(json.loads(line))
        os._exit(0)
    print(child, flush=True)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


@contextmanager
def _claimers():
    """Return a way to start a claimer, which is killed when its block ends."""
    environment = dict(os.environ) | {"PYTHONPATH": os.pathsep.join([str(CLAIMER.parent), *sys.path])}
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", CLAIMERS], stdin=pipe, stdout=pipe, text=True, env=environment) as one:

        @contextmanager
        def begin(worker, issue, order):
            print(json.dumps(["once", str(worker.root), str(issue), order]), file=one.stdin, flush=True)
            claimer = int(one.stdout.readline())
            try:
                yield
            finally:
                os.kill(claimer, signal.SIGKILL)
                assert int(one.stdout.readline()) == -signal.SIGKILL

        yield begin


def _wait_until(is_so):
    give_up = time.monotonic() + 20
    while not is_so():
        assert time.monotonic() < give_up
        time.sleep(0.02)


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
