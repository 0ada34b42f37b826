"""The view in `.forge/` stays in its folder: links in it are never followed, and a tracked one is somebody else's."""

from dataclasses import replace

import pytest

from agent_sync.system.processes import Processes
from agent_sync.work.forge import MARK, show_on_disk
from agent_sync.work.sling import Sling, sling


@pytest.mark.parametrize("link", ["hooks", "hooks/main", "ledger"])
def test_link_in_the_view_is_replaced_and_never_followed(fleet, link):
    """Where somebody put a link into the view, what it leads to keeps its files and gets none."""
    machine = fleet.machine("one")
    sling(machine.context(), Sling(42, "w1"))
    precious = fleet.home / "precious"
    (precious / "deep").mkdir(parents=True)
    (precious / "deep" / "thesis.txt").write_text("years of work")
    forge = machine.root / ".forge"
    (forge / link).parent.mkdir(parents=True)
    (forge / "config.yaml").write_text(f"{MARK}\n")
    (forge / link).symlink_to(precious)
    show_on_disk(machine.context())
    assert [path.name for path in precious.rglob("*")] == ["deep", "thesis.txt"]
    assert (forge / "hooks/main/w1/status.json").is_file()
    assert not (forge / link).is_symlink()


def test_view_of_the_same_commits_is_not_made_again(fleet):
    """While no hook has moved no history is read; what somebody changed, added or took away is put right all the same."""
    machine = fleet.machine("one")
    sling(machine.context(), Sling(42, "w1"))
    show_on_disk(machine.context())
    forge = machine.root / ".forge"
    as_made = {path: path.read_bytes() for path in forge.rglob("*") if path.is_file()}
    assert "log" not in asked_of_git(machine)
    status, tasks, stray = (
        forge / "hooks/main/w1/status.json",
        forge / "ledger/tasks.jsonl",
        forge / "ledger/more.jsonl",
    )
    status.chmod(0o644)
    status.write_text("{}")
    tasks.unlink()
    stray.write_text("")
    assert "log" in asked_of_git(machine)
    assert {path: path.read_bytes() for path in forge.rglob("*") if path.is_file()} == as_made
    sling(machine.context(), Sling(43, "w2"))
    assert "log" in asked_of_git(machine)
    assert (forge / "hooks/main/w2/status.json").is_file()


class Watched(Processes):
    """Processes that note what they were told to run."""

    def __init__(self):
        super().__init__()
        self.words = []

    def run(self, command, **options):
        """Note the words and run them."""
        self.words += command
        return super().run(command, **options)


def asked_of_git(machine):
    """Return the words of all that git is asked while the view is brought up to date."""
    processes = Watched()
    show_on_disk(replace(machine.context(), processes=processes))
    return processes.words


def test_tracked_view_is_left_alone(fleet):
    """What the repository itself tracks is nobody's to generate, whatever its first line says."""
    machine = fleet.machine("one")
    (machine.root / ".forge").mkdir()
    machine.commit(".forge/config.yaml", f"{MARK}\n")
    sling(machine.context(), Sling(42, "w1"))
    assert "is not agent-sync's" in show_on_disk(machine.context())[0]
    assert machine.git("status", "--porcelain") == ""
    assert [path.name for path in (machine.root / ".forge").iterdir()] == ["config.yaml"]


HALF_MADE = {
    "empty": [],
    "without its mark": ["config.yaml.999999999.tmp"],
    "without its files": ["config.yaml", "hooks/w1/evidence/input-hash.txt.999999999.tmp"],
}


@pytest.mark.parametrize("names", HALF_MADE.values(), ids=HALF_MADE)
def test_half_made_view_is_made(fleet, names):
    """A view whose first writer was killed is made by the next, whole and with nothing left of before."""
    machine = fleet.machine("one")
    root = machine.root / ".forge"
    root.mkdir()
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(f"{MARK}\n" if name == "config.yaml" else "")
    sling(machine.context(), Sling(42, "w1"))
    assert show_on_disk(machine.context()) == ()
    found = [path.name for path in root.rglob("*")]
    assert "input-hash.txt" in found
    assert not [name for name in found if name.endswith(".tmp")]
