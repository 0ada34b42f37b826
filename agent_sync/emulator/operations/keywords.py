"""The words that close an issue: in a pull request's body or a commit's message."""

import re

from agent_sync.emulator.world.conversations import Issue
from agent_sync.emulator.world.pulls import PullRequest
from agent_sync.emulator.world.repositories import Repository

CLOSING = re.compile(
    r"\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?):?\s+(?:(?P<repo>[\w.-]+/[\w.-]+))?#(?P<number>\d+)\b",
    re.IGNORECASE,
)


def closed_by_text(repository: Repository, text: str) -> list[Issue]:
    """Return the issues of the repository that a text says it closes, each once, in order."""
    found: dict[int, Issue] = {}
    for match in CLOSING.finditer(text):
        named = match["repo"]
        if named and named.lower() != repository.full_name.lower():
            continue
        issue = repository.conversations.get(int(match["number"]))
        if isinstance(issue, Issue):
            found.setdefault(issue.number, issue)
    return list(found.values())


def closing_issues(pull: PullRequest) -> list[Issue]:
    """Return what merging a pull request will close; only the default branch counts."""
    if pull.base != pull.repository.default_branch:
        return []
    return closed_by_text(pull.repository, pull.body or "")
