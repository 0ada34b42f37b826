"""The quality gate inside on-stop, handoff and the pull request."""

import json
import shutil

import pytest
from support.gauntlet import GATE_CONFIG as CONFIG, add_gate
from support.stage import agent, human, reply


@pytest.fixture
def gated(theatre):
    """Give the project one gate on its main branch: it fails while a file BROKEN is there."""
    add_gate(theatre)
    theatre.stage.command("claim", "42")
    return theatre


@pytest.fixture
def by_hand(theatre):
    """Give the project that gate and a branch; the claim file is written by hand."""
    add_gate(theatre)
    theatre.git("switch", "-q", "-c", "claude/test")
    return theatre


def mend(theatre):
    """Take the broken file away and commit that."""
    theatre.git("rm", "-q", "BROKEN")
    theatre.stage.commit("fine.txt", "x\n", "Mend")


def test_failing_gate_sends_the_agent_back_and_a_pass_is_remembered(gated):
    """A stop with a failing gate is blocked with the reason; the fixed tree passes, and is handed off without a run."""
    gated.stage.commit("BROKEN", "x\n", "Break")
    blocked = reply(gated.stage.hook("on-stop", event="Stop"))
    assert (blocked["decision"], blocked["status"]) == ("block", "failed")
    assert "lint" in blocked["reason"]
    assert blocked["stopReason"] == blocked["reason"]
    # `gate stop-hook` by itself never looks at a stop that follows a block.
    for group in ("gate", "gauntlet"):
        found = gated.hook(group, "stop-hook", stdin='{"stop_hook_active": true}')
        assert (reply(found)["decision"], reply(found)["status"]) == ("approve", "stop_hook_active")
    mend(gated)
    passed = reply(gated.stage.hook("on-stop", event="Stop"))
    assert (passed["decision"], passed["status"]) == ("approve", "passed")
    assert "continue" not in passed
    # Ordinary stops inside the interval are approved without a run, from the stamp too.
    for _ in range(3):
        quick = reply(gated.hook("on-stop"))
        assert (quick["decision"], quick["status"]) == ("approve", "interval_not_elapsed")
    # A continued stop is looked at like any other, and what passed becomes a pull request.
    gated.stage.command("handoff", "--later", "--summary", "Work")
    played = gated.hook("on-stop", stdin='{"stop_hook_active": true}')
    assert (reply(played)["decision"], reply(played)["status"]) == ("approve", "interval_not_elapsed")
    assert [pull["number"] for pull in gated.pulls()] == [45]
    assert "PR #45 created" in human(played)
    assert agent(played) == ""


def test_no_pull_request_without_a_pass(gated):
    """The pull request waits for the gates, whatever the claim says; then it is opened and names them."""
    gated.stage.commit("BROKEN", "x\n", "Break")
    branch = gated.git("branch", "--show-current")
    gated.git("push", "-q", "origin", branch)
    gated.hold(phase="ready_for_pr", summary="Try", branch=branch)
    played = gated.hook("on-stop")
    assert "No PR opened for issue #42" in agent(played)
    assert (gated.pulls(), gated.stage.claim()["phase"]) == ([], "ready_for_pr")
    # Looking again at work that failed and has not changed does not run the gates again, and uses up no retries.
    for _ in range(5):
        gated.hook("on-idle")
    mend(gated)
    opened = gated.hook("on-stop")
    assert "PR #45 is open" in agent(opened)
    assert reply(opened)["status"] == "passed"
    [pull] = gated.pulls()
    assert "## Gates" in pull["body"]
    assert "lint (check)` | ✓ Passed |" in pull["body"]
    assert gated.git("rev-parse", "HEAD^{tree}") in pull["body"]


def test_pull_request_is_judged_by_the_whole_project_as_it_is_committed(by_hand):
    """Neither the gates of the directory where the agent stands nor an uncommitted undoing open a pull request."""
    part = by_hand.stage.root / "part" / ".gauntlet"
    (part / "checks").mkdir(parents=True)
    (part / "config.yml").write_text(CONFIG.replace("lint", "ok"))
    (part / "checks" / "ok.yml").write_text("command: 'true'\n")
    by_hand.git("add", "-A")
    by_hand.stage.commit("BROKEN", "x\n", "Break")
    by_hand.hold(phase="ready_for_pr", summary="Try")
    by_hand.hook("on-stop", stdin=f'{{"cwd": "{part.parent}"}}')
    assert by_hand.pulls() == []
    (by_hand.stage.root / "BROKEN").unlink()
    played = by_hand.hook("on-stop")
    assert by_hand.pulls() == []
    assert "not all of it is committed. Commit the work; the PR is opened when this turn ends." in agent(played)


def test_claimed_fix_is_verified_up_to_a_limit_and_a_real_one_is_handed_off(gated):
    """A stop after a block is sent back until the limit, which a person's runs do not use up; then a human is asked for.

    The fixed work behind the limit is handed off by the command that is named.
    """
    gated.stage.commit("BROKEN", "x\n", "Break")
    first = {"session_id": "s", "prompt_id": "p"}
    played = [gated.hook("on-stop", stdin=json.dumps(first))]
    assert gated.stage.command("gate", "run").status == 1
    assert gated.stage.command("handoff", "--summary", "Try").status == 1
    again = json.dumps(first | {"stop_hook_active": True})
    played += [gated.hook("on-stop", stdin=again) for _ in range(3)]
    assert [reply(one)["decision"] for one in played] == ["block"] * 3 + ["approve"]
    assert "A human should look" in human(played[-1])
    assert reply(gated.stage.hook("on-stop", event="Stop"))["status"] == "retry_limit_exceeded"
    refused = gated.stage.command("handoff", "--summary", "Try")
    assert (refused.status, "agent-sync handoff" in refused.stderr) == (1, True)
    mend(gated)
    assert gated.stage.command("handoff", "--summary", "Try").status == 0


def test_block_withholds_only_the_pull_request(by_hand):
    """A failing gate does not keep a merged task from being closed; input that is no JSON object closes nothing."""
    by_hand.stage.commit("BROKEN", "x\n", "Break")
    by_hand.hold()
    by_hand.stage.command("done", "--later", "--yes")
    unread = by_hand.hook("on-stop", stdin="nonsense")
    assert (reply(unread)["decision"], reply(unread)["status"]) == ("approve", "invalid_input")
    assert by_hand.issue()["state"] == "open"
    played = by_hand.hook("on-stop")
    assert reply(played)["decision"] == "block"
    assert "Issue #42 closed." in human(played)
    assert by_hand.issue()["state"] == "closed"


def test_trouble_elsewhere_never_lifts_a_block(by_hand):
    """Whatever is wrong with claim, settings or GitHub: a failing gate still sends the agent back, at every stop."""
    by_hand.stage.commit("BROKEN", "x\n", "Break")
    troubles = {
        "broken claim": lambda: (by_hand.stage.root / ".agent-claim.json").write_text("{bad"),
        "broken settings": lambda: (by_hand.stage.root / ".agent-sync.toml").write_text("x = ["),
        "GitHub down": lambda: by_hand.fault("status:502", times=9, path="/api/graphql"),
    }
    for name, spoil in troubles.items():
        by_hand.hold(status="In Review" if name == "GitHub down" else "In Progress")
        (by_hand.stage.root / ".agent-sync.toml").unlink(missing_ok=True)
        spoil()
        for _ in range(2):
            assert reply(by_hand.stage.hook("on-stop", event="Stop"))["decision"] == "block", name
        # The next trouble is met with no retry used up.
        shutil.rmtree(by_hand.stage.root / "gauntlet_logs")


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


def test_failed_handoff_is_not_run_again_by_its_stop(gated):
    """The stop of a turn whose handoff failed is sent back with that failure, without another run."""
    gated.stage.commit("BROKEN", "x\n", "Break")
    session = {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": "s"}
    assert gated.hook("handoff", "--summary", "-", stdin="Try", **session).status == 1
    stops = [gated.hook("on-stop", stdin='{"session_id": "s", "prompt_id": "p"}', **session) for _ in range(2)]
    assert [reply(one)["decision"] for one in stops] == ["block", "block"]
    logs = (gated.stage.root / "gauntlet_logs").glob("console.*.log")
    assert sorted(log.name for log in logs) == ["console.1.log", "console.2.log"], "the handoff, and the second stop"


def test_setting_restores_pull_requests_without_a_pass(by_hand):
    """pr.require_gate = false opens the pull request all the same, and its body says what the gates said."""
    by_hand.stage.commit("BROKEN", "x\n", "Break")
    by_hand.hold(phase="ready_for_pr", summary="Try")
    assert "PR #45 created" in human(by_hand.hook("on-stop", AGENT_SYNC_PR_REQUIRE_GATE="false"))
    assert "Gates: Failed" in by_hand.pulls()[0]["body"]


def test_deadline_keeps_the_block(by_hand):
    """A stop that runs out of time after the gates have failed is still sent back."""
    by_hand.stage.commit("BROKEN", "x\n", "Break")
    by_hand.hold(status="In Review")
    by_hand.fault("delay:30", times=9)
    played = by_hand.hook("on-stop", AGENT_SYNC_HOOKS_STOP_DEADLINE_S="4")
    assert reply(played)["decision"] == "block"
    assert "ran out of time" in human(played)


def test_pass_of_uncommitted_work_is_remembered(by_hand):
    """With an ignored log directory, a pass of work that is not committed yet is remembered too."""
    (by_hand.stage.root / "new.txt").write_text("x")
    assert by_hand.stage.command("gauntlet", "run").status == 0
    assert "unchanged since" in by_hand.stage.command("gauntlet", "run").stdout


def test_switched_off_gate_does_not_hold_a_handoff(gated):
    """A gate that is off neither runs at a handoff nor keeps the pull request back."""
    gated.stage.commit("BROKEN", "x\n", "Break")
    off = {"GAUNTLET_STOP_HOOK_ENABLED": "false"}
    assert gated.hook("handoff", "--later", "--summary", "-", stdin="Try", **off).status == 0
    assert "PR #45 created" in human(gated.hook("on-stop", **off))
