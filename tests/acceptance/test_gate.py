"""The quality gate inside on-stop, handoff and the pull request."""

import pytest
from support.stage import agent, human, reply

CONFIG = "base_branch: origin/main\nlog_dir: gauntlet_logs\nentry_points:\n  - path: .\n    checks: [lint]\n"
CHECK = "command: test ! -e BROKEN\n"


@pytest.fixture
def gated(theatre):
    """Give the project one gate on its main branch: it fails while a file BROKEN is there."""
    directory = theatre.stage.root / ".gauntlet" / "checks"
    directory.mkdir(parents=True)
    (directory.parent / "config.yml").write_text(CONFIG)
    (directory / "lint.yml").write_text(CHECK)
    (theatre.stage.root / ".gitignore").write_text("gauntlet_logs\n.agent-claim.json*\n")
    theatre.git("add", "-A")
    theatre.git("commit", "-q", "-m", "Add a gate")
    theatre.git("push", "-q", "origin", "main")
    theatre.stage.command("claim", "42")
    return theatre


def test_failing_gate_sends_the_agent_back(gated):
    """A stop with a failing gate is blocked with the reason; the fixed tree passes."""
    gated.stage.commit("BROKEN", "x\n", "Break")
    blocked = reply(gated.stage.hook("on-stop", event="Stop"))
    assert (blocked["decision"], blocked["status"]) == ("block", "failed")
    assert "lint" in blocked["reason"]
    assert blocked["stopReason"] == blocked["reason"]
    gated.git("rm", "-q", "BROKEN")
    gated.stage.commit("fine.txt", "x\n", "Mend")
    passed = reply(gated.stage.hook("on-stop", event="Stop"))
    assert (passed["decision"], passed["status"]) == ("approve", "passed")
    assert "continue" not in passed


def test_no_pull_request_without_a_pass(gated):
    """The pull request waits for the gates, whatever the claim says; then it is opened and names them."""
    gated.stage.commit("BROKEN", "x\n", "Break")
    branch = gated.git("branch", "--show-current")
    gated.git("push", "-q", "origin", branch)
    gated.hold(phase="ready_for_pr", summary="Try", branch=branch)
    played = gated.hook("on-stop")
    assert "No PR opened for issue #42" in agent(played)
    assert (gated.pulls(), gated.stage.claim()["phase"]) == ([], "ready_for_pr")
    gated.git("rm", "-q", "BROKEN")
    gated.stage.commit("fine.txt", "x\n", "Mend")
    opened = gated.hook("on-stop")
    assert "PR #45 created" in agent(opened)
    assert reply(opened)["status"] == "passed"
    body = gated.pulls()[0]["body"]
    assert "## Gates" in body
    assert "lint: Passed" in body
    assert gated.git("rev-parse", "HEAD^{tree}") in body


def test_active_flag_approves_and_the_pull_request_is_not_lost(gated):
    """At a continued stop the gate approves at once, and the lifecycle itself runs what the pull request needs."""
    gated.stage.commit("fine.txt", "x\n", "Work")
    gated.stage.command("handoff", "--summary", "Work")
    played = gated.hook("on-stop", stdin='{"stop_hook_active": true}')
    assert (reply(played)["decision"], reply(played)["status"]) == ("approve", "stop_hook_active")
    assert [pull["number"] for pull in gated.pulls()] == [45]
    assert "PR #45 created" in human(played)
    assert agent(played) == ""


def test_handoff_runs_the_gates_first(gated):
    """Failing gates refuse the handoff, unless as a draft that states the outcome."""
    gated.stage.commit("BROKEN", "x\n", "Break")
    refused = gated.stage.command("handoff", "--summary", "Try")
    assert (refused.status, "The gates have not passed" in refused.stderr) == (1, True)
    assert "Failed" in refused.stdout
    assert gated.stage.claim()["phase"] == "coding"
    assert gated.stage.command("handoff", "--summary", "Try", "--draft").status == 0
    gated.hook("on-stop", stdin='{"stop_hook_active": true}')
    pull = gated.pulls()[0]
    assert pull["draft"] is True
    assert "Gates: Failed" in pull["body"]


def test_block_withholds_only_the_pull_request(gated):
    """A failing gate does not keep a merged task from being closed, nor the board from being kept true."""
    gated.stage.commit("BROKEN", "x\n", "Break")
    gated.hold(phase="done", close_unmerged=True)
    played = gated.hook("on-stop")
    assert reply(played)["decision"] == "block"
    assert "Issue #42 closed." in human(played)
    assert gated.issue()["state"] == "closed"


def test_setting_restores_pull_requests_without_a_pass(gated):
    """pr.require_gate = false opens the pull request all the same, and its body says what the gates said."""
    gated.stage.commit("BROKEN", "x\n", "Break")
    branch = gated.git("branch", "--show-current")
    gated.hold(phase="ready_for_pr", summary="Try", branch=branch)
    assert "PR #45 created" in human(gated.hook("on-stop", AGENT_SYNC_PR_REQUIRE_GATE="false"))
    assert "Gates: Failed" in gated.pulls()[0]["body"]


def test_unreadable_input_is_said_where_a_gate_is(gated):
    """Input that is no JSON object is answered with invalid_input where a gate is configured, and nothing acts."""
    gated.hold(phase="done", close_unmerged=True)
    played = gated.hook("on-stop", stdin="nonsense")
    assert (reply(played)["decision"], reply(played)["status"]) == ("approve", "invalid_input")
    assert gated.issue()["state"] == "open"


def test_interval_answers_quickly_and_in_the_same_words(gated):
    """After a pass, ordinary stops inside the interval are approved without a run, from the stamp too."""
    gated.stage.commit("fine.txt", "x\n", "Work")
    gated.hook("on-stop")
    replies = [reply(gated.hook("on-stop")) for _ in range(3)]
    assert {one["status"] for one in replies} == {"interval_not_elapsed"}
    assert {one["decision"] for one in replies} == {"approve"}
