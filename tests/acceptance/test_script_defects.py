"""The twenty measured defects of the shell script that agent-sync replaces: each shown not to be ours."""

import json
import os
import shutil
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from support.neighbours import wait_until
from support.stage import Theatre, agent, human

FUTURE = "2100-01-01T00:00:00Z"


def opened(theatre, **fields):
    """Open the pull request of a pushed branch and return what the hook said."""
    theatre.work()
    theatre.hold(**{"phase": "ready_for_pr", "summary": "Test PR"} | fields)
    return theatre.hook("on-stop")


def test_01_no_request_when_there_is_nothing_to_do(theatre):
    """No claim, or a quiet one: no request at all, not even a probe."""
    assert theatre.hook("on-stop").requests == 0
    theatre.hold()
    assert theatre.hook("on-stop").requests == 0


def test_02_and_14_no_checks_are_not_green_and_inside_the_backoff_no_request(theatre):
    """A pull request without checks is never called green; inside the backoff nothing is asked."""
    opened(theatre)
    looked = theatre.hook("on-idle")
    assert ("no checks reported yet" in agent(looked), looked.requests) == (True, 1)
    assert theatre.hook("on-idle").requests == 0


def test_03_and_16_agent_field_is_cleared_and_merging_leaves_closing_to_the_human(theatre):
    """The body refers to the issue without closing it; the close posts its comment and empties the Agent field."""
    theatre.stage.act("set_field", issue=42, field="Agent", value="test")
    opened(theatre)
    assert "Refs #42" in theatre.pulls()[0]["body"]
    theatre.stage.act("merge_pull", pull=45, method="merge")
    assert theatre.issue()["state"] == "open"
    theatre.hold(phase="done", pr_number=45)
    theatre.hook("on-stop")
    assert [comment.split("\n")[0] for comment in theatre.comments()] == ["Completed in #45"]
    assert "Agent" not in theatre.card()
    assert theatre.stage.claim() is None


def test_04_no_remote_is_a_message_not_a_block(theatre):
    """Without a remote the hook explains itself and exits 0; a path with a space is no trouble."""
    spaced = theatre.stage.root.with_name("a b")
    shutil.copytree(theatre.stage.root, spaced)
    other = Theatre(replace(theatre.stage, root=spaced))
    other.git("remote", "remove", "origin")
    other.hold(phase="ready_for_pr", summary="x")
    played = other.hook("on-stop")
    assert played.status == 0
    assert "origin" in human(played)


def test_05_repository_is_read_from_every_form_of_address(theatre):
    """With or without .git, with a slash: always this repository, never a guess."""
    for issue, suffix in ((41, ""), (42, ".git"), (43, "/")):
        theatre.git("remote", "set-url", "origin", f"{theatre.stage.url}/octo/demo{suffix}")
        theatre.hold(issue_number=issue)
        theatre.stage.command("done", "--later", "--yes")
        theatre.hook("on-stop")
        assert theatre.issue(issue)["state"] == "closed", suffix


def test_06_old_pull_requests_of_the_branch_are_not_adopted(theatre):
    """A branch that is used again gets a new pull request, whether its old one was closed or merged."""
    opened(theatre)
    theatre.stage.act("close_pull", pull=45)
    (theatre.stage.root / ".agent-claim.json").unlink()
    theatre.stage.commit("more.txt", "more\n", "More")
    theatre.hold(phase="ready_for_pr", summary="Again", agent_id="another")
    assert "PR #46 created" in human(theatre.hook("on-stop"))
    # The same hand-written claim once more, with new commits: they get a pull request of their own.
    theatre.stage.act("merge_pull", pull=46, method="squash")
    (theatre.stage.root / ".agent-claim.json").unlink()
    (theatre.stage.root / ".git" / "agentsync" / "claim.base.json").unlink()
    theatre.stage.commit("most.txt", "most\n", "Most")
    theatre.hold(phase="ready_for_pr", summary="Again", agent_id="another")
    assert "PR #47 created" in human(theatre.hook("on-stop"))


def test_07_unknown_status_is_not_recorded_as_synced(theatre):
    """A status the board does not have is said with the board's own, and never recorded as synced."""
    theatre.hold(status="Blocked")
    played = theatre.hook("on-stop")
    assert 'The board has no status "Blocked". It has: Todo, In Progress, In Review, Done.' in human(played)
    assert theatre.stage.claim()["last_synced_status"] == "In Progress"
    assert theatre.hook("on-stop").requests == 0


def test_08_failures_are_said_with_exit_0(theatre):
    """What went wrong reaches the human: on stdout, with exit status 0."""
    theatre.work()
    theatre.hold(phase="ready_for_pr", summary="x")
    theatre.fault("status:502", times=9, path="/api/graphql")
    played = theatre.hook("on-stop")
    assert (played.status, played.stderr) == (0, "")
    assert "agent-sync:" in human(played)


def test_09_done_written_during_a_slow_poll_survives(theatre):
    """The agent's done is not overwritten by a poll that began before it."""
    opened(theatre)
    theatre.fault("delay:1", operation="Poll")
    process = theatre.popen("on-idle")
    process.stdin.write(b"{}")
    process.stdin.close()
    wait_until(lambda: not theatre.faults_left())
    claim = theatre.stage.claim() | {"phase": "done"}
    (theatre.stage.root / ".agent-claim.json").write_text(json.dumps(claim))
    process.wait(timeout=30)
    process.stdout.close()
    process.stderr.close()
    assert theatre.stage.claim()["phase"] == "done"


def test_10_phase_without_number_finds_its_pull_request(theatre):
    """A claim that says pr_created and no number is mended, not silent for ever."""
    opened(theatre)
    theatre.hold(phase="pr_created", agent_id="other")
    theatre.hook("on-idle")
    assert theatre.stage.claim()["pr_number"] == 45


def test_11_large_boards_are_counted_whole(theatre):
    """A board of sixty and more is counted whole, in one request."""
    theatre.stage.act("grow_board", items=60)
    played = theatre.stage.hook("session-start", event="SessionStart")
    assert '61 "Done"' in agent(played)
    assert played.requests == 1


UNUSABLE = {
    "{": "is not valid JSON",
    "[]": "holds a list, not an object",
    "": "is not valid JSON",
    '{"schema_version": 99}': "schema_version is 99",
    '{"schema_version": 1, "issue_number": 42, "phase": "redy"}': 'phase is "redy"; allowed: coding',
}


def test_12_unusable_file_is_reported_and_kept(theatre):
    """A broken, empty, newer or misspelt file is reported exactly, kept, and nothing is asked of GitHub."""
    file = theatre.stage.root / ".agent-claim.json"
    for content, says in UNUSABLE.items():
        file.write_text(content)
        played = theatre.hook("on-stop")
        assert says in human(played), content
        assert (content, 0) == (file.read_text(), played.requests)


def test_13_backoff_knows_no_time_zone(theatre):
    """The backoff is the same in every zone, and a stamp from the future does not stop polling."""
    opened(theatre)
    for zone in ("UTC", "America/Los_Angeles", "Asia/Tokyo"):
        theatre.hold(phase="pr_created", pr_number=45, agent_id="x")
        theatre.hook("on-idle", TZ=zone)
        first = theatre.stage.claim()["last_check_poll"]
        assert first, zone
        theatre.hook("on-idle", TZ=zone)
        assert theatre.stage.claim()["last_check_poll"] == first, zone
        theatre.hold(phase="pr_created", pr_number=45, last_check_poll=FUTURE, agent_id="x")
        theatre.hook("on-idle", TZ=zone)
        assert theatre.stage.claim()["last_check_poll"] != FUTURE, zone


def test_15_hung_request_ends_at_our_own_limit(theatre):
    """A server that does not answer holds a stop for seconds, not hours."""
    theatre.work()
    theatre.hold(phase="ready_for_pr", summary="x")
    theatre.fault("delay:30", times=9)
    played = theatre.hook("on-stop", AGENT_SYNC_HOOKS_STOP_DEADLINE_S="2")
    assert played.status == 0
    assert "ran out of time" in human(played)
    assert played.ms < 20_000


def test_17_empty_board_suggests_nothing(theatre):
    """After a merge with nothing ready, no task is invented."""
    opened(theatre)
    theatre.stage.act("merge_pull", pull=45, method="merge")
    (theatre.stage.root / ".agent-claim.json").unlink()
    for number in (41, 42, 43):
        theatre.stage.act("remove_item", issue=number)
    said = agent(theatre.hook("on-idle"))
    assert said == 'PR #45 of branch "claude/test" is merged. Nothing on the board is ready to be claimed.'


def test_18_board_trouble_does_not_hide_the_pull_request(theatre):
    """A card that cannot be moved costs a sentence; the PR's URL is said at once."""
    theatre.stage.act("archive_item", issue=42)
    played = opened(theatre)
    assert "PR #45 is open" in agent(played)
    assert "PR #45 created" in human(played)
    assert "archived" in human(played)
    assert theatre.stage.claim()["phase"] == "pr_created"


def test_19_unreadable_state_is_not_taken_for_unmerged(theatre):
    """When the pull request cannot be read, nothing is concluded from it."""
    opened(theatre)
    before = theatre.stage.claim()
    theatre.fault("status:503", times=9, path="/api/graphql")
    played = theatre.hook("on-idle")
    assert "CI" not in agent(played)
    assert before == theatre.stage.claim()


def test_20_watcher_sleeps_what_is_left_of_the_backoff_and_the_human_reads_it(theatre):
    """A watcher that begins inside the backoff looks when that is over, and not a whole backoff later.

    What the agent was woken with is told to the human once when the woken turn ends, and costs no further turn.
    """
    opened(theatre)
    theatre.stage.act("add_check", pull=45, name="unit", status="completed", conclusion="failure")
    theatre.edit_claim(last_check_poll=(datetime.now(UTC) - timedelta(seconds=115)).isoformat())
    woken = theatre.hook("on-idle", "--rewake")
    assert (woken.status, '1 FAILED — "unit"' in woken.stderr) == (2, True)
    assert woken.ms < 90_000
    assert "then run: agent-sync push" in woken.stderr
    ended = theatre.hook("on-stop")
    assert ('1 FAILED — "unit"' in human(ended), agent(ended)) == (True, "")
    assert theatre.hook("on-stop").stdout == ""


def test_20_polling_goes_on_in_an_idle_session(theatre):
    """One idle event is enough: the watcher polls until something is worth a turn, then wakes the agent."""
    opened(theatre)
    process = theatre.popen("on-idle", "--rewake")
    process.stdin.write(json.dumps({"cwd": os.fspath(theatre.stage.root), "session_id": "s"}).encode())
    process.stdin.close()
    wait_until(lambda: theatre.stage.claim().get("last_check_poll") or process.poll() is not None)
    assert process.poll() is None
    theatre.stage.act("merge_pull", pull=45, method="merge")
    theatre.edit_claim(last_check_poll=None)
    assert process.wait(timeout=60) == 2
    assert b"PR #45 merged! Should I close issue #42?" in process.stderr.read()
    process.stdout.close()
    process.stderr.close()
