"""Mutations of the merge queue and of standing orders to merge."""

from agent_sync.emulator.graphql.mutations.found import Payload, found
from agent_sync.emulator.graphql.request import Request
from agent_sync.emulator.graphql.tables import Table
from agent_sync.emulator.operations.merges import auto_merging, queueing
from agent_sync.emulator.world.pulls import MergeMethod, PullRequest
from agent_sync.emulator.world.refusal import Kind, Refused


def _expected(pull: PullRequest, head: str | None) -> PullRequest:
    if head is not None and head != pull.head_sha:
        raise Refused(Kind.UNPROCESSABLE, "Head branch was modified. Review and try the merge again.")
    return pull


def enqueue(
    request: Request, *, pull_request_id: str, jump: bool | None = False, expected_head_oid: str | None = None
) -> Payload:
    """Put a pull request into the merge queue."""
    pull = _expected(found(request, pull_request_id, PullRequest), expected_head_oid)
    return {"mergeQueueEntry": queueing.enqueue(request.world, request.viewer, pull, jump=bool(jump))}


def dequeue(request: Request, *, id: str) -> Payload:  # noqa: A002 - GitHub's name
    """Take a pull request out of the merge queue."""
    return {"mergeQueueEntry": queueing.dequeue(request.world, request.viewer, found(request, id, PullRequest))}


def enable(
    request: Request,
    *,
    pull_request_id: str,
    merge_method: str | None = "MERGE",
    expected_head_oid: str | None = None,
    **_texts: str | None,
) -> Payload:
    """Order the merge of a pull request for when nothing is missing any more."""
    pull = _expected(found(request, pull_request_id, PullRequest), expected_head_oid)
    auto_merging.enable(request.world, request.viewer, pull, MergeMethod((merge_method or "MERGE").lower()))
    return {"pullRequest": pull, "actor": request.viewer.user}


def disable(request: Request, *, pull_request_id: str) -> Payload:
    """Take the order to merge back."""
    pull = found(request, pull_request_id, PullRequest)
    auto_merging.disable(request.world, request.viewer, pull)
    return {"pullRequest": pull, "actor": request.viewer.user}


MUTATIONS: Table = {
    "dequeuePullRequest": dequeue,
    "disablePullRequestAutoMerge": disable,
    "enablePullRequestAutoMerge": enable,
    "enqueuePullRequest": enqueue,
}
