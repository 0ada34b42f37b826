"""Pull requests, reviews and review threads."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING

from agent_sync.emulator.world.conversations import Conversation
from agent_sync.emulator.world.identity import Identity
from agent_sync.emulator.world.people import User

if TYPE_CHECKING:
    from agent_sync.emulator.world.repositories import Repository


class MergeMethod(StrEnum):
    """The three ways GitHub lands a pull request."""

    MERGE = "merge"
    SQUASH = "squash"
    REBASE = "rebase"


class ReviewState(StrEnum):
    """What a review says; the words are GraphQL's and REST's alike."""

    PENDING = "PENDING"
    COMMENTED = "COMMENTED"
    APPROVED = "APPROVED"
    CHANGES_REQUESTED = "CHANGES_REQUESTED"
    DISMISSED = "DISMISSED"


@dataclass(eq=False, kw_only=True)
class ReviewComment:
    """One comment on a line of the change."""

    identity: Identity
    thread: "ReviewThread" = field(repr=False)
    review: "Review" = field(repr=False)
    author: User
    body: str
    created_at: datetime
    updated_at: datetime

    @property
    def id(self) -> str:
        """Return the node id."""
        return self.identity.node


@dataclass(eq=False, kw_only=True)
class ReviewThread:
    """A discussion at one line, which someone can resolve."""

    identity: Identity
    pull: "PullRequest" = field(repr=False)
    path: str
    line: int
    commit: str
    is_resolved: bool = False
    resolved_by: User | None = None
    comments: list[ReviewComment] = field(default_factory=list)

    @property
    def id(self) -> str:
        """Return the node id."""
        return self.identity.node


@dataclass(eq=False, kw_only=True)
class Review:
    """A submitted review."""

    identity: Identity
    pull: "PullRequest" = field(repr=False)
    author: User
    state: ReviewState
    body: str
    commit: str
    submitted_at: datetime
    comments: list[ReviewComment] = field(default_factory=list)

    @property
    def id(self) -> str:
        """Return the node id."""
        return self.identity.node


@dataclass(frozen=True)
class AutoMerge:
    """A standing order to merge when everything required has passed."""

    by: User
    method: MergeMethod
    enabled_at: datetime


@dataclass(eq=False, kw_only=True)
class QueueEntry:
    """A pull request in the merge queue, with the commit its checks run on."""

    identity: Identity
    pull: "PullRequest" = field(repr=False)
    by: User
    enqueued_at: datetime
    head_sha: str
    base_sha: str
    jump: bool = False

    @property
    def id(self) -> str:
        """Return the node id."""
        return self.identity.node


@dataclass(eq=False, kw_only=True)
class PullRequest(Conversation):
    """A pull request; its head is a branch of the same repository unless `head_repository` names a fork."""

    issue_identity: Identity
    head: str
    head_sha: str
    base: str
    base_sha: str
    head_repository: "Repository | None" = field(default=None, repr=False)
    draft: bool = False
    maintainer_can_modify: bool = False
    merged_at: datetime | None = None
    merged_by: User | None = None
    merge_commit: str | None = None
    auto_merge: AutoMerge | None = None
    requested_reviewers: list[User] = field(default_factory=list)
    reviews: list[Review] = field(default_factory=list)
    threads: list[ReviewThread] = field(default_factory=list)

    @property
    def head_home(self) -> "Repository":
        """Return the repository that has the head branch."""
        return self.head_repository or self.repository

    @property
    def merged(self) -> bool:
        """Say whether the pull request has landed."""
        return self.merged_at is not None
