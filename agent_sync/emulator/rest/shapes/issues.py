"""Issues, comments, labels and events in REST's shapes."""

from typing import Any
from urllib.parse import quote

from agent_sync.emulator.exchange import Links
from agent_sync.emulator.rest.shapes.people import association, optional_user, simple_user
from agent_sync.emulator.rest.shapes.repositories import api_url, web_url
from agent_sync.emulator.world.conversations import Comment, Conversation, Event, Issue, Label
from agent_sync.emulator.world.identity import timestamp
from agent_sync.emulator.world.pulls import PullRequest
from agent_sync.emulator.world.repositories import Repository

REACTIONS = ("+1", "-1", "laugh", "hooray", "confused", "heart", "rocket", "eyes")


def label_shape(links: Links, repository: Repository, label: Label) -> dict[str, Any]:
    """Return a label."""
    return {
        "id": label.identity.number,
        "node_id": label.id,
        "url": f"{api_url(links, repository)}/labels/{quote(label.name, safe='')}",
        "name": label.name,
        "color": label.color,
        "default": label.is_default,
        "description": label.description,
    }


def no_reactions(url: str) -> dict[str, Any]:
    """Return the reactions of something nobody has reacted to."""
    return {"url": f"{url}/reactions", "total_count": 0, **dict.fromkeys(REACTIONS, 0)}


def issue_shape(links: Links, entry: Conversation) -> dict[str, Any]:
    """Return an issue; a pull request looks like one here, with a link to its other side."""
    repository = entry.repository
    url = f"{api_url(links, repository)}/issues/{entry.number}"
    identity = entry.issue_identity if isinstance(entry, PullRequest) else entry.identity
    return {
        "url": url,
        "repository_url": api_url(links, repository),
        "labels_url": url + "/labels{/name}",
        "comments_url": f"{url}/comments",
        "events_url": f"{url}/events",
        "timeline_url": f"{url}/timeline",
        "html_url": html_url(links, entry),
        "id": identity.number,
        "node_id": entry.id,
        "number": entry.number,
        "title": entry.title,
        "user": simple_user(links, entry.author),
        "labels": [label_shape(links, repository, label) for label in entry.labels],
        "state": entry.state,
        "state_reason": entry.state_reason if isinstance(entry, Issue) else None,
        "locked": entry.locked,
        "active_lock_reason": None,
        "assignee": optional_user(links, entry.assignees[0] if entry.assignees else None),
        "assignees": [simple_user(links, user) for user in entry.assignees],
        "milestone": None,
        "comments": len(entry.comments),
        "created_at": timestamp(entry.created_at),
        "updated_at": timestamp(entry.updated_at),
        "closed_at": timestamp(entry.closed_at) if entry.closed_at else None,
        "closed_by": optional_user(links, entry.closed_by),
        "author_association": association(repository, entry.author),
        "body": entry.body,
        "reactions": no_reactions(url),
        "performed_via_github_app": None,
        **(_relations(links, entry) if isinstance(entry, Issue) else {}),
        **(_other_side(links, entry) if isinstance(entry, PullRequest) else {}),
    }


def html_url(links: Links, entry: Conversation) -> str:
    """Return where people read an issue or pull request."""
    kind = "pull" if isinstance(entry, PullRequest) else "issues"
    return f"{web_url(links, entry.repository)}/{kind}/{entry.number}"


def _relations(links: Links, issue: Issue) -> dict[str, Any]:
    total, done = len(issue.sub_issues), sum(not child.is_open for child in issue.sub_issues)
    parent = issue.parent
    shown: dict[str, Any] = {
        "sub_issues_summary": {
            "total": total,
            "completed": done,
            "percent_completed": done * 100 // total if total else 0,
        },
        "issue_dependencies_summary": {
            "blocked_by": sum(blocker.is_open for blocker in issue.blocked_by),
            "blocking": sum(blocked.is_open for blocked in issue.blocking) if issue.is_open else 0,
            "total_blocked_by": len(issue.blocked_by),
            "total_blocking": len(issue.blocking),
        },
    }
    if parent:
        shown["parent_issue_url"] = f"{api_url(links, parent.repository)}/issues/{parent.number}"
    return shown


def _other_side(links: Links, pull: PullRequest) -> dict[str, Any]:
    web = html_url(links, pull)
    return {
        "draft": pull.draft,
        "pull_request": {
            "url": f"{api_url(links, pull.repository)}/pulls/{pull.number}",
            "html_url": web,
            "diff_url": f"{web}.diff",
            "patch_url": f"{web}.patch",
            "merged_at": timestamp(pull.merged_at) if pull.merged_at else None,
        },
    }


def comment_shape(links: Links, comment: Comment) -> dict[str, Any]:
    """Return a comment."""
    entry, number = comment.conversation, comment.identity.number
    root = f"{api_url(links, entry.repository)}/issues"
    return {
        "url": f"{root}/comments/{number}",
        "html_url": f"{html_url(links, entry)}#issuecomment-{number}",
        "issue_url": f"{root}/{entry.number}",
        "id": number,
        "node_id": comment.id,
        "user": simple_user(links, comment.author),
        "created_at": timestamp(comment.created_at),
        "updated_at": timestamp(comment.updated_at),
        "author_association": association(entry.repository, comment.author),
        "body": comment.body,
        "reactions": no_reactions(f"{root}/comments/{number}"),
        "performed_via_github_app": None,
    }


def event_shape(links: Links, entry: Conversation, event: Event) -> dict[str, Any]:
    """Return one entry of the history."""
    root = api_url(links, entry.repository)
    return {
        "id": event.identity.number,
        "node_id": event.identity.node,
        "url": f"{root}/issues/events/{event.identity.number}",
        "actor": simple_user(links, event.actor),
        "event": event.kind,
        "commit_id": event.commit,
        "commit_url": f"{root}/commits/{event.commit}" if event.commit else None,
        "created_at": timestamp(event.created_at),
        "performed_via_github_app": None,
    }
