from dataclasses import replace

import pytest

from agent_sync.task.decision.claimable import objection
from agent_sync.task.decision.facts import NoCard
from agent_sync.task.decision.tasks import BoardIssue, LinkedPull, Person, Task, in_order, is_ready

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
        ({"is_here": False, "repository": "acme/web"}, False),
        ({"type": "epic"}, False),
        ({"type": "Bug"}, True),
        ({"rival_pulls": (LinkedPull(7, "mona"),)}, False),
    ],
    ids=str,
)
def test_ready(changes, expected):
    """Ready means open, nobody's, in the ready column, and nothing in its way."""
    assert expected is is_ready(replace(READY, **changes), ready="Todo", skip_types=("Epic",))


def test_order_is_priority_then_age():
    """The board's own order of priorities counts first, age second; no priority comes last."""
    a = replace(READY, number=1, priority=None, created="2020")
    b = replace(READY, number=2, priority="P2", created="2021")
    c = replace(READY, number=3, priority="P0", created="2023")
    d = replace(READY, number=4, priority="p0", created="2022")
    assert [issue.number for issue in in_order((a, b, c, d), ("P0", "P1", "P2"))] == [4, 3, 2, 1]


def test_a_priority_the_board_does_not_list_comes_by_its_name():
    """Where the options are not known, priorities come by name, before none at all."""
    a, b, c = (replace(READY, number=place, priority=name) for place, name in enumerate((None, "P1", "P0")))
    assert [issue.number for issue in in_order((a, b, c), ())] == [2, 1, 0]


TASK = Task(Person("octo", "U_1"), "I_42", 42, "t", "u", True, (), (), (), NoCard(""), None, "main")


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"assignees": ("Octo",)}, None),
        ({"assignees": ("mona", "octo")}, None),
        ({"assignees": ("copilot", "octo"), "bots": ("copilot",)}, "held by copilot."),
        ({"rival_pulls": (LinkedPull(7, "mona"),)}, "held by mona, whose PR #7 is open."),
        ({"rival_pulls": (LinkedPull(7, "mona", "acme/web"),)}, "held by mona, whose PR acme/web#7 is open."),
        ({"open_blockers": (40,), "foreign_blockers": ("acme/web#5",)}, "blocked by #40, acme/web#5."),
        ({"hidden_blockers": 2}, "blocked by 2 issues that this token may not see."),
    ],
    ids=str,
)
def test_what_stands_against_a_claim(changes, says):
    """Bots hold what they are assigned to, whoever is assigned with them; blockers count wherever they are."""
    found = objection(replace(TASK, **changes), own_ids=frozenset(), take_over=False)
    assert (found.reason if found else None) == (says and f"Issue #42 is {says}")
