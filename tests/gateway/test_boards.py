"""The board as a whole: columns in one request, issues page by page, and older servers."""

import pytest
from documented import error, fields, values

from agent_sync.errors import MissingScope
from agent_sync.gateway.boards import column_filter, title_filter


def listed(number, status="Todo", **more):
    """Return one issue as a board lists it."""
    content = {
        "number": number, "title": f"Task {number}", "url": f"https://github.com/octo/demo/issues/{number}",
        "issueState": "OPEN", "createdAt": "2026-01-01T00:00:00Z", "assignees": {"nodes": []},
    }  # fmt: skip
    return values(status, more.pop("agent", "")) | {"content": content | more}


def board_answer(**more):
    """Return a board's answer."""
    columns = {name: {"totalCount": 0, "nodes": []} for name in ("ready", "inProgress", "inReview", "done")}
    return {"data": {"boardOwner": {"projectV2": fields() | columns | more}}}


def page(*nodes, after=None):
    """Return one page of a board."""
    return board_answer(items={"pageInfo": {"hasNextPage": bool(after), "endCursor": after}, "nodes": list(nodes)})


UNKNOWN = {
    "errors": [
        {
            "message": "Field 'items' doesn't accept argument 'query'",
            "path": ["query Board", "boardOwner", "... on ProjectV2Owner", "projectV2", "ready", "query"],
            "extensions": {"code": "argumentNotAccepted", "name": "items"},
        }
    ]
}


def test_the_local_board_is_seen_in_columns(local):
    """Columns have their counts; the first three have their cards, with everything that decides about claiming."""
    seen = local.gateway().board()
    assert seen is not None
    assert seen.counts == (("Todo", 3), ("In Progress", 1), ("In Review", 0), ("Done", 1))
    assert seen.priorities == ("P0", "P1", "P2")
    assert [(i.number, i.priority, i.open_blockers) for i in seen.ready] == [
        (41, None, 1),
        (42, "P1", 0),
        (43, "P2", 0),
    ]
    assert [(i.number, i.assignees, i.status) for i in seen.in_progress] == [(40, ("mona",), "In Progress")]
    assert seen.in_review == ()
    assert local.operations() == ["Board"]


def test_columns_with_other_names_are_found(local):
    """Names are those of the settings, whatever their case, and shown as the board writes them."""
    local.act("rename_option", field="Status", option="Todo", to="Up next: now")
    seen = local.gateway(board={"ready": "up NEXT: now", "status_field": "status"}).board()
    assert seen is not None
    assert seen.counts[0] == ("Up next: now", 3)
    assert len(seen.ready) == 3


def test_sub_issues_and_agents_are_listed(local):
    """A listed issue tells how many parts of it are open and which agent has it."""
    local.act("sub_issue", issue=43, parent=42)
    local.act("set_field", issue=42, field="Agent", value="octo-1")
    seen = {issue.number: issue for issue in local.gateway().board_issues()}
    assert (seen[42].open_sub_issues, seen[42].agent, seen[42].is_open) == (1, "octo-1", True)
    assert (seen[44].is_open, seen[41].open_blockers, len(seen)) == (False, 1, 5)


def test_issues_are_found_by_title(local):
    """Text is looked for in titles, as it is, whatever it would mean to the board's filter."""
    local.act("add_issue", title='Say "is:closed" aloud', status="Todo")
    gateway = local.gateway()
    assert [issue.number for issue in gateway.board_issues("CACHE")] == [42, 43]
    assert [issue.number for issue in gateway.board_issues("is:closed")] == [45]
    assert [issue.number for issue in gateway.board_issues('"is:closed"')] == [45]
    assert list(gateway.board_issues("no such thing")) == []


def test_a_board_in_words_that_are_filters():
    """Names and texts cannot become other filters than they are meant to be."""
    assert column_filter("Work State", 'In "Review"') == 'work-state:"In *Review*"'
    assert title_filter('a" is:closed "b') == 'is:issue "a" "is:closed" "b"'
    assert title_filter("  ") == "is:issue"


def test_an_older_server_is_counted_by_hand(documented):
    """A server whose boards cannot be filtered is paged through, and gives the same answer."""
    documented.given("Board", UNKNOWN)
    documented.given("BoardPage", UNKNOWN)
    documented.given(
        "BoardPagePlain",
        page(listed(1), listed(2, "In Progress"), {"content": {}}, None, after="c1"),
        page(listed(3), listed(4, "Elsewhere"), listed(5, "Done"), {"content": None}),
    )
    seen = documented.gateway().board()
    assert seen is not None
    assert seen.counts == (("Todo", 2), ("In Progress", 1), ("In Review", 0), ("Done", 1))
    assert [issue.number for issue in seen.ready] == [1, 3]
    assert documented.operations() == ["Board", "BoardPage", "BoardPagePlain", "BoardPagePlain"]


def test_an_organisations_board_is_the_same(documented):
    """Users and organisations own boards alike; only the owner's login is sent."""
    documented.given("Board", board_answer(ready={"totalCount": 120, "nodes": [listed(1, agent="x")]}))
    seen = documented.gateway(project={"owner": "acme", "number": 3}).board()
    assert seen is not None
    assert (seen.title, seen.counts[0], seen.ready[0].agent) == ("Demo board", ("Todo", 120), "x")
    assert documented.asked[0][1]["boardOwner"] == "acme"


def test_hidden_cards_do_not_hide_the_board(documented):
    """Cards of repositories this token may not see are left out; the others are shown."""
    answered = board_answer(ready={"totalCount": 2, "nodes": [{"content": None}, listed(1)]})
    path = ("boardOwner", "projectV2", "ready", "nodes", 0, "content")
    answered["errors"] = [error("FORBIDDEN", "Resource not accessible", *path)]
    documented.given("Board", answered)
    seen = documented.gateway().board()
    assert seen is not None
    assert [issue.number for issue in seen.ready] == [1]


@pytest.mark.parametrize(
    ("token", "words"),
    [
        ("github_pat_x", "the boards of a user never"),
        ("ghs_x", "GITHUB_TOKEN of Actions reaches no board"),
        ("gho_x", "gh auth refresh --scopes project"),
        ("ghp_x", r"Tokens \(classic\)"),
    ],
)
def test_a_forbidden_board_is_explained_by_the_kind_of_token(documented, token, words):
    """What a token cannot do with boards depends on its kind, and so does what helps."""
    wrong = error("FORBIDDEN", "Resource not accessible", "boardOwner", "projectV2")
    documented.given("Board", {"data": {"boardOwner": {"projectV2": None}}, "errors": [wrong]})
    with pytest.raises(MissingScope, match=words) as raised:
        documented.gateway(token=token).board()
    assert raised.value.scope in {"project", "Projects: write"}


def test_a_board_whose_cards_are_all_refused_is_refused(documented):
    """Where the refused cards take the board with them, the refusal is told, not a missing board."""
    wrong = error("FORBIDDEN", "Resource not accessible", "boardOwner", "projectV2", "ready")
    documented.given("Board", {"data": {"boardOwner": {"projectV2": None}}, "errors": [wrong]})
    with pytest.raises(MissingScope):
        documented.gateway().board()
