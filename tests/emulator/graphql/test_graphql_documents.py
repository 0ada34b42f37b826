"""The documents a claim-to-close client needs, each answered the way GitHub would."""

from pathlib import Path

import pytest
from graphql import parse, validate

from agent_sync.emulator.graphql.schema import schema

DOCUMENTS = sorted((Path(__file__).parent / "documents").glob("*.graphql"))
PLACE = {"owner": "octo", "name": "demo"}


@pytest.fixture
def board(context):
    """Return the ids a client remembers about the board."""
    project = context.world.project("octo", 1)
    status, agent = project.field_named("Status"), project.field_named("Agent")
    return {
        "project": project.id,
        "status": status.id,
        "agent": agent.id,
        "options": {option.name: option.id for option in status.options},
    }


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.stem)
def test_documents_pass_every_rule(path):
    """Each document is valid even by the strict rules that GitHub itself relaxes."""
    assert validate(schema(), parse(path.read_text())) == []


def test_claim_read(context, board):
    """One question returns the viewer, the issue with its card, the board's ids and the base commit."""
    data = context.document("ClaimRead", **PLACE, issue=42, project=1)
    assert data["viewer"]["login"] == "octo"
    issue = data["repository"]["issue"]
    assert (issue["title"], issue["state"]) == ("Fix race condition in cache", "OPEN")
    card = issue["projectItems"]["nodes"][0]
    assert card["project"] == {"id": board["project"], "number": 1}
    assert card["status"] == {"name": "Todo", "optionId": board["options"]["Todo"]}
    assert card["agent"] is None
    assert [option["name"] for option in data["repositoryOwner"]["projectV2"]["status"]["options"]] == [
        "Todo", "In Progress", "In Review", "Done",
    ]  # fmt: skip
    assert data["repositoryOwner"]["projectV2"]["agent"]["dataType"] == "TEXT"
    assert len(data["repository"]["defaultBranchRef"]["target"]["oid"]) == 40
    assert data["rateLimit"]["cost"] == 1


def test_claim_read_dependencies(context):
    """An issue says what it waits for, counting open blockers apart from all."""
    issue = context.document("ClaimReadDeps", **PLACE, issue=41)["repository"]["issue"]
    assert issue["blockedBy"]["nodes"] == [{"number": 40, "state": "OPEN"}]
    assert issue["issueDependenciesSummary"]["blockedBy"] == 1
    context.act("close_issue", issue=40)
    issue = context.document("ClaimReadDeps", **PLACE, issue=41)["repository"]["issue"]
    assert issue["issueDependenciesSummary"] == {
        "blockedBy": 0, "blocking": 0, "totalBlockedBy": 1, "totalBlocking": 0,
    }  # fmt: skip


def test_claim_lock_is_taken_once(context):
    """The first to create a ref has it; the second is told that it exists."""
    read = context.document("ClaimRead", **PLACE, issue=42, project=1)["repository"]
    lock = {
        "repository": read["id"], "name": "refs/agent-sync/claims/42",
        "oid": read["defaultBranchRef"]["target"]["oid"],
    }  # fmt: skip
    made = context.document("ClaimLock", **lock)["createRef"]["ref"]
    assert made["target"]["oid"] == lock["oid"]
    again = (Path(__file__).parent / "documents" / "ClaimLock.graphql").read_text()
    error = context.error(again, "as:mona", **lock)
    assert (error["type"], error["path"]) == ("UNPROCESSABLE", ["createRef"])
    assert error["message"] == "Reference already exists"


def test_claim_write(context, board):
    """Agent, assignee and status are written in one request, and read back in the same."""
    issue = context.issue()
    written = context.document(
        "ClaimWrite", project=board["project"], item=issue.items[0].id, agentField=board["agent"],
        agent="claude-1", statusField=board["status"], option=board["options"]["In Progress"],
        issue=issue.id, assignees=[context.world.user("octo").id],
    )  # fmt: skip
    assert written["assign"]["assignable"]["assignees"]["nodes"] == [{"login": "octo"}]
    assert written["status"]["projectV2Item"] == {
        "agentNow": {"text": "claude-1"},
        "statusNow": {"name": "In Progress"},
    }


def test_add_item_twice_is_one_item(context, board):
    """Adding an issue that is on the board returns the card it has."""
    number = context.act("add_issue", title="New")["number"]
    wanted = {"project": board["project"], "content": context.issue(number).id}
    first = context.document("AddItem", **wanted)
    assert first["addProjectV2ItemById"]["item"]["isArchived"] is False
    assert context.document("AddItem", **wanted) == first


def test_pr_read_and_write(context, board):
    """A pull request is opened together with its card's move, and found by its branch."""
    branch = context.branch()
    seen = {"branch": branch, "ref": f"refs/heads/{branch}"}
    before = context.document("PrRead", **PLACE, **seen)["repository"]
    assert before["pullRequests"]["nodes"] == []
    written = context.document(
        "PrWrite", repository=before["id"], base="main", head=branch, title="Fix", body="Refs #42",
        draft=True, project=board["project"], item=context.issue().items[0].id, field=board["status"],
        option=board["options"]["In Review"], create=True, board=True,
    )  # fmt: skip
    assert written["pr"]["pullRequest"]["number"] == 45
    assert written["pr"]["pullRequest"]["url"] == "http://127.0.0.1:80/octo/demo/pull/45"
    after = context.document("PrRead", **PLACE, **seen)["repository"]
    assert after["pullRequests"]["nodes"][0]["isDraft"] is True
    assert after["pullRequests"]["nodes"][0]["headRefOid"] == before["ref"]["target"]["oid"]


def test_pr_write_leaves_out_what_is_not_included(context, board):
    """A mutation whose condition is false neither runs nor appears."""
    written = context.document(
        "PrWrite", repository=context.issue().repository.id, base="main", head="gone", title="x", body="",
        draft=False, project=board["project"], item=context.issue().items[0].id, field=board["status"],
        option=board["options"]["In Review"], create=False, board=True,
    )  # fmt: skip
    assert list(written) == ["board"]


def test_poll(context):
    """A poll sees state, mergeability, every kind of check, and what merging will close."""
    number = context.pull()["number"]
    assert context.document("Poll", **PLACE, number=number)["repository"]["pullRequest"]["statusCheckRollup"] is None
    context.act("add_check", pull=number, name="test", status="in_progress", required=True)
    context.act("add_status", pull=number, context="lint", state="success")
    pull = context.document("Poll", **PLACE, number=number)["repository"]["pullRequest"]
    assert (pull["state"], pull["mergeable"], pull["mergeStateStatus"]) == ("OPEN", "MERGEABLE", "BLOCKED")
    assert pull["closingIssuesReferences"]["nodes"] == [{"number": 42}]
    assert pull["statusCheckRollup"]["state"] == "PENDING"
    check, status = pull["statusCheckRollup"]["contexts"]["nodes"]
    assert (check["name"], check["status"], check["conclusion"]) == ("test", "IN_PROGRESS", None)
    assert (check["isRequired"], status["isRequired"]) == (True, False)
    assert (status["context"], status["contextState"]) == ("lint", "SUCCESS")
    context.act("merge_pull", pull=number)
    pull = context.document("Poll", **PLACE, number=number)["repository"]["pullRequest"]
    assert (pull["state"], pull["merged"], pull["mergeable"]) == ("MERGED", True, "UNKNOWN")
    assert pull["mergeCommit"]["oid"]


def test_poll_lite(context):
    """The counts by state add up to what was reported."""
    number = context.pull()["number"]
    for name, conclusion in (("a", "success"), ("b", "success"), ("c", "failure")):
        context.act("add_check", pull=number, name=name, conclusion=conclusion)
    rollup = context.document("PollLite", **PLACE, number=number)["repository"]["pullRequest"]["statusCheckRollup"]
    assert rollup["state"] == "FAILURE"
    assert rollup["contexts"]["checkRunCountsByState"] == [
        {"state": "FAILURE", "count": 1},
        {"state": "SUCCESS", "count": 2},
    ]


def test_close(context, board):
    """Comment, close, Done and an empty Agent field take two requests."""
    issue = context.issue()
    ids = {"issue": issue.id, "item": issue.items[0].id}
    context.act("set_field", issue=42, field="Agent", value="claude-1")
    context.document(
        "CloseWrite", **ids, body="Completed in #45", project=board["project"], statusField=board["status"],
        option=board["options"]["Done"], agentField=board["agent"], comment=True, close=True,
        status=True, agent=True,
    )  # fmt: skip
    read = context.document("CloseRead", **ids)
    assert read["issue"]["comments"]["nodes"] == [{"body": "Completed in #45", "viewerDidAuthor": True}]
    assert (read["issue"]["state"], read["issue"]["stateReason"]) == ("CLOSED", "COMPLETED")
    assert (read["item"]["status"]["name"], read["item"]["agent"]) == ("Done", None)


def test_summary_filtered(context):
    """Four filters in one request show the board of the small world."""
    data = context.document("SummaryFiltered", owner="octo", project=1, mine="assignee:mona")
    board = data["repositoryOwner"]["projectV2"]
    assert [entry["content"]["number"] for entry in board["mine"]["nodes"]] == [40]
    assert [entry["content"]["number"] for entry in board["todo"]["nodes"]] == [41, 42, 43]
    assert (board["prog"]["totalCount"], board["review"]["totalCount"]) == (1, 0)


def test_summary_page(context):
    """A page of the board shows every card with its two fields."""
    items = context.document("SummaryPage", owner="octo", project=1)["repositoryOwner"]["projectV2"]["items"]
    assert (items["totalCount"], items["pageInfo"]["hasNextPage"]) == (5, False)
    assert [card["status"]["name"] for card in items["nodes"]] == [
        "In Progress",
        "Todo",
        "Todo",
        "Todo",
        "Done",
    ]
