"""Code is pushed under a lease or not at all."""

from support.leases import git, later

from agent_sync.leases.model import proof_of
from agent_sync.leases.results import BranchRefused, Doubt, NotHeld, Unknown, Won


def test_branch_is_pushed_by_the_holder_alone(shared):
    """While the lease is held, branch and renewal land together; whoever has it no longer moves neither."""
    ann, bob = shared.worker("ann"), shared.worker("bob")
    mine, sha = ann.holds(), ann.commit()
    won = ann.keeper.push_branch("work", sha, mine, later())
    assert isinstance(won, Won)
    assert (shared.branch("work"), shared.tip(), won.tip.lease.serial) == (sha, won.tip.sha, 1)
    assert ann.intents() == []
    more = ann.commit("more")
    assert isinstance(ann.keeper.push_branch("work", more, mine, later(120)), Won)
    assert shared.branch("work") == more
    # Whoever lost the lease learns who has it.
    taken = bob.keeper.take_over(bob.keeper.read(7), bob.request(7200))
    lost = ann.keeper.push_branch("other", sha, mine, later())
    assert isinstance(lost, NotHeld)
    assert lost.tip == taken.tip
    assert (shared.branch("other"), shared.tip()) == ("", taken.tip.sha)
    # After a release the branch stays where it is.
    theirs = proof_of(taken.tip.lease)
    assert isinstance(bob.keeper.release(theirs, later(7300)), Won)
    assert isinstance(bob.keeper.push_branch("other", bob.commit(), theirs, later(7300)), NotHeld)
    assert shared.branch("other") == ""


def test_branch_only_moves_forward(shared):
    """A branch that has moved on the remote is not overwritten, and the lease is still the holder's.

    On a remote that takes both in one push, the lease stays where it was.
    """
    ann, bob = shared.worker("ann"), shared.worker("bob")
    mine, before = ann.holds(), shared.tip()
    theirs = bob.commit("theirs")
    git(bob.root, "push", "-q", "origin", f"{theirs}:refs/heads/work")
    refused = ann.keeper.push_branch("work", ann.commit("mine"), mine, later())
    assert isinstance(refused, BranchRefused)
    assert shared.branch("work") == theirs
    assert shared.kind != "http" or shared.tip() == before
    assert isinstance(ann.keeper.renew(mine, later(120)), Won)


def test_lost_answer_or_question_of_a_branch_push(github):
    """A push of both that landed is found to have landed.

    One that never arrived is unknown and not repeated behind the user's hooks.
    """
    ann = github.worker("ann")
    mine, sha = ann.holds(), ann.commit()
    github.fault("drop_after_apply")
    won = ann.keeper.push_branch("work", sha, mine, later())
    assert isinstance(won, Won)
    assert (github.branch("work"), github.tip()) == (sha, won.tip.sha)
    github.fault("drop_before")
    outcome = ann.keeper.push_branch("other", sha, mine, later(120))
    assert isinstance(outcome, Unknown)
    assert (outcome.doubt, github.branch("other")) == (Doubt.UNWRITTEN, "")
    assert isinstance(ann.keeper.push_branch("other", sha, mine, later(120)), Won)


def test_hooks_of_the_user_watch_code_and_not_leases(bare):
    """The user's pre-push hook can keep a branch back; a renewal alone does not wake it."""
    ann = bare.worker("ann")
    mine, sha = ann.holds(), ann.commit()
    hook = ann.root / ".git" / "hooks" / "pre-push"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho not today >&2\nexit 1\n")
    hook.chmod(0o755)
    outcome = ann.keeper.push_branch("work", sha, mine, later())
    assert isinstance(outcome, Unknown)
    assert "not today" in outcome.reason
    assert bare.branch("work") == ""
    assert isinstance(ann.keeper.renew(mine, later(120)), Won)
