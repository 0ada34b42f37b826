"""Pushes of a killed run that arrive while the next run is under way."""

import subprocess
from datetime import timedelta
from pathlib import Path

from support.leases import later

from agent_sync.leases import acquire as hold
from agent_sync.leases.claim_refs import transport_at
from agent_sync.leases.identity import holder_here, home_here
from agent_sync.leases.keeper import LeaseKeeper
from agent_sync.leases.model import proof_of
from agent_sync.leases.refs.values import Where
from agent_sync.leases.results import LeaseRequest, NotHeld
from agent_sync.system import clock
from agent_sync.worktree import worktree


def test_own_take_over_that_arrives_late_is_ours(workshop, tmp_path):
    """A take-over of this very worktree that lands between look and swap is no other holder."""
    context = workshop.context
    subprocess.run(["git", "worktree", "add", "-q", "--detach", str(tmp_path / "ann")], cwd=workshop.root, check=True)
    ann = worktree(str(tmp_path / "ann"))
    long_ago = clock.now() - timedelta(days=1)
    judged = _keeper(context, ann).acquire(42, LeaseRequest(holder_here(ann), long_ago, 60.0)).tip
    keeper = _keeper(context, context.place)
    late = keeper.take_over(judged, LeaseRequest(holder_here(context.place), clock.now(), 60.0)).tip
    keeper.confirm(proof_of(late.lease))
    wish = hold.LeaseWish(42, "work", "bob", home_here(context.place), take_over=True)
    got = hold._take_over(context, keeper, wish, judged)
    assert (got.tip.sha, got.tip.lease.nonce, got.is_taken_over) == (late.sha, late.lease.nonce, True)


def _keeper(context, place):
    return LeaseKeeper(transport_at(Where.CLONE, context.git, "origin"), place)


def test_a_settled_intent_that_comes_back_changes_nothing(bare):
    """A power cut may bring back an intent that was settled: nobody loses a claim by it, and nobody is locked out."""
    ann, bob = bare.worker("ann"), bare.worker("bob")
    mine = proof_of(ann.keeper.acquire(7, ann.request()).tip.lease)
    [name] = ann.intents()
    intent = Path(ann.place.shared_dir) / "intents" / name
    content = intent.read_bytes()
    ann.keeper.confirm(mine)
    assert ann.intents() == []
    intent.write_bytes(content)
    assert ann.keeper.renew(mine, later(60)).tip.lease.nonce == mine.nonce
    intent.write_bytes(content)
    ann.keeper.release(mine, later(120))
    theirs = bob.holds(at=180)
    intent.write_bytes(content)
    assert isinstance(ann.keeper.acquire(7, ann.request(at=240)), NotHeld)
    assert bob.keeper.read(7).lease.nonce == theirs.nonce
    bob.keeper.release(theirs, later(300))
    intent.write_bytes(content)
    assert ann.keeper.acquire(7, ann.request(at=360)).tip.lease.holder.worktree == ann.request().holder.worktree
