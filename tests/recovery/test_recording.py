"""What sessions, claims and git bring into the recovery record, without any process in between."""

import json

import pytest
from support.claims import claim
from support.desk import Workshop

from agent_sync import clock, quiet, recording
from agent_sync.recovery.machine import moved
from agent_sync.recovery.states import Move
from agent_sync.spool import Occasion


@pytest.fixture
def held(workshop, tmp_path) -> Workshop:
    """Hold a claim that has its record."""
    workshop.new_desk(HOME=str(tmp_path / "home"), ATLAS_HOME="")
    workshop.hold(claim())
    recording.catch_up(workshop.desk)
    return workshop


def lay_by(held, prompt):
    """Lay a prompt by, as a hook does that has nothing else to do."""
    given = {"cwd": str(held.root), "prompt": prompt}
    quiet.keep("on-prompt", json.dumps(given).encode())


def record(held):
    """Return the record as it is."""
    return held.desk.recorder.opened()[1]


def test_prompt_of_before_is_no_answer(held):
    """A prompt that was given before a human was waited for does not end the waiting; one that follows does."""
    lay_by(held, "fix it")
    now = clock.now()
    held.desk.recorder.change(lambda old: moved(old, Move.MANUAL_REQUIRED, now, reason="the gates failed"), now)
    recording.catch_up(held.desk, Occasion("s1", said="I gave up", is_work=True))
    assert (record(held).state, record(held).current_step.prompt) == ("awaiting_human", "fix it")
    recording.catch_up(held.desk, Occasion("s1", prompt="try it like this", is_work=True))
    assert record(held).state == "step_running"


def test_wake_up_is_not_what_the_human_asked_for(held):
    """A wake-up that came quietly does not take the place of the prompt before it."""
    lay_by(held, "fix it")
    lay_by(held, "<task-notification>CI is green</task-notification>")
    recording.catch_up(held.desk)
    assert record(held).current_step.prompt == "fix it"
