"""What stands between a pull request and its merge: reviews, conversations, the base, the queue."""

import pytest

REPO = "/repos/octo/demo"
STATE = """query($number: Int!) { repository(owner: "octo", name: "demo") { autoMergeAllowed
  mergeQueue(branch: "main") { entries(first: 9) { totalCount nodes { position pullRequest { number } } } }
  pullRequest(number: $number) {
  id state mergeStateStatus reviewDecision isInMergeQueue isMergeQueueEnabled
  mergeQueueEntry { position state headCommit { oid } }
  autoMergeRequest { mergeMethod }
  timelineItems(last: 5, itemTypes: [REMOVED_FROM_MERGE_QUEUE_EVENT, HEAD_REF_FORCE_PUSHED_EVENT,
    BASE_REF_CHANGED_EVENT, CLOSED_EVENT]) { totalCount nodes { __typename
    ... on RemovedFromMergeQueueEvent { reason enqueuer { login } beforeCommit { oid statusCheckRollup { state } } }
    ... on HeadRefForcePushedEvent { actor { login } beforeCommit { oid } afterCommit { oid } }
    ... on BaseRefChangedEvent { previousRefName currentRefName }
    ... on ClosedEvent { actor { login } } } }
} } }"""
ORDER = "mutation($id: ID!) { enablePullRequestAutoMerge(input: {pullRequestId: $id, mergeMethod: SQUASH}) { actor { login } } }"


@pytest.fixture
def pull(client):
    return client.opened_pull()


def repository(client, number):
    """Return what GraphQL says of the repository and a pull request."""
    answer = client.post("/graphql", {"query": STATE, "variables": {"number": number}}).json()
    assert "errors" not in answer, answer
    return answer["data"]["repository"]


def seen(client, number):
    return repository(client, number)["pullRequest"]


def merging(client, number):
    """Return GitHub's answer to a plain merge."""
    return client.call("PUT", f"{REPO}/pulls/{number}/merge", json={}).json()["message"]


def test_reviews_are_required(client, pull):
    """Until somebody who may write approves, a review is required; an outsider's approval counts for nothing."""
    client.act("rules", required_reviews=1)
    client.act("role", user="guest", role="read")
    client.act("review", pull=pull, state="APPROVE", by="guest")
    assert (seen(client, pull)["reviewDecision"], seen(client, pull)["mergeStateStatus"]) == (
        "REVIEW_REQUIRED", "BLOCKED",
    )  # fmt: skip
    client.act("review", pull=pull, state="REQUEST_CHANGES", by="mona")
    assert seen(client, pull)["reviewDecision"] == "CHANGES_REQUESTED"
    assert merging(client, pull) == "Changes have been requested."
    client.act("review", pull=pull, state="APPROVE", by="mona")
    assert (seen(client, pull)["reviewDecision"], seen(client, pull)["mergeStateStatus"]) == ("APPROVED", "CLEAN")


def test_open_conversations_block(client, pull):
    """Where conversations have to be resolved, one open thread blocks the merge."""
    client.act("rules", conversation_resolution=True)
    client.act("review", pull=pull, state="COMMENT", by="mona", threads=[{"path": "work.txt", "line": 1, "body": "?"}])
    assert seen(client, pull)["mergeStateStatus"] == "BLOCKED"
    assert merging(client, pull).startswith("A conversation must be resolved")


def test_behind_its_base(client, pull):
    """Where branches have to be up to date, a commit on the base leaves the pull request behind."""
    client.act("rules", up_to_date=True)
    assert seen(client, pull)["mergeStateStatus"] == "CLEAN"
    client.act("push_commit", branch="main", path="other.txt", content="x\n")
    assert seen(client, pull)["mergeStateStatus"] == "BEHIND"


def test_the_queue_and_an_ejection(client, pull):
    """A queued pull request has a position and a commit of its own; ejected, it stays open and says why."""
    client.act("rules", merge_queue=True)
    second = client.opened_pull("more", commit={"path": "more.txt"})
    assert merging(client, pull) == "Changes must be made through the merge queue"
    group = client.act("enqueue_pull", pull=pull)["id"]
    client.act("enqueue_pull", pull=second, by="mona")
    entry = seen(client, second)["mergeQueueEntry"]
    assert (entry["position"], seen(client, pull)["mergeQueueEntry"]["headCommit"]["oid"]) == (2, group)
    client.act("add_check", sha=group, name="e2e", conclusion="failure")
    client.act("eject_pull", pull=pull, reason="failed_checks", by="mona")
    state = seen(client, pull)
    assert (state["state"], state["isInMergeQueue"], state["isMergeQueueEnabled"]) == ("OPEN", False, True)
    (event,) = state["timelineItems"]["nodes"]
    assert (event["reason"], event["enqueuer"]["login"]) == ("failed_checks", "octo")
    assert event["beforeCommit"] == {"oid": group, "statusCheckRollup": {"state": "FAILURE"}}
    assert repository(client, pull)["mergeQueue"]["entries"]["nodes"] == [
        {"position": 1, "pullRequest": {"number": second}}
    ]
    client.act("merge_pull", pull=second)
    assert repository(client, pull)["mergeQueue"]["entries"]["totalCount"] == 0


def test_auto_merge_waits_for_what_is_missing(client, pull):
    """A standing order is refused where nothing is missing or it is not allowed, and carried out when all is there."""
    client.act("require_checks", names=["test"])
    node = seen(client, pull)["id"]
    refused = client.post("/graphql", {"query": ORDER, "variables": {"id": node}}).json()["errors"][0]
    assert refused["message"] == "Auto merge is not allowed for this repository"
    client.act("rules", auto_merge=True)
    assert "errors" not in client.post("/graphql", {"query": ORDER, "variables": {"id": node}}).json()
    assert seen(client, pull)["autoMergeRequest"] == {"mergeMethod": "SQUASH"}
    assert client.read(f"{REPO}/pulls/{pull}")["auto_merge"]["merge_method"] == "squash"
    client.act("add_check", pull=pull, name="test", conclusion="success")
    assert client.pull(pull)["merged"] is True
    other = client.opened_pull("other", commit={"path": "o.txt"})
    client.act("add_check", pull=other, name="test", conclusion="success")
    assert "clean status" in client.refused_act("auto_merge", pull=other)


def test_drift_is_in_the_history(client, pull):
    """Retargeting and closing are told with who did it and what was before."""
    client.act("push_commit", branch="next", path="next.txt", content="x\n")
    client.act("retarget_pull", pull=pull, base="next", by="mona")
    client.act("close_pull", pull=pull, by="mona")
    retargeted, closed = seen(client, pull)["timelineItems"]["nodes"]
    assert (retargeted["previousRefName"], retargeted["currentRefName"]) == ("main", "next")
    assert closed == {"__typename": "ClosedEvent", "actor": {"login": "mona"}}
