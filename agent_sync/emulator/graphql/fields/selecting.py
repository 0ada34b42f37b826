"""The arguments by which issues and pull requests are chosen from a list."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from agent_sync.emulator.graphql.failures import failure
from agent_sync.emulator.world.conversations import Conversation, Issue
from agent_sync.emulator.world.pulls import PullRequest


def chosen_pulls(
    pulls: Sequence[PullRequest],
    *,
    states: list[str] | None = None,
    labels: list[str] | None = None,
    head_ref_name: str | None = None,
    base_ref_name: str | None = None,
) -> Sequence[PullRequest]:
    """Keep the pull requests that fit every argument."""
    return [
        pull
        for pull in pulls
        if (states is None or ("MERGED" if pull.merged else pull.state.upper()) in states)
        and has_label(pull, labels)
        and head_ref_name in {None, pull.head}
        and base_ref_name in {None, pull.base}
    ]


def chosen_issues(
    issues: Sequence[Issue],
    *,
    states: list[str] | None = None,
    labels: list[str] | None = None,
    filter_by: dict[str, Any] | None = None,
) -> Sequence[Issue]:
    """Keep the issues that fit every argument."""
    wanted = filter_by or {}
    return [
        issue
        for issue in issues
        if (states is None or issue.state.upper() in states) and has_label(issue, labels) and _passes(issue, wanted)
    ]


def has_label(conversation: Conversation, labels: list[str] | None) -> bool:
    """Say whether a conversation has any of the labels; no labels asked for means any will do."""
    if not labels:
        return True
    names = {label.name.lower() for label in conversation.labels}
    return any(label.lower() in names for label in labels)


def mentions(issue: Conversation, login: str) -> bool:
    """Say whether somebody is mentioned in the text or a comment."""
    texts = [issue.body or "", *(comment.body for comment in issue.comments)]
    return any(f"@{login}".lower() in text.lower() for text in texts)


def _passes(issue: Issue, wanted: dict[str, Any]) -> bool:
    since = wanted.get("since")
    return (
        _is_assigned(issue, wanted.get("assignee"))
        and wanted.get("createdBy") in {None, issue.author.login}
        and (wanted.get("mentioned") is None or mentions(issue, wanted["mentioned"]))
        and (wanted.get("states") is None or issue.state.upper() in wanted["states"])
        and has_label(issue, wanted.get("labels"))
        and (since is None or issue.updated_at >= _moment(since))
    )


def _moment(text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise failure("VALIDATION", f"'{text}' is not a valid ISO 8601 date and time") from error
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _is_assigned(issue: Issue, login: str | None) -> bool:
    if login is None:
        return True
    if login == "*":
        return bool(issue.assignees)
    return any(user.login.lower() == login.lower() for user in issue.assignees)
