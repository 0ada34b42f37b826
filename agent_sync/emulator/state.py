"""The world as one plain value, for tests and curious people."""

from typing import Any

from agent_sync.emulator.world.boards import DraftIssue, Field, Item
from agent_sync.emulator.world.conversations import Issue
from agent_sync.emulator.world.repositories import Repository
from agent_sync.emulator.world.world import World


def snapshot(world: World) -> dict[str, list[dict[str, Any]]]:
    """Return everything there is, as `GET /_emulator/state` answers it."""
    repositories = list(world.repositories.values())
    return {
        "issues": [entry for repository in repositories for entry in _issues(repository)],
        "pulls": [entry for repository in repositories for entry in _pulls(repository)],
        "checks": [entry for repository in repositories for entry in _checks(repository)],
        "comments": [entry for repository in repositories for entry in _comments(repository)],
        "items": [_item(item) for project in world.projects.values() for item in project.items.values()],
        "refs": [
            {"repo": repository.full_name, "name": name, "sha": sha}
            for repository in repositories
            for name, sha in repository.git.refs().items()
        ],
    }


def _issues(repository: Repository) -> list[dict[str, Any]]:
    return [
        {
            "repo": repository.full_name,
            "number": issue.number,
            "title": issue.title,
            "state": issue.state,
            "state_reason": issue.state_reason,
            "assignees": [user.login for user in issue.assignees],
            "labels": [label.name for label in issue.labels],
            "blocked_by": [_named(repository, blocker) for blocker in issue.blocked_by],
            "parent": _named(repository, issue.parent) if issue.parent else None,
        }
        for issue in repository.issues
    ]


def _named(repository: Repository, issue: Issue) -> int | str:
    is_here = issue.repository is repository
    return issue.number if is_here else f"{issue.repository.full_name}#{issue.number}"


def _pulls(repository: Repository) -> list[dict[str, Any]]:
    return [
        {
            "repo": repository.full_name,
            "number": pull.number,
            "title": pull.title,
            "body": pull.body,
            "state": pull.state,
            "draft": pull.draft,
            "merged": pull.merged,
            "head": pull.head,
            "head_sha": pull.head_sha,
            "base": pull.base,
        }
        for pull in repository.pulls
    ]


def _checks(repository: Repository) -> list[dict[str, Any]]:
    return [
        {
            "repo": repository.full_name,
            "sha": check.sha,
            "name": check.name,
            "status": check.status,
            "conclusion": check.conclusion,
        }
        for checks in repository.checks.values()
        for check in checks
    ]


def _comments(repository: Repository) -> list[dict[str, Any]]:
    found = [comment for entry in repository.conversations.values() for comment in entry.comments]
    return [
        {
            "repo": repository.full_name,
            "issue": comment.conversation.number,
            "id": comment.identity.number,
            "by": comment.author.login,
            "body": comment.body,
        }
        for comment in sorted(found, key=lambda comment: comment.identity.number)
    ]


def _item(item: Item) -> dict[str, Any]:
    shown = ((field.name, _shown(item, field)) for field in item.project.fields)
    content = None if isinstance(item.content, DraftIssue) else item.content
    return {
        "project": item.project.number,
        "repo": content.repository.full_name if content else None,
        "id": item.id,
        "issue": content.number if content else None,
        "archived": item.archived,
        "fields": {name: value for name, value in shown if value is not None},
    }


def _shown(item: Item, field: Field) -> str | float | None:
    held, value = item.issue_value(field), item.values.get(field.id)
    if held or value is None:
        return held.option.name if held else None
    option, iteration = field.option_by_id(value.option_id), field.iteration_by_id(value.iteration_id)
    if option or iteration:
        return option.name if option else iteration.title if iteration else None
    return value.day.isoformat() if value.day else value.text if value.text is not None else value.number
