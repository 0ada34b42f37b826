"""Behaviour of orders."""

from behaviour import (
    CREATED,
    MOVED,
    Behaviour,
    astray,
    change_of,
    closure,
    failed,
    nothing,
    opened,
    order,
    pushed,
    taken,
)
from documented import answer, error, issue, item

from agent_sync.errors import Refused
from agent_sync.task.decision.facts import PullState

WRITES = {
    "card-moved": Behaviour(
        lambda g: g.move_card(change_of(g)),
        nothing,
        {"Card": answer(), "MoveCard": MOVED},
        lambda came: came is None,
    ),
    "card-moved-while-archived": Behaviour(
        lambda g: g.move_card(change_of(g)),
        lambda local: local.act("archive_item", issue=42),
        {
            "Card": answer(issue=issue(projectItems={"nodes": [item(isArchived=True)]})),
            "MoveCard": {
                "data": {"status": None, "agent": None},
                "errors": [error("UNPROCESSABLE", "The item is archived and cannot be updated", "status")],
            },
        },
        failed(Refused, "archived", "moving the card"),
    ),
    "pull-opened-with-its-card": Behaviour(
        lambda g: g.open_pull(order(g)),
        pushed,
        {"Lookup": answer(), "OpenPull": CREATED},
        lambda came: (came[0].number, came[0].state, came[1]) == (45, PullState.OPEN, ""),
    ),
    "pull-refused-as-a-duplicate": Behaviour(
        lambda g: g.open_pull(order(g, with_card=False)),
        opened,
        {
            "Lookup": answer(),
            "OpenPull": {
                "data": {"pull": None},
                "errors": [error("UNPROCESSABLE", "A pull request already exists for octo:work.", "pull")],
            },
        },
        failed(Refused, "A pull request already exists for octo:work", "branch work"),
    ),
    "pull-refused-without-a-head": Behaviour(
        lambda g: g.open_pull(order(g, branch="nowhere", with_card=False)),
        nothing,
        {
            "Lookup": answer(head=None),
            "OpenPull": {
                "data": {"pull": None},
                "errors": [
                    error(
                        "UNPROCESSABLE",
                        "Head sha can't be blank, Base sha can't be blank, No commits between main and nowhere, "
                        "Head ref must be a branch",
                        "pull",
                    )
                ],
            },
        },
        failed(Refused, "Head ref must be a branch"),
    ),
    "pull-refused-without-commits": Behaviour(
        lambda g: g.open_pull(order(g, branch="main", with_card=False)),
        nothing,
        {
            "Lookup": answer(),
            "OpenPull": {
                "data": {"pull": None},
                "errors": [error("UNPROCESSABLE", "No commits between main and main", "pull")],
            },
        },
        failed(Refused, "No commits between main and main"),
    ),
    "task-closed-with-everything": Behaviour(
        lambda g: g.close_task(closure(g)),
        taken,
        {
            "Closing": answer(issue=issue(projectItems={"nodes": [item(agent="octo-1")]})),
            "CloseTask": {
                "data": {"comment": {}, "close": {"issue": {"state": "CLOSED"}}, "status": {}, "noAgent": {}}
            },
        },
        lambda came: came == "",
    ),
    "task-closed-although-the-board-refuses": Behaviour(
        lambda g: g.close_task(astray(closure(g))),
        nothing,
        {
            "Closing": answer(),
            "CloseTask": {
                "data": {
                    "comment": {"clientMutationId": None},
                    "close": {"issue": {"state": "CLOSED"}},
                    "status": None,
                },
                "errors": [error("NOT_FOUND", "Could not resolve to a node with the global id of 'PVTI_1'", "status")],
            },
        },
        lambda came: "Could not resolve to a node" in came,
    ),
    "task-claimed": Behaviour(
        lambda g: g.claim_task(g.task(42), change_of(g, status="In Progress")),
        nothing,
        {
            "Task": answer(),
            "Card": answer(),
            "ClaimTask": {
                "data": {
                    "assign": {"assignable": {"assignees": {"nodes": [{"login": "octo"}]}}},
                    "status": {},
                    "agent": {},
                }
            },
        },
        lambda came: came == "",
    ),
    "task-released": Behaviour(
        lambda g: g.release_task(g.task(42), change_of(g, status="Todo", agent="")),
        lambda local: (local.gateway().claim_task(local.gateway().task(42), None), taken(local)),
        {
            "Task": answer(issue=issue(assignees={"nodes": [{"login": "octo"}]})),
            "Card": answer(issue=issue(projectItems={"nodes": [item(agent="octo-1")]})),
            "ReleaseTask": {"data": {"unassign": {"assignable": {"assignees": {"nodes": []}}}, "noAgent": {}}},
        },
        lambda came: came == "",
    ),
}
