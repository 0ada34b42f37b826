"""Projects v2: boards, their fields of every type, and their items."""

from dataclasses import dataclass, field
from datetime import date, datetime
from enum import StrEnum

from agent_sync.emulator.world.conversations import Issue
from agent_sync.emulator.world.identity import Identity
from agent_sync.emulator.world.issue_fields import IssueField, IssueFieldValue
from agent_sync.emulator.world.people import User
from agent_sync.emulator.world.pulls import PullRequest


class FieldType(StrEnum):
    """The data types of fields; those of `SETTABLE` take values, the others mirror the content."""

    TITLE = "TITLE"
    ASSIGNEES = "ASSIGNEES"
    LABELS = "LABELS"
    LINKED_PULL_REQUESTS = "LINKED_PULL_REQUESTS"
    MILESTONE = "MILESTONE"
    REPOSITORY = "REPOSITORY"
    REVIEWERS = "REVIEWERS"
    PARENT_ISSUE = "PARENT_ISSUE"
    SUB_ISSUES_PROGRESS = "SUB_ISSUES_PROGRESS"
    TEXT = "TEXT"
    NUMBER = "NUMBER"
    DATE = "DATE"
    SINGLE_SELECT = "SINGLE_SELECT"
    ITERATION = "ITERATION"


SETTABLE = frozenset({FieldType.TEXT, FieldType.NUMBER, FieldType.DATE, FieldType.SINGLE_SELECT, FieldType.ITERATION})


@dataclass(eq=False)
class Option:
    """One choice of a single select field."""

    id: str
    name: str
    color: str = "GRAY"
    description: str = ""


@dataclass(frozen=True)
class Iteration:
    """One stretch of an iteration field."""

    id: str
    title: str
    start: date
    days: int


@dataclass(eq=False, kw_only=True)
class Field:
    """A column of the board; with `issue_field` it shows what the issue itself holds."""

    identity: Identity
    project: "Project" = field(repr=False)
    name: str
    type: FieldType
    created_at: datetime
    updated_at: datetime
    options: list[Option] = field(default_factory=list)
    iterations: list[Iteration] = field(default_factory=list)
    issue_field: IssueField | None = None

    @property
    def id(self) -> str:
        """Return the node id."""
        return self.identity.node

    def option(self, name: str) -> Option | None:
        """Return the option of that name, if the field has it."""
        return next((option for option in self.options if option.name == name), None)

    def option_by_id(self, option_id: str | None) -> Option | None:
        """Return the option with that id; a re-issued id leaves cards without an option."""
        return next((option for option in self.options if option.id == option_id), None)

    def iteration_by_id(self, iteration_id: str | None) -> Iteration | None:
        """Return the iteration with that id."""
        return next((entry for entry in self.iterations if entry.id == iteration_id), None)


@dataclass(frozen=True, kw_only=True)
class FieldValue:
    """What one item holds in one settable field; exactly one of the five values is set."""

    identity: Identity
    creator: User
    created_at: datetime
    updated_at: datetime
    text: str | None = None
    number: float | None = None
    day: date | None = None
    option_id: str | None = None
    iteration_id: str | None = None


@dataclass(eq=False, kw_only=True)
class DraftIssue:
    """A note on the board that is not an issue yet."""

    identity: Identity
    title: str
    body: str
    author: User
    created_at: datetime
    updated_at: datetime
    assignees: list[User] = field(default_factory=list)

    @property
    def id(self) -> str:
        """Return the node id."""
        return self.identity.node


@dataclass(eq=False, kw_only=True)
class Item:
    """A card: one issue, pull request or draft on one board, with its field values by field id."""

    identity: Identity
    project: "Project" = field(repr=False)
    content: Issue | PullRequest | DraftIssue
    creator: User
    created_at: datetime
    updated_at: datetime
    archived: bool = False
    values: dict[str, FieldValue] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """Return the node id."""
        return self.identity.node

    def issue_value(self, column: Field) -> IssueFieldValue | None:
        """Return what the issue holds in the issue field that a column shows."""
        if column.issue_field is None or not isinstance(self.content, Issue):
            return None
        return self.content.field_values.get(column.issue_field.id)


@dataclass(eq=False, kw_only=True)
class Project:
    """A board of a user or an organization; `items` are in board order, archived ones included."""

    identity: Identity
    owner: User
    number: int
    title: str
    creator: User
    created_at: datetime
    updated_at: datetime
    short_description: str | None = None
    readme: str | None = None
    public: bool = False
    closed: bool = False
    automation: bool = False
    fields: list[Field] = field(default_factory=list)
    items: dict[str, Item] = field(default_factory=dict, repr=False)

    @property
    def id(self) -> str:
        """Return the node id."""
        return self.identity.node

    def field_named(self, name: str) -> Field | None:
        """Return the field of that name, whatever its case, as GitHub looks it up."""
        return next((entry for entry in self.fields if entry.name.lower() == name.lower()), None)
