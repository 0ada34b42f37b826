"""Reads what people wrote about an issue, and the issues around it, out of an answer."""

from typing import Any

from agent_sync.gateway.cards import is_same_name
from agent_sync.gateway.pulls.conversations import remark_of
from agent_sync.gateway.relatives import repository_of_issue
from agent_sync.gateway.transport.answer import Json, nodes_of
from agent_sync.gateway.transport.line import Line
from agent_sync.task.decision.feedback.reviews import Wake, is_heard
from agent_sync.task.decision.issue_brief import IssueBrief, RelatedIssue


def brief_in(line: Line, issue: Any) -> IssueBrief | None:
    """Return what the agent should know of an issue; None where it was not asked for or cannot be seen."""
    if not isinstance(issue, dict) or "title" not in issue:
        return None
    comments = tuple(remark_of(node) for node in nodes_of(issue.get("comments")))
    heard = tuple(one for one in comments if is_heard(one, Wake.WRITERS))
    total = int((issue.get("comments") or {}).get("totalCount") or len(comments))
    parent = issue.get("parent")
    return IssueBrief(
        number=int(issue["number"]),
        title=str(issue["title"]),
        url=str(issue["url"]),
        description=remark_of(issue),
        comments=heard,
        left_out=max(0, total - len(heard)),
        parent=_related(line, parent) if isinstance(parent, dict) else None,
        sub_issues=_listed(line, issue, "subIssues"),
        blocked_by=_listed(line, issue, "blockedBy"),
        blocking=_listed(line, issue, "blocking"),
    )


def _listed(line: Line, issue: Json, connection: str) -> tuple[RelatedIssue, ...]:
    return tuple(_related(line, node) for node in nodes_of(issue.get(connection)))


def _related(line: Line, node: Json) -> RelatedIssue:
    repository = repository_of_issue(line, node)
    is_here = is_same_name(repository, line.repository.full_name)
    name = f"#{node['number']}" if is_here else f"{repository}#{node['number']}"
    return RelatedIssue(name, str(node.get("title") or ""), node.get("state") == "OPEN")
