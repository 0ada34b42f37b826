"""What each order costs at the remote, counted."""

import pytest
from support.leases import git, later

PUSH = ["GET git-receive-pack", "POST git-receive-pack"]
REJECTED_PUSH = ["GET git-receive-pack"]
FETCH = ["GET git-upload-pack", "POST git-upload-pack", "POST git-upload-pack"]
NOTHING_NEW = ["GET git-upload-pack", "POST git-upload-pack"]


@pytest.fixture
def counted(github):
    """Return what one order costs."""

    def cost(order, *arguments):
        github.requests()
        order(*arguments)
        return github.requests()

    return cost


def test_winner_needs_one_push(github, counted):
    """To claim, renew, push code under the claim and give it back is one push each, and nothing is read."""
    ann = github.worker("ann")
    assert counted(ann.keeper.acquire, 7, ann.request()) == PUSH
    mine = ann.holds(8)
    assert counted(ann.keeper.renew, mine, later()) == PUSH
    assert counted(ann.keeper.push_branch, "work", ann.commit(), mine, later()) == PUSH
    assert counted(ann.keeper.release, mine, later()) == PUSH
    assert counted(ann.keeper.acquire, 8, ann.request(300)) == PUSH


def test_loser_needs_one_push_and_one_look(github, counted):
    """Whoever loses learns the holder with one fetch; who knows it to be held does not even push."""
    ann, bob = github.worker("ann"), github.worker("bob")
    ann.holds()
    assert counted(bob.keeper.acquire, 7, bob.request()) == REJECTED_PUSH + FETCH
    assert counted(bob.keeper.acquire, 7, bob.request()) == NOTHING_NEW


def test_list_needs_one_look(github, counted):
    """However many claims there are, they come whole and with one fetch, and none of the branches do.

    The claim of one issue comes without those of issues whose numbers begin alike.
    """
    ann, full, one = (github.worker(name) for name in ("ann", "full", "one"))
    partial = github.worker("partial", "--filter=blob:none")
    for issue in (1, 12, 130):
        ann.holds(issue)
    git(ann.root, "push", "-q", "origin", f"{ann.commit()}:refs/heads/side")
    for bob in (full, partial):
        assert counted(bob.keeper.list) == FETCH, bob
        assert counted(bob.keeper.list) == NOTHING_NEW, bob
        assert git(bob.root, "for-each-ref", "refs/remotes/origin/side") == "", bob
    one.keeper.read(1)
    assert git(one.root, "for-each-ref", "--format=%(refname:lstrip=-1)", "refs/agentsync") == "1"


def test_long_holding_is_short_to_read(github):
    """A lease that was renewed many times costs its reader as many objects as one renewed once."""
    ann, bob = github.worker("ann"), github.worker("bob")
    mine = ann.holds()
    for turn in range(3):
        ann.keeper.renew(mine, later(60 * turn))
    before = _objects(bob.root)
    bob.keeper.read(7)
    assert _objects(bob.root) - before == 6


def _objects(root):
    return len(git(root, "cat-file", "--batch-all-objects", "--batch-check").splitlines())
