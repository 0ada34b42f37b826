"""Reads pull requests and their checks out of answers."""

from typing import Any

from agent_sync.gateway.transport.answer import Json, nodes_of
from agent_sync.task.decision.checks import Check
from agent_sync.task.decision.facts import Pull, PullState

STATES = {"OPEN": PullState.OPEN, "CLOSED": PullState.CLOSED, "MERGED": PullState.MERGED}


def pull_of(node: Json, *, checks: tuple[Check, ...] | None = None, checks_note: str = "") -> Pull:
    """Return one pull request."""
    wanting = _wanting_changes(node)
    return Pull(
        number=int(node["number"]),
        url=str(node["url"]),
        state=STATES[node["state"]],
        head_sha=str(node["headRefOid"]),
        body=str(node.get("body") or ""),
        is_draft=bool(node.get("isDraft")),
        is_conflicting=node.get("mergeable") == "CONFLICTING",
        changes_requested_by=tuple(_login(review) for review in wanting),
        review_id=str(wanting[-1]["id"]) if wanting else "",
        checks=checks,
        checks_note=checks_note,
    )


def own_pulls(connection: Any) -> tuple[Pull, ...]:
    """Return the pull requests from this repository's own branch; forks may have one of the same name."""
    return tuple(pull_of(node) for node in nodes_of(connection) if not node.get("isCrossRepository"))


def check_of(node: Json) -> Check:
    """Return one check run or commit status; a run that is not over counts by its status."""
    if "context" in node:
        return Check(
            str(node["context"]), str(node.get("contextState") or ""), started=str(node.get("createdAt") or "")
        )
    is_over = node.get("status") == "COMPLETED"
    result = node.get("conclusion") if is_over else node.get("status")
    return Check(str(node["name"]), str(result or ""), _workflow(node), str(node.get("startedAt") or ""))


def _workflow(node: Json) -> str:
    found: Any = node
    for step in ("checkSuite", "workflowRun", "workflow", "name"):
        found = found.get(step) if isinstance(found, dict) else None
    return str(found or "")


def _wanting_changes(node: Json) -> list[Json]:
    reviews = nodes_of(node.get("latestOpinionatedReviews"))
    wanting = [review for review in reviews if review.get("state") == "CHANGES_REQUESTED"]
    return sorted(wanting, key=lambda review: str(review.get("submittedAt") or ""))


def _login(review: Json) -> str:
    # The account of a deleted user is shown under this name everywhere on GitHub.
    return str((review.get("author") or {}).get("login") or "ghost")
