"""The board as a whole: columns in one request, issues page by page, and older servers."""

import pytest
from documented import error, fields, values

from agent_sync.errors import MissingScope
from agent_sync.gateway.board_filters import column_filter, title_filter
from agent_sync.task.decision.tasks import in_order, is_ready

BOARD_7 = {"project": {"owner": "acme", "number": 7}}


def listed(number, status="Todo", **more):
    """Return one issue as a board lists it."""
    content = {
        "number": number, "title": f"Task {number}", "url": f"https://github.com/octo/demo/issues/{number}",
        "issueState": "OPEN", "createdAt": "2026-01-01T00:00:00Z", "assignees": {"nodes": []},
    }  # fmt: skip
    return values(status, more.pop("agent", "")) | {"content": content | more}


def board_answer(**more):
    """Return a board's answer."""
    names = ("ready", "readyAnywhere", "inProgress", "inReview", "done")
    columns = {name: {"totalCount": 0, "nodes": []} for name in names}
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
    assert column_filter("Work State", 'In "Review"') == 'is:issue work-state:"In *Review*"'
    assert column_filter("Status", "Todo", "octo/demo") == 'is:issue repo:octo/demo status:"Todo"'
    assert title_filter('a" is:closed "b') == 'is:issue "a" "is:closed" "b"'
    assert title_filter("  ") == "is:issue"


def test_an_older_server_is_counted_by_hand(documented):
    """A server whose boards cannot be filtered is paged through, and gives the same answer."""
    documented.given("Board", UNKNOWN)
    documented.given("BoardFiltered", UNKNOWN)
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
    assert documented.operations() == ["Board", "BoardFiltered", "BoardPage", "BoardPagePlain", "BoardPagePlain"]


def test_an_organisations_board_is_the_same(documented):
    """Users and organisations own boards alike; only the owner's login is sent."""
    documented.given("Board", board_answer(ready={"totalCount": 120, "nodes": [listed(1, agent="x")]}))
    documented.given("BoardUrgent", board_answer(first={"nodes": [listed(7)]}))
    seen = documented.gateway(project={"owner": "acme", "number": 3}).board()
    assert seen is not None
    assert (seen.title, seen.counts[0], seen.ready[0].agent) == ("Demo board", ("Todo", 120), None)
    assert [(issue.number, issue.agent) for issue in seen.ready] == [(7, None), (1, "x")]
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


def test_a_forbidden_board_is_explained_by_the_kind_of_token(documented):
    """A permission is named where a token of this kind can be given one; a scope is never guessed."""
    wrong = error("FORBIDDEN", "Resource not accessible", "boardOwner", "projectV2")
    documented.given("Board", {"data": {"boardOwner": {"projectV2": None}}, "errors": [wrong]})
    for token, words in {
        "github_pat_x": "the boards of a user never",
        "ghs_x": "GITHUB_TOKEN of Actions reaches no board",
        "gho_x": "agent-sync doctor --live",
        "ghp_x": "agent-sync doctor --live",
    }.items():
        with pytest.raises(MissingScope, match=words) as raised:
            documented.gateway(token=token).board()
        assert raised.value.scope == ("" if "doctor" in words else "Projects: write"), token


def test_a_board_whose_cards_are_all_refused_is_refused(documented):
    """Where the refused cards take the board with them, the refusal is told, not a missing board."""
    wrong = error("FORBIDDEN", "Resource not accessible", "boardOwner", "projectV2", "ready")
    documented.given("Board", {"data": {"boardOwner": {"projectV2": None}}, "errors": [wrong]})
    with pytest.raises(MissingScope):
        documented.gateway().board()


def test_a_server_without_issue_fields_is_still_filtered(documented):
    """A server that filters and does not know the newest types is asked without them, not paged through."""
    unknown = "No such type ProjectV2ItemIssueFieldValue, so it can't be a fragment condition"
    documented.given("Board", {"errors": [{"message": unknown, "extensions": {"code": "undefinedType"}}]})
    plain = listed(1, assignees={"nodes": [{"id": "U_2", "login": "mona"}]})
    documented.given("BoardFiltered", board_answer(ready={"totalCount": 1, "nodes": [plain]}))
    seen = documented.gateway().board()
    assert [(issue.number, issue.assignees) for issue in seen.ready] == [(1, ("mona",))]
    assert documented.operations() == ["Board", "BoardFiltered"]


def test_a_board_that_is_too_heavy_is_asked_for_less(local):
    """A refusal for weight, in whatever words, is answered by one smaller question."""
    for fault in ("resource_limits", "timed_out", "status:502"):
        local.fault(fault, operation="Board")
        seen = local.gateway().board()
        assert [issue.number for issue in seen.ready] == [41, 42, 43], fault
        assert local.operations() == ["Board", "Board"], fault
        local.fault(fault, operation="BoardPage")
        assert len(list(local.gateway().board_issues())) == 5, fault
        assert local.operations() == ["BoardPage", "BoardPage"], fault
        assert local.slept == [], fault


def test_the_most_urgent_of_a_long_column_is_found(local):
    """A column longer than a page is asked for its most urgent tasks once more: the last may come first."""
    for place in range(101):
        local.act("add_issue", title=f"Task {place}", status="Todo")
    local.act("set_field", issue=145, field="Priority", value="P0")
    local.operations()
    seen = local.gateway().board()
    assert (dict(seen.counts)["Todo"], local.operations()) == (104, ["Board", "BoardUrgent"])
    assert next(iter(in_order(seen.ready, seen.priorities))).number == 145
    assert len({issue.number for issue in seen.ready}) == len(seen.ready)


def test_columns_come_in_the_boards_own_order(local):
    """Columns are the board's, in its order, also empty ones and those no setting names; counts are whole."""
    local.act("grow_board", items=300)
    local.act("rename_option", field="Status", option="In Review", to="Waiting")
    local.act("add_issue", title="Anywhere", status="Todo")
    local.operations()
    columns = local.gateway().board_columns(20)
    assert [(column.name, column.count, len(column.issues)) for column in columns] == [
        ("Todo", 4, 4), ("In Progress", 1, 1), ("Waiting", 0, 0), ("Done", 301, 20),
    ]  # fmt: skip
    assert local.operations() == ["BoardColumns", "BoardColumns"]
    everything = local.gateway().board_columns(0)
    assert [(column.name, len(column.issues)) for column in everything][-1] == ("Done", 301)


def test_issue_fields_types_bots_and_rivals_are_read(team):
    """On an organisation's board: the issue field's priority, the type, a bot as assignee, another's pull request."""
    team.act("set_type", repo="acme/api", issue=4, type="Epic")
    team.act("push_commit", repo="acme/api", branch="rival", path="a", content="a", by="mona")
    opened = team.control.post(
        "/repos/acme/api/pulls",
        json={"title": "Mine", "head": "rival", "base": "main", "body": "Closes #5"},
        headers={"authorization": "Bearer as:mona"},
    )
    assert opened.status_code == 201, opened.text
    seen = team.gateway(**BOARD_7).board()
    by_number = {issue.number: issue for issue in seen.ready}
    assert {issue.repository for issue in seen.ready} == {"acme/api"}
    assert (by_number[1].priority, by_number[4].type) == ("P0", "Epic")
    assert by_number[3].holder == "copilot-swe-agent"
    assert by_number[5].holder == f"mona, PR #{opened.json()['number']}"
    ready = [i.number for i in in_order(seen.ready, seen.priorities) if is_ready(i, ready="Todo", skip_types=("Epic",))]
    assert ready == [1, 7, 10, 2, 8, 11, 6, 9, 12]
    assert (dict(seen.counts)["Todo"], seen.elsewhere) == (12, 12)


def test_an_issue_of_another_repository_is_named_in_full(team):
    """The whole board is listed with the repository of each issue; by title only this repository's are found."""
    listed_ones = {issue.name: issue.title for issue in team.gateway(**BOARD_7).board_issues()}
    assert listed_ones["#1"] == "Drop the legacy billing table"
    assert listed_ones["acme/web#1"] == "Fix a typo on the login page"
    assert list(team.gateway(**BOARD_7).board_issues("typo on the login")) == []


def test_a_renamed_repository_is_followed(team):
    """The old name of a repository leads to the new one, on the board as well, at the price of one more request."""
    team.act("rename_repository", repo="acme/api", name="core")
    team.operations()
    seen = team.gateway(**BOARD_7).board()
    assert (len(seen.ready), seen.elsewhere, team.operations()) == (12, 12, ["Board", "Board"])
    assert {issue.name for issue in seen.ready} == {f"#{number}" for number in range(1, 13)}
    task = team.gateway(**BOARD_7).task(1)
    assert (task.title, team.operations()) == ("Drop the legacy billing table", ["Task"])


def test_a_renamed_owners_board_is_found(documented):
    """Where the owner's old login leads nowhere, the board is looked for under the new one."""
    moved = board_answer(ready={"totalCount": 1, "nodes": [listed(1, repository={"nameWithOwner": "Acme/demo"})]})
    moved["data"]["repository"] = {"nameWithOwner": "acme/demo"}
    gone = {"data": {"boardOwner": None, "repository": {"nameWithOwner": "acme/demo"}}}
    documented.given("Board", gone, moved)
    seen = documented.gateway().board()
    assert [issue.name for issue in seen.ready] == ["#1"]
    assert [asked["boardOwner"] for _, asked in documented.asked] == ["octo", "acme"]
    assert documented.asked[1][1]["ready"] == 'is:issue repo:acme/demo status:"Todo"'


def test_a_renamed_owner_that_the_settings_name_is_found_by_the_linked_board(team):
    """Where the configured owner is gone, the board of that number that is linked to the repository is the one."""
    team.act("rename_owner", repo="acme/api", login="acme-labs")
    team.operations()
    for ask, operation in (
        (lambda github: github.board().ready, "Board"),
        (lambda github: github.task(1).card.item_id, "Task"),
        (lambda github: github.card(1).item_id, "Card"),
        (lambda github: github.board_columns(5), "BoardColumns"),
        (lambda github: list(github.board_issues()), "BoardPage"),
    ):
        github = team.gateway(**BOARD_7)
        assert ask(github)
        assert team.operations()[:2] in ([operation, operation], [operation, "LinkedBoards"])
    assert team.gateway(**BOARD_7).boards()[0].owner == "acme-labs"


def test_an_owner_that_never_was_is_not_made_up(team):
    """Without a linked board of that number the board is not there, and no other is taken."""
    from agent_sync.errors import NotFound

    with pytest.raises(NotFound):
        team.gateway(project={"owner": "nobody", "number": 99}).board()
