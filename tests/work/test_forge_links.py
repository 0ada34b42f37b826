"""The view in `.forge/` stays in its folder: links in it are never followed, and a tracked one is somebody else's."""

import pytest

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


def test_tracked_view_is_left_alone(fleet):
    """What the repository itself tracks is nobody's to generate, whatever its first line says."""
    machine = fleet.machine("one")
    (machine.root / ".forge").mkdir()
    machine.commit(".forge/config.yaml", f"{MARK}\n")
    sling(machine.context(), Sling(42, "w1"))
    assert "is not agent-sync's" in show_on_disk(machine.context())[0]
    assert machine.git("status", "--porcelain") == ""
    assert [path.name for path in (machine.root / ".forge").iterdir()] == ["config.yaml"]
