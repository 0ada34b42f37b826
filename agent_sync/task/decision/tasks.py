"""Tasks that may be claimed: what is known of an issue and its place on the board, and whether it is ready."""

from dataclasses import dataclass
from datetime import datetime

from agent_sync.task.decision.facts import Card, NoCard


@dataclass(frozen=True)
class Person:
    """Who a token belongs to, and what it may do; `scopes` is None for tokens that do not tell.

    `clock` is what GitHub's clock showed when it was asked.
    """

    login: str
    id: str
    scopes: tuple[str, ...] | None = None
    clock: datetime | None = None


@dataclass(frozen=True)
class Task:
    """Everything that claiming or releasing one issue depends on."""

    viewer: Person
    issue_id: str
    number: int
    title: str
    url: str
    is_open: bool
    assignees: tuple[str, ...]
    open_blockers: tuple[int, ...]
    open_sub_issues: tuple[int, ...]
    card: Card | NoCard
    priority: str | None
    default_branch: str
    parent: int | None = None


@dataclass(frozen=True)
class Convoy:
    """A parent issue with its sub-issues: number, title and whether it is open, for each."""

    number: int
    title: str
    is_open: bool
    children: tuple[tuple[int, str, bool], ...]


@dataclass(frozen=True)
class BoardIssue:
    """One issue as the board lists it."""

    number: int
    title: str
    url: str
    status: str | None
    priority: str | None
    agent: str | None
    assignees: tuple[str, ...]
    is_open: bool
    created: str
    open_blockers: int
    open_sub_issues: int


@dataclass(frozen=True)
class BoardSeen:
    """The board: how many cards each column has, and the cards that were asked for."""

    title: str
    url: str
    counts: tuple[tuple[str, int], ...]
    ready: tuple[BoardIssue, ...]
    in_progress: tuple[BoardIssue, ...]
    in_review: tuple[BoardIssue, ...]
    priorities: tuple[str, ...]


@dataclass(frozen=True)
class BoardField:
    """A field of a board: its name, GitHub's name for its kind, and what can be chosen."""

    name: str
    kind: str
    options: tuple[str, ...] = ()


@dataclass(frozen=True)
class BoardShape:
    """A board that tasks may be on, and its fields."""

    owner: str
    number: int
    title: str
    url: str
    fields: tuple[BoardField, ...]

    def field(self, name: str, kind: str) -> BoardField | None:
        """Return a field by name, whatever its case, if it is of that kind."""
        wanted = name.casefold()
        return next((one for one in self.fields if one.name.casefold() == wanted and one.kind == kind), None)


def is_ready(issue: BoardIssue, *, ready: str) -> bool:
    """Tell whether an issue can be claimed: open, nobody's, in the ready column, nothing in its way."""
    in_column = (issue.status or "").casefold() == ready.casefold()
    is_free = not issue.assignees and not issue.agent
    return issue.is_open and in_column and is_free and not issue.open_blockers and not issue.open_sub_issues


def in_order(issues: tuple[BoardIssue, ...], priorities: tuple[str, ...]) -> tuple[BoardIssue, ...]:
    """Return the issues by priority, as the board orders its options, then by age."""
    rank = {name.casefold(): place for place, name in enumerate(priorities)}
    last = len(rank)
    return tuple(sorted(issues, key=lambda i: (rank.get((i.priority or "").casefold(), last), i.created, i.number)))
