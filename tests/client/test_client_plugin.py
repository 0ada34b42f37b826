"""The plugin in the client: from a marketplace over git, alone and beside what `init` writes."""

import json
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from scenes import COMMIT, HANDOFF, ISSUE, PULL, initialise
from scripted_model import bash, say

ROOT = Path(__file__).resolve().parent.parent.parent
EVENTS = ("SessionStart", "UserPromptSubmit", "PostToolUse", "Stop")
READY = '#42 ["P1"] "Fix race condition in cache"'


@pytest.fixture
def marketplace(bare_client, tmp_path):
    """Put marketplace and plugin on the local GitHub, which serves them by git's smart protocol, and return the address."""
    address, clone = f"{bare_client.stage.url}/octo/demo.git", tmp_path / "marketplace"
    environment = bare_client.stage.environment
    subprocess.run(["git", "clone", "--quiet", address, str(clone)], env=environment, check=True)
    for name in (".claude-plugin", "claude-plugin"):
        shutil.copytree(ROOT / name, clone / name)
    for arguments in (["add", "."], ["commit", "--quiet", "--message", "Add the plugin"], ["push", "--quiet"]):
        subprocess.run(["git", *arguments], cwd=clone, env=environment, check=True)
    return address


@pytest.fixture
def plugged(bare_client, marketplace):
    """Install the plugin in one step."""
    said = bare_client.manage("plugin", "install", "agent-sync", "--marketplace", marketplace)
    assert "Successfully installed plugin: agent-sync@agent-sync (scope: user)" in said
    return bare_client


def spoken(run, event):
    """Return what the hooks of an event printed, in any order."""
    assert {hook["exit_code"] for hook in run.hooks(event)} == {0}, run.hooks(event)
    return sorted(hook["output"] for hook in run.hooks(event))


def doctor(client):
    """Return the checks of `doctor` by name."""
    played = client.stage.command("doctor", "--json")
    return {check["name"]: check for check in json.loads(played.stdout)["checks"]}


@pytest.mark.parametrize("folder", [".", "claude-plugin"])
def test_plugin_is_valid(bare_client, folder):
    """Plugin: the client's strict validation passes."""
    assert "Validation passed" in bare_client.manage("plugin", "validate", "--strict", str(ROOT / folder))


def test_plugin_alone_takes_a_task_to_its_end(plugged, theatre):
    """Plugin alone, from git: every hook runs once; bare /claim, /handoff, /task and /done work."""
    installed = json.loads(plugged.manage("plugin", "list", "--json"))
    assert [(one["id"], one["enabled"]) for one in installed] == [("agent-sync@agent-sync", True)]
    plugged.model.plays([bash(f"agent-sync claim {ISSUE}")], [say("Claimed.")])
    typed = plugged.ask(f"/claim {ISSUE}", allowed=())
    assert [len(typed.hooks(event)) for event in EVENTS] == [1, 1, 1, 1]
    assert (typed.denials, typed.requests[0].text.count(READY)) == ([], 1)
    plugged.model.plays([bash(COMMIT)], [bash(HANDOFF)], [say("Handed over.")])
    plugged.ask("/handoff")
    assert [pull["number"] for pull in theatre.stage.world()["pulls"]] == [PULL]
    shown = plugged.ask("/task", allowed=())
    assert f"PR #{PULL}" in shown.requests[0].text
    theatre.stage.act("merge_pull", pull=PULL, method="squash")
    plugged.ask("/done")
    assert theatre.issue()["state"] == "closed"
    assert theatre.git("status", "--porcelain") == ""
    checks = doctor(plugged)
    assert (checks["plugin"]["mark"], checks["hooks"]["mark"]) == ("ok", "ok")


def test_plugin_beside_init_answers_once(plugged, theatre):
    """Plugin and init: each event is answered once, by the hook of the settings file."""
    theatre.git("pull", "--quiet")
    initialise(plugged.stage, "--with-hooks")
    plugged.model.plays([bash(f"agent-sync claim {ISSUE}")], [bash(COMMIT)], [bash(HANDOFF)], [say("Handed over.")])
    run = plugged.ask(f"/claim {ISSUE}")
    for event in ("SessionStart", "UserPromptSubmit", "Stop"):
        said = spoken(run, event)
        assert said.count("") * 2 >= len(said) >= 2, event
    assert (run.requests[0].text.count(READY), run.shown.count(f"PR #{PULL} created")) == (1, 1)
    assert [pull["number"] for pull in theatre.stage.world()["pulls"]] == [PULL]
    checks = doctor(plugged)
    assert (checks["plugin"]["mark"], ".claude/settings.json registers" in checks["plugin"]["says"]) == ("warn", True)
    plugged.manage("plugin", "disable", "agent-sync@agent-sync")
    assert "not enabled" in doctor(plugged)["plugin"]["says"]


def test_init_leaves_hooks_to_the_plugin(plugged):
    """Plugin, then init: rules and status line are written, hooks and pages are not, and rules count."""
    played = plugged.stage.command("init", "--yes")
    assert played.status == 0
    assert "hooks and pages are left to the plugin agent-sync@agent-sync" in played.stderr
    settings = json.loads((plugged.stage.root / ".claude" / "settings.json").read_text(encoding="utf-8"))
    assert set(settings) == {"permissions", "statusLine"}
    assert not (plugged.stage.root / ".claude" / "commands").exists()
    plugged.model.plays([bash("agent-sync next")], [say("Done.")])
    run = plugged.ask("what is next?", allowed=())
    assert run.denials == []
    assert [len(run.hooks(event)) for event in EVENTS] == [1, 1, 1, 1]


def test_plugin_without_agent_sync_is_silent(plugged):
    """Plugin without the command on PATH: hooks exit 0 and say nothing."""
    plugged.model.plays([say("Hello.")])
    run = replace(plugged, has_agent_sync=False).ask("hello")
    assert run.result == "Hello."
    assert [spoken(run, event) for event in ("SessionStart", "UserPromptSubmit", "Stop")] == [[""]] * 3


def test_plugin_is_gone_after_uninstall(plugged):
    """Plugin taken out: no hook runs."""
    plugged.manage("plugin", "uninstall", "agent-sync@agent-sync")
    plugged.model.plays([say("Hello.")])
    run = plugged.ask("hello")
    assert [run.hooks(event) for event in EVENTS] == [[]] * 4
