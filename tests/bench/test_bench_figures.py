"""The table of `make bench`: multiples, limits, both tables, the recorded figures."""

import pytest
from support.step_costs import MOST_REQUESTS

from benchmarks.figures import Row, Unit, broken_counts, multiple, multiples_row
from benchmarks.gates import FILES, GATES
from benchmarks.quiet import UNLIMITED
from benchmarks.recorded import RIVAL, SCRIPT
from benchmarks.table import markdown_table, text_table
from benchmarks.turns import Effort, in_turns

COUNT = Row("Requests", "claim", Unit.COUNT, ("API", "git"), (2, 4), at_most=(2, 3))
TIMED = Row("Steps", "claim", Unit.FLOOR, ("0 ms", "100 ms"), (5.0, 1.75), (0.1, 0.25), (None, 3.77), (), (None, 2.0))


def test_a_multiple_is_of_medians_and_spreads_over_pairs():
    """One outlier does not move the value; the spread is the middle half of what the rounds said."""
    found = multiple([2.0, 4.0, 90.0], [1.0, 2.0, 3.0])
    assert (found.value, found.low, found.high) == (2.0, 2.0, 16.0)
    assert found.spread == 3.5


def test_one_round_has_no_spread():
    """A single round gives a value all the same."""
    assert multiple([6.0], [2.0]).spread == 0


@pytest.mark.parametrize(
    ("values", "at_most", "met"),
    [((1.0, 2.0), (None, 2.0), True), ((1.0, 2.1), (None, 2.0), False), ((9.0,), (), None), ((9.0,), (None,), None)],
)
def test_a_row_is_met_when_every_limited_value_is(values, at_most, met):
    """A limit is met by a value as large as itself; without a limit there is nothing to meet."""
    assert Row("s", "n", Unit.BARE, ("",) * len(values), values, at_most=at_most).is_met is met


def test_only_counts_fail_a_run():
    """A time over its limit is marked and no more, because a busy machine does that; a count fails the run."""
    slow = Row("Steps", "claim", Unit.BARE, ("",), (9.0,), at_most=(1.0,))
    assert broken_counts([slow, COUNT]) == ["Requests: claim"]


def test_the_table_shows_everything_of_a_row():
    """A section's heading names unit and points; a row has its figures, spread, others' figures, limit and mark."""
    shown = text_table([TIMED, COUNT]).splitlines()
    assert "Steps, × the floor: 0 ms / 100 ms" in shown
    assert "Requests, count: API / git" in shown
    steps, requests = (line.split("  ") for line in shown if line.startswith("claim"))
    assert [part.strip() for part in steps if part] == ["claim", "5.00 / 1.75", "25 %", "– / 3.77", "– / 2.00", "✓"]
    assert [part.strip() for part in requests if part] == ["claim", "2 / 4", "2 / 3", "✗"]


def test_the_page_shows_the_same_table():
    """Every line of the Markdown table has as many columns as its head."""
    lines = markdown_table([TIMED, COUNT]).splitlines()
    assert {line.count("|") for line in lines} == {8}
    assert "| claim | 5.00 / 1.75 | 25 % | – / 3.77 |  | – / 2.00 | ✓ |" in lines


def test_sides_run_in_turns_with_the_order_swapped():
    """Nobody is always first."""
    order = []
    cases = {name: lambda name=name: order.append(name) or 1.0 for name in "ab"}
    assert in_turns(cases, 2) == {"a": [1.0, 1.0], "b": [1.0, 1.0]}
    assert order == ["a", "b", "b", "a"]


def test_a_quick_run_leaves_the_largest_size_out():
    """A quick run has fewer rounds of fewer sizes."""
    assert Effort().sizes(1, 10, 100) == (1, 10, 100)
    assert Effort(is_quick=True).sizes(1, 10, 100) == (1, 10)


def test_recorded_figures_name_what_is_measured_now():
    """What the script took is of steps that there are, in requests and multiples; what is not known is left out."""
    assert set(SCRIPT.multiples["steps"]) <= set(MOST_REQUESTS)
    assert (SCRIPT.step("claim", "requests"), SCRIPT.step("handoff", "local")) == (11, None)
    assert len(RIVAL.series("gates", "overhead", len(GATES))) == len(GATES)
    assert len(RIVAL.series("gates", "detect, tracked", len(FILES))) == len(FILES)
    assert not set(RIVAL.multiples["quiet"]) & set(UNLIMITED)
    assert all(recorded.when and recorded.versions and recorded.how for recorded in (SCRIPT, RIVAL))


def test_a_row_of_multiples_keeps_the_order_of_its_points():
    """Values and spreads belong to the points they were measured at."""
    row = multiples_row("s", "n", Unit.BARE, {"10": multiple([1.0], [1.0]), "1,000": multiple([3.0], [1.0])})
    assert (row.points, row.values, row.spreads) == (("10", "1,000"), (1.0, 3.0), (0.0, 0.0))
