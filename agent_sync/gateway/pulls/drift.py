"""Reads out of an answer what others have done to a pull request, its issue and its card."""

from dataclasses import replace

from agent_sync.gateway.pulls.conversations import head_commit
from agent_sync.gateway.transport.answer import GraphQLAnswer, Json, nodes_of
from agent_sync.task.decision.facts import ForcePush, IssueSeen, Pull, PullDrift, Revert

ISSUE = ("repository", "issue")
CARD = ("card",)
PULL = ("repository", "pullRequest")


def revert_head(number: int, branch: str) -> str:
    """Return the branch on which GitHub proposes to take a pull request back."""
    return f"revert-{number}-{branch}"


def with_drift(pull: Pull, answer: GraphQLAnswer) -> Pull:
    """Return a pull request with what others have done to it."""
    node = answer.at(*PULL) or {}
    events = nodes_of(node.get("changes"))
    if "changes" not in node:
        # A server of an older version is asked a plainer document.
        return pull
    is_deleted = node.get("headRef") is None
    return replace(pull, drift=PullDrift(_base(node, events), _force_push(events), is_deleted, _revert(answer)))


def issue_in(answer: GraphQLAnswer) -> IssueSeen | None:
    """Return the issue; None where the token may not see it, which is not to be mistaken for one that is gone."""
    found, trouble = answer.at(*ISSUE), answer.trouble_at(*ISSUE)
    if not isinstance(found, dict):
        return IssueSeen(is_open=False, is_gone=True) if trouble and trouble.kind == "NOT_FOUND" else None
    actors = nodes_of(found.get("assignedActors") or found.get("assignees"))
    return IssueSeen(
        is_open=found.get("state") == "OPEN",
        assignees=tuple(str(actor["login"]) for actor in actors if actor.get("login")),
        viewer=str(answer.at("viewer", "login") or ""),
        card_status=_card_status(answer),
    )


def _card_status(answer: GraphQLAnswer) -> str | None:
    """Return where the card is; None where it was not asked for, is archived, or cannot be seen."""
    card = answer.at(*CARD)
    if not isinstance(card, dict) or card.get("isArchived") is not False:
        return None
    return str((card.get("status") or {}).get("option") or "")


def _base(node: Json, events: list[Json]) -> str:
    """Return the base that somebody chose last, unless the head was made after it."""
    found = [event for event in events if event.get("currentRefName")]
    made = str(head_commit(node).get("committedDate") or "")
    if not found or made > str(found[-1].get("createdAt") or ""):
        return ""
    return str(found[-1]["currentRefName"])


def _force_push(events: list[Json]) -> ForcePush | None:
    found = [event for event in events if event.get("afterCommit")]
    if not found:
        return None
    by = str((found[-1].get("actor") or {}).get("login") or "ghost")
    return ForcePush(by, str(found[-1]["afterCommit"].get("oid") or ""))


def _revert(answer: GraphQLAnswer) -> Revert | None:
    """Return the newest pull request that takes this one back and was not given up; a fork's is nobody's decision."""
    nodes = [node for node in answer.nodes("repository", "reverts") if not node.get("isCrossRepository")]
    wanted = [node for node in nodes if node.get("state") in {"OPEN", "MERGED"}]
    return Revert(int(wanted[-1]["number"]), wanted[-1]["state"] == "MERGED") if wanted else None
