"""Taking a task whose lease was won already, together with something else."""

from pathlib import Path

from agent_sync.context import context_at
from agent_sync.demo.stage import stage
from agent_sync.leases.claim_refs import transport_at
from agent_sync.leases.identity import holder_here
from agent_sync.leases.keeper import LeaseKeeper
from agent_sync.leases.refs.values import Where
from agent_sync.leases.results import LeaseRequest
from agent_sync.system import clock
from agent_sync.task.claiming import Wish, take
from agent_sync.worktree import worktree


def test_lease_that_is_held_is_used_as_it_is():
    """No second lease is asked for: branch, agent, epoch and nonce are those of the one that was won."""
    with stage() as scenery:
        context = context_at(worktree(str(scenery.root)), scenery.environment)
        keeper = LeaseKeeper(transport_at(Where.REMOTE, context.git, "origin"), context.place)
        holder = holder_here(context.place, agent="pool-worker")
        tip = keeper.acquire(42, LeaseRequest(holder, clock.now(), 3600.0, branch="slung")).tip
        taken = take(context, context.gateway.task(42), Wish(held=tip))
        assert (taken.claim.branch, taken.claim.agent_id, taken.trouble) == ("slung", "pool-worker", "")
        assert (taken.claim.lease.nonce, taken.claim.lease.sha) == (tip.lease.nonce, tip.sha)
        assert keeper.read(42).sha == tip.sha
        assert list(Path(context.place.shared_dir).glob("intents/*.json")) == []
