"""What only a human may do is refused to every agent, whichever client runs it."""

import json
import os
from pathlib import Path

import pytest
from support.stage import agent

MARKS = {
    "Claude Code": {"CLAUDECODE": "1"},
    "Codex": {"CODEX_THREAD_ID": "t", "CODEX_CI": "1"},
    "Copilot": {"COPILOT_CLI": "1"},
    "Gemini": {"GEMINI_CLI": "1"},
    "Qwen Code": {"QWEN_CODE": "1"},
    "OpenCode": {"OPENCODE": "1", "AGENT": "1"},
    "an agent": {"AI_AGENT": "something"},
}


@pytest.mark.parametrize("client", MARKS)
def test_no_agent_decides_for_the_human(theatre, client):
    """Approvals, the user's settings, force, buttons and the close of unmerged work are refused by name."""
    (theatre.stage.root / ".agent-sync.toml").write_text("[pr]\nrequire_gate = false\n")
    assert theatre.hook("claim", "42").status == 0
    for arguments in (
        ["trust", "--yes"],
        ["config", "set", "--user", "board.ready", "Ready"],
        ["config", "set", "pr.require_gate", "false"],
        ["done", "--unmerged"],
        ["done", "--yes", "--now"],
        ["ui", "--actions", "--no-open"],
        ["doctor", "--fix"],
    ):
        played = theatre.hook(*arguments, **MARKS[client])
        assert played.status == 1, arguments
        assert f"and {client} runs this command" in played.stderr, arguments
    forced = theatre.hook("release", "43", "--force", **MARKS[client])
    assert (forced.status, "Only a person may say that a holder has left" in forced.stderr) == (1, True)
    assert theatre.issue()["state"] == "open"
    assert theatre.stage.claim()["phase"] == "coding"


@pytest.mark.parametrize("client", MARKS)
def test_a_claim_made_by_an_agent_expires(theatre, client):
    """Nobody but a person at a terminal holds a claim for ever."""
    theatre.hook("claim", "42", **MARKS[client])
    rows = json.loads(theatre.hook("status", "--all", "--json").stdout)["claims"]
    assert [row["mode"] for row in rows] == ["auto"]


def test_marks_that_are_off_mean_a_human(theatre):
    """A variable that is empty or 0 marks nothing."""
    off = {"CLAUDECODE": "", "AGENT": "0", "AI_AGENT": "", "CODEX_CI": "0"}
    assert theatre.hook("config", "set", "--user", "board.ready", "Todo", **off).status == 0
    theatre.hook("claim", "42", **off)
    rows = json.loads(theatre.hook("status", "--all", "--json").stdout)["claims"]
    assert [row["mode"] for row in rows] == ["manual"]


@pytest.fixture
def opened(theatre):
    """A theatre with an open pull request."""
    theatre.work()
    theatre.hold(phase="ready_for_pr", summary="Test PR")
    theatre.hook("on-stop")
    return theatre


def test_done_offers_the_merge(opened, tmp_path):
    """The refusal names what gets the work merged: gh where it is installed, else the address; never the consent."""
    url = f"{opened.stage.url}/octo/demo/pull/45"
    gh = tmp_path / "gh"
    gh.write_text("#!/bin/sh\n")
    gh.chmod(0o755)
    path = opened.stage.environment["PATH"]
    bare = os.pathsep.join(one for one in path.split(os.pathsep) if not (Path(one) / "gh").exists())
    refused = opened.hook("done", PATH=f"{tmp_path}{os.pathsep}{path}")
    assert f"try: gh pr merge {url}" in refused.stderr
    for variables in ({"PATH": bare}, {"CLAUDECODE": "1"}):
        refused = opened.hook("done", **variables)
        assert f"try: a human merges {url}, then agent-sync done" in refused.stderr
        assert "--yes" not in refused.stderr
        assert "--unmerged" not in refused.stderr
    opened.edit_claim(phase="done")
    assert "--yes" not in agent(opened.hook("on-stop"))


def test_done_before_any_pull_request_offers_the_handoff(theatre):
    """There is nothing to merge yet."""
    theatre.hook("claim", "42")
    assert "try: agent-sync handoff" in theatre.hook("done").stderr


def test_a_human_closes_unmerged_work_and_hears_of_the_pull_request(opened):
    """The issue is closed by the human's word, and the pull request stays open, which is said."""
    closed = opened.hook("done", "--unmerged")
    assert closed.status == 0
    assert "PR #45 is not merged by this, and stays open" in closed.stdout
    assert opened.issue()["state"] == "closed"
    assert opened.pulls()[-1]["state"] == "open"
