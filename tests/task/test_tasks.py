from dataclasses import replace

import pytest

from agent_sync.task.decision.tasks import BoardIssue, in_order, is_ready

READY = BoardIssue(
    42, "t", "u", "Todo", "P1", None, (), is_open=True, created="2026-01-02", open_blockers=0, open_sub_issues=0
)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, True),
        ({"status": "todo"}, True),
        ({"status": "In Progress"}, False),
        ({"status": None}, False),
        ({"is_open": False}, False),
        ({"assignees": ("mona",)}, False),
        ({"agent": "mona-1"}, False),
        ({"open_blockers": 1}, False),
        ({"open_sub_issues": 2}, False),
    ],
    ids=str,
)
def test_ready(changes, expected):
    """Ready means open, nobody's, in the ready column, and nothing in its way."""
    assert expected is is_ready(replace(READY, **changes), ready="Todo")


def test_order_is_priority_then_age():
    """The board's own order of priorities counts first, age second; no priority comes last."""
    a = replace(READY, number=1, priority=None, created="2020")
    b = replace(READY, number=2, priority="P2", created="2021")
    c = replace(READY, number=3, priority="P0", created="2023")
    d = replace(READY, number=4, priority="p0", created="2022")
    assert [issue.number for issue in in_order((a, b, c, d), ("P0", "P1", "P2"))] == [4, 3, 2, 1]
