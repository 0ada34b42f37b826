"""A look at work hooks brings their claims and no others, however many have ended."""

from dataclasses import replace

from support.leases import CLAIMS, git

from agent_sync.system.processes import Processes
from agent_sync.work.hook.reading import view_here
from agent_sync.work.repair import examine
from agent_sync.work.sling import Sling, sling

TRACKED = "refs/agentsync/tracking/origin/claims/"


class CountingProcesses(Processes):
    """Processes that count how often something is fetched."""

    fetches = 0

    def run(self, command, **options):
        """Count a fetch, and run whatever it is."""
        self.fetches += "fetch" in command
        return super().run(command, **options)


def looked(machine):
    """Return what a machine sees of hooks and claims, and how many fetches that took."""
    processes = CountingProcesses()
    view = view_here(replace(machine.context(), processes=processes))
    return view, processes.fetches


def tracked(machine):
    """Return the issues whose claims a machine has ever fetched."""
    names = git(machine.root, "for-each-ref", "--format=%(refname)", TRACKED).split()
    return sorted(int(name.removeprefix(TRACKED)) for name in names)


def test_only_claims_of_hooks_are_fetched(fleet):
    """The first look takes a fetch more, every later one a single fetch, and none brings claims of other issues."""
    one, two = fleet.machine("one"), fleet.machine("two")
    sling(one.context(), Sling(42, "w1"))
    sha = git(one.root, "rev-parse", f"{TRACKED}42")
    for issue in range(100, 130):
        git(one.root, "push", "-q", "origin", f"{sha}:{CLAIMS}{issue}")
    view, fetches = looked(two)
    assert (sorted(view.claims), fetches, tracked(two)) == ([42], 2, [42])
    assert looked(two) == (view, 1)
    sling(one.context(), Sling(43, "w2"))
    view, fetches = looked(two)
    assert (sorted(view.claims), fetches, tracked(two)) == ([42, 43], 2, [42, 43])


def test_repair_looks_at_every_claim(fleet):
    """What is wrong with claims that hang on no hook is found all the same."""
    one, two = fleet.machine("one"), fleet.machine("two")
    sling(one.context(), Sling(42, "w1"))
    sha = git(one.root, "rev-parse", f"{TRACKED}42")
    git(one.root, "push", "-q", "origin", f"{sha}:{CLAIMS}100")
    _, found = examine(two.context())
    assert [(one.kind, one.issue) for one in found] == [("unreadable claim", 100)]
