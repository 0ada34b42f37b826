"""Tasks that may be claimed: what is known of an issue and its place on the board, and whether it is ready."""

from dataclasses import replace
from datetime import datetime

from agent_sync.lazy_dataclasses import dataclass
from agent_sync.task.decision.facts import Card, NoCard
from agent_sync.task.decision.issue_brief import IssueBrief

_LAST = "\U0010ffff"


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
class LinkedPull:
    """An open pull request that will close an issue, and whose it is; `repository` only where it is another one."""

    number: int
    author: str
    repository: str = ""

    @property
    def name(self) -> str:
        """How people write it."""
        return f"{self.repository}#{self.number}"


@dataclass(frozen=True)
class Task:
    """Everything that claiming or releasing one issue depends on.

    A bare number is always an issue of this repository; issues of others are named `owner/name#n`.
    """

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
    # Relatives in other repositories, and how many open blockers this token may not see.
    foreign_parent: str = ""
    foreign_blockers: tuple[str, ...] = ()
    foreign_sub_issues: tuple[str, ...] = ()
    hidden_blockers: int = 0
    # Which of the assignees are programs, and the node id of each assignee by login.
    bots: tuple[str, ...] = ()
    assignee_ids: tuple[tuple[str, str], ...] = ()
    # Open pull requests of others that will close the issue.
    rival_pulls: tuple[LinkedPull, ...] = ()
    # What people wrote about it, and the issues around it.
    brief: IssueBrief | None = None
    # What the viewer is to the repository, in GitHub's word; empty where it does not say.
    role: str = ""

    @property
    def may_triage(self) -> bool:
        """Whether the viewer may assign and close, unless GitHub says otherwise."""
        return self.role != "READ"

    @property
    def may_write(self) -> bool:
        """Whether the viewer may write refs, unless GitHub says otherwise."""
        return self.role not in {"READ", "TRIAGE"}

    @property
    def is_blocked(self) -> bool:
        """Whether anything open is in the way, seen or not."""
        return bool(self.open_blockers or self.foreign_blockers or self.hidden_blockers)

    def without_blockers(self) -> "Task":
        """Return the task as if nothing were in its way."""
        return replace(self, open_blockers=(), foreign_blockers=(), hidden_blockers=0)


@dataclass(frozen=True)
class Convoy:
    """A parent issue with its sub-issues: number, title and whether it is open, for each.

    `foreign` are those of other repositories, named `owner/name#n`.
    """

    number: int
    title: str
    is_open: bool
    children: tuple[tuple[int, str, bool], ...]
    foreign: tuple[tuple[str, str, bool], ...] = ()


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
    repository: str = ""
    # False for an issue of another repository, whose number means nothing here.
    is_here: bool = True
    type: str = ""
    rival_pulls: tuple[LinkedPull, ...] = ()

    @property
    def name(self) -> str:
        """How people write it: `#42` here, `owner/name#42` elsewhere."""
        return f"#{self.number}" if self.is_here else f"{self.repository}#{self.number}"

    @property
    def holder(self) -> str:
        """Who works on it, by the board and by GitHub; empty where nobody is known to."""
        pulls = (f"{pull.author}, PR {pull.name}" for pull in self.rival_pulls)
        return self.agent or ", ".join(self.assignees) or next(pulls, "")


@dataclass(frozen=True)
class BoardColumn:
    """One column of the board: how many issues it has, and as many of them as were asked for."""

    name: str
    count: int
    issues: tuple[BoardIssue, ...]


@dataclass(frozen=True)
class BoardSeen:
    """The board as this repository sees it: how many of its cards each column has, and those that were asked for."""

    title: str
    url: str
    counts: tuple[tuple[str, int], ...]
    ready: tuple[BoardIssue, ...]
    in_progress: tuple[BoardIssue, ...]
    in_review: tuple[BoardIssue, ...]
    priorities: tuple[str, ...]
    # How many ready issues of other repositories are on the board.
    elsewhere: int = 0
    # The issue that was asked about with it.
    brief: IssueBrief | None = None


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


def is_ready(issue: BoardIssue, *, ready: str, skip_types: tuple[str, ...] = ()) -> bool:
    """Tell whether an issue can be claimed: ours, open, nobody's, in the ready column, nothing in its way."""
    in_column = (issue.status or "").casefold() == ready.casefold()
    is_task = issue.type.casefold() not in {name.casefold() for name in skip_types}
    is_free = issue.is_here and not issue.holder and not issue.open_blockers and not issue.open_sub_issues
    return issue.is_open and in_column and is_task and is_free


def in_order(issues: tuple[BoardIssue, ...], priorities: tuple[str, ...]) -> tuple[BoardIssue, ...]:
    """Return the issues by priority, as the board orders its options, then by age."""
    rank = {name.casefold(): place for place, name in enumerate(priorities)}

    def place(issue: BoardIssue) -> tuple[int, str, str, int]:
        name = (issue.priority or "").casefold()
        # A priority that the board does not list comes by its name, before none at all.
        unlisted = "" if name in rank else name or _LAST
        return rank.get(name, len(rank)), unlisted, issue.created, issue.number

    return tuple(sorted(issues, key=place))
