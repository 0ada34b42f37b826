"""What others do behind one's back, and the mutations that go with a pull request's life."""

import pytest

REPO = "/repos/octo/demo"
SEEN = """query($number: Int!) { repository(owner: "octo", name: "demo") { pullRequest(number: $number) { id
  mergeStateStatus reviewRequests(first: 5) { nodes { requestedReviewer { __typename ... on User { login } } } }
  reviewThreads(first: 9) { nodes { id isResolved isOutdated path line comments(first: 9) { nodes {
    body authorAssociation author { __typename login } } } } }
  timelineItems(last: 9, itemTypes: [HEAD_REF_FORCE_PUSHED_EVENT]) { nodes { ... on HeadRefForcePushedEvent {
    actor { login } beforeCommit { oid } afterCommit { oid } } } } } } }"""
LINK = """mutation($i: ID!, $o: GitObjectID!, $n: String) { createLinkedBranch(input: {issueId: $i, oid: $o, name: $n}) {
  linkedBranch { ref { name } } issue { linkedBranches(first: 5) { totalCount nodes { ref { name } } } } } }"""


@pytest.fixture
def pull(client):
    return client.opened_pull()


def ask(client, query, **variables):
    """Return the data of an answer without errors."""
    answer = client.post("/graphql", {"query": query, "variables": variables}).json()
    assert "errors" not in answer, answer
    return answer["data"]


def seen(client, number):
    return ask(client, SEEN, number=number)["repository"]["pullRequest"]


def test_a_force_push_by_somebody_else(client, pull):
    """The history names who replaced the head, and what was there before."""
    before = client.pull(pull)["head_sha"]
    after = client.act("force_push", branch="work", by="mona")["id"]
    assert seen(client, pull)["timelineItems"]["nodes"] == [
        {"actor": {"login": "mona"}, "beforeCommit": {"oid": before}, "afterCommit": {"oid": after}}
    ]


def test_threads_of_people_bots_and_outsiders(client, pull):
    """Each comment says whose it is; a thread is answered, resolved, and outdated after a push."""
    client.act("role", user="guest", role="read")
    thread = {"path": "work.txt", "line": 1, "body": "Why?"}
    for login in ("mona", "guest", "copilot-pull-request-reviewer[bot]"):
        client.act("review", pull=pull, state="COMMENT", by=login, threads=[thread])
    threads = seen(client, pull)["reviewThreads"]["nodes"]
    first = [entry["comments"]["nodes"][0] for entry in threads]
    assert [entry["authorAssociation"] for entry in first] == ["COLLABORATOR", "NONE", "NONE"]
    assert first[2]["author"] == {"__typename": "Bot", "login": "copilot-pull-request-reviewer"}
    client.act("reply_thread", pull=pull, thread=1, body="Because.", by="octo")
    client.act("resolve_thread", pull=pull, thread=threads[0]["id"])
    client.act("push_commit", branch="work", path="more.txt", content="y\n")
    answered = seen(client, pull)["reviewThreads"]["nodes"][0]
    assert (answered["isResolved"], answered["isOutdated"], answered["line"]) == (True, True, None)
    assert [entry["body"] for entry in answered["comments"]["nodes"]] == ["Why?", "Because."]
    assert "there is no thread 9" in client.refused_act("resolve_thread", pull=pull, thread=9)


def test_a_review_is_asked_for_again(client, pull):
    """Whoever has reviewed is no longer asked, until asked again."""
    client.act("request_review", pull=pull, users=["mona"])
    client.act("review", pull=pull, state="REQUEST_CHANGES", by="mona")
    assert seen(client, pull)["reviewRequests"]["nodes"] == []
    client.act("request_review", pull=pull, users=["mona"])
    assert seen(client, pull)["reviewRequests"]["nodes"] == [
        {"requestedReviewer": {"__typename": "User", "login": "mona"}}
    ]


def test_assignees_and_labels_change(client):
    """A person gives the issue to somebody else and labels it."""
    client.act("assign", issue=42, users=["mona", "helper[bot]"], by="mona")
    client.act("label", issue=42, labels=["bug"])
    assert (client.issue(42)["assignees"], client.issue(42)["labels"]) == (["mona", "helper[bot]"], ["bug"])
    client.act("assign", issue=42, users=[])
    assert client.issue(42)["assignees"] == []


def test_bringing_a_branch_up_to_date(client, pull):
    """The base is merged into the branch, unless the two conflict."""
    client.act("rules", up_to_date=True)
    client.act("push_commit", branch="main", path="other.txt", content="x\n")
    assert seen(client, pull)["mergeStateStatus"] == "BEHIND"
    client.act("update_branch", pull=pull)
    assert seen(client, pull)["mergeStateStatus"] == "CLEAN"
    client.act("push_commit", branch="main", path="work.txt", content="conflict\n")
    assert seen(client, pull)["mergeStateStatus"] == "DIRTY"
    assert "merge conflict" in client.refused_act("update_branch", pull=pull)


@pytest.mark.parametrize("method", ["merge", "squash", "rebase"])
def test_a_merge_is_reverted(client, pull, method):
    """The reverting pull request takes the file away again, whichever way it came."""
    assert "Only merged" in client.refused_act("revert_pull", pull=pull)
    client.act("merge_pull", pull=pull, method=method)
    number = client.act("revert_pull", pull=pull, by="mona")["number"]
    made = client.pull(number)
    assert (made["title"], made["body"]) == ('Revert "Work on work"', f"Reverts octo/demo#{pull}")
    client.act("merge_pull", pull=number)
    assert client.call("GET", f"{REPO}/contents/work.txt").status_code == 404


def test_a_branch_is_linked_to_its_issue(client):
    """The branch is created and shown with the issue; one that exists already is not linked."""
    issue = client.read(f"{REPO}/issues/42")["node_id"]
    sha = client.read(f"{REPO}/git/ref/heads/main")["object"]["sha"]
    made = ask(client, LINK, i=issue, o=sha, n="claude/fix-42")["createLinkedBranch"]
    assert made["linkedBranch"]["ref"]["name"] == "claude/fix-42"
    assert made["issue"]["linkedBranches"]["nodes"] == [{"ref": {"name": "claude/fix-42"}}]
    assert ask(client, LINK, i=issue, o=sha, n="claude/fix-42")["createLinkedBranch"]["linkedBranch"] is None
    named = ask(client, LINK, i=issue, o=sha)["createLinkedBranch"]["linkedBranch"]["ref"]["name"]
    assert named == "42-fix-race-condition-in-cache"


def test_the_template_of_pull_requests(client):
    """The repository's template is shown; the interface never fills it in."""
    client.act("push_commit", branch="main", path=".github/pull_request_template.md", content="## What\n")
    query = '{ repository(owner: "octo", name: "demo") { pullRequestTemplates { filename body } } }'
    (template,) = ask(client, query)["repository"]["pullRequestTemplates"]
    assert template == {"filename": ".github/pull_request_template.md", "body": "## What\n"}
