"""Pull requests and refs through GraphQL."""

import pytest
from mutating import done, refused


@pytest.fixture
def repository(context):
    """Return the repository of the small world."""
    return context.world.repository("octo", "demo")


def created(context, repository, **given):
    place = {"repositoryId": repository.id, "baseRefName": "main", "title": "T"}
    return refused(context, "createPullRequest", "pullRequest { id }", **(place | given))


def test_a_duplicate_is_refused(context, repository):
    """A second open pull request from the same branch is refused in GitHub's words."""
    context.pull("topic")
    assert created(context, repository, headRefName="topic") == (
        "UNPROCESSABLE",
        "A pull request already exists for octo:topic.",
    )


def test_a_missing_branch_is_refused(context, repository):
    """A branch that was never pushed gives GitHub's joined sentence."""
    kind, message = created(context, repository, headRefName="gone")
    assert kind == "UNPROCESSABLE"
    assert message.startswith("Head sha can't be blank, Base sha can't be blank, No commits between main and gone")


def test_no_commits_between_is_refused(context, repository):
    """A branch without commits of its own is refused."""
    assert created(context, repository, headRefName="main")[1] == "No commits between main and main"


def test_draft_close_reopen_and_edit(context):
    """A pull request becomes a draft and ready again, is closed, reopened, and edited."""
    pull = {"pullRequestId": context.pull()["id"]}
    draft = done(context, "convertPullRequestToDraft", "pullRequest { isDraft mergeStateStatus }", **pull)
    assert draft["pullRequest"] == {"isDraft": True, "mergeStateStatus": "DRAFT"}
    kind, message = refused(context, "mergePullRequest", "pullRequest { id }", **pull)
    assert (kind, message) == ("UNPROCESSABLE", "Pull Request is still a draft")
    done(context, "markPullRequestReadyForReview", "pullRequest { id }", **pull)
    closed = done(context, "closePullRequest", "pullRequest { state closed mergeable }", **pull)
    assert closed["pullRequest"] == {"state": "CLOSED", "closed": True, "mergeable": "UNKNOWN"}
    assert done(context, "reopenPullRequest", "pullRequest { state }", **pull)["pullRequest"]["state"] == "OPEN"
    edited = done(
        context, "updatePullRequest", "pullRequest { title body state } actor { login }", **pull,
        title="New", body="B", state="CLOSED", maintainerCanModify=False,
    )  # fmt: skip
    assert edited == {
        "pullRequest": {"title": "New", "body": "B", "state": "CLOSED"},
        "actor": {"login": "octo"},
    }


def test_update_people_labels_and_base(context, repository):
    """Assignees, labels and base of a pull request are set in one mutation."""
    pull = context.pull()["id"]
    head = repository.git.ref("refs/heads/main")
    done(context, "createRef", "ref { id }", repositoryId=repository.id, name="refs/heads/next", oid=head)
    answer = done(
        context, "updatePullRequest", "pullRequest { baseRefName assignees(first: 1) { nodes { login } } "
        "labels(first: 1) { nodes { name } } closingIssuesReferences(first: 5) { totalCount } }",
        pullRequestId=pull, baseRefName="next", assigneeIds=[context.world.user("mona").id],
        labelIds=[repository.labels["bug"].id],
    )["pullRequest"]  # fmt: skip
    assert answer == {
        "baseRefName": "next", "assignees": {"nodes": [{"login": "mona"}]},
        "labels": {"nodes": [{"name": "bug"}]}, "closingIssuesReferences": {"totalCount": 0},
    }  # fmt: skip


@pytest.mark.parametrize("method", ["MERGE", "SQUASH", "REBASE"])
def test_merge_closes_what_the_body_names(context, method):
    """Merging by any method moves the base branch and closes the issue in the body."""
    pull = context.pull(body="Fixes #42")
    wrong = "0" * 40
    kind, message = refused(
        context, "mergePullRequest", "pullRequest { id }", pullRequestId=pull["id"], expectedHeadOid=wrong
    )
    assert (kind, message) == ("UNPROCESSABLE", "Head branch was modified. Review and try the merge again.")
    merged = done(
        context, "mergePullRequest", "pullRequest { state merged mergedBy { login } "
        "mergeCommit { oid messageHeadline } baseRef { target { oid } } }",
        pullRequestId=pull["id"], mergeMethod=method,
    )["pullRequest"]  # fmt: skip
    assert (merged["state"], merged["merged"], merged["mergedBy"]) == ("MERGED", True, {"login": "octo"})
    assert merged["baseRef"]["target"]["oid"] == merged["mergeCommit"]["oid"]
    assert context.issue().is_open is False


def test_what_a_pull_request_changes(context):
    """Commits, files and line counts come from git."""
    number = context.pull()["number"]
    query = """query($n: Int!) { repository(owner: "octo", name: "demo") { pullRequest(number: $n) {
      additions deletions changedFiles files(first: 5) { nodes { path changeType additions } }
      commits(last: 1) { totalCount nodes { commit { oid messageHeadline } } } headRefOid } } }"""
    pull = context.data(query, n=number)["repository"]["pullRequest"]
    assert (pull["additions"], pull["deletions"], pull["changedFiles"]) == (1, 0, 1)
    assert pull["files"]["nodes"] == [{"path": "fix.txt", "changeType": "ADDED", "additions": 1}]
    assert pull["commits"]["totalCount"] == 1
    assert pull["commits"]["nodes"][0]["commit"]["oid"] == pull["headRefOid"]


def test_reviews_and_threads(context):
    """A review opens a thread that is answered and resolved; approval decides."""
    pull = context.pull()
    context.act("review", pull=pull["number"], state="CHANGES_REQUESTED", body="No", by="mona",
             threads=[{"path": "fix.txt", "line": 1, "body": "Why?"}])  # fmt: skip
    query = """query($n: Int!) { repository(owner: "octo", name: "demo") { pullRequest(number: $n) {
      reviewDecision reviews(first: 5, states: [CHANGES_REQUESTED]) { nodes { author { login } state } }
      latestReviews(first: 5) { nodes { state } }
      reviewThreads(first: 5) { nodes { id isResolved path line } } } } }"""
    read = context.data(query, n=pull["number"])["repository"]["pullRequest"]
    assert read["reviewDecision"] == "CHANGES_REQUESTED"
    thread = read["reviewThreads"]["nodes"][0]
    assert (thread["isResolved"], thread["path"], thread["line"]) == (False, "fix.txt", 1)
    reply = {"pullRequestReviewThreadId": thread["id"], "body": "Because."}
    answered = done(context, "addPullRequestReviewThreadReply", "comment { replyTo { body } }", **reply)
    assert answered["comment"]["replyTo"]["body"] == "Why?"
    settled = done(context, "resolveReviewThread", "thread { isResolved resolvedBy { login } }", threadId=thread["id"])
    assert settled["thread"] == {"isResolved": True, "resolvedBy": {"login": "octo"}}
    done(context, "unresolveReviewThread", "thread { id }", threadId=thread["id"])
    approve = {"pullRequestId": pull["id"], "event": "APPROVE"}
    assert refused(context, "addPullRequestReview", "pullRequestReview { id }", **approve) == (
        "UNPROCESSABLE",
        "Can not approve your own pull request",
    )
    context.act("review", pull=pull["number"], state="APPROVED", by="mona")
    assert context.data(query, n=pull["number"])["repository"]["pullRequest"]["reviewDecision"] == "APPROVED"


def test_a_review_with_threads_is_submitted(context):
    """A comment review with a thread can be submitted; one without an event cannot."""
    pull = {"pullRequestId": context.pull()["id"]}
    made = done(
        context, "addPullRequestReview", "pullRequestReview { state comments(first: 1) { nodes { path } } }",
        **pull, event="COMMENT", body="Hm", threads=[{"path": "fix.txt", "line": 1, "body": "x"}],
    )["pullRequestReview"]  # fmt: skip
    assert made == {"state": "COMMENTED", "comments": {"nodes": [{"path": "fix.txt"}]}}
    assert refused(context, "addPullRequestReview", "pullRequestReview { id }", **pull)[0] == "UNPROCESSABLE"


def test_reviewers_are_asked(context):
    """People are asked for a review, besides or instead of those already asked; never the author."""
    pull, octo, mona = {"pullRequestId": context.pull()["id"]}, context.world.user("octo"), context.world.user("mona")
    hubot = context.world.collaborator("hubot")
    shown = """pullRequest { reviewRequests(first: 5) {
        nodes { requestedReviewer { ... on User { login } } } } }
      requestedReviewersEdge { node { login } }"""

    def asked(**given):
        answer = done(context, "requestReviews", shown, **pull, **given)
        nodes = answer["pullRequest"]["reviewRequests"]["nodes"]
        return [node["requestedReviewer"]["login"] for node in nodes]

    assert asked(userIds=[mona.id]) == ["mona"]
    assert asked(userIds=[hubot.id], union=True) == ["mona", "hubot"]
    assert asked(userIds=[hubot.id]) == ["hubot"]
    assert refused(context, "requestReviews", "actor { login }", **pull, userIds=[octo.id])[0] == "UNPROCESSABLE"


def test_refs_are_made_moved_and_deleted(context, repository):
    """A ref is created, found, moved only forward unless forced, and deleted."""
    main, topic = repository.git.ref("refs/heads/main"), context.branch("topic")
    ahead = repository.git.ref(f"refs/heads/{topic}")
    made = done(
        context, "createRef", "ref { id name prefix target { oid } }", repositoryId=repository.id,
        name="refs/agent-sync/x", oid=ahead,
    )["ref"]  # fmt: skip
    assert (made["name"], made["prefix"]) == ("x", "refs/agent-sync/")
    back = {"refId": made["id"], "oid": main}
    assert refused(context, "updateRef", "ref { id }", **back) == (
        "UNPROCESSABLE",
        "Update is not a fast forward",
    )
    assert done(context, "updateRef", "ref { target { oid } }", **back, force=True)["ref"]["target"]["oid"] == main
    done(context, "deleteRef", "clientMutationId", refId=made["id"])
    assert refused(context, "deleteRef", "clientMutationId", refId=made["id"])[0] == "NOT_FOUND"


def test_refs_are_listed_by_prefix(context):
    """Branches are listed by name, upwards or downwards."""
    context.branch("a")
    context.branch("b")
    query = """query($d: OrderDirection) { repository(owner: "octo", name: "demo") {
      refs(refPrefix: "refs/heads/", first: 10, direction: $d) { nodes { name } } } }"""
    assert [ref["name"] for ref in context.data(query)["repository"]["refs"]["nodes"]] == ["a", "b", "main"]
    assert [ref["name"] for ref in context.data(query, d="DESC")["repository"]["refs"]["nodes"]] == [
        "main",
        "b",
        "a",
    ]
