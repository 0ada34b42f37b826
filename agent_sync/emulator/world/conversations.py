"""Issues, and what they have in common with pull requests: text, people, labels, comments, history."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from agent_sync.emulator.world.identity import Identity
from agent_sync.emulator.world.issue_fields import IssueFieldValue, IssueType
from agent_sync.emulator.world.people import User

if TYPE_CHECKING:
    from agent_sync.emulator.world.boards import Item
    from agent_sync.emulator.world.repositories import Repository


@dataclass(eq=False)
class Label:
    """A label of a repository."""

    identity: Identity
    name: str
    color: str = "ededed"
    description: str | None = None
    is_default: bool = False

    @property
    def id(self) -> str:
        """Return the node id."""
        return self.identity.node


@dataclass(eq=False, kw_only=True)
class Comment:
    """A comment under an issue or a pull request."""

    identity: Identity
    conversation: "Conversation" = field(repr=False)
    author: User
    body: str
    created_at: datetime
    updated_at: datetime

    @property
    def id(self) -> str:
        """Return the node id."""
        return self.identity.node


@dataclass(frozen=True)
class LinkedBranch:
    """A branch that was made for an issue, in the repository of that name."""

    identity: Identity
    repository_name: str
    branch: str

    @property
    def id(self) -> str:
        """Return the node id."""
        return self.identity.node


@dataclass(frozen=True, kw_only=True)
class Event:
    """One entry of an issue's or pull request's history (`closed`, `assigned`, `merged`, …), with what was before."""

    identity: Identity
    kind: str
    actor: User
    created_at: datetime
    subject: str | None = None
    commit: str | None = None
    previous: str | None = None


@dataclass(eq=False, kw_only=True)
class Conversation:
    """What issues and pull requests share; both take their number from one sequence."""

    identity: Identity
    repository: "Repository" = field(repr=False)
    number: int
    title: str
    body: str | None
    author: User
    created_at: datetime
    updated_at: datetime
    is_open: bool = True
    closed_at: datetime | None = None
    closed_by: User | None = None
    locked: bool = False
    assignees: list[User] = field(default_factory=list)
    labels: list[Label] = field(default_factory=list)
    comments: list[Comment] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    items: "list[Item]" = field(default_factory=list, repr=False)

    @property
    def id(self) -> str:
        """Return the node id."""
        return self.identity.node

    @property
    def state(self) -> str:
        """Return REST's word for the state; a merged pull request is closed too."""
        return "open" if self.is_open else "closed"


@dataclass(eq=False, kw_only=True)
class Issue(Conversation):
    """An issue with its place among other issues."""

    state_reason: str | None = None
    parent: "Issue | None" = field(default=None, repr=False)
    sub_issues: "list[Issue]" = field(default_factory=list, repr=False)
    blocked_by: "list[Issue]" = field(default_factory=list, repr=False)
    blocking: "list[Issue]" = field(default_factory=list, repr=False)
    linked_branches: list[LinkedBranch] = field(default_factory=list)
    type: IssueType | None = None
    field_values: dict[str, IssueFieldValue] = field(default_factory=dict)
