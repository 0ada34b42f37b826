"""The numbers of docs/scale.md follow from the limits, and from what this version does."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "docs"))

import scale_tables as scale


def test_the_simulated_day_agrees_with_the_formula():
    """The number of agents that the formula allows stays within six pushes when a day is simulated, twice as many not."""
    agents = scale.agents_in_most_minutes()
    assert scale.busiest_minute(agents) <= scale.PUSHES_PER_MINUTE < scale.busiest_minute(2 * agents)
    assert agents < scale.agents_within(scale.PUSHES_PER_MINUTE * 60, scale.pushes), "a peak is more than the mean"


@pytest.mark.parametrize(("agents", "least"), [(10, 1.8), (100, 1.8), (1_000, 1.8)])
def test_a_clone_shares_pushes_and_looks(agents, least):
    """Agents in worktrees of one clone push and ask for about half of what each with a clone of its own does."""
    assert scale.pushes(agents, per_clone=1) / scale.pushes(agents) > least
    assert scale.points(agents, per_clone=1) / scale.points(agents) > least
    assert (scale.pushes(1), scale.points(1)) == (scale.pushes(1, per_clone=1), scale.points(1, per_clone=1))


@pytest.mark.parametrize(
    ("claims", "requests", "points"), [(1, 5, 4), (100, 5, 61), (101, 8, 64), (1_000, 32, 601), (10_000, 302, 6_001)]
)
def test_a_run_asks_for_a_hundred_claims_at_once(claims, requests, points):
    """Requests grow by the hundred, points by the claim."""
    assert (scale.run_requests(claims), scale.run_points(claims)) == (requests, points)


def test_every_table_is_on_the_page():
    """Nothing is computed that the page does not show."""
    page = (Path(scale.__file__).parent / "scale.md").read_text(encoding="utf-8")
    assert [name for name, table in scale.scale_tables().items() if table not in page] == []
