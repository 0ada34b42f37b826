"""What every keeper promises, held against all of them."""

import pytest
from support.leases import CLAIMS, git, later

from agent_sync.leases.model import LeaseProof, LeaseState, proof_of
from agent_sync.leases.results import Doubt, Listing, NotHeld, Unknown, Won


def test_first_wins_second_loses_and_learns_the_holder(shared):
    """One of two gets the issue, and has it again until it is noted; others are told who has it, and write nothing."""
    ann, bob = shared.worker("ann"), shared.worker("bob")
    won = ann.keeper.acquire(7, ann.request())
    assert isinstance(won, Won)
    assert (won.tip.lease.epoch, won.tip.lease.state, won.tip.sha) == (1, LeaseState.HELD, shared.tip())
    lost = bob.keeper.acquire(7, bob.request())
    assert isinstance(lost, NotHeld)
    assert (lost.tip.lease.holder.agent, lost.tip.lease.nonce) == ("ann", won.tip.lease.nonce)
    assert shared.tip() == won.tip.sha
    assert [name for name in bob.intents() if bob.request().holder.worktree in name] == []
    # A holder that was killed before it could note its lease asks again and has it, in the same epoch.
    again = ann.keeper.acquire(7, ann.request(30))
    assert isinstance(again, Won)
    assert again.tip == won.tip
    # Once noted, a lease is proven by its nonce and not by the worktree that asks.
    ann.keeper.confirm(proof_of(again.tip.lease))
    assert ann.intents() == []
    assert isinstance(ann.keeper.acquire(7, ann.request()), NotHeld)
    # Neither the right issue nor the right epoch makes a lease somebody's: the nonce does.
    assert isinstance(ann.keeper.renew(LeaseProof(7, 1, "0" * 32), later()), NotHeld)
    assert shared.tip() == won.tip.sha


def test_renewal_keeps_nonce_and_epoch(shared):
    """A renewal moves the time and what people read, and nothing that says whose the lease is.

    Two that say the same are two commits, so that "up to date" can never pass for a win; and however often a lease is
    renewed, a reader has to fetch one renewal of each holding.
    """
    ann = shared.worker("ann")
    mine = ann.holds()
    before = shared.tip()
    won = ann.keeper.renew(mine, later(900, phase="coding", pr=12))
    assert isinstance(won, Won)
    lease = won.tip.lease
    assert (proof_of(lease), lease.phase, lease.pr, lease.branch) == (mine, "coding", 12, "work")
    assert (lease.prev, lease.serial, shared.tip()) == (before, 1, won.tip.sha)
    assert lease.renewed_at == later(900).now
    assert ann.intents() == []
    tips = {won.tip.sha}
    for _ in range(2):
        assert isinstance(ann.keeper.renew(mine, later(960)), Won)
        tips.add(shared.tip())
    assert len(tips) == 3
    assert isinstance(ann.keeper.release(mine, later(1000)), Won)
    # Whoever gave an issue back may have it again, as another holding.
    second = ann.holds(at=1020)
    assert (second.epoch, second.nonce == mine.nonce) == (2, False)
    assert [(one["epoch"], one["serial"], one["state"]) for one in shared.history()] == [
        (1, 0, "held"),
        (1, 3, "held"),
        (1, 4, "released"),
        (2, 0, "held"),
    ]


def test_released_issue_is_acquired_with_the_next_epoch(shared):
    """After a release anybody may have the issue; the new lease continues the old one and has a nonce of its own.

    Finishing leaves the state done; a second finish or release finds it done and is content.
    """
    ann, bob = shared.worker("ann"), shared.worker("bob")
    mine = ann.holds()
    released = ann.keeper.release(mine, later())
    assert isinstance(released, Won)
    won = bob.keeper.acquire(7, bob.request(120))
    assert isinstance(won, Won)
    assert (won.tip.lease.epoch, won.tip.lease.prev) == (2, released.tip.sha)
    assert git(shared.shared, "rev-parse", f"{won.tip.sha}^") == released.tip.sha
    assert won.tip.lease.nonce != mine.nonce
    assert won.tip.sha == shared.tip()
    theirs = proof_of(won.tip.lease)
    bob.keeper.confirm(theirs)
    done = bob.keeper.finish(theirs, later(180))
    assert isinstance(done, Won)
    assert done.tip.lease.state is LeaseState.DONE
    assert [bob.keeper.finish(theirs, later(180)), bob.keeper.release(theirs, later(180))] == [done, done]
    assert isinstance(bob.keeper.renew(theirs, later(180)), NotHeld)


def test_takeover_dispossesses(shared):
    """After a takeover the old holder is told who has the lease, whatever it tries; a renewal in time prevents it."""
    ann, bob = shared.worker("ann"), shared.worker("bob")
    mine = ann.holds()
    judged = bob.keeper.read(7)
    # A holder that renewed after it was judged keeps its lease.
    ann.keeper.renew(mine, later())
    outcome = bob.keeper.take_over(judged, bob.request(7200))
    assert isinstance(outcome, NotHeld)
    assert proof_of(outcome.tip.lease) == mine
    seen = bob.keeper.read(7)
    won = bob.keeper.take_over(seen, bob.request(7200))
    assert isinstance(won, Won)
    assert (won.tip.lease.epoch, won.tip.lease.prev, won.tip.sha) == (2, seen.sha, shared.tip())
    # A takeover whose answer was lost is ours when we look, by acquiring or by taking over what is ours.
    assert bob.keeper.acquire(7, bob.request(7201)) == won
    assert bob.keeper.take_over(bob.keeper.read(7), bob.request(7202)) == won
    for outcome in (
        ann.keeper.renew(mine, later()),
        ann.keeper.release(mine, later()),
        ann.keeper.finish(mine, later()),
    ):
        assert isinstance(outcome, NotHeld)
        assert outcome.tip.lease.holder.agent == "bob"
    assert shared.tip() == won.tip.sha


def test_reading_and_listing(shared):
    """What was never claimed reads as None; a list has every claim, and an issue is not mistaken for a longer one.

    A ref to something that is no commit, or to another issue's claim, is unknown in every store.
    """
    ann, bob = shared.worker("ann"), shared.worker("bob")
    assert ann.keeper.list() == Listing()
    held = {ann.holds(1), bob.holds(12), ann.holds(123)}
    assert [bob.keeper.read(issue) for issue in (2, 13, 1234)] == [None, None, None]
    listing = bob.keeper.list()
    assert isinstance(listing, Listing)
    assert {proof_of(tip.lease) for tip in listing.tips} == held
    read = ann.keeper.read(12)
    assert (read.sha, read.lease.holder.agent) == (shared.tip(12), "bob")
    misplaced = {7: git(shared.shared, "hash-object", "-w", "--stdin", stdin="{}"), 8: shared.tip(12)}
    for issue, sha in misplaced.items():
        git(shared.shared, "update-ref", f"{CLAIMS}{issue}", sha)
        outcome = ann.keeper.acquire(issue, ann.request())
        assert isinstance(outcome, Unknown), issue
        assert outcome.doubt is Doubt.UNREADABLE, issue


def test_deleted_ref_is_seen_as_gone(shared):
    """A ref that somebody deleted is vanished for its holder, and free for others, not remembered as held."""
    ann, bob = shared.worker("ann"), shared.worker("bob")
    mine = ann.holds()
    bob.keeper.read(7)
    git(shared.shared, "update-ref", "-d", f"{CLAIMS}7")
    renewed = ann.keeper.renew(mine, later())
    assert isinstance(renewed, Unknown)
    assert renewed.doubt is Doubt.VANISHED
    assert bob.keeper.read(7) is None
    assert bob.keeper.list() == Listing()


def test_other_refs_are_no_claims(bare):
    """A ref that is not named like an issue says nothing about one."""
    ann = bare.worker("ann")
    for name in ("x/7", "07", "7x", "٧"):
        git(bare.shared, "update-ref", f"{CLAIMS}{name}", "refs/heads/main")
    assert ann.keeper.read(7) is None
    assert ann.keeper.list() == Listing()


GARBAGE = {
    "not JSON": ({"claim.json": "{"}, Doubt.UNREADABLE),
    "empty": ({"claim.json": ""}, Doubt.UNREADABLE),
    "not an object": ({"claim.json": "[]"}, Doubt.UNREADABLE),
    "missing file": ({"other.json": "{}"}, Doubt.UNREADABLE),
    "missing fields": ({"claim.json": '{"schema_version": 1}'}, Doubt.UNREADABLE),
    "line ends of another system": ({"claim.json": "{\r\n\r\n"}, Doubt.UNREADABLE),
    "newer schema": ({"claim.json": '{"schema_version": 2}'}, Doubt.TOO_NEW),
}


def test_garbage_is_never_free(bare):
    """A ref that cannot be understood is unknown to every order, and is left as it is."""
    ann, bob = bare.worker("ann"), bare.worker("bob")
    bob.holds(8)
    planted = {}
    for issue, (name, (files, doubt)) in enumerate(GARBAGE.items(), start=11):
        planted[issue] = bare.plant(files, issue)
        seen = [
            ann.keeper.read(issue),
            ann.keeper.acquire(issue, ann.request()),
            ann.keeper.renew(LeaseProof(issue, 1, "0" * 32), later()),
        ]
        assert [(type(one), one.doubt) for one in seen] == [(Unknown, doubt)] * 3, name
    listing = ann.keeper.list()
    assert [tip.lease.issue for tip in listing.tips] == [8]
    doubts = [doubt for _, doubt in GARBAGE.values()]
    assert [(one.issue, one.unknown.doubt) for one in listing.unreadable] == list(zip(planted, doubts, strict=True))
    assert {issue: bare.tip(issue) for issue in planted} == planted


def test_what_cannot_be_read_is_replaced_by_a_released_lease(shared):
    """It becomes the parent of a lease that anybody may follow; a lease that can be read is never replaced."""
    ann, bob = shared.worker("ann"), shared.worker("bob")
    mine = ann.holds()
    spoilt = shared.plant({"claim.json": "{"})
    assert isinstance(bob.keeper.read(7), Unknown)
    won = bob.keeper.replace(7, bob.request(60))
    assert isinstance(won, Won)
    assert (won.tip.sha, won.tip.lease.state) == (shared.tip(), LeaseState.RELEASED)
    assert git(shared.shared, "rev-parse", f"{CLAIMS}7^") == won.tip.lease.prev == spoilt
    assert isinstance(ann.keeper.renew(mine, later(120)), NotHeld)
    theirs = ann.holds(at=180)
    # Meanwhile it is a claim like any other.
    bob.keeper.read(7)
    assert isinstance(bob.keeper.replace(7, bob.request(240)), NotHeld)
    assert isinstance(ann.keeper.renew(theirs, later(300)), Won)


@pytest.mark.parametrize("shared", ["file", "http", "api"], indirect=True)
def test_a_claim_that_comes_in_between_is_not_replaced(shared):
    """What was read may be gone when it is replaced: then whatever is there stays, and is told."""
    ann, bob = shared.worker("ann"), shared.worker("bob")
    shared.plant({"claim.json": "{"})
    assert isinstance(bob.keeper.read(7), Unknown)
    git(shared.shared, "update-ref", "-d", f"{CLAIMS}7")
    ann.holds()
    before = shared.tip()
    lost = bob.keeper.replace(7, bob.request(60))
    assert isinstance(lost, NotHeld)
    assert (lost.tip.lease.holder.agent, shared.tip()) == ("ann", before)
