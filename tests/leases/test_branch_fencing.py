"""Code is pushed under a lease or not at all."""

from support.leases import git, later

from agent_sync.leases.results import BranchRefused, Doubt, NotHeld, Unknown, Won


def test_holder_pushes_branch_and_lease(shared):
    """While the lease is held, branch and renewal land together."""
    ann = shared.worker("ann")
    mine, sha = ann.holds(), ann.commit()
    won = ann.keeper.push_branch("work", sha, mine, later())
    assert isinstance(won, Won)
    assert (shared.branch("work"), shared.tip(), won.tip.lease.serial) == (sha, won.tip.sha, 1)
    assert ann.intents() == []
    again = ann.keeper.push_branch("work", ann.commit("more"), mine, later(120))
    assert isinstance(again, Won)
    assert shared.branch("work") != sha


def test_dispossessed_worker_pushes_nothing(shared):
    """Whoever lost the lease moves neither the branch nor the claim, and learns who has it."""
    ann, bob = shared.worker("ann"), shared.worker("bob")
    mine, sha = ann.holds(), ann.commit()
    taken = bob.keeper.take_over(bob.keeper.read(7), bob.request(7200))
    lost = ann.keeper.push_branch("work", sha, mine, later())
    assert isinstance(lost, NotHeld)
    assert lost.tip == taken.tip
    assert (shared.branch("work"), shared.tip()) == ("", taken.tip.sha)


def test_whoever_gave_back_pushes_nothing(shared):
    """After a release the branch stays where it is."""
    ann = shared.worker("ann")
    mine, sha = ann.holds(), ann.commit()
    ann.keeper.release(mine, later())
    assert isinstance(ann.keeper.push_branch("work", sha, mine, later()), NotHeld)
    assert shared.branch("work") == ""


def test_branch_only_moves_forward(shared):
    """A branch that has moved on the remote is not overwritten, and the lease is still the holder's."""
    ann, bob = shared.worker("ann"), shared.worker("bob")
    mine, sha = ann.holds(), ann.commit("mine")
    theirs = bob.commit("theirs")
    git(bob.root, "push", "-q", "origin", f"{theirs}:refs/heads/work")
    refused = ann.keeper.push_branch("work", sha, mine, later())
    assert isinstance(refused, BranchRefused)
    assert shared.branch("work") == theirs
    assert isinstance(ann.keeper.renew(mine, later(120)), Won)


def test_branch_and_lease_land_together_or_not_at_all(github):
    """A branch that cannot move forward leaves the remote's lease where it was."""
    ann, bob = github.worker("ann"), github.worker("bob")
    mine, before = ann.holds(), github.tip()
    git(bob.root, "push", "-q", "origin", f"{bob.commit('theirs')}:refs/heads/work")
    assert isinstance(ann.keeper.push_branch("work", ann.commit("mine"), mine, later()), BranchRefused)
    assert github.tip() == before


def test_lost_answer_to_a_branch_push(github):
    """A push of both that landed is found to have landed."""
    ann = github.worker("ann")
    mine, sha = ann.holds(), ann.commit()
    github.fault("drop_after_apply")
    won = ann.keeper.push_branch("work", sha, mine, later())
    assert isinstance(won, Won)
    assert (github.branch("work"), github.tip()) == (sha, won.tip.sha)


def test_lost_question_of_a_branch_push(github):
    """A push of both that never arrived is unknown and not repeated behind the user's hooks."""
    ann = github.worker("ann")
    mine, sha = ann.holds(), ann.commit()
    github.fault("drop_before")
    outcome = ann.keeper.push_branch("work", sha, mine, later())
    assert isinstance(outcome, Unknown)
    assert (outcome.doubt, github.branch("work")) == (Doubt.UNWRITTEN, "")
    assert isinstance(ann.keeper.push_branch("work", sha, mine, later()), Won)


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
