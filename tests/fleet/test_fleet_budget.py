"""The API budget that all processes of a machine share."""

from datetime import timedelta

import pytest
from support.claims import NOW

from agent_sync.fleet.budget import BUDGET_FILE, SharedBudget, cost_of, pause_s, paused_until
from agent_sync.gateway.transport.budget import ApiBudget, budget_in

HOUR = ApiBudget(left=600, limit=5000, resets_at=NOW + timedelta(hours=1))


@pytest.mark.parametrize(
    ("left", "reserve", "until"),
    [(600, 500, None), (500, 500, HOUR.resets_at), (0, 500, HOUR.resets_at), (0, 0, HOUR.resets_at), (1, 0, None)],
)
def test_the_reserve_is_left_to_people(left, reserve, until):
    """Where no more than the reserve is left, nothing is asked before the next hour."""
    assert paused_until(ApiBudget(left, 5000, HOUR.resets_at), reserve, NOW) == until


def test_an_hour_that_is_over_says_nothing():
    """What was left in an earlier hour is no reason to wait."""
    assert paused_until(ApiBudget(0, 5000, NOW - timedelta(seconds=1)), 500, NOW) is None
    assert paused_until(None, 500, NOW) is None


@pytest.mark.parametrize(
    ("left", "cost", "seconds"),
    [
        # Plenty: the backoff decides.
        (5000, 2, 120),
        # A hundred points over the reserve for an hour, two for each look: fifty looks would be one every 72 s.
        (600, 2, 120),
        (520, 2, 360),
        (501, 2, 3600),
    ],
)
def test_looks_come_no_faster_than_the_budget_bears(left, cost, seconds):
    """The pause between two looks makes what is left outlast the hour."""
    assert pause_s(ApiBudget(left, 5000, HOUR.resets_at), 500, cost, NOW, least_s=120) == seconds


def test_a_round_costs_what_the_budget_lost():
    """What others spent meanwhile counts too, and another hour says nothing about it."""
    after = ApiBudget(570, 5000, HOUR.resets_at)
    assert cost_of(HOUR, after, 2) == 30
    assert cost_of(None, after, 2) == 2
    assert cost_of(ApiBudget(5000, 5000, NOW), after, 2) == 2


def test_processes_share_what_one_was_told(tmp_path):
    """One process notes what GitHub stated, another reads it; tokens are kept apart, and no secret is written."""
    environment = {"ATLAS_HOME": str(tmp_path)}
    SharedBudget.at(environment, "one").note(HOUR)
    SharedBudget.at(environment, "two").note(ApiBudget(1, 5000, HOUR.resets_at))
    assert SharedBudget.at(environment, "one").read() == HOUR
    assert SharedBudget.at(environment, "three").read() is None


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b'{"one": 5}', b'{"one": {"left": "x"}}'])
def test_a_spoilt_note_is_no_note(tmp_path, content):
    """A file that cannot be read keeps nobody from looking."""
    (tmp_path / BUDGET_FILE).write_bytes(content)
    shared = SharedBudget(tmp_path, "one")
    assert shared.read() is None
    shared.note(HOUR)
    assert shared.read() == HOUR


def test_the_budget_is_read_from_headers():
    """Headers that state a budget are believed; others state none."""
    stated = {
        "x-ratelimit-remaining": "600",
        "x-ratelimit-limit": "5000",
        "x-ratelimit-reset": str(int(HOUR.resets_at.timestamp())),
    }
    assert budget_in(stated) == HOUR
    assert budget_in({}) is None
    assert budget_in(stated | {"x-ratelimit-reset": "9" * 30}) is None
