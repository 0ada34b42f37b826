"""What an item shows in a field: a value somebody set, or what the field mirrors from the content."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime

from agent_sync.emulator.graphql.request import Request
from agent_sync.emulator.operations.keywords import closing_issues
from agent_sync.emulator.world.boards import SETTABLE, DraftIssue, Field, FieldType, FieldValue, Item, Iteration, Option
from agent_sync.emulator.world.conversations import Issue, Label
from agent_sync.emulator.world.people import User
from agent_sync.emulator.world.pulls import PullRequest
from agent_sync.emulator.world.repositories import Repository


@dataclass(frozen=True)
class ItemValue:
    """One field of one item that is not empty; `stored` is missing where the content is mirrored."""

    item: Item
    field: Field
    stored: FieldValue | None = None
    pull_requests: Sequence[PullRequest] = ()

    @property
    def id(self) -> str:
        """Return the node id."""
        return self.stored.identity.node if self.stored else f"{self.field.id}{self.item.id}"

    @property
    def database_id(self) -> int:
        """Return the number of the value."""
        return (self.stored or self.item).identity.number

    @property
    def creator(self) -> User:
        """Return who set it."""
        return (self.stored or self.item).creator

    @property
    def created_at(self) -> datetime:
        """Return when it was set first."""
        return (self.stored or self.item).created_at

    @property
    def updated_at(self) -> datetime:
        """Return when it was set last."""
        return (self.stored or self.item).updated_at

    @property
    def text(self) -> str | None:
        """Return the text, which for the title is the content's own."""
        return self.stored.text if self.stored else self.item.content.title

    @property
    def number(self) -> float | None:
        """Return the number."""
        return self.stored.number if self.stored else None

    @property
    def date(self) -> date | None:
        """Return the day."""
        return self.stored.day if self.stored else None

    @property
    def option(self) -> Option | None:
        """Return the chosen option."""
        return self.field.option_by_id(self.stored.option_id) if self.stored else None

    @property
    def iteration(self) -> Iteration | None:
        """Return the chosen iteration."""
        return self.field.iteration_by_id(self.stored.iteration_id) if self.stored else None

    @property
    def users(self) -> list[User]:
        """Return the assignees who are people; this list has no room for bots."""
        return [user for user in self.item.content.assignees if not user.is_bot]

    @property
    def labels(self) -> list[Label]:
        """Return the labels."""
        return [] if isinstance(self.item.content, DraftIssue) else self.item.content.labels

    @property
    def repository(self) -> Repository | None:
        """Return the content's repository."""
        return None if isinstance(self.item.content, DraftIssue) else self.item.content.repository

    @property
    def reviewers(self) -> list[User]:
        """Return who has been asked for a review."""
        content = self.item.content
        return content.requested_reviewers if isinstance(content, PullRequest) else []


def closing_pulls(content: Issue | PullRequest | DraftIssue, request: Request) -> Sequence[PullRequest]:
    """Return the pull requests that say they close an issue, reading their texts once per request."""
    if not isinstance(content, Issue):
        return ()
    key = ("closing", content.repository.id)
    if key not in request.memory:
        request.memory[key] = _by_closed_issue(content.repository)
    found: dict[int, list[PullRequest]] = request.memory[key]
    return found.get(content.number, ())


def _by_closed_issue(repository: Repository) -> dict[int, list[PullRequest]]:
    found: dict[int, list[PullRequest]] = defaultdict(list)
    for pull in repository.pulls:
        for issue in closing_issues(pull):
            found[issue.number].append(pull)
    return found


def value_of(item: Item, field: Field, request: Request) -> ItemValue | None:
    """Return what an item shows in a field, or nothing for an empty one."""
    if field.issue_field:
        return ItemValue(item, field) if item.issue_value(field) else None
    if field.type in SETTABLE:
        stored = item.values.get(field.id)
        return ItemValue(item, field, stored) if stored and _still_there(field, stored) else None
    linked = field.type is FieldType.LINKED_PULL_REQUESTS
    shown = ItemValue(item, field, pull_requests=closing_pulls(item.content, request) if linked else ())
    return shown if _mirrors_something(shown) else None


def values_of(item: Item, request: Request) -> Iterator[ItemValue]:
    """Return every field of an item that is not empty, in the order of the board's fields."""
    for field in item.project.fields:
        value = value_of(item, field, request)
        if value:
            yield value


def _still_there(field: Field, stored: FieldValue) -> bool:
    if field.type is FieldType.SINGLE_SELECT:
        # A re-issued option id leaves the card without a value.
        return field.option_by_id(stored.option_id) is not None
    return field.type is not FieldType.ITERATION or field.iteration_by_id(stored.iteration_id) is not None


def _mirrors_something(value: ItemValue) -> bool:
    mirrored = MIRRORED.get(value.field.type)
    return bool(mirrored and mirrored(value))


MIRRORED: dict[FieldType, Callable[[ItemValue], object]] = {
    FieldType.TITLE: lambda _: True,
    FieldType.ASSIGNEES: lambda value: value.users,
    FieldType.LABELS: lambda value: value.labels,
    FieldType.REPOSITORY: lambda value: value.repository,
    FieldType.REVIEWERS: lambda value: value.reviewers,
    FieldType.LINKED_PULL_REQUESTS: lambda value: value.pull_requests,
}
