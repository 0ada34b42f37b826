"""A recovery record that cannot be kept: the claim's own work goes on, and the human is told."""

import json
from pathlib import Path


def test_unusable_home_does_not_hold_the_claim(theatre):
    """With an ATLAS_HOME that means nothing a task is taken, mirrored and given back as ever, with a warning."""
    theatre.stage.environment["ATLAS_HOME"] = "relative/atlas"
    taken = theatre.stage.command("claim", "42")
    assert (taken.status, theatre.card()["Status"]) == (0, "In Progress")
    assert "ATLAS_HOME must be an absolute path" in taken.stderr
    given_back = theatre.stage.command("release")
    assert (given_back.status, theatre.stage.claim()) == (0, None)


def test_record_beyond_repair_has_a_way_out(theatre):
    """Where neither generation can be read, the command that is named puts all of it aside, and a new record begins."""
    theatre.stage.command("claim", "42")
    home = Path(theatre.stage.environment["HOME"]) / ".atlas"
    (directory,) = home.glob("workspaces/*/tasks/*")
    for name in ("hook.json", "hook.json.prev"):
        (directory / name).write_text("{")
    refused = theatre.stage.command("hook", "status")
    assert (refused.status, "agent-sync record recover" in refused.stderr) == (5, True)
    recovered = theatre.stage.command("hook", "recover")
    assert recovered.status == 0, recovered.stderr
    (aside,) = home.glob("workspaces/*/damaged/*")
    assert str(aside) in recovered.stdout
    assert ((aside / "hook.json").read_text(), (aside / "task.log").exists()) == ("{", True)
    assert json.loads((directory / "hook.json").read_text())["state"] == "step_running"
    assert theatre.stage.command("hook", "status").status == 0
