"""Reads the items of a board: each issue with its repository, its holders and what is in its way."""

from typing import Any

from agent_sync.gateway.cards import is_same_name, values_of
from agent_sync.gateway.relatives import holders_of, open_blockers_of, repository_of_issue
from agent_sync.gateway.transport.answer import GraphQLAnswer, Json, nodes_of
from agent_sync.gateway.transport.line import Line
from agent_sync.task.decision.tasks import BoardIssue


def issues_in(line: Line, answer: GraphQLAnswer, connection: Any) -> tuple[BoardIssue, ...]:
    """Return the issues of a connection of items; drafts, pull requests and hidden cards are left out."""
    viewer = str(answer.at("viewer", "login") or "")
    listed = ((node, node.get("content") or {}) for node in nodes_of(connection))
    return tuple(_issue(line, node, content, viewer) for node, content in listed if "number" in content)


def own_issues(issues: tuple[BoardIssue, ...]) -> tuple[BoardIssue, ...]:
    """Return those of this repository."""
    return tuple(issue for issue in issues if issue.is_here)


def _issue(line: Line, item: Json, content: Json, viewer: str) -> BoardIssue:
    values, holders = values_of(item), holders_of(line, content, viewer=viewer)
    parts = content.get("subIssuesSummary") or {"total": 0, "completed": 0}
    repository = repository_of_issue(line, content)
    return BoardIssue(
        number=int(content["number"]),
        title=str(content["title"]),
        url=str(content["url"]),
        status=values.status,
        priority=values.priority,
        agent=values.agent,
        assignees=holders.assignees,
        is_open=content.get("issueState") == "OPEN",
        created=str(content.get("createdAt") or ""),
        open_blockers=open_blockers_of(content),
        open_sub_issues=int(parts["total"]) - int(parts["completed"]),
        repository=repository,
        is_here=is_same_name(repository, line.repository.full_name),
        type=str((content.get("issueType") or {}).get("name") or ""),
        rival_pulls=holders.rival_pulls,
    )
