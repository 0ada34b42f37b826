"""Rate limits and an hour without GitHub: no tight loop, no lost state, one notice."""

import json
import time
from datetime import UTC, datetime, timedelta

import pytest
from support.stage import agent, human

AT_ONCE = {"AGENT_SYNC_CHECKS_BACKOFF_S": "0"}
MINUTE = timedelta(minutes=1)
LIMITS = ("primary_limit", "secondary_limit", "status:429")
OUTAGES = ("drop_before", "status:502", "garbage", "truncate", "timed_out")


@pytest.fixture
def opened(theatre):
    """Open a pull request whose CI has failed."""
    theatre.work()
    theatre.hold(phase="ready_for_pr", summary="Test PR")
    theatre.hook("on-stop")
    theatre.stage.act("add_check", pull=45, name="unit", conclusion="failure")
    return theatre


def event(theatre, *arguments, session_id="one", **variables):
    """Fire an event of one session, at once after the one before."""
    given = json.dumps({"session_id": session_id, "cwd": str(theatre.stage.root), "prompt": "go on"})
    played = theatre.hook(*arguments, stdin=given, **AT_ONCE, **variables)
    assert played.status in {0, 2}
    return played


def telling(theatre, times, words, session_id="one"):
    """Return how often the human reads some words while a session goes on."""
    names = ("on-idle", "on-prompt", "on-stop") * times
    events = [event(theatre, name, session_id=session_id) for name in names]
    return sum(words in human(played) for played in events)


def test_a_limit_pauses_and_is_said_once(opened):
    """After the limit nothing is asked before its end, whatever fires; then CI's failures are told as if nothing was."""
    for number, limit in enumerate(LIMITS, 1):
        before = opened.stage.claim()
        opened.fault(limit, times=50)
        paused = event(opened, "on-idle", session_id=limit)
        assert paused.requests == 1, limit
        assert "is paused until" in human(paused), limit
        assert telling(opened, 2, "paused until", limit) == 0, limit
        watched = event(opened, "on-idle", "--rewake", session_id=limit, AGENT_SYNC_HOOKS_IDLE_DEADLINE_S="2")
        assert (watched.requests, opened.operations()) == (0, []), limit
        kept = opened.stage.claim()
        assert {**kept, "not_before": None} == before | {"not_before": None}, limit
        opened.stage.control("DELETE", "faults")
        opened.edit_claim(not_before=None)
        assert f'{number} FAILED — "unit"' in agent(event(opened, "on-idle", session_id=limit)), limit
        assert opened.stage.claim().get("not_before") is None
        opened.stage.act("add_check", pull=45, name=f"unit {number}", conclusion="failure")


def test_agents_come_back_one_after_the_other(opened):
    """Ten agents that meet the same limit do not come back in the same second, and none before its end.

    What each reads is its own moment; meeting the limit again does not move it by more.
    """
    shifts = []
    for number in range(10):
        opened.edit_claim(agent_id=f"octo-{number}", not_before=None)
        opened.fault("secondary_limit", times=50)
        began = datetime.now(UTC)
        paused = event(opened, "on-idle", session_id=f"s{number}")
        until = datetime.fromisoformat(opened.stage.claim()["not_before"])
        assert began + MINUTE <= until <= datetime.now(UTC) + MINUTE + timedelta(seconds=6), number
        assert f"is paused until {until:%H:%M:%S} UTC" in human(paused), number
        shifts.append((until - began - MINUTE).total_seconds())
    assert max(shifts) - min(shifts) > 2
    assert len({int(shift * 2) for shift in shifts}) > 3


def test_an_outage_is_said_once_and_loses_nothing(opened):
    """However each look of a session fails: one notice, three tries to a look, the claim as it was; then the news."""
    before = opened.stage.claim()
    said = 0
    for outage in OUTAGES:
        opened.stage.control("DELETE", "faults")
        opened.fault(outage, times=500)
        failed = event(opened, "on-idle")
        assert 0 < failed.requests <= 3
        said += "agent-sync: " in human(failed)
        said += telling(opened, 1, "agent-sync: ")
    assert said == 1
    assert opened.stage.claim() == before
    opened.stage.control("DELETE", "faults")
    assert '1 FAILED — "unit"' in agent(event(opened, "on-idle"))


def test_a_watcher_waits_an_outage_out(opened):
    """The watcher looks once for each backoff, tells the human once, and wakes when GitHub is back."""
    opened.fault("status:502", times=500)
    backoff = {"AGENT_SYNC_CHECKS_BACKOFF_S": "3", "AGENT_SYNC_HOOKS_IDLE_DEADLINE_S": "9"}
    given = json.dumps({"session_id": "one", "cwd": str(opened.stage.root)})
    began = time.monotonic()
    watched = opened.hook("on-idle", "--rewake", stdin=given, **backoff)
    looks = 1 + (time.monotonic() - began) / 3
    assert watched.stderr == ""
    assert 3 <= watched.requests <= 3 * looks
    opened.stage.control("DELETE", "faults")
    assert '1 FAILED — "unit"' in event(opened, "on-idle", "--rewake").stderr
    assert telling(opened, 2, "Server Error") == 1
