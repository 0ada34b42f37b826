"""What a look at a fleet came to: every held issue from all sides from which it can be seen, and what is ready."""

from datetime import datetime
from enum import StrEnum

from agent_sync.lazy_dataclasses import dataclass
from agent_sync.leases.model import Lease
from agent_sync.task.claim.model import Claim
from agent_sync.task.decision.claims_seen import ClaimsSeen
from agent_sync.task.decision.feedback.reviews import Wake
from agent_sync.task.decision.situation import RecordSeen
from agent_sync.task.decision.tasks import BoardIssue

# What a lease names as its session where `agent-sync watch` keeps it: nobody is at work because of that.
KEPT_BY_WATCH = "watch"
# How long a task may show no sign of work before a person is asked about it.
QUIET_S = 3600.0


class Session(StrEnum):
    """Whether a session of this machine is at a task."""

    ALIVE = "alive"
    ENDED = "ended"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class WorktreeSeen:
    """A task in a worktree of this machine; `trouble` says why its claim file cannot be used."""

    root: str
    claim: Claim | None = None
    record: RecordSeen | None = None
    title: str = ""
    is_ahead: bool = False
    # Whether the branch here has the pull request's head; None where nobody looked.
    is_head_here: bool | None = None
    session: Session = Session.UNKNOWN
    # The session that works on it, or did last.
    session_id: str = ""
    # The newest commit, gate run, step or word of a session that left a trace here.
    last_sign: datetime | None = None
    # Since when the record or the gates wait for a human.
    waits_since: datetime | None = None
    trouble: str = ""


@dataclass(frozen=True)
class HeldTask:
    """One claim: its lease, its worktree where that is on this machine, or why its ref cannot be read."""

    issue: int
    lease: Lease | None = None
    here: WorktreeSeen | None = None
    trouble: str = ""
    # The command that helps with the trouble.
    helps: str = ""
    # What is gone of a claim that this clone made, and the worktree that holds it where that is still there.
    gone: str = ""
    home: str = ""


@dataclass(frozen=True)
class FleetSeen:
    """Everything that the view of a fleet is made of; `github` is None where GitHub was not, or could not be, asked."""

    repository: str
    looked_at: datetime
    held: tuple[HeldTask, ...] = ()
    github: ClaimsSeen | None = None
    ready: tuple[BoardIssue, ...] = ()
    # What else is known of the board, as a sentence.
    board_note: str = ""
    # When each claim that is done was done, as far back as refs are kept.
    finished: tuple[datetime, ...] = ()
    paused_until: datetime | None = None
    stale_reason: str = ""
    # The worktree that the view is for: commands for other ones begin with a change of directory.
    root: str = ""
    wake: Wake = Wake.WRITERS
    remote: str = "origin"
    allowance_s: float = 60.0
    # How long a task may show no sign of work before a person is asked about it.
    quiet_s: float = QUIET_S
    # GitHub merges by itself what is ready.
    merges_itself: bool = False
