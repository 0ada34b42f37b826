"""Reads out of an answer what is said about a pull request, and what GitHub thinks of merging it."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any

from agent_sync.gateway.transport.answer import Json, nodes_of
from agent_sync.system import clock
from agent_sync.task.decision.facts import Ejection, Pull
from agent_sync.task.decision.feedback.checks import BUCKETS, WorkflowRun
from agent_sync.task.decision.feedback.reviews import (
    OWN_MARK,
    AuthorKind,
    Conversation,
    Remark,
    Review,
    ReviewThread,
    wanting_changes,
)

# How long CI that is not a workflow of the repository may take to say that it is there.
TIME_TO_REPORT = timedelta(minutes=2)
_MEMBERS = frozenset({"MEMBER", "COLLABORATOR"})


def with_feedback(pull: Pull, node: Json) -> Pull:
    """Return a pull request with all that reviewers, CI and GitHub say of it in an answer."""
    conversation = conversation_of(node)
    wanting = [review for review in wanting_changes(conversation) if review.remark.kind is AuthorKind.WRITER]
    return replace(
        pull,
        is_conflicting=node.get("mergeable") == "CONFLICTING",
        changes_requested_by=tuple(review.remark.author for review in wanting),
        review_id=wanting[-1].remark.id if wanting else "",
        conversation=conversation,
        **merging_of(node),
        **ci_of(node),
    )


def conversation_of(node: Json) -> Conversation:
    """Return everything that is said about one pull request."""
    known = _known_writers(node)
    return Conversation(
        threads=tuple(_thread(thread) for thread in nodes_of(node.get("reviewThreads"))),
        reviews=_reviews(node),
        comments=tuple(remark_of(comment, known) for comment in nodes_of(node.get("comments"))),
        requested=tuple(
            str(reviewer["login"])
            for request in nodes_of(node.get("reviewRequests"))
            if (reviewer := request.get("requestedReviewer") or {}).get("login")
        ),
    )


def merging_of(node: Json) -> dict[str, Any]:
    """Return what GitHub thinks of merging a pull request, as fields of `Pull`."""
    rule = (node.get("baseRef") or {}).get("refUpdateRule") or {}
    position = (node.get("mergeQueueEntry") or {}).get("position")
    return {
        "base": str(node.get("baseRefName") or ""),
        "merge_state": str(node.get("mergeStateStatus") or ""),
        "review_decision": str(node.get("reviewDecision") or ""),
        "needs_resolution": bool(rule.get("requiresConversationResolution")),
        "queue_position": position if isinstance(position, int) else None,
        "ejection": _ejection(node),
    }


def ci_of(node: Json) -> dict[str, Any]:
    """Return the workflow runs of the head commit and the names of required checks, as fields of `Pull`."""
    rule = (node.get("baseRef") or {}).get("refUpdateRule") or {}
    commit = head_commit(node)
    contexts = nodes_of((node.get("statusCheckRollup") or {}).get("contexts"))
    marked = [str(one.get("name") or one.get("context")) for one in contexts if one.get("isRequired")]
    required = [str(name) for name in rule.get("requiredStatusCheckContexts") or () if name]
    return {
        "runs": tuple(_run(suite) for suite in nodes_of(commit.get("checkSuites")) if suite.get("workflowRun")),
        "required": tuple(dict.fromkeys((*required, *marked))),
        "is_ci_configured": _is_ci_configured(node, commit),
    }


def _is_ci_configured(node: Json, commit: Json) -> bool:
    """Tell whether checks may still come: there are workflows, or CI from elsewhere has not had time to report."""
    if "workflows" not in commit or commit["workflows"] is not None:
        return True
    moments = (moment_of(node.get("createdAt")), moment_of(commit.get("committedDate")))
    newest = max((moment for moment in moments if moment), default=None)
    return newest is None or clock.now() - newest < TIME_TO_REPORT


def moment_of(text: object) -> datetime | None:
    """Return a moment that GitHub names; None where it is not readable."""
    try:
        return datetime.fromisoformat(str(text))
    except ValueError:
        return None


def head_commit(node: Json) -> Json:
    """Return the newest commit, if it is the head that the rest of the answer is about."""
    nodes = nodes_of(node.get("headCommit"))
    commit: Json = (nodes[-1].get("commit") or {}) if nodes else {}
    return commit if commit.get("oid") == node.get("headRefOid") else {}


def _run(suite: Json) -> WorkflowRun:
    run = suite["workflowRun"]
    conclusion = str(suite.get("conclusion") or "")
    is_over = suite.get("status") == "COMPLETED" and conclusion in BUCKETS
    return WorkflowRun(
        workflow=str((run.get("workflow") or {}).get("name") or ""),
        event=str(run.get("event") or ""),
        result=conclusion if is_over else "",
        url=str(run.get("url") or ""),
        created=str(suite.get("createdAt") or ""),
    )


def _ejection(node: Json) -> Ejection | None:
    """Return the last removal from the queue, unless the head was made after it."""
    found = next(iter(nodes_of(node.get("ejections"))), None)
    made = str(head_commit(node).get("committedDate") or "")
    if found is None or "id" not in found or made > str(found.get("createdAt") or ""):
        return None
    commit = (found.get("beforeCommit") or {}).get("oid")
    return Ejection(str(found["id"]), str(found.get("reason") or ""), str(commit or ""))


def _reviews(node: Json) -> tuple[Review, ...]:
    """Return the newest reviews and the last opinion of everybody, each once, in order of time."""
    listed = (*nodes_of(node.get("latestOpinionatedReviews")), *nodes_of(node.get("reviews")))
    by_id = {str(review["id"]): review for review in listed}
    in_order = sorted(by_id.values(), key=lambda review: str(review.get("submittedAt") or ""))
    return tuple(
        Review(
            remark=remark_of(review),
            state=str(review.get("state") or ""),
            commit=str((review.get("commit") or {}).get("oid") or ""),
            author_id=str((review.get("author") or {}).get("id") or ""),
        )
        for review in in_order
    )


def _thread(thread: Json) -> ReviewThread:
    line = thread.get("line") or thread.get("originalLine")
    return ReviewThread(
        id=str(thread["id"]),
        path=str(thread.get("path") or ""),
        line=line if isinstance(line, int) else None,
        remarks=tuple(remark_of(comment) for comment in nodes_of(thread.get("comments"))),
        is_resolved=bool(thread.get("isResolved")),
        is_outdated=bool(thread.get("isOutdated")),
    )


def _known_writers(node: Json) -> dict[str, bool]:
    """Return who of those who reviewed may push: of a plain comment's author GitHub does not say it."""
    threads = nodes_of(node.get("reviewThreads"))
    said = [comment for thread in threads for comment in nodes_of(thread.get("comments"))]
    said += [*nodes_of(node.get("latestOpinionatedReviews")), *nodes_of(node.get("reviews"))]
    return {login_of(one): can_push for one in said if (can_push := _can_push(one)) is not None}


def _can_push(node: Json) -> bool | None:
    """Return whether the author of a review or of a remark in it may push; None where GitHub does not say."""
    found = (node.get("pullRequestReview") or node).get("authorCanPushToRepository")
    return found if isinstance(found, bool) else None


def remark_of(node: Json, known: Mapping[str, bool] = MappingProxyType({})) -> Remark:
    """Return what somebody wrote, and what is known of the author: `known` says of some whether they may push."""
    body = str(node.get("body") or "")
    return Remark(
        id=str(node.get("id") or ""),
        author=login_of(node),
        kind=_kind(node, known),
        body=body,
        url=str(node.get("url") or ""),
        is_own=bool(node.get("viewerDidAuthor")) and OWN_MARK in body,
    )


def _kind(node: Json, known: Mapping[str, bool]) -> AuthorKind:
    author = node.get("author") or {}
    if author.get("__typename") == "Bot" or str(author.get("login") or "").endswith("[bot]"):
        return AuthorKind.BOT
    said, association = _can_push(node), node.get("authorAssociation")
    can_push = known.get(login_of(node)) if said is None else said
    if can_push is None and association in _MEMBERS and not node.get("viewerDidAuthor"):
        return AuthorKind.MEMBER
    may_write = association in {"OWNER", *_MEMBERS} if can_push is None else can_push
    return AuthorKind.WRITER if may_write else AuthorKind.OUTSIDER


def login_of(node: Json) -> str:
    """Return who wrote something."""
    # The account of a deleted user is shown under this name everywhere on GitHub.
    return str((node.get("author") or {}).get("login") or "ghost")
