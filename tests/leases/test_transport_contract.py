"""What every transport of refs does alike, whether refs are on a remote or in this clone."""

import pytest
from support.leases import git

from agent_sync.leases.refs.values import (
    CLAIMS,
    HOOKS,
    BranchHead,
    FileAt,
    FoundRef,
    NewCommit,
    PushResult,
    RefUpdate,
    TooLarge,
    Where,
)

SEVEN, HOOK = f"{CLAIMS}7", f"{HOOKS}main/w1"


@pytest.fixture
def ann(shared):
    """Return a transport of one worker."""
    return _transport(shared, "ann")


@pytest.fixture
def bob(shared):
    """Return a transport of another."""
    return _transport(shared, "bob")


def _transport(shared, name):
    return shared.worker(name).transport


def test_what_is_swapped_in_is_read_by_others(shared, ann, bob):
    """Refs carry the same names everywhere; files are read by commit and path, none larger than it may be."""
    files = {"a.json": b"{}\n", "folder/b.txt": b"long text\n"}
    first = ann.write(NewCommit("First\n", files, when=60))
    assert ann.swap([RefUpdate(SEVEN, "", first), RefUpdate(HOOK, "", first)]).result is PushResult.LANDED
    # Nothing needs to be fetched after a swap of one's own.
    assert [ref.sha for ref in ann.known(SEVEN)] == [first]
    assert bob.fetch([SEVEN, HOOKS]) == ""
    assert bob.known(SEVEN) == (FoundRef(SEVEN, first, "ref"),)
    assert bob.known(HOOKS, with_kinds=True) == (FoundRef(HOOK, first, "commit"),)
    wanted = [FileAt(first, "a.json"), FileAt(first, "folder/b.txt"), FileAt(first, "missing")]
    assert bob.read(wanted, largest=5) == [b"{}\n", TooLarge(10), None]
    # Every commit is told with its first parent, time and message.
    second = ann.write(NewCommit("Second\n\nMore\n", parents=(first,), when=120))
    past = ann.history([second], most=10)
    assert {sha: (one.parent, one.at.timestamp(), one.message) for sha, one in past.items()} == {
        first: ("", 60, "First"),
        second: (first, 120, "Second\n\nMore"),
    }
    # What cannot be fetched is said, and never an empty answer; a clone is always there.
    git(shared.worker("ann").root, "remote", "set-url", "origin", "file:///nowhere.git")
    away = _transport(shared, "ann")
    assert bool(away.fetch([SEVEN])) is (ann.where is Where.REMOTE)


def test_refs_move_together_or_each_for_itself(shared, ann, bob):
    """One ref that is not what it was keeps back those it is to move with, and no other; each is told how it ended."""
    first, second, third = (ann.write(NewCommit(word)) for word in ("First\n", "Second\n", "Third\n"))
    refs = SEVEN, f"{CLAIMS}8", f"{CLAIMS}17"
    assert {one.result for one in ann.swap_each([RefUpdate(ref, "", first) for ref in refs])} == {PushResult.LANDED}
    refused = ann.swap([RefUpdate(HOOK, "", second), RefUpdate(SEVEN, second, second)])
    assert refused.result is not PushResult.LANDED
    assert _refs(shared) == dict.fromkeys(refs, first)
    stolen = bob.write(NewCommit("Stolen\n"))
    bob.fetch([CLAIMS])
    assert bob.swap([RefUpdate(refs[1], first, stolen)]).result is PushResult.LANDED
    ended = ann.swap_each([RefUpdate(ref, first, new) for ref, new in zip(refs, (second, third, third), strict=True)])
    assert [one.result for one in ended] == [PushResult.LANDED, PushResult.REJECTED, PushResult.LANDED]
    assert _refs(shared) == dict(zip(refs, (second, stolen, third), strict=True))


def _refs(shared):
    found = git(shared.shared, "for-each-ref", "--format=%(refname) %(objectname)", CLAIMS, HOOKS)
    return dict(line.split() for line in found.splitlines())


def test_branch_goes_with_the_refs(shared, ann):
    """A branch moves forward with the refs, and not without them."""
    worker = shared.worker("ann")
    head, first = worker.commit(), ann.write(NewCommit("First\n"))
    assert ann.swap([RefUpdate(SEVEN, first, first)], BranchHead("work", head)).result is not PushResult.LANDED
    assert shared.branch("work") == ""
    assert ann.swap([RefUpdate(SEVEN, "", first)], BranchHead("work", head)).result is PushResult.LANDED
    assert shared.branch("work") == head
