"""Killed at any point of a task: the next session's first request has the right next step."""

import pytest
from scenes import COMMIT, PULL, claim, crash, open_pull
from scripted_model import bash, say
from support.clones import SHORT, taken_over

NEEDS_A_HUMAN = "A human must act first"


def next_morning(client):
    """Start the next session; return what it was told before its first request."""
    client.model.plays([say("I go on.")])
    return client.ask("continue please").requests[0].briefing


def test_killed_just_after_the_claim(client):
    """Killed with a clean tree: the next session goes on."""
    claim(client)
    crash(client, "do the work")
    told = next_morning(client)
    assert "holds issue #42" in told
    assert NEEDS_A_HUMAN not in told


def test_killed_after_a_commit(client):
    """Killed after a commit: the next session is told of the commit."""
    claim(client)
    crash(client, "do the work", [bash(COMMIT)])
    told = next_morning(client)
    assert "Guard the cache" in told
    assert NEEDS_A_HUMAN not in told


def test_killed_with_uncommitted_files(client):
    """Killed with files that are not committed: the next session is told which."""
    claim(client)
    crash(client, "do the work", [bash("echo 'lock = 1' >> cache.py")])
    assert "cache.py" in next_morning(client)


def test_killed_while_validating(client):
    """Killed while a command is validated: the next session is told to run it again."""
    claim(client)
    running = "agent-sync validate -- sh -c 'touch STARTED; sleep 600'"
    crash(client, "do the work", [bash(COMMIT)], last=running)
    assert "agent-sync validate" in next_morning(client)


def test_killed_with_a_failing_gate(gated_client):
    """Killed while a failing gate is mended: the next session is told which gate failed."""
    claim(gated_client)
    crash(gated_client, "do the work", [bash("echo '# UNFINISHED' >> cache.py")], [say("Done.")])
    assert "finished" in next_morning(gated_client)


def test_killed_with_an_open_pull_request(client):
    """Killed with an open pull request: the next session is told of it."""
    open_pull(client)
    crash(client, "and now?")
    assert f"PR #{PULL}" in next_morning(client)


@pytest.mark.parametrize(
    ("act", "words"),
    [("merge_pull", ("merged", "/done")), ("close_pull", ("closed",))],
    ids=["merged", "closed"],
)
def test_killed_before_the_pull_request_ended(client, act, words):
    """Killed, and the pull request ended: the next session is told how."""
    open_pull(client)
    crash(client, "and now?")
    client.stage.act(act, pull=PULL)
    told = next_morning(client)
    assert [word for word in words if word not in told] == []


def test_killed_and_taken_over(client, theatre):
    """Killed, and the issue taken over by somebody else: the next session is told to leave it alone."""
    client.stage.environment.update(SHORT)
    claim(client)
    crash(client, "do the work", [bash(COMMIT)])
    taken_over(theatre)
    told = next_morning(client)
    assert "stop working on it" in told
    assert "The work goes on" not in told
