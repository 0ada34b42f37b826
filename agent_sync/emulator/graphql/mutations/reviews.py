"""Mutations of reviews and their threads."""

from typing import Any

from agent_sync.emulator.graphql.connections import Edge, cursor
from agent_sync.emulator.graphql.mutations.found import Payload, found
from agent_sync.emulator.graphql.request import Request
from agent_sync.emulator.graphql.tables import Table
from agent_sync.emulator.operations import reviews
from agent_sync.emulator.operations.reviews import NewThread
from agent_sync.emulator.world.people import User
from agent_sync.emulator.world.pulls import PullRequest, ReviewState, ReviewThread
from agent_sync.emulator.world.refusal import Kind, Refused

EVENTS = {
    "APPROVE": ReviewState.APPROVED,
    "COMMENT": ReviewState.COMMENTED,
    "REQUEST_CHANGES": ReviewState.CHANGES_REQUESTED,
}


def add_review(
    request: Request,
    *,
    pull_request_id: str,
    event: str | None = None,
    body: str | None = None,
    threads: list[dict[str, Any]] | None = None,
) -> Payload:
    """Review a pull request at once; pending reviews are not kept here."""
    pull = found(request, pull_request_id, PullRequest)
    if event not in EVENTS:
        raise Refused(Kind.UNPROCESSABLE, "A review is submitted with APPROVE, COMMENT or REQUEST_CHANGES")
    review = reviews.submit_review(
        request.world, request.viewer, pull, state=EVENTS[event], body=body or "",
        threads=[new_thread(entry) for entry in threads or ()],
    )  # fmt: skip
    return {"pullRequestReview": review, "reviewEdge": Edge(review, cursor(len(pull.reviews) - 1, review))}


def new_thread(given: dict[str, Any]) -> NewThread:
    """Read a remark; it has to say where it belongs."""
    path, line = given.get("path"), given.get("line")
    if path is None or line is None:
        raise Refused(Kind.UNPROCESSABLE, "A thread needs a path and a line")
    return NewThread(path, line, given["body"])


def reply(request: Request, *, pull_request_review_thread_id: str, body: str) -> Payload:
    """Answer in a thread."""
    thread = found(request, pull_request_review_thread_id, ReviewThread)
    return {"comment": reviews.reply_to_thread(request.world, request.viewer, thread, body)}


def ask(
    request: Request,
    *,
    pull_request_id: str,
    user_ids: list[str] | None = None,
    bot_ids: list[str] | None = None,
    union: bool | None = False,
    **_teams: list[str] | None,
) -> Payload:
    """Ask people for a review, instead of or, with `union`, besides those already asked."""
    pull, users = (
        found(request, pull_request_id, PullRequest),
        [found(request, u, User) for u in (*(user_ids or ()), *(bot_ids or ()))],
    )
    before = list(pull.requested_reviewers)
    reviews.request_reviewers(request.world, request.viewer, pull, users)
    if not union:
        pull.requested_reviewers[:] = [user for user in pull.requested_reviewers if user in users]
    new = [user for user in users if user not in before]
    edge = Edge(new[-1], cursor(0, new[-1])) if new else None
    return {"pullRequest": pull, "actor": request.viewer.user, "requestedReviewersEdge": edge}


def resolve(request: Request, *, thread_id: str) -> Payload:
    """Mark a thread as settled."""
    thread = found(request, thread_id, ReviewThread)
    reviews.resolve_thread(request.world, request.viewer, thread)
    return {"thread": thread}


def unresolve(request: Request, *, thread_id: str) -> Payload:
    """Open a settled thread again."""
    thread = found(request, thread_id, ReviewThread)
    reviews.resolve_thread(request.world, request.viewer, thread, resolved=False)
    return {"thread": thread}


MUTATIONS: Table = {
    "addPullRequestReview": add_review,
    "addPullRequestReviewThreadReply": reply,
    "requestReviews": ask,
    "resolveReviewThread": resolve,
    "unresolveReviewThread": unresolve,
}
