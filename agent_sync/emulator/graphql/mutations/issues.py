"""Mutations of issues, their comments and their relations."""

from agent_sync.emulator.graphql.connections import Edge, cursor
from agent_sync.emulator.graphql.fields.root import resource
from agent_sync.emulator.graphql.mutations.found import Payload, found, refuse_classic_projects
from agent_sync.emulator.graphql.mutations.people import label_names, logins
from agent_sync.emulator.graphql.request import Request
from agent_sync.emulator.graphql.tables import Table
from agent_sync.emulator.operations import boards, issues, people, relations
from agent_sync.emulator.world.boards import Project
from agent_sync.emulator.world.conversations import Comment, Conversation, Issue
from agent_sync.emulator.world.refusal import Kind, Refused
from agent_sync.emulator.world.repositories import Repository


def create_issue(
    request: Request,
    *,
    repository_id: str,
    title: str,
    body: str | None = None,
    assignee_ids: list[str] | None = None,
    label_ids: list[str] | None = None,
    project_ids: list[str] | None = None,
    project_v2_ids: list[str] | None = None,
) -> Payload:
    """Open an issue, on boards too if asked."""
    refuse_classic_projects(project_ids)
    repository = found(request, repository_id, Repository)
    projects = [found(request, entry, Project) for entry in project_v2_ids or ()]
    issue = issues.create_issue(
        request.world, request.viewer, repository, title=title, body=body,
        labels=label_names(request, label_ids), assignees=logins(request, assignee_ids),
    )  # fmt: skip
    for project in projects:
        boards.add_item(request.world, request.viewer, project, issue)
    return {"issue": issue}


def update_issue(
    request: Request,
    *,
    id: str,  # noqa: A002 - GitHub's name
    title: str | None = None,
    body: str | None = None,
    state: str | None = None,
    assignee_ids: list[str] | None = None,
    label_ids: list[str] | None = None,
    project_ids: list[str] | None = None,
) -> Payload:
    """Change whatever is given of an issue."""
    refuse_classic_projects(project_ids)
    world, viewer, issue = request.world, request.viewer, found(request, id, Issue)
    if title is not None or body is not None:
        issues.edit_text(world, viewer, issue, title=title, body=body)
    if assignee_ids is not None:
        people.replace_assignees(world, viewer, issue, logins(request, assignee_ids))
    if label_ids is not None:
        people.remove_labels(world, viewer, issue, [label.name for label in issue.labels])
        people.set_labels(world, viewer, issue, label_names(request, label_ids))
    if state is not None:
        change = issues.close_issue if state == "CLOSED" else issues.reopen_issue
        change(world, viewer, issue)
    return {"issue": issue, "actor": viewer.user}


def close_issue(request: Request, *, issue_id: str, state_reason: str | None = None) -> Payload:
    """Close an issue."""
    issue = found(request, issue_id, Issue)
    issues.close_issue(request.world, request.viewer, issue, reason=state_reason.lower() if state_reason else None)
    return {"issue": issue}


def reopen_issue(request: Request, *, issue_id: str) -> Payload:
    """Open a closed issue again."""
    issue = found(request, issue_id, Issue)
    issues.reopen_issue(request.world, request.viewer, issue)
    return {"issue": issue}


def add_comment(request: Request, *, subject_id: str, body: str) -> Payload:
    """Comment on an issue or pull request."""
    subject = found(request, subject_id, Conversation)
    comment = issues.add_comment(request.world, request.viewer, subject, body)
    return {"subject": subject, "commentEdge": Edge(comment, cursor(len(subject.comments) - 1, comment))}


def update_comment(request: Request, *, id: str, body: str) -> Payload:  # noqa: A002 - GitHub's name
    """Change a comment."""
    comment = found(request, id, Comment)
    issues.edit_comment(request.world, request.viewer, comment, body)
    return {"issueComment": comment}


def delete_comment(request: Request, *, id: str) -> Payload:  # noqa: A002 - GitHub's name
    """Remove a comment."""
    issues.delete_comment(request.world, request.viewer, found(request, id, Comment))
    return {}


def add_blocked_by(request: Request, *, issue_id: str, blocking_issue_id: str) -> Payload:
    """Say that an issue waits for another."""
    issue, blocker = found(request, issue_id, Issue), found(request, blocking_issue_id, Issue)
    relations.add_blocked_by(request.world, request.viewer, issue, blocker)
    return {"issue": issue, "blockingIssue": blocker}


def remove_blocked_by(request: Request, *, issue_id: str, blocking_issue_id: str) -> Payload:
    """Say that an issue no longer waits for another."""
    issue, blocker = found(request, issue_id, Issue), found(request, blocking_issue_id, Issue)
    relations.remove_blocked_by(request.world, request.viewer, issue, blocker)
    return {"issue": issue, "blockingIssue": blocker}


def add_sub_issue(
    request: Request,
    *,
    issue_id: str,
    sub_issue_id: str | None = None,
    sub_issue_url: str | None = None,
    replace_parent: bool | None = None,
) -> Payload:
    """Make one issue a part of another."""
    parent = found(request, issue_id, Issue)
    child = found(request, sub_issue_id, Issue) if sub_issue_id else _by_url(request, sub_issue_url)
    relations.add_sub_issue(request.world, request.viewer, parent, child, replace_parent=bool(replace_parent))
    return {"issue": parent, "subIssue": child}


def _by_url(request: Request, url: str | None) -> Issue:
    child = resource(None, request, url=url) if url else None
    if not isinstance(child, Issue):
        raise Refused(Kind.UNPROCESSABLE, "A sub-issue id or url must be provided")
    return child


def remove_sub_issue(request: Request, *, issue_id: str, sub_issue_id: str) -> Payload:
    """Take a part out of an issue again."""
    parent, child = found(request, issue_id, Issue), found(request, sub_issue_id, Issue)
    relations.remove_sub_issue(request.world, request.viewer, parent, child)
    return {"issue": parent, "subIssue": child}


MUTATIONS: Table = {
    "addBlockedBy": add_blocked_by,
    "addComment": add_comment,
    "addSubIssue": add_sub_issue,
    "closeIssue": close_issue,
    "createIssue": create_issue,
    "deleteIssueComment": delete_comment,
    "removeBlockedBy": remove_blocked_by,
    "removeSubIssue": remove_sub_issue,
    "reopenIssue": reopen_issue,
    "updateIssue": update_issue,
    "updateIssueComment": update_comment,
}
