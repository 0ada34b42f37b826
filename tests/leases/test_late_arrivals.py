"""Pushes of a killed run that arrive while the next run is under way."""

import subprocess
from datetime import timedelta

from agent_sync.leases import acquire as hold
from agent_sync.leases.claim_refs import transport_at
from agent_sync.leases.identity import holder_here
from agent_sync.leases.keeper import LeaseKeeper
from agent_sync.leases.model import proof_of
from agent_sync.leases.refs.values import Where
from agent_sync.leases.results import LeaseRequest
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
    got = hold._take_over(context, keeper, hold.LeaseWish(42, "work", "bob", take_over=True), judged)
    assert (got.tip.sha, got.tip.lease.nonce, got.is_taken_over) == (late.sha, late.lease.nonce, True)


def _keeper(context, place):
    return LeaseKeeper(transport_at(Where.CLONE, context.git, "origin"), place)
