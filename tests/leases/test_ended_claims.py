"""A claim that has ended is read once: later lists know it by its commit."""

from support.leases import CLAIMS, git, later

from agent_sync.leases.ended import list_claims
from agent_sync.leases.model import LeaseState
from agent_sync.leases.refs.git_refs import MOST_LOOSE
from agent_sync.worktree import ENDED_CLAIMS


class Watched:
    """A transport that notes which commits were read."""

    def __init__(self, worker):
        self._transport = worker.transport
        self.commits = []

    def __getattr__(self, name):
        """Do everything else as the transport does."""
        return getattr(self._transport, name)

    def read(self, files, *, largest):
        """Note the commits and read their files."""
        self.commits += [file.commit for file in files]
        return self._transport.read(files, largest=largest)


def listed(worker):
    """Return what a worker lists after a fetch, and how many commits it read for it."""
    watched = Watched(worker)
    assert watched.fetch([CLAIMS]) == ""
    return list_claims(watched, worker.place), len(watched.commits)


def issues(claims):
    """Return the issues of some claims that are held."""
    return [tip.lease.issue for tip in claims]


def memory(worker):
    """Return the file in which a worker's clone remembers claims that have ended."""
    return worker.root / ".git" / "agentsync" / f"{ENDED_CLAIMS}{worker.where}"


def test_only_new_commits_are_read(shared):
    """The second list reads the claims that are held, and those that have changed; it says the same of all others."""
    ann, bob = shared.worker("ann"), shared.worker("bob")
    ann.keeper.finish(ann.holds(1), later())
    ann.keeper.release(ann.holds(2), later())
    ann.holds(3)
    first, read = listed(bob)
    assert (issues(first.tips), read) == ([3], 3)
    assert [(one.issue, one.state) for one in first.ended] == [(1, LeaseState.DONE), (2, LeaseState.RELEASED)]
    assert listed(bob) == (first, 1)
    bob.holds(2)
    again, read = listed(bob)
    assert (issues(again.tips), [one.issue for one in again.ended], read) == ([2, 3], [1], 2)


def test_ended_claim_is_known_by_its_commit_and_number(bare):
    """A commit that ended one issue's claim frees no other issue that it is put under; a ref that is gone is in no list."""
    ann = bare.worker("ann")
    ann.keeper.release(ann.holds(1), later())
    listed(ann)
    git(bare.shared, "update-ref", f"{CLAIMS}2", bare.tip(1))
    found, _ = listed(ann)
    assert [one.issue for one in found.unreadable] == [2]
    for issue in (1, 2):
        git(bare.shared, "update-ref", "-d", f"{CLAIMS}{issue}")
    assert listed(ann)[0].ended == ()


def test_memory_that_makes_no_sense_is_read_anew(bare):
    """What cannot be understood is not believed, and what cannot be written is done without: claims are read again."""
    ann = bare.worker("ann")
    ann.keeper.release(ann.holds(1), later())
    found, _ = listed(ann)
    sha, nonce = found.ended[0].sha, "e" * 32
    for content in ("", "\xff\xfe", "1 x\n", f"1 {sha} released {nonce} never\n", f"1 {sha} held {nonce} 0\n"):
        memory(ann).write_bytes(content.encode("latin-1"))
        assert listed(ann) == (found, 1), content
    memory(ann).unlink()
    memory(ann).mkdir()
    for _ in range(2):
        assert listed(ann) == (found, 1)


def test_very_many_refs_are_packed(bare):
    """A fetch that leaves a file for each of very many refs has git gather them, and a list finds them all."""
    ann = bare.worker("ann")
    sha = git(bare.shared, "rev-parse", "refs/heads/main")
    numbers = range(1, MOST_LOOSE + 3)
    orders = "".join(f"create {CLAIMS}{number} {sha}\n" for number in numbers)
    git(bare.shared, "update-ref", "--stdin", stdin=orders)
    found, _ = listed(ann)
    assert len(found.unreadable) == len(numbers)
    tracking = ann.root / ".git" / "refs" / "agentsync" / "tracking" / "origin" / "claims"
    assert not tracking.exists() or not any(tracking.iterdir())
