"""Issues and how they hang together."""

from collections.abc import Callable
from typing import Any

from agent_sync.emulator.graphql.board_values import closing_pulls
from agent_sync.emulator.graphql.fields.conversations import CONVERSATION
from agent_sync.emulator.graphql.git_objects import GitRef, ref_of
from agent_sync.emulator.graphql.request import Request
from agent_sync.emulator.graphql.tables import Table, constant
from agent_sync.emulator.operations.rights.access import is_visible
from agent_sync.emulator.world.conversations import Issue, LinkedBranch
from agent_sync.emulator.world.pulls import PullRequest
from agent_sync.emulator.world.refusal import Kind, Refused


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


def closing(issue: Issue, request: Request, *, include_closed_prs: bool | None = False) -> list[PullRequest]:
    """Return the pull requests that close an issue; those that are closed unmerged only if asked for."""
    return [pull for pull in closing_pulls(issue, request) if include_closed_prs or pull.is_open or pull.merged]


def branch_ref(link: LinkedBranch, request: Request) -> GitRef | None:
    """Return the branch that was made for an issue, if it still exists."""
    return ref_of(request.world.repository(*link.repository_name.split("/", 1)), link.branch)


def shown(issue: Issue, request: Request) -> Issue | Refused | None:
    """Return a related issue; hidden ones are nothing to a person's token, and an error to one with permissions."""
    if is_visible(request.viewer, issue.repository):
        return issue
    return None if request.viewer.has_scopes else Refused(Kind.FORBIDDEN, request.viewer.no_access)


def parent(issue: Issue, request: Request) -> Issue | None:
    """Return the issue this one is a part of, or refuse it to a token that must not see it."""
    found = shown(issue.parent, request) if issue.parent else None
    if isinstance(found, Refused):
        raise found
    return found


def relatives(name: str) -> Callable[[Issue, Request], list[Issue | Refused | None]]:
    """Return the resolver of one list of related issues."""
    return lambda issue, request: [shown(other, request) for other in getattr(issue, name)]


RESOLVERS: dict[str, Table] = {
    "Issue": CONVERSATION
    | {
        "closedByPullRequestsReferences": closing,
        "blockedBy": relatives("blocked_by"),
        "blocking": relatives("blocking"),
        "isPinned": constant(False),
        "issueDependenciesSummary": dependencies,
        "parent": parent,
        "resourcePath": path,
        "subIssues": relatives("sub_issues"),
        "state": lambda issue, _: issue.state.upper(),
        "stateReason": lambda issue, _: issue.state_reason.upper() if issue.state_reason else None,
        "subIssuesSummary": parts,
        "url": lambda issue, request: request.url(path(issue, request)),
    },
    "LinkedBranch": {"ref": branch_ref},
}
