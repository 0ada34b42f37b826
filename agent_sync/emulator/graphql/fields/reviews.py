"""Reviews, the threads they open, and who has been asked for one."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from agent_sync.emulator.graphql.fields.conversations import TEXT, association
from agent_sync.emulator.graphql.fields.pulls import path
from agent_sync.emulator.graphql.git_objects import commit_of, derived_id
from agent_sync.emulator.graphql.request import Request
from agent_sync.emulator.graphql.tables import Table, constant
from agent_sync.emulator.operations.reviews import approvals, review_decision
from agent_sync.emulator.world.people import Role, User
from agent_sync.emulator.world.pulls import PullRequest, Review, ReviewComment, ReviewState, ReviewThread

OPINIONS = (ReviewState.APPROVED, ReviewState.CHANGES_REQUESTED, ReviewState.DISMISSED)


@dataclass(frozen=True)
class ReviewRequest:
    """Somebody who has been asked for a review."""

    pull_request: PullRequest
    requested_reviewer: User

    @property
    def id(self) -> str:
        """Return the node id."""
        name = f"{self.pull_request.number}:{self.requested_reviewer.login}"
        return derived_id("RR", self.pull_request.repository, name)


def reviews(
    pull: PullRequest, _request: Request, *, author: str | None = None, states: list[str] | None = None
) -> Sequence[Review]:
    """Return the reviews of one author, or in some states."""
    return [
        review
        for review in pull.reviews
        if (author is None or review.author.login.lower() == author.lower())
        and (states is None or review.state in states)
    ]


def latest(pull: PullRequest, states: Sequence[ReviewState] | None = None) -> Sequence[Review]:
    """Return the newest review of each author."""
    found = [review for review in pull.reviews if states is None or review.state in states]
    return list({review.author.login: review for review in found}.values())


def own_latest(pull: PullRequest, request: Request) -> Review | None:
    """Return the viewer's newest review."""
    own = [review for review in pull.reviews if review.author is request.viewer.user]
    return own[-1] if own else None


def decision(pull: PullRequest, _request: Request) -> str | None:
    """Return what the reviews add up to."""
    found = review_decision(pull)
    if found is not ReviewState.CHANGES_REQUESTED and approvals(pull) < pull.repository.rules.required_reviews:
        return "REVIEW_REQUIRED"
    return found.value if found else None


def review_path(review: Review, _request: Request | None = None) -> str:
    """Return the path of a review's place on the page."""
    return f"{path(review.pull)}#pullrequestreview-{review.identity.number}"


def comment_path(comment: ReviewComment, _request: Request | None = None) -> str:
    """Return the path of a review comment's place on the page."""
    return f"{path(comment.thread.pull)}#discussion_r{comment.identity.number}"


def is_outdated(thread: ReviewThread, *_: Any) -> bool:
    """Say whether the branch has moved on since the thread was opened."""
    return thread.commit != thread.pull.head_sha


def line(thread: ReviewThread, *_: Any) -> int | None:
    """Return the line in the newest version, which an outdated thread no longer has."""
    return None if is_outdated(thread) else thread.line


def reply_to(comment: ReviewComment, _request: Request) -> ReviewComment | None:
    """Return the comment that opened the thread, unless this is it."""
    first = comment.thread.comments[0]
    return None if first is comment else first


def _may_edit(entry: Any, request: Request) -> bool:
    role = Role.READ if entry.author is request.viewer.user else Role.WRITE
    return request.reaches((entry.pull if isinstance(entry, Review) else entry.thread.pull).repository, role)


def _may_settle(thread: ReviewThread, request: Request) -> bool:
    return request.reaches(thread.pull.repository, Role.TRIAGE)


REVIEW: Table = TEXT | {
    "authorAssociation": lambda review, _: association(review.author, review.pull.repository),
    "authorCanPushToRepository": lambda review, _: review.pull.repository.role_of(review.author).reaches(Role.WRITE),
    "commit": lambda review, _: commit_of(review.pull.repository, review.commit),
    "createdAt": lambda review, _: review.submitted_at,
    "publishedAt": lambda review, _: review.submitted_at,
    "pullRequest": lambda review, _: review.pull,
    "repository": lambda review, _: review.pull.repository,
    "resourcePath": review_path,
    "state": lambda review, _: review.state.value,
    "updatedAt": lambda review, _: review.submitted_at,
    "url": lambda review, request: request.url(review_path(review)),
    "viewerCanDelete": _may_edit,
    "viewerCanUpdate": _may_edit,
}

COMMENT: Table = TEXT | {
    "authorAssociation": lambda comment, _: association(comment.author, comment.thread.pull.repository),
    "commit": lambda comment, _: commit_of(comment.thread.pull.repository, comment.thread.commit),
    "line": lambda comment, _: line(comment.thread),
    "originalLine": lambda comment, _: comment.thread.line,
    "outdated": lambda comment, _: is_outdated(comment.thread),
    "path": lambda comment, _: comment.thread.path,
    "pullRequest": lambda comment, _: comment.thread.pull,
    "pullRequestReview": lambda comment, _: comment.review,
    "replyTo": reply_to,
    "repository": lambda comment, _: comment.thread.pull.repository,
    "resourcePath": comment_path,
    "startLine": constant(None),
    "state": constant("SUBMITTED"),
    "url": lambda comment, request: request.url(comment_path(comment)),
    "viewerCanDelete": _may_edit,
    "viewerCanUpdate": _may_edit,
}

THREAD: Table = {
    "diffSide": constant("RIGHT"),
    "isCollapsed": lambda thread, _: thread.is_resolved,
    "isOutdated": is_outdated,
    "line": line,
    "originalLine": lambda thread, _: thread.line,
    "pullRequest": lambda thread, _: thread.pull,
    "repository": lambda thread, _: thread.pull.repository,
    "startLine": constant(None),
    "subjectType": constant("LINE"),
    "viewerCanReply": lambda thread, request: request.reaches(thread.pull.repository, Role.READ),
    "viewerCanResolve": lambda thread, request: not thread.is_resolved and _may_settle(thread, request),
    "viewerCanUnresolve": lambda thread, request: thread.is_resolved and _may_settle(thread, request),
}

RESOLVERS: dict[str, Table] = {
    "PullRequest": {
        "latestOpinionatedReviews": lambda pull, _: latest(pull, OPINIONS),
        "latestReviews": lambda pull, _: latest(pull),
        "reviewDecision": decision,
        "reviewRequests": lambda pull, _: [ReviewRequest(pull, user) for user in pull.requested_reviewers],
        "reviewThreads": lambda pull, _: pull.threads,
        "reviews": reviews,
        "viewerLatestReview": own_latest,
    },
    "PullRequestReview": REVIEW,
    "PullRequestReviewComment": COMMENT,
    "PullRequestReviewThread": THREAD,
    "ReviewRequest": {"asCodeOwner": constant(False), "databaseId": constant(None)},
}
