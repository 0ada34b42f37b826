"""Odd ids, names and values: refused or empty, never a crash."""

import base64

import pytest
from mutating import done, refused

from agent_sync.emulator.graphql import execute
from agent_sync.emulator.operations import boards

NODE = "query($id: ID!) { node(id: $id) { __typename ... on Commit { oid } ... on Ref { name } } }"


def made_up(prefix, text):
    return f"{prefix}_kwDO" + base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def test_refs_and_commits_are_nodes(context):
    """A ref and a commit are found again by the ids they were given out under."""
    query = '{ repository(owner: "octo", name: "demo") { defaultBranchRef { id target { id oid } } } }'
    ref = context.data(query)["repository"]["defaultBranchRef"]
    assert context.data(NODE, id=ref["id"])["node"] == {"__typename": "Ref", "name": "main"}
    assert context.data(NODE, id=ref["target"]["id"])["node"] == {
        "__typename": "Commit",
        "oid": ref["target"]["oid"],
    }


@pytest.mark.parametrize(
    "node_id",
    ["", "REF_kwDO", "C_kwDO!!!", made_up("REF", "9:refs/heads/main"), made_up("REF", "1:refs/heads/none"),
     made_up("C", "1:" + "0" * 40), made_up("C", "1:main~99"), "REF_kwDO////w"],
)  # fmt: skip
def test_made_up_ids(context, node_id):
    """An id that nobody gave out leads nowhere."""
    assert context.error(NODE, id=node_id)["type"] == "NOT_FOUND"


@pytest.mark.parametrize("name", ["main~1", "main^{}", "main:README.md", "a..b", "@{upstream}", "-x", ""])
def test_expressions_are_no_refs(context, name):
    """What git would follow to some other commit is not the name of a ref."""
    query = 'query($n: String!) { repository(owner: "octo", name: "demo") { ref(qualifiedName: $n) { name } } }'
    assert context.data(query, n=name)["repository"]["ref"] is None


def test_a_prefix_that_is_none(context):
    """Only prefixes of refs list refs."""
    query = '{ repository(owner: "octo", name: "demo") { refs(refPrefix: "--all", first: 5) { totalCount } } }'
    assert context.data(query)["repository"]["refs"]["totalCount"] == 0


def test_ids_of_the_wrong_kind(context):
    """An id of another kind of thing is not found, whatever it is."""
    project, issue = context.world.project("octo", 1), context.issue().id
    assert refused(context, "closeIssue", "issue { id }", issueId=project.id)[0] == "NOT_FOUND"
    place = {"projectId": project.id, "contentId": project.id}
    assert refused(context, "addProjectV2ItemById", "item { id }", **place)[0] == "NOT_FOUND"
    assert refused(context, "addSubIssue", "issue { id }", issueId=issue, subIssueId=project.id)[0] == "NOT_FOUND"


def test_an_item_of_another_board(context):
    """A card is only changed through its own board."""
    other = boards.create_project(context.world, context.world.user("octo"), 2, "Other")
    place = {"projectId": other.id, "itemId": context.issue().items[0].id}
    assert refused(context, "archiveProjectV2Item", "item { id }", **place)[0] == "NOT_FOUND"
    field = {"fieldId": other.fields[0].id, "value": {"text": "x"}}
    assert refused(context, "updateProjectV2ItemFieldValue", "projectV2Item { id }", **place, **field)[0] == "NOT_FOUND"
    query = '{ repository(owner: "octo", name: "demo") { issue(number: 42) { projectV2(number: 2) { id } } } }'
    assert context.error(query)["type"] == "NOT_FOUND"


def test_a_day_that_is_none(context):
    """A date that does not exist is refused as a validation error."""
    project = context.world.project("octo", 1)
    place = {
        "projectId": project.id,
        "itemId": context.issue().items[0].id,
        "fieldId": project.field_named("Agent").id,
    }
    given = {"value": {"date": "2026-02-31"}}
    assert (
        refused(context, "updateProjectV2ItemFieldValue", "projectV2Item { id }", **place, **given)[0] == "VALIDATION"
    )


def test_a_moment_that_is_none(context):
    """A filter with a moment that cannot be read is refused; one without a zone is UTC."""
    query = """query($s: DateTime!) { repository(owner: "octo", name: "demo") {
      issues(first: 1, filterBy: { since: $s }) { totalCount } } }"""
    assert context.error(query, s="yesterday")["type"] == "VALIDATION"
    assert context.data(query, s="2020-01-01")["repository"]["issues"]["totalCount"] == 5


def test_a_thread_without_a_place(context):
    """A remark that does not say where it belongs is refused."""
    given = {"pullRequestId": context.pull()["id"], "event": "COMMENT", "threads": [{"body": "x"}]}
    assert refused(context, "addPullRequestReview", "pullRequestReview { id }", **given)[0] == "UNPROCESSABLE"


def test_page_sizes_of_the_wrong_type(context):
    """A page size that is no number is refused like any other variable."""
    query = 'query($n: Int) { repository(owner: "octo", name: "demo") { issues(first: $n) { totalCount } } }'
    assert "data" not in context.answer(query, n="many")


@pytest.mark.parametrize("variables", [[], "x", 3, None])
def test_variables_of_the_wrong_type(context, variables):
    """Variables that are no object are refused; none at all is fine."""
    body = {"query": "{ viewer { login } }", "variables": variables}
    answer = execute(context.world, context.world.viewer("any"), body, "http://x")
    assert ("errors" in answer) == bool(variables)


TITLES = [
    'quote " and \\ backslash',
    "emoji 🚀 ünïcödé",
    "new\tline",
    "<b>&amp;</b>",
    "\u202eright to left",
    "x" * 256,
]


@pytest.mark.parametrize("title", TITLES)
def test_titles_with_odd_characters(context, title):
    """A title comes back exactly as it was sent."""
    repository = context.world.repository("octo", "demo").id
    made = done(context, "createIssue", "issue { title }", repositoryId=repository, title=title)
    assert made["issue"]["title"] == title


def test_histories_that_never_met(context):
    """A pull request between unrelated branches is read without its common ancestor."""
    pull = context.issue(context.pull()["number"])
    git = pull.repository.git
    author = git.commit(pull.head_sha).author
    stray = git.write_commit(git.commit(pull.head_sha).tree, [], "Stray", author=author)
    pull.head_sha = stray
    query = """query($n: Int!) { repository(owner: "octo", name: "demo") { pullRequest(number: $n) {
      changedFiles commits { totalCount } } } }"""
    read = context.data(query, n=pull.number)["repository"]["pullRequest"]
    assert read["commits"]["totalCount"] == 1


def test_a_suite_ends_when_its_checks_do(context):
    """A suite is in progress until every check has ended, and fails with any of them."""
    number = context.pull()["number"]
    query = """query($n: Int!) { repository(owner: "octo", name: "demo") { pullRequest(number: $n) {
      statusCheckRollup { contexts(first: 1) { nodes { ... on CheckRun { checkSuite {
        status conclusion branch { name } checkRuns(first: 5) { totalCount } } } } } } } } }"""

    def suite():
        read = context.data(query, n=number)["repository"]["pullRequest"]["statusCheckRollup"]["contexts"]["nodes"]
        return read[0]["checkSuite"]["status"], read[0]["checkSuite"]["conclusion"]

    context.act("add_check", pull=number, name="test", status="queued")
    assert suite() == ("QUEUED", None)
    context.act("add_check", pull=number, name="build", conclusion="success")
    assert suite() == ("IN_PROGRESS", None)
    context.act("complete_check", pull=number, name="test", conclusion="failure")
    assert suite() == ("COMPLETED", "FAILURE")
