"""How many requests each step makes to GitHub's API, counted by the local GitHub; git's are in test_step_costs.py."""

import pytest
from behaviour import MARKER, change_of, closure, order
from support.prove import PROVE

from agent_sync.task.decision.decide import card_change


@pytest.fixture(params=["few items", "very many items"])
def board(request, local):
    """A local GitHub with a small and with a very large board."""
    if request.param == "very many items":
        local.act("grow_board", items=9_995 if PROVE else 1_995)
    return local


def test_claim_to_close_costs_the_same_on_any_board(board):
    """Every step of a task is one request, however many cards the board has."""
    gateway = board.gateway()
    task = gateway.task(42)
    gateway.claim_task(task, card_change(task.card, status="In Progress", agent="octo-1")[0])
    assert board.operations() == ["Task", "ClaimTask"]
    board.push()
    pull, _ = gateway.open_pull(order(gateway))
    assert board.operations() == ["Lookup", "OpenPull"]
    gateway.pull(pull.number, with_checks=True)
    assert board.operations() == ["Poll"]
    gateway.move_card(change_of(gateway, status="Todo"))
    assert board.operations() == ["Card", "MoveCard"]
    assert gateway.close_task(closure(gateway)) == ""
    assert board.operations() == ["Closing", "CloseTask"]
    seen = gateway.board()
    assert board.operations() == ["Board"]
    assert gateway.requests == 10
    assert seen is not None
    assert dict(seen.counts)["Todo"] == 2


def test_the_other_questions_cost_one_request(local):
    """The pull request of a branch, and releasing a task, cost one request each."""
    gateway = local.gateway()
    task = gateway.task(42)
    gateway.claim_task(task, None)
    task = gateway.task(42)
    local.operations()
    gateway.branch_pull("work")
    gateway.release_task(task, card_change(task.card, status="Todo", agent="")[0])
    assert local.operations() == ["BranchPull", "ReleaseTask"]


def test_nothing_to_do_costs_nothing(local):
    """An order that would change nothing is not sent."""
    gateway = local.gateway()
    seen = gateway.closing(issue=44, pull=None, branch="", marker=MARKER)
    local.operations()
    gateway.move_card(change_of(gateway, status="todo", agent=""))
    assert local.operations() == ["Card"]
    done = closure_of_nothing(seen)
    assert gateway.close_task(done) == ""
    assert local.operations() == []


def closure_of_nothing(seen):
    """Return an order to close what is closed already and whose card says so."""
    from agent_sync.task.decision.actions import CloseTask

    return CloseTask(seen.issue_id, 44, None, False, card_change(seen.card, status="Done", agent="")[0])


def test_repeated_requests_are_counted(local):
    """The gateway's own count has every request in it, tries that failed included."""
    local.fault("status:502", times=2, operation="Card")
    gateway = local.gateway()
    gateway.card(42)
    assert gateway.requests == len(local.operations()) == 3


def test_every_issue_is_paged_by_hundreds(local):
    """Listing every issue of a board takes one request per hundred cards."""
    local.act("grow_board", items=245)
    gateway = local.gateway()
    assert len(list(gateway.board_issues())) == 250
    assert local.operations() == ["BoardPage"] * 3
