"""Whose the recovery record is: sessions that come, go, die and share a worktree."""

import json
from pathlib import Path

import pytest
from support.command import settle
from support.sessions import Client
from support.stage import agent


def record_of(theatre):
    """Return what hook.json of the one task says."""
    (file,) = Path(theatre.stage.environment["HOME"]).glob(".atlas/workspaces/*/tasks/*/hook.json")
    return json.loads(file.read_text())


def work_until_quiet(theatre, client, hook="on-prompt"):
    """Let a session work until a hook has nothing to do and would be answered by its stamp."""
    theatre.stage.commit("cache.py", "lock = True\n", "Add a lock")
    settle(theatre.stage.root)
    client.hook(hook, prompt="go")
    assert (theatre.stage.root / ".git" / "agentsync" / f"quiet.{hook}").exists()


@pytest.fixture
def claimed(theatre):
    """Claim issue 42."""
    assert theatre.stage.command("claim", "42").status == 0
    return theatre


def test_first_event_of_the_next_session_owns_the_task(claimed):
    """After a crash the first event takes the task over, however quiet it was before; only progress ends the advice.

    A crash that was noted from a terminal is over when whoever works on the task says so.
    """
    with Client(claimed) as client:
        work_until_quiet(claimed, client, "on-prompt")
    for session_id, hook, next_hook in (("s2", "on-prompt", "on-tool"), ("s3", "on-tool", "on-prompt")):
        with Client(claimed, session_id) as client:
            client.hook("session-start", source="startup")
            assert record_of(claimed)["state"] == "recovering"
            client.hook(hook, prompt="go on")
            values = record_of(claimed)
            assert (values["state"], values["owner"]["pid"]) == ("recovering", client.pid)
            claimed.stage.commit("cache.py", "lock = False\n", "Mend the lock")
            client.hook(hook, prompt="go on")
            assert record_of(claimed)["state"] == "step_running"
            work_until_quiet(claimed, client, next_hook)
    claimed.stage.command("hook", "recover")
    assert record_of(claimed)["state"] == "recovering"
    with Client(claimed, "s4") as client:
        client.hook("on-prompt", prompt="go on")
        assert record_of(claimed)["state"] == "recovering"
        assert client.line("agent-sync resume").status == 0
        assert record_of(claimed)["state"] == "step_running"


def test_next_session_owns_the_task_without_a_crash(claimed):
    """Where the session before still lives, the next one owns the task from its first prompt on.

    A command that it runs by `timeout` or the like is its own, and it has not crashed after it.
    """
    with Client(claimed) as first, Client(claimed, "s2") as second:
        work_until_quiet(claimed, first)
        assert record_of(claimed)["owner"]["pid"] == first.pid
        second.hook("session-start", source="startup")
        second.hook("on-prompt", prompt="hello")
        assert record_of(claimed)["owner"]["pid"] == second.pid
        assert second.line("env X=1 timeout 60 agent-sync checkpoint half").status == 0
        assert record_of(claimed)["owner"]["pid"] == second.pid


def test_silent_github_does_not_hide_a_crash(claimed):
    """A server that never answers costs a session's start some seconds; the crash is noted and told all the same."""
    with Client(claimed) as client:
        client.hook("on-prompt", prompt="go")
    claimed.fault("delay:30", times=9)
    played = claimed.hook("session-start", AGENT_SYNC_HOOKS_SESSION_START_DEADLINE_S="9")
    assert "State: recovering" in agent(played)
    assert record_of(claimed)["recovery"]["crash_type"] == "signal"
