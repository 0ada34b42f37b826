"""What every keeper promises, held against all of them."""

import pytest
from support.leases import CLAIMS, git, later

from agent_sync.leases.model import LeaseProof, LeaseState, proof_of
from agent_sync.leases.results import Doubt, Listing, NotHeld, Unknown, Won


def test_first_wins_second_loses_and_learns_the_holder(shared):
    """One of two gets the issue; the other is told who has it, and has written nothing."""
    ann, bob = shared.worker("ann"), shared.worker("bob")
    won = ann.keeper.acquire(7, ann.request())
    assert isinstance(won, Won)
    assert (won.tip.lease.epoch, won.tip.lease.state, won.tip.sha) == (1, LeaseState.HELD, shared.tip())
    lost = bob.keeper.acquire(7, bob.request())
    assert isinstance(lost, NotHeld)
    assert (lost.tip.lease.holder.agent, lost.tip.lease.nonce) == ("ann", won.tip.lease.nonce)
    assert shared.tip() == won.tip.sha
    assert [name for name in bob.intents() if bob.request().holder.worktree in name] == []


def test_renewal_keeps_nonce_and_epoch(shared):
    """A renewal moves the time and what people read, and nothing that says whose the lease is."""
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


def test_renewals_of_the_same_moment_are_different_commits(shared):
    """Two renewals that say the same are two commits, so that "up to date" can never pass for a win."""
    ann = shared.worker("ann")
    mine = ann.holds()
    tips = []
    for _ in range(2):
        won = ann.keeper.renew(mine, later(60))
        assert isinstance(won, Won)
        tips.append(shared.tip())
    assert len({*tips}) == 2


def test_chain_grows_with_holders_not_with_renewals(shared):
    """However often a lease is renewed, a reader has to fetch one renewal of each holding."""
    ann = shared.worker("ann")
    mine = ann.holds()
    for turn in range(5):
        assert isinstance(ann.keeper.renew(mine, later(60 * turn)), Won)
    assert isinstance(ann.keeper.release(mine, later(900)), Won)
    ann.holds(at=1000)
    assert [(one["epoch"], one["serial"], one["state"]) for one in shared.history()] == [
        (1, 0, "held"),
        (1, 5, "held"),
        (1, 6, "released"),
        (2, 0, "held"),
    ]


def test_released_issue_is_acquired_with_the_next_epoch(shared):
    """After a release anybody may have the issue; the new lease continues the old one and has a nonce of its own."""
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


def test_own_released_issue_is_acquired_again(shared):
    """Whoever gave an issue back may have it again, as another holding."""
    ann = shared.worker("ann")
    first = ann.holds()
    ann.keeper.release(first, later())
    second = ann.holds(at=120)
    assert (second.epoch, second.nonce == first.nonce) == (2, False)


def test_finished_issue_says_so(shared):
    """Finishing leaves the state done; a second finish or release finds it done and is content."""
    ann = shared.worker("ann")
    mine = ann.holds()
    done = ann.keeper.finish(mine, later())
    assert isinstance(done, Won)
    assert done.tip.lease.state is LeaseState.DONE
    assert [ann.keeper.finish(mine, later()), ann.keeper.release(mine, later())] == [done, done]
    assert isinstance(ann.keeper.renew(mine, later()), NotHeld)


def test_takeover_dispossesses(shared):
    """After a takeover the old holder is told who has the lease, whatever it tries."""
    ann, bob = shared.worker("ann"), shared.worker("bob")
    mine = ann.holds()
    seen = bob.keeper.read(7)
    won = bob.keeper.take_over(seen, bob.request(7200))
    assert isinstance(won, Won)
    assert (won.tip.lease.epoch, won.tip.lease.prev, won.tip.sha) == (2, seen.sha, shared.tip())
    for outcome in (
        ann.keeper.renew(mine, later()),
        ann.keeper.release(mine, later()),
        ann.keeper.finish(mine, later()),
    ):
        assert isinstance(outcome, NotHeld)
        assert outcome.tip.lease.holder.agent == "bob"
    assert shared.tip() == won.tip.sha


def test_takeover_of_what_has_changed_is_lost(shared):
    """A holder that renewed after it was judged keeps its lease."""
    ann, bob = shared.worker("ann"), shared.worker("bob")
    mine = ann.holds()
    judged = bob.keeper.read(7)
    ann.keeper.renew(mine, later())
    outcome = bob.keeper.take_over(judged, bob.request(7200))
    assert isinstance(outcome, NotHeld)
    assert proof_of(outcome.tip.lease) == mine


def test_reading_and_listing(shared):
    """What was never claimed reads as None; a list has every claim, and an issue is not mistaken for a longer one."""
    ann, bob = shared.worker("ann"), shared.worker("bob")
    assert ann.keeper.list() == Listing()
    held = {ann.holds(1), bob.holds(12), ann.holds(123)}
    assert [bob.keeper.read(issue) for issue in (2, 13, 1234)] == [None, None, None]
    listing = bob.keeper.list()
    assert isinstance(listing, Listing)
    assert {proof_of(tip.lease) for tip in listing.tips} == held
    read = ann.keeper.read(12)
    assert (read.sha, read.lease.holder.agent) == (shared.tip(12), "bob")


@pytest.mark.parametrize("name", ["x/7", "07", "7x", "٧"])
def test_other_refs_are_no_claims(bare, name):
    """A ref that is not named like an issue says nothing about one."""
    ann = bare.worker("ann")
    git(bare.shared, "update-ref", f"{CLAIMS}{name}", "refs/heads/main")
    assert ann.keeper.read(7) is None
    assert ann.keeper.list() == Listing()


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


def test_unconfirmed_lease_is_found_again(shared):
    """A holder that was killed before it could note its lease asks again and has it, in the same epoch."""
    ann, bob = shared.worker("ann"), shared.worker("bob")
    first = ann.keeper.acquire(7, ann.request())
    again = ann.keeper.acquire(7, ann.request(30))
    assert isinstance(again, Won)
    assert again.tip == first.tip
    assert isinstance(bob.keeper.acquire(7, bob.request()), NotHeld)
    ann.keeper.confirm(proof_of(again.tip.lease))
    assert ann.intents() == []


def test_confirmed_lease_is_not_won_twice(shared):
    """Once noted, a lease is proven by its nonce and not by the worktree that asks."""
    ann = shared.worker("ann")
    ann.holds()
    assert isinstance(ann.keeper.acquire(7, ann.request()), NotHeld)


def test_unconfirmed_takeover_is_found_again(shared):
    """A takeover whose answer was lost is ours when we look, by acquiring or by taking over what is ours."""
    ann, bob = shared.worker("ann"), shared.worker("bob")
    ann.holds()
    won = bob.keeper.take_over(bob.keeper.read(7), bob.request(7200))
    assert isinstance(won, Won)
    assert bob.keeper.acquire(7, bob.request(7201)) == won
    assert bob.keeper.take_over(bob.keeper.read(7), bob.request(7202)) == won


def test_foreign_nonce_is_lost(shared):
    """Neither the right issue nor the right epoch makes a lease somebody's: the nonce does."""
    ann = shared.worker("ann")
    ann.holds()
    assert isinstance(ann.keeper.renew(LeaseProof(7, 1, "0" * 32), later()), NotHeld)


GARBAGE = {
    "not JSON": ({"claim.json": "{"}, Doubt.UNREADABLE),
    "empty": ({"claim.json": ""}, Doubt.UNREADABLE),
    "not an object": ({"claim.json": "[]"}, Doubt.UNREADABLE),
    "missing file": ({"other.json": "{}"}, Doubt.UNREADABLE),
    "missing fields": ({"claim.json": '{"schema_version": 1}'}, Doubt.UNREADABLE),
    "line ends of another system": ({"claim.json": "{\r\n\r\n"}, Doubt.UNREADABLE),
    "newer schema": ({"claim.json": '{"schema_version": 2}'}, Doubt.TOO_NEW),
}


@pytest.mark.parametrize(("files", "doubt"), GARBAGE.values(), ids=GARBAGE.keys())
def test_garbage_is_never_free(bare, files, doubt):
    """A ref that cannot be understood is unknown to every order, and is left as it is."""
    ann, bob = bare.worker("ann"), bare.worker("bob")
    bob.holds(8)
    planted = bare.plant(files)
    seen = [
        ann.keeper.read(7),
        ann.keeper.acquire(7, ann.request()),
        ann.keeper.renew(LeaseProof(7, 1, "0" * 32), later()),
    ]
    assert [(type(one), one.doubt) for one in seen] == [(Unknown, doubt)] * 3
    listing = ann.keeper.list()
    assert [tip.lease.issue for tip in listing.tips] == [8]
    assert [(one.issue, one.unknown.doubt) for one in listing.unreadable] == [(7, doubt)]
    assert bare.tip() == planted


@pytest.mark.parametrize("kind", ["blob", "claim of another issue"])
def test_misplaced_content_is_never_free(shared, kind):
    """A ref to something that is no commit, or to another issue's claim, is unknown in every store."""
    ann = shared.worker("ann")
    ann.holds(8)
    sha = git(shared.shared, "hash-object", "-w", "--stdin", stdin="{}") if kind == "blob" else shared.tip(8)
    git(shared.shared, "update-ref", f"{CLAIMS}7", sha)
    outcome = ann.keeper.acquire(7, ann.request())
    assert isinstance(outcome, Unknown)
    assert outcome.doubt is Doubt.UNREADABLE
