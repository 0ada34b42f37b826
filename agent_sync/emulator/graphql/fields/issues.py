"""Issues and how they hang together."""

from typing import Any

from agent_sync.emulator.graphql.board_values import closing_pulls
from agent_sync.emulator.graphql.fields.conversations import CONVERSATION
from agent_sync.emulator.graphql.request import Request
from agent_sync.emulator.graphql.tables import Table, constant
from agent_sync.emulator.world.conversations import Issue


def path(issue: Issue, _request: Request) -> str:
    """Return the path of an issue's page."""
    return f"/{issue.repository.full_name}/issues/{issue.number}"


def dependencies(issue: Issue, _request: Request) -> dict[str, int]:
    """Count what an issue waits for and holds up; the plain numbers count what is still open."""
    return {
        "blockedBy": sum(other.is_open for other in issue.blocked_by),
        "blocking": sum(other.is_open for other in issue.blocking),
        "totalBlockedBy": len(issue.blocked_by),
        "totalBlocking": len(issue.blocking),
    }


def parts(issue: Issue, _request: Request) -> dict[str, Any]:
    """Count the sub-issues and how many of them are done."""
    total = len(issue.sub_issues)
    completed = sum(not part.is_open for part in issue.sub_issues)
    percent = completed * 100 // total if total else 0
    return {"total": total, "completed": completed, "percentCompleted": percent}


RESOLVERS: dict[str, Table] = {
    "Issue": CONVERSATION
    | {
        "closedByPullRequestsReferences": closing_pulls,
        "isPinned": constant(False),
        "issueDependenciesSummary": dependencies,
        "issueType": constant(None),
        "linkedBranches": constant([]),
        "resourcePath": path,
        "state": lambda issue, _: issue.state.upper(),
        "stateReason": lambda issue, _: issue.state_reason.upper() if issue.state_reason else None,
        "subIssuesSummary": parts,
        "url": lambda issue, request: request.url(path(issue, request)),
    }
}
