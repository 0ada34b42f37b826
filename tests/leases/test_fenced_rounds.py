"""The loop with a lease: what is written while it is held, and what is not once it is lost."""

from datetime import UTC, datetime

import pytest
from support.claims import claim
from support.github import pull

from agent_sync.errors import LeaseUnsettled
from agent_sync.events.parts.lease import start_due_renewal
from agent_sync.events.parts.renewals import renew_due
from agent_sync.leases.claim_refs import transport_at
from agent_sync.leases.fence import lease_note, push_or_refuse
from agent_sync.leases.identity import holder_here
from agent_sync.leases.keeper import LeaseKeeper
from agent_sync.leases.model import proof_of
from agent_sync.leases.refs.values import Where
from agent_sync.leases.results import LeaseChange, LeaseRequest
from agent_sync.system import clock
from agent_sync.task.claim.phases import Phase
from agent_sync.task.decision.facts import PullState, Trigger

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


class Holding:
    """A workshop whose claim has a lease in the clone."""

    def __init__(self, workshop):
        self.workshop = workshop
        context = workshop.context
        self.keeper = LeaseKeeper(transport_at(Where.CLONE, context.git, "origin"), context.place)
        self.request = LeaseRequest(holder_here(context.place, agent="ann"), NOW, 3600.0)
        self.tip = self.keeper.acquire(42, self.request).tip
        self.keeper.confirm(proof_of(self.tip.lease))

    def hold(self, phase, **fields):
        """Write the claim with its lease."""
        self.workshop.hold(claim(phase, lease=lease_note(self.tip).model_dump(), **fields))

    def take(self):
        """Write the claim with its lease as a command of ours does."""
        context = self.workshop.context
        with context.store.locked() as token:
            context.store.create(token, claim(Phase.CODING, lease=lease_note(self.tip).model_dump()))

    def end(self):
        """Give the lease back."""
        self.keeper.release(proof_of(self.tip.lease), LeaseChange(NOW))

    def finish(self):
        """Mark the work as done."""
        self.keeper.finish(proof_of(self.tip.lease), LeaseChange(NOW))

    def lose(self):
        """Let somebody else have the issue."""
        self.end()
        self.keeper.acquire(42, self.request)


@pytest.fixture
def holding(workshop):
    """Set up a claim with a lease."""
    return Holding(workshop)


WRITES = {
    "open": ({"phase": Phase.READY_FOR_PR}, "open_pull"),
    "card": ({"phase": Phase.CODING, "status": "In Review"}, "move_card"),
    "close": ({"phase": Phase.DONE, "pr_number": 107}, "close_task"),
}


@pytest.mark.parametrize(("fields", "call"), WRITES.values(), ids=WRITES)
def test_whoever_holds_the_lease_writes(holding, fields, call):
    """With the lease in hand everything goes on as without one."""
    holding.workshop.github.pulls.append(pull(state=PullState.MERGED)) if call == "close_task" else None
    holding.hold(**fields)
    holding.workshop.drive()
    assert call in holding.workshop.github.calls


@pytest.mark.parametrize(("fields", "call"), WRITES.values(), ids=WRITES)
def test_whoever_has_lost_it_writes_never_again(holding, fields, call):
    """A lost lease is found before the write, recorded, said once per session, and asked for no more."""
    workshop = holding.workshop
    workshop.github.pulls.append(pull(state=PullState.MERGED)) if call == "close_task" else None
    holding.hold(**fields)
    holding.lose()
    workshop.drive()
    assert call not in workshop.github.calls
    assert workshop.claim.lease.lost_to.startswith('"ann/')
    assert len(workshop.said) == 1
    assert "Stop working on it" in workshop.said[0]
    workshop.github.calls.clear()
    assert not workshop.drive(Trigger.IDLE).was_idle
    assert (workshop.github.calls, len(workshop.said)) == ([], 1)
    workshop.drive(Trigger.PROMPT, session_id="s2")
    assert (workshop.github.calls, len(workshop.said)) == ([], 2)


def test_own_ended_lease_is_still_ours(holding):
    """After a crash between the end of the lease and that of the claim file, the next event cleans up."""
    workshop = holding.workshop
    workshop.github.pulls.append(pull(state=PullState.MERGED))
    workshop.github.issue_open = False
    holding.hold(Phase.DONE, pr_number=107)
    holding.finish()
    workshop.drive()
    assert workshop.claim is None


@pytest.mark.parametrize(("fields", "call"), WRITES.values(), ids=WRITES)
def test_lease_that_was_given_back_writes_nothing(holding, fields, call):
    """After a crash between giving the lease back and deleting the file, the issue is free: nothing is written for it."""
    workshop = holding.workshop
    workshop.github.pulls.append(pull(state=PullState.MERGED)) if call == "close_task" else None
    holding.hold(**fields)
    holding.end()
    workshop.drive()
    assert call not in workshop.github.calls
    assert "who released it" in workshop.said[0]


@pytest.mark.parametrize("end", [Holding.end, Holding.finish], ids=["given back", "done"])
def test_renewal_of_an_ended_lease_is_no_loss(holding, end):
    """A renewal that comes after our own release or close says nothing: nobody has taken anything from us."""
    workshop = holding.workshop
    holding.take()
    end(holding)
    renew_due(workshop.context, session_id="s1")
    assert (workshop.said, workshop.claim.lease.lost_to) == ([], "")


def test_renewal_that_finds_a_loss_says_so(holding):
    """What was taken from us is recorded and told."""
    workshop = holding.workshop
    holding.take()
    holding.lose()
    renew_due(workshop.context, session_id="s1")
    assert workshop.claim.lease.lost_to.startswith('"ann/')
    assert "Stop working on it" in workshop.said[0]


def ref_of(workshop):
    """Return where the claim ref is."""
    return workshop.context.git.ask("rev-parse", "refs/agentsync/claims/42").stdout


def test_renewal_of_a_lease_that_only_the_claim_file_names_does_nothing(holding):
    """A claim file can name any lease: without our own copy of it, or an intent, no renewal is due and none is done."""
    workshop = holding.workshop
    holding.hold(Phase.CODING)
    before = ref_of(workshop)
    looked = start_due_renewal(workshop.context, session_id="s1")
    renew_due(workshop.context, session_id="s1")
    assert (looked.was_idle, ref_of(workshop), workshop.said) == (True, before, [])
    assert looked.due > clock.now()
    assert not (workshop.context.store.file.parent / ".git" / "agentsync" / "renewal.tried").exists()


def test_renewal_of_a_lease_whose_getting_was_cut_off(holding):
    """A lease that this worktree was about to note when it was killed is its own, and is renewed."""
    workshop = holding.workshop
    holding.lose()
    seen = holding.keeper.read(42)
    workshop.hold(claim(Phase.CODING, lease=lease_note(seen).model_dump()))
    before = ref_of(workshop)
    renew_due(workshop.context, session_id="s1")
    assert ref_of(workshop) != before


def test_vanished_ref_keeps_writes_back(holding):
    """A ref that is gone says nothing: no write, a notice, and the claim stays."""
    workshop = holding.workshop
    holding.hold(Phase.READY_FOR_PR)
    workshop.context.git.ask("update-ref", "-d", "refs/agentsync/claims/42")
    workshop.drive()
    assert "open_pull" not in workshop.github.calls
    assert "so nothing was written" in workshop.said[0]
    assert "`agent-sync release --force`" in workshop.said[0]
    assert workshop.claim.lease.lost_to == ""
    with pytest.raises(LeaseUnsettled, match="gone from this clone: run `agent-sync release --force`"):
        push_or_refuse(workshop.context, workshop.claim, "work", "0" * 40)


def test_closing_ends_the_lease_before_the_file_goes(holding):
    """When the claim file is gone the ref says that the work is done."""
    workshop = holding.workshop
    workshop.github.pulls.append(pull(state=PullState.MERGED))
    holding.hold(Phase.DONE, pr_number=107)
    workshop.drive()
    assert workshop.claim is None
    assert holding.keeper.read(42).lease.state == "done"
