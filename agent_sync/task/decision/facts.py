"""What a decision may know: values read from git and GitHub, and the moment they are decided upon."""

from dataclasses import field
from datetime import datetime
from enum import Enum, StrEnum

from agent_sync.lazy_dataclasses import dataclass
from agent_sync.settings import Settings
from agent_sync.task.decision.feedback.checks import CheckRun, Reported, WorkflowRun
from agent_sync.task.decision.feedback.reviews import Conversation
from agent_sync.task.decision.issue_brief import IssueBrief
from agent_sync.task.failures.failure import Failure


class Trigger(StrEnum):
    """What made us look."""

    STOP = "on-stop"
    IDLE = "on-idle"
    REWAKE = "on-idle --rewake"
    SESSION_START = "session-start"
    PROMPT = "on-prompt"
    TOOL = "on-tool"
    SYNC = "sync"


class PullState(Enum):
    """What became of a pull request; the three exclude each other."""

    OPEN = "open"
    CLOSED = "closed"
    MERGED = "merged"


@dataclass(frozen=True)
class Branch:
    """The claim's branch as this clone knows it."""

    local_sha: str | None
    is_current: bool
    # What the recovery record proves about this commit, one line per receipt.
    receipts: tuple[str, ...] = ()
    # Its own commits, oldest first: each with its first line.
    commits: tuple[tuple[str, str], ...] = ()
    # The repository's template for pull requests, as the base branch has it.
    template: str = ""


@dataclass(frozen=True)
class GateSeen:
    """What the quality gate says of the work as it is now."""

    status: str
    message: str
    may_open: bool
    is_configured: bool
    summary: str = ""
    # The names of the gates that passed.
    passed: tuple[str, ...] = ()


@dataclass(frozen=True)
class Card:
    """The task on the board: where it is, what it says, and what could be written there."""

    project_id: str
    item_id: str
    is_archived: bool
    status: str | None
    agent: str | None
    status_field_id: str | None
    options: tuple[tuple[str, str], ...]
    agent_field_id: str | None


@dataclass(frozen=True)
class NoCard:
    """Why the task has no card that could be moved, as a sentence; `project_id` where it could be given one."""

    reason: str
    project_id: str = ""


@dataclass(frozen=True)
class Ejection:
    """The last time a pull request was taken out of the merge queue, while its head is still the same."""

    id: str
    reason: str
    commit: str = ""


@dataclass(frozen=True)
class ForcePush:
    """The last time the head of a pull request was replaced: by whom, and what it was from then on."""

    by: str
    sha: str


@dataclass(frozen=True)
class Revert:
    """A pull request that takes a merged one back."""

    number: int
    is_merged: bool


@dataclass(frozen=True)
class PullDrift:
    """What others have done to a pull request: another base chosen since its head was made, and the like."""

    base: str = ""
    force_push: ForcePush | None = None
    is_branch_deleted: bool = False
    revert: Revert | None = None


@dataclass(frozen=True)
class IssueSeen:
    """The issue of a task as GitHub has it; one that `is_gone` was transferred or deleted.

    `viewer` is empty where assignees were not asked for, `card_status` None where the card was not, or cannot be seen.
    """

    is_open: bool
    assignees: tuple[str, ...] = ()
    viewer: str = ""
    card_status: str | None = None
    is_gone: bool = False


@dataclass(frozen=True)
class Watched:
    """What else of a task is looked at with its pull request: its card by its id, and reverts by its branch."""

    item: str = ""
    branch: str = ""


NOTHING_WATCHED = Watched()


@dataclass(frozen=True)
class Pull:
    """One pull request as GitHub has it."""

    number: int
    url: str
    state: PullState
    head_sha: str
    title: str = ""
    body: str = ""
    id: str = ""
    is_draft: bool = False
    is_conflicting: bool = False
    changes_requested_by: tuple[str, ...] = ()
    review_id: str = ""
    checks: tuple[CheckRun, ...] | None = None
    checks_note: str = ""
    # The text of the issue that was asked about with it, where that was asked for.
    brief: IssueBrief | None = None
    base: str = ""
    # GitHub's own words; empty where a server does not know them.
    merge_state: str = ""
    review_decision: str = ""
    needs_resolution: bool = False
    queue_position: int | None = None
    ejection: Ejection | None = None
    conversation: Conversation = field(default_factory=Conversation)
    runs: tuple[WorkflowRun, ...] = ()
    required: tuple[str, ...] = ()
    is_ci_configured: bool = True
    # The commit by which it was merged, where that was asked for.
    merge_commit: str = ""
    # What others have done to it, and the issue that was asked about with it; None where that was not asked.
    drift: PullDrift | None = None
    issue: IssueSeen | None = None

    @property
    def is_branch_deleted(self) -> bool:
        """Whether its branch is known to be gone from GitHub."""
        return self.drift is not None and self.drift.is_branch_deleted

    @property
    def is_issue_closed(self) -> bool:
        """Whether the issue that was asked about with it is closed."""
        return self.issue is not None and not self.issue.is_open and not self.issue.is_gone

    @property
    def reported(self) -> Reported:
        """What is known of CI on its head commit."""
        return Reported(self.checks, self.runs, self.required, self.is_ci_configured)


@dataclass(frozen=True)
class Lookup:
    """Everything that opening a pull request depends on."""

    repository_id: str
    default_branch: str
    remote_sha: str | None
    commits_ahead: int | None
    pulls: tuple[Pull, ...]
    card: Card | NoCard
    issue: IssueSeen | None = None


@dataclass(frozen=True)
class Beside:
    """The newest pull request of the claim's branch, where the claim names none; open, or merged with this work."""

    pull: Pull | None = None
    is_own: bool = False


@dataclass(frozen=True)
class ClosingFacts:
    """Everything that closing a task depends on."""

    issue_id: str
    is_open: bool
    title: str
    has_comment: bool
    pull: Pull | None
    card: Card | NoCard
    may_close: bool = True


@dataclass(frozen=True)
class Facts:
    """All that is known when a decision is made; None means that it was not asked."""

    now: datetime
    settings: Settings
    session_id: str = ""
    told: frozenset[str] = field(default_factory=frozenset)
    # The remote that has the base branch; known with the pull request.
    remote: str = "origin"
    branch: Branch | None = None
    gate: GateSeen | None = None
    lookup: Lookup | None = None
    pull: Pull | None = None
    closing: ClosingFacts | None = None
    card: Card | NoCard | None = None
    failures: tuple[Failure, ...] | None = None
    # Whether the branch here has the head of the pull request.
    is_head_here: bool | None = None
    # Whether the branch here has commits that the pull request lacks.
    is_ahead: bool | None = None
    beside: Beside | None = None
    # When a look that several claims share found the pull request as the claim knows it.
    unmoved_at: datetime | None = None

    @property
    def session(self) -> str:
        """What tells this session from others; where none is known, nothing was said in it before."""
        return self.session_id or self.now.isoformat()
