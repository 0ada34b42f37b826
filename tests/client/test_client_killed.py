"""Killed at any point of a task: the next session's first request has the right next step, and obeying is safe."""

import time

import pytest
from obedient_reader import obeys
from scenes import COMMIT, HANDOFF, PULL, claim, crash, open_pull
from scripted_model import bash, say
from support.clones import SHORT, taken_over

NEEDS_A_HUMAN = "A human must act first"
FAILED = {"name": "unit-tests", "status": "completed", "conclusion": "failure"}


def test_killed_just_after_the_claim(client):
    """Killed with a clean tree: the next session goes on."""
    claim(client)
    crash(client, "do the work")
    obeyed = obeys(client)
    assert "holds issue #42" in obeyed.told
    assert "agent-sync resume" in obeyed.told
    assert NEEDS_A_HUMAN not in obeyed.told
    assert obeyed.damage == []


def test_killed_after_a_commit(client):
    """Killed after a commit: the next session is told of the commit."""
    claim(client)
    crash(client, "do the work", [bash(COMMIT)])
    obeyed = obeys(client)
    assert "Guard the cache" in obeyed.told
    assert "agent-sync resume" in obeyed.told
    assert NEEDS_A_HUMAN not in obeyed.told
    assert obeyed.ran[0] == "agent-sync resume"
    assert obeyed.damage == []
    assert [pull["number"] for pull in client.stage.world()["pulls"]] == [PULL]


def test_killed_with_uncommitted_files(client):
    """Killed with files that are not committed: the next session is told which, and to ask the human."""
    claim(client)
    crash(client, "do the work", [bash("echo 'lock = 1' >> cache.py")])
    obeyed = obeys(client)
    assert "cache.py" in obeyed.told
    assert NEEDS_A_HUMAN in obeyed.told
    assert (client.stage.root / "cache.py").read_text().endswith("lock = 1\n")
    assert obeyed.damage == []


def test_killed_while_validating(client):
    """Killed while a command is validated: the next session runs exactly that again, and signs what came of it."""
    claim(client)
    command = "test -e STARTED.twice || { touch STARTED.twice STARTED; sleep 600; } && false"
    crash(client, "do the work", [bash(COMMIT)], last=f"agent-sync validate -- '{command}'")
    obeyed = obeys(client)
    assert "agent-sync validate" in obeyed.told
    assert "agent-sync validate" in obeyed.ran
    assert obeyed.receipts == [(command.replace("STARTED", str(client.home / "started")), 1)]
    assert obeyed.damage == []


def test_killed_with_a_failing_gate(gated_client):
    """Killed while a failing gate is mended: the next session is told which gate failed, and opens nothing."""
    claim(gated_client)
    crash(gated_client, "do the work", [bash("echo '# UNFINISHED' >> cache.py")], [say("Done.")])
    obeyed = obeys(gated_client)
    assert "finished" in obeyed.told
    assert [code for _, code in obeyed.receipts if code == 0] == []
    assert gated_client.stage.world()["pulls"] == []
    assert obeyed.damage == []


def test_killed_between_handoff_and_stop(client):
    """Killed after the hand-off: the next session is told that the pull request comes, and its stop opens one."""
    claim(client)
    crash(client, "hand it over", [bash(COMMIT)], [bash(HANDOFF)])
    obeyed = obeys(client)
    assert "agent-sync resume" in obeyed.told
    assert obeyed.damage == []
    assert [pull["number"] for pull in client.stage.world()["pulls"]] == [PULL]


def test_killed_with_an_open_pull_request(client):
    """Killed with an open pull request: the next session is told of it, and opens no other."""
    open_pull(client)
    crash(client, "and now?")
    obeyed = obeys(client)
    assert f"PR #{PULL}" in obeyed.told
    assert obeyed.damage == []


def test_killed_with_commits_that_are_not_pushed(client):
    """Killed with commits that the pull request lacks: the next session publishes them."""
    open_pull(client)
    crash(client, "one thing more", [bash(COMMIT)])
    obeyed = obeys(client)
    assert f"PR #{PULL}" in obeyed.told
    assert obeyed.damage == []
    (pull,) = client.stage.world()["pulls"]
    assert pull["head_sha"] == obeyed.before.commits[0].split()[0]


@pytest.mark.parametrize(
    ("act", "fields", "words"),
    [
        ("merge_pull", {"method": "squash"}, ("merged", "/done")),
        ("close_pull", {}, ("closed without merging", "a human decides how to go on")),
    ],
    ids=["merged", "closed"],
)
def test_killed_before_the_pull_request_ended(client, theatre, act, fields, words):
    """Killed, and the pull request ended: the next session is told how, and decides nothing."""
    open_pull(client)
    crash(client, "and now?")
    client.stage.act(act, pull=PULL, **fields)
    obeyed = obeys(client)
    assert [word for word in words if word not in obeyed.told] == []
    assert obeyed.damage == []
    assert (theatre.issue()["state"], client.stage.claim() is None) == ("open", False)


def test_killed_before_a_check_failed(client):
    """Killed, and a check failed: the next session is told which, and how to publish a fix."""
    open_pull(client)
    crash(client, "and now?")
    client.stage.act("add_check", pull=PULL, **FAILED)
    obeyed = obeys(client)
    assert [word for word in ("unit-tests", "agent-sync push") if word not in obeyed.told] == []
    # To hand off again is what the page says; nothing else is done twice.
    assert set(obeyed.damage) <= {"finished steps"}


def test_killed_between_consent_and_stop(client, theatre):
    """Killed after the human's consent: the next session's stop closes the issue, once."""
    open_pull(client)
    client.stage.act("merge_pull", pull=PULL, method="squash")
    claim_at_merge(client)
    crash(client, "/done")
    obeyed = obeys(client)
    assert "#42" in obeyed.told
    # The worktree has left the branch.
    assert obeyed.damage == ["commits"]
    assert theatre.issue()["state"] == "closed"
    assert sum("Completed in" in one["body"] for one in client.stage.world()["comments"]) == 1


def claim_at_merge(client):
    """Let a session find out that the pull request is merged, and end."""
    client.model.plays([say("It is merged.")])
    client.ask("how does it stand?")
    assert client.stage.claim()["phase"] == "merged_detected"


def test_killed_and_taken_over(client, theatre):
    """Killed, and the issue taken over by somebody else: the next session leaves it alone."""
    client.stage.environment.update(SHORT)
    claim(client)
    crash(client, "do the work", [bash(COMMIT)])
    # The client's own hooks know the time.
    time.sleep(1.1)
    taken_over(theatre)
    world = client.stage.world()
    obeyed = obeys(client)
    assert "Stop working on it" in obeyed.told
    assert "The work goes on" not in obeyed.told
    assert obeyed.damage == []
    assert client.stage.world() == world
