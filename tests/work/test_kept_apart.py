"""What a handoff cannot keep is said, what nobody asked for is not fetched, and no damage is passed over."""

from support.fleet import git, spoil

from agent_sync.fleet.reading import read_fleet as looked_over
from agent_sync.work.findings import Repair
from agent_sync.work.handoff import HandoffNote, hand_off
from agent_sync.work.repair import examine
from agent_sync.work.sling import Sling, sling
from agent_sync.work.take import take


def begun(machine):
    """Sling work and take it."""
    sling(machine.context(), Sling(42, "w1"))
    take(machine.context(), "w1")


def test_repository_within_is_said_not_to_be_kept(fleet):
    """Of a repository in the worktree only the commit is noted, so whoever leaves is told to see to the rest."""
    machine = fleet.machine("one")
    begun(machine)
    nested = machine.root / "nested"
    nested.mkdir()
    git(nested, "init", "-q")
    git(nested, "commit", "-q", "--allow-empty", "-m", "Begin")
    (nested / "work.txt").write_text("hours")
    (machine.root / "plain.txt").write_text("x")
    assert hand_off(machine.context(), "w1", HandoffNote()).notes == (
        "nested is a repository of its own: its contents were not saved. Commit and push it there.",
    )


def test_overview_brings_no_rescued_files(fleet):
    """Whoever looks at all claims and hooks does not download what others have not committed."""
    one, two = fleet.machine("one"), fleet.machine("two")
    begun(one)
    (one.root / "big.bin").write_bytes(b"x" * 1000)
    hand_off(one.context(), "w1", HandoffNote())
    seen = looked_over(two.context())
    assert ([tip.lease.issue for tip in seen.held], [hook.worker for hook in seen.hooks]) == ([42], ["main/w1"])
    assert "rescue" not in two.git("for-each-ref", "--format=%(refname)")


def test_unreadable_claim_without_a_hook_is_found(fleet):
    """A claim that nobody can read keeps its issue from everybody, so a human is told."""
    machine = fleet.machine("one")
    spoil(machine, "refs/agentsync/claims/41", b"{}", "claim.json")
    found = examine(machine.context())[1]
    assert [(one.kind, one.repair, one.issue) for one in found] == [("unreadable claim", Repair.TELL, 41)]
