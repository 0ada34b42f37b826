"""The quality gate inside on-stop, handoff and the pull request."""

import json

import pytest
from support.gauntlet import GATE_CONFIG as CONFIG, add_gate
from support.stage import agent, human, reply


@pytest.fixture
def gated(theatre):
    """Give the project one gate on its main branch: it fails while a file BROKEN is there."""
    add_gate(theatre)
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
    assert "PR #45 is open" in agent(opened)
    assert reply(opened)["status"] == "passed"
    body = gated.pulls()[0]["body"]
    assert "## Gates" in body
    assert "lint (check)` | ✓ Passed |" in body
    assert gated.git("rev-parse", "HEAD^{tree}") in body


def test_stop_after_a_block_is_verified_and_opens_the_pull_request(gated):
    """A continued stop is looked at like any other, and what passed at the handoff becomes a pull request."""
    gated.stage.commit("fine.txt", "x\n", "Work")
    gated.stage.command("handoff", "--later", "--summary", "Work")
    played = gated.hook("on-stop", stdin='{"stop_hook_active": true}')
    assert (reply(played)["decision"], reply(played)["status"]) == ("approve", "interval_not_elapsed")
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
    assert gated.stage.command("handoff", "--later", "--summary", "Try", "--draft").status == 0
    gated.hook("on-stop", stdin='{"stop_hook_active": true}')
    pull = gated.pulls()[0]
    assert pull["draft"] is True
    assert "Gates: Failed" in pull["body"]


def test_claimed_fix_is_verified(gated):
    """A stop after a block is sent back again, until the limit ends the loop; then a human is asked for."""
    gated.stage.commit("BROKEN", "x\n", "Break")
    first = {"session_id": "s", "prompt_id": "p"}
    stops = [first, *[first | {"stop_hook_active": True}] * 3]
    played = [gated.hook("on-stop", stdin=json.dumps(stop)) for stop in stops]
    assert [reply(one)["decision"] for one in played] == ["block"] * 3 + ["approve"]
    assert "A human should look" in human(played[-1])


def test_standalone_gate_approves_a_stop_after_a_block(gated):
    """`gate stop-hook` by itself never looks at a stop that follows a block."""
    gated.stage.commit("BROKEN", "x\n", "Break")
    for group in ("gate", "gauntlet"):
        found = gated.hook(group, "stop-hook", stdin='{"stop_hook_active": true}')
        assert (reply(found)["decision"], reply(found)["status"]) == ("approve", "stop_hook_active")


def test_fixed_work_past_the_limit_is_handed_off(gated):
    """Stops, a person's runs and the retry limit behind it: the fixed work is handed off by the command that is named."""
    gated.stage.commit("BROKEN", "x\n", "Break")
    gated.stage.hook("on-stop", event="Stop")
    assert gated.stage.command("gate", "run").status == 1
    assert gated.stage.command("handoff", "--summary", "Try").status == 1
    for _ in range(4):
        gated.stage.hook("on-stop", event="Stop")
    assert reply(gated.stage.hook("on-stop", event="Stop"))["status"] == "retry_limit_exceeded"
    refused = gated.stage.command("handoff", "--summary", "Try")
    assert (refused.status, "agent-sync handoff" in refused.stderr) == (1, True)
    gated.git("rm", "-q", "BROKEN")
    gated.stage.commit("fine.txt", "x\n", "Fix")
    assert gated.stage.command("handoff", "--summary", "Try").status == 0


def test_failed_handoff_is_not_run_again_by_its_stop(gated):
    """The stop of a turn whose handoff failed is sent back with that failure, without another run."""
    gated.stage.commit("BROKEN", "x\n", "Break")
    session = {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": "s"}
    assert gated.hook("handoff", "--summary", "-", stdin="Try", **session).status == 1
    stops = [gated.hook("on-stop", stdin='{"session_id": "s", "prompt_id": "p"}', **session) for _ in range(2)]
    assert [reply(one)["decision"] for one in stops] == ["block", "block"]
    logs = (gated.stage.root / "gauntlet_logs").glob("console.*.log")
    assert sorted(log.name for log in logs) == ["console.1.log", "console.2.log"], "the handoff, and the second stop"


def test_block_withholds_only_the_pull_request(gated):
    """A failing gate does not keep a merged task from being closed, nor the board from being kept true."""
    gated.stage.commit("BROKEN", "x\n", "Break")
    gated.hold()
    gated.stage.command("done", "--later", "--yes")
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
    gated.hold()
    gated.stage.command("done", "--later", "--yes")
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


@pytest.mark.parametrize(
    "spoil",
    [
        lambda t: (t.stage.root / ".agent-claim.json").write_text("{bad"),
        lambda t: (t.stage.root / ".agent-sync.toml").write_text("x = ["),
        lambda t: (t.hold(status="In Review"), t.fault("status:502", times=9, path="/api/graphql")),
    ],
    ids=["broken claim", "broken settings", "GitHub down"],
)
def test_trouble_elsewhere_never_lifts_a_block(gated, spoil):
    """Whatever is wrong with claim, settings or GitHub: a failing gate still sends the agent back, at every stop."""
    gated.stage.commit("BROKEN", "x\n", "Break")
    spoil(gated)
    for _ in range(2):
        assert reply(gated.stage.hook("on-stop", event="Stop"))["decision"] == "block"


def test_deadline_keeps_the_block(gated):
    """A stop that runs out of time after the gates have failed is still sent back."""
    gated.stage.commit("BROKEN", "x\n", "Break")
    gated.hold(status="In Review")
    gated.fault("delay:30", times=9)
    played = gated.hook("on-stop", AGENT_SYNC_HOOKS_STOP_DEADLINE_S="4")
    assert reply(played)["decision"] == "block"
    assert "ran out of time" in human(played)


def test_idle_watching_uses_up_no_retries(gated):
    """Looking again at work that failed and has not changed does not run the gates again."""
    gated.stage.commit("BROKEN", "x\n", "Break")
    branch = gated.git("branch", "--show-current")
    gated.hook("on-stop")
    gated.hold(phase="ready_for_pr", summary="Try", branch=branch)
    for _ in range(5):
        gated.hook("on-idle")
    gated.git("rm", "-q", "BROKEN")
    gated.stage.commit("fine.txt", "x\n", "Mend")
    assert reply(gated.hook("on-stop"))["status"] == "passed"
    assert [pull["number"] for pull in gated.pulls()] == [45]


def test_pull_request_is_judged_by_the_whole_project(gated):
    """Gates of a subdirectory in which the agent happens to stand do not stand in for the project's own."""
    part = gated.stage.root / "part" / ".gauntlet"
    (part / "checks").mkdir(parents=True)
    (part / "config.yml").write_text(CONFIG.replace("lint", "ok"))
    (part / "checks" / "ok.yml").write_text("command: 'true'\n")
    gated.git("add", "-A")
    gated.stage.commit("BROKEN", "x\n", "Break")
    branch = gated.git("branch", "--show-current")
    gated.hold(phase="ready_for_pr", summary="Try", branch=branch)
    gated.hook("on-stop", stdin=f'{{"cwd": "{part.parent}"}}')
    assert gated.pulls() == []


def test_uncommitted_undoing_opens_nothing(gated):
    """What is committed counts: taking a broken file away without committing that opens no pull request."""
    gated.stage.commit("BROKEN", "x\n", "Break")
    branch = gated.git("branch", "--show-current")
    gated.hold(phase="ready_for_pr", summary="Try", branch=branch)
    (gated.stage.root / "BROKEN").unlink()
    played = gated.hook("on-stop")
    assert gated.pulls() == []
    assert "not all of it is committed. Commit the work; the PR is opened when this turn ends." in agent(played)


def test_pass_of_uncommitted_work_is_remembered(gated):
    """With an ignored log directory, a pass of work that is not committed yet is remembered too."""
    (gated.stage.root / "new.txt").write_text("x")
    assert gated.stage.command("gauntlet", "run").status == 0
    assert "unchanged since" in gated.stage.command("gauntlet", "run").stdout


def test_switched_off_gate_does_not_hold_a_handoff(gated):
    """A gate that is off neither runs at a handoff nor keeps the pull request back."""
    gated.stage.commit("BROKEN", "x\n", "Break")
    off = {"GAUNTLET_STOP_HOOK_ENABLED": "false"}
    assert gated.hook("handoff", "--later", "--summary", "-", stdin="Try", **off).status == 0
    assert "PR #45 created" in human(gated.hook("on-stop", **off))
