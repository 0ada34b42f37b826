"""Search for issues and pull requests, with the qualifiers that tools use."""

from collections.abc import Callable, Sequence

from agent_sync.emulator.graphql.board_filter import Term, terms
from agent_sync.emulator.graphql.fields.selecting import mentions
from agent_sync.emulator.graphql.request import Request
from agent_sync.emulator.world.conversations import Conversation, Issue
from agent_sync.emulator.world.pulls import PullRequest

Test = Callable[[Conversation], bool]

ORDERS = {"created": "created_at", "updated": "updated_at"}


def search(_root: None, request: Request, *, query: str, type: str) -> Sequence[Conversation]:  # noqa: A002, ARG001 - GitHub's name; only issues can be searched
    """Return what fits every word of a query, newest first unless it says otherwise."""
    words = [term for term in terms(query) if term.name != "sort"]
    everything = (
        entry for repository in request.world.repositories.values() for entry in repository.conversations.values()
    )
    found = [entry for entry in everything if all(_fits(entry, word, request) for word in words)]
    return _sorted(found, next((term for term in terms(query) if term.name == "sort"), None))


def _sorted(found: list[Conversation], order: Term | None) -> list[Conversation]:
    name, _, direction = (order.values[0] if order else "created-desc").partition("-")
    attribute = ORDERS.get(name, "created_at")
    return sorted(found, key=lambda entry: (getattr(entry, attribute), entry.number), reverse=direction != "asc")


def _fits(entry: Conversation, term: Term, request: Request) -> bool:
    values = [request.viewer.user.login.lower() if value == "@me" else value for value in term.values]
    name = term.name.lower() if term.name else None
    return any(_has(entry, name, value) for value in values) != term.negated


def _has(entry: Conversation, name: str | None, value: str) -> bool:
    if name is None:
        return value in entry.title.lower() or value in (entry.body or "").lower()
    if name in {"is", "state", "type"}:
        test = STATES.get(value)
        return test(entry) if test else entry.state == value
    if name == "mentions":
        return mentions(entry, value)
    if name == "no":
        return not QUALIFIERS.get(value, _nothing)(entry)
    return value in QUALIFIERS.get(name, _nothing)(entry)


def _nothing(_entry: Conversation) -> list[str]:
    return []


def _of_pull(read: Callable[[PullRequest], list[str]]) -> Callable[[Conversation], list[str]]:
    return lambda entry: read(entry) if isinstance(entry, PullRequest) else []


QUALIFIERS: dict[str, Callable[[Conversation], list[str]]] = {
    "repo": lambda entry: [entry.repository.full_name.lower()],
    "user": lambda entry: [entry.repository.owner.login.lower()],
    "org": lambda entry: [entry.repository.owner.login.lower()],
    "author": lambda entry: [entry.author.login.lower()],
    "assignee": lambda entry: [user.login.lower() for user in entry.assignees],
    "label": lambda entry: [label.name.lower() for label in entry.labels],
    "head": _of_pull(lambda pull: [pull.head.lower()]),
    "base": _of_pull(lambda pull: [pull.base.lower()]),
    "draft": _of_pull(lambda pull: [str(pull.draft).lower()]),
    "review-requested": _of_pull(lambda pull: [user.login.lower() for user in pull.requested_reviewers]),
}

STATES: dict[str, Test] = {
    "issue": lambda entry: isinstance(entry, Issue),
    "pr": lambda entry: isinstance(entry, PullRequest),
    "merged": lambda entry: isinstance(entry, PullRequest) and entry.merged,
    "unmerged": lambda entry: isinstance(entry, PullRequest) and not entry.merged,
    "draft": lambda entry: isinstance(entry, PullRequest) and entry.draft,
}
