"""What mutations change, and what they refuse."""

from datetime import date

import pytest
from mutating import done, refused, run

from agent_sync.emulator.operations import boards
from agent_sync.emulator.world.boards import FieldType, Iteration


@pytest.fixture
def repository(context):
    """Return the repository of the small world."""
    return context.world.repository("octo", "demo")


@pytest.fixture
def project(context):
    """Return the board of the small world."""
    return context.world.project("octo", 1)


def test_issue_from_creation_to_reopening(context, repository, project):
    """An issue is created on a board, edited, closed with a reason, and reopened."""
    made = done(
        context, "createIssue", "issue { id number assignees(first: 5) { nodes { login } } "
        "labels(first: 5) { nodes { name } } projectItems(first: 5) { totalCount } }",
        repositoryId=repository.id, title="New", body="Text", assigneeIds=[context.world.user("mona").id],
        labelIds=[repository.labels["bug"].id], projectV2Ids=[project.id], projectIds=None,
    )["issue"]  # fmt: skip
    assert made["number"] == 45
    assert made["assignees"]["nodes"] == [{"login": "mona"}]
    assert made["labels"]["nodes"] == [{"name": "bug"}]
    assert made["projectItems"]["totalCount"] == 1
    edited = done(context, "updateIssue", "issue { title body state }", id=made["id"], title="Newer", state="CLOSED")
    assert edited["issue"] == {"title": "Newer", "body": "Text", "state": "CLOSED"}
    opened = done(context, "reopenIssue", "issue { state stateReason }", issueId=made["id"])
    assert opened["issue"] == {"state": "OPEN", "stateReason": "REOPENED"}
    closed = done(context, "closeIssue", "issue { stateReason }", issueId=made["id"], stateReason="NOT_PLANNED")
    assert closed["issue"]["stateReason"] == "NOT_PLANNED"


def test_issue_people_and_labels_are_replaced(context, repository):
    """Updating an issue with lists makes them exactly those."""
    answer = done(
        context, "updateIssue",
        "issue { assignees(first: 5) { nodes { login } } labels(first: 5) { nodes { name } } }",
        id=context.issue(40).id, assigneeIds=[context.world.user("octo").id],
        labelIds=[repository.labels["question"].id],
    )  # fmt: skip
    assert answer["issue"] == {
        "assignees": {"nodes": [{"login": "octo"}]},
        "labels": {"nodes": [{"name": "question"}]},
    }


def test_classic_boards_are_gone(context, repository):
    """A classic board's id leads nowhere."""
    assert refused(
        context, "createIssue", "issue { id }", repositoryId=repository.id, title="x", projectIds=["P_1"]
    ) == (
        "NOT_FOUND",
        "Could not resolve to a node with the global id of 'P_1'",
    )


def test_comment_is_written_changed_and_deleted(context):
    """A comment can be written, changed and deleted."""
    made = done(
        context,
        "addComment",
        "commentEdge { cursor node { id url } } subject { id }",
        subjectId=context.issue().id,
        body="a",
    )
    node = made["commentEdge"]["node"]
    assert "/octo/demo/issues/42#issuecomment-" in node["url"]
    done(context, "updateIssueComment", "issueComment { body }", id=node["id"], body="b")
    assert [comment.body for comment in context.issue().comments] == ["b"]
    done(context, "deleteIssueComment", "clientMutationId", id=node["id"])
    assert context.issue().comments == []


def test_client_mutation_id_is_echoed(context):
    """The client's own mark comes back, and does nothing else."""
    payload = done(context, "closeIssue", "clientMutationId", issueId=context.issue().id, clientMutationId="mark")
    assert payload == {"clientMutationId": "mark"}


def test_assignees(context):
    """People are assigned, taken off, and replaced by id or login."""
    octo, mona, issue = context.world.user("octo"), context.world.user("mona"), context.issue().id
    both = "assignable { assignees(first: 5) { nodes { login } } }"

    def logins(payload):
        return [user["login"] for user in payload["assignable"]["assignees"]["nodes"]]

    assert logins(
        done(context, "addAssigneesToAssignable", both, assignableId=issue, assigneeIds=[octo.id, mona.id])
    ) == [
        "octo",
        "mona",
    ]
    assert logins(done(context, "removeAssigneesFromAssignable", both, assignableId=issue, assigneeIds=[octo.id])) == [
        "mona"
    ]
    assert logins(done(context, "replaceActorsForAssignable", both, assignableId=issue, actorLogins=["octo"])) == [
        "octo"
    ]
    assert logins(done(context, "replaceActorsForAssignable", both, assignableId=issue, actorIds=[])) == []


def test_labels(context, repository):
    """Labels are put on and taken off."""
    names = "labelable { labels(first: 5) { nodes { name } } }"
    bug = repository.labels["bug"].id
    added = done(context, "addLabelsToLabelable", names, labelableId=context.issue().id, labelIds=[bug])
    assert added["labelable"]["labels"]["nodes"] == [{"name": "bug"}]
    gone = done(context, "removeLabelsFromLabelable", names, labelableId=context.issue().id, labelIds=[bug])
    assert gone["labelable"]["labels"]["nodes"] == []


def test_relations(context):
    """Blockers and sub-issues are set and taken back, each refused twice."""
    issue, other = context.issue(42).id, context.issue(43).id
    both = {"issueId": issue, "blockingIssueId": other}
    blocked = done(context, "addBlockedBy", "issue { blockedBy(first: 5) { nodes { number } } }", **both)
    assert blocked["issue"]["blockedBy"]["nodes"] == [{"number": 43}]
    assert refused(context, "addBlockedBy", "issue { id }", **both)[0] == "UNPROCESSABLE"
    done(context, "removeBlockedBy", "issue { id }", **both)
    url = "http://127.0.0.1:80/octo/demo/issues/43"
    parent = done(context, "addSubIssue", "subIssue { number parent { number } }", issueId=issue, subIssueUrl=url)
    assert parent["subIssue"] == {"number": 43, "parent": {"number": 42}}
    again = {"issueId": context.issue(40).id, "subIssueId": other}
    assert refused(context, "addSubIssue", "issue { id }", **again)[0] == "UNPROCESSABLE"
    moved = done(context, "addSubIssue", "subIssue { parent { number } }", **again, replaceParent=True)
    assert moved["subIssue"]["parent"]["number"] == 40
    done(context, "removeSubIssue", "issue { id }", issueId=context.issue(40).id, subIssueId=other)
    assert refused(context, "addSubIssue", "issue { id }", issueId=issue)[0] == "UNPROCESSABLE"


VALUES = {
    "text": (FieldType.TEXT, {"text": "x"}, "... on ProjectV2ItemFieldTextValue { text }", {"text": "x"}),
    "number": (
        FieldType.NUMBER,
        {"number": 2.5},
        "... on ProjectV2ItemFieldNumberValue { number }",
        {"number": 2.5},
    ),
    "date": (
        FieldType.DATE,
        {"date": "2026-01-31"},
        "... on ProjectV2ItemFieldDateValue { date }",
        {"date": "2026-01-31"},
    ),
    "iteration": (
        FieldType.ITERATION,
        {"iterationId": "a1"},
        "... on ProjectV2ItemFieldIterationValue { title startDate duration }",
        {"title": "Sprint", "startDate": "2026-01-05", "duration": 14},
    ),
}


@pytest.mark.parametrize(("kind", "value", "shown", "expected"), VALUES.values(), ids=VALUES.keys())
def test_every_type_of_field_is_set_and_cleared(context, project, *, kind, value, shown, expected):
    """A field of every settable type takes its value, shows it, and is emptied again."""
    sprint = Iteration("a1", "Sprint", date(2026, 1, 5), 14)
    field = boards.add_field(context.world, project, "Extra", kind, iterations=[sprint])
    place = {"projectId": project.id, "itemId": context.issue().items[0].id, "fieldId": field.id}
    read = f'projectV2Item {{ fieldValueByName(name: "Extra") {{ {shown} }} }}'
    assert done(context, "updateProjectV2ItemFieldValue", read, **place, value=value) == {
        "projectV2Item": {"fieldValueByName": expected}
    }
    assert done(context, "clearProjectV2ItemFieldValue", read, **place) == {"projectV2Item": {"fieldValueByName": None}}


REFUSED_VALUES = {
    "unknown option": ("Status", {"singleSelectOptionId": "ffff"}, "does not belong to the field"),
    "empty option": ("Status", {"singleSelectOptionId": ""}, "does not belong to the field"),
    "wrong type": ("Agent", {"number": 1}, "Did not receive a text value"),
    "two values": ("Agent", {"number": 1, "text": "x"}, "Only one"),
    "mirrored field": ("Assignees", {"text": "x"}, "not supported"),
}


@pytest.mark.parametrize(("field", "value", "said"), REFUSED_VALUES.values(), ids=REFUSED_VALUES.keys())
def test_values_that_do_not_fit(context, project, field, value, said):
    """A value that does not fit its field is refused as a validation error."""
    kind, message = refused(
        context, "updateProjectV2ItemFieldValue", "projectV2Item { id }", projectId=project.id,
        itemId=context.issue().items[0].id, fieldId=project.field_named(field).id, value=value,
    )  # fmt: skip
    assert kind == "VALIDATION"
    assert said in message


def test_draft_items(context, project):
    """A note is put on the board, filtered as a draft, and shown with its text."""
    mona = context.world.user("mona").id
    note = {"projectId": project.id, "title": "Idea", "body": "Some day", "assigneeIds": [mona]}
    shown = "projectItem { type content { ... on DraftIssue { title body creator { login } } } }"
    assert done(context, "addProjectV2DraftIssue", shown, **note)["projectItem"] == {
        "type": "DRAFT_ISSUE",
        "content": {"title": "Idea", "body": "Some day", "creator": {"login": "octo"}},
    }
    query = """query($q: String) { user(login: "octo") { projectV2(number: 1) { items(first: 9, query: $q) {
      totalCount } } } }"""
    for text, count in (
        ("is:draft", 1),
        ("is:open assignee:mona", 2),
        ("is:draft label:bug repo:octo/demo", 0),
    ):
        assert context.data(query, q=text)["user"]["projectV2"]["items"]["totalCount"] == count


def test_archived_items(context, project):
    """An archived card leaves the list, refuses changes, and comes back."""
    item = context.issue().items[0].id
    place = {"projectId": project.id, "itemId": item}
    assert done(context, "archiveProjectV2Item", "item { isArchived }", **place)["item"]["isArchived"] is True
    field = {"fieldId": project.field_named("Agent").id, "value": {"text": "x"}}
    kind, message = refused(context, "updateProjectV2ItemFieldValue", "projectV2Item { id }", **place, **field)
    assert (kind, message) == ("UNPROCESSABLE", "The item is archived and cannot be updated")
    query = """{ user(login: "octo") { projectV2(number: 1) { shown: items { totalCount }
      put_away: items(archivedStates: [ARCHIVED]) { totalCount }
      both: items(archivedStates: [ARCHIVED, NOT_ARCHIVED]) { totalCount } } }
      repository(owner: "octo", name: "demo") { issue(number: 42) {
        shown: projectItems(includeArchived: false) { totalCount } all: projectItems { totalCount } } } }"""
    counts = context.data(query)
    assert [entry["totalCount"] for entry in counts["user"]["projectV2"].values()] == [4, 1, 5]
    assert [entry["totalCount"] for entry in counts["repository"]["issue"].values()] == [0, 1]
    assert done(context, "unarchiveProjectV2Item", "item { isArchived }", **place)["item"]["isArchived"] is False


def test_deleted_items(context, project):
    """A deleted card is gone from board and issue; the issue stays."""
    item = context.issue().items[0].id
    place = {"projectId": project.id, "itemId": item}
    assert done(context, "deleteProjectV2Item", "deletedItemId", **place) == {"deletedItemId": item}
    assert refused(context, "deleteProjectV2Item", "deletedItemId", **place)[0] == "NOT_FOUND"
    assert context.issue().items == []


def test_a_re_issued_option_orphans_the_card(context, project):
    """After option ids were re-issued, the card shows no status and the old id is refused."""
    old = project.field_named("Status").option("Todo").id
    context.act("rename_option", field="Status", option="Todo", to="Ready", reissue_ids=True)
    query = """{ repository(owner: "octo", name: "demo") { issue(number: 42) {
      projectItems(first: 1) { nodes { fieldValueByName(name: "Status") { __typename } } } } } }"""
    assert context.data(query)["repository"]["issue"]["projectItems"]["nodes"] == [{"fieldValueByName": None}]
    kind, message = refused(
        context, "updateProjectV2ItemFieldValue", "projectV2Item { id }", projectId=project.id,
        itemId=context.issue().items[0].id, fieldId=project.field_named("Status").id,
        value={"singleSelectOptionId": old},
    )  # fmt: skip
    assert (kind, message) == ("VALIDATION", "The single select option Id does not belong to the field")


def test_boards_of_others_are_read_only(context, project):
    """Someone who may only read the code may not move cards."""
    context.act("role", user="guest", role="read")
    answer = run(
        context, "archiveProjectV2Item", "item { id }", using="as:guest", projectId=project.id,
        itemId=context.issue().items[0].id,
    )  # fmt: skip
    assert answer["errors"][0]["type"] == "FORBIDDEN"
