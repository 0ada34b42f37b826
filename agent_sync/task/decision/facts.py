"""What a decision may know: values read from git and GitHub, and the moment they are decided upon."""

from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import Enum, StrEnum

from agent_sync.settings import Settings
from agent_sync.task.decision.checks import Check


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


@dataclass(frozen=True)
class GateSeen:
    """What the quality gate says of the work as it is now."""

    status: str
    message: str
    may_open: bool
    is_configured: bool
    summary: str = ""


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
    """Why the task has no card that could be moved, as a sentence."""

    reason: str


@dataclass(frozen=True)
class Pull:
    """One pull request as GitHub has it."""

    number: int
    url: str
    state: PullState
    head_sha: str
    body: str = ""
    is_draft: bool = False
    is_conflicting: bool = False
    changes_requested_by: tuple[str, ...] = ()
    review_id: str = ""
    checks: tuple[Check, ...] | None = None
    checks_note: str = ""


@dataclass(frozen=True)
class Lookup:
    """Everything that opening a pull request depends on."""

    repository_id: str
    default_branch: str
    remote_sha: str | None
    commits_ahead: int | None
    pulls: tuple[Pull, ...]
    card: Card | NoCard


@dataclass(frozen=True)
class Closing:
    """Everything that closing a task depends on."""

    issue_id: str
    is_open: bool
    title: str
    has_comment: bool
    pull: Pull | None
    card: Card | NoCard


@dataclass(frozen=True)
class Facts:
    """All that is known when a decision is made; None means that it was not asked."""

    now: datetime
    settings: Settings
    session_id: str = ""
    told: frozenset[str] = field(default_factory=frozenset)
    branch: Branch | None = None
    gate: GateSeen | None = None
    lookup: Lookup | None = None
    pull: Pull | None = None
    closing: Closing | None = None
    card: Card | NoCard | None = None

    def outdated(self) -> "Facts":
        """Return the facts without what an action on the world has made untrue."""
        return replace(self, branch=None, lookup=None, pull=None, closing=None, card=None)

    def pushed(self, sha: str) -> "Facts":
        """Return the facts after our own push, which saves asking again."""
        lookup = replace(self.lookup, remote_sha=sha, commits_ahead=None) if self.lookup else None
        return replace(self, lookup=lookup)
