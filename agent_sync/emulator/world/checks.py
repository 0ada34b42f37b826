"""Check runs, commit statuses, workflow runs and their jobs."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from agent_sync.emulator.world.identity import Identity
from agent_sync.emulator.world.people import User

if TYPE_CHECKING:
    from agent_sync.emulator.world.repositories import Repository

STATUSES = ("queued", "in_progress", "completed", "waiting", "requested", "pending")
CONCLUSIONS = (
    "success", "failure", "neutral", "cancelled", "skipped", "timed_out", "action_required",
    "stale", "startup_failure",
)  # fmt: skip
STATUS_STATES = ("error", "failure", "pending", "success")


@dataclass(eq=False, kw_only=True)
class WorkflowRun:
    """One run of the repository's workflow on one commit; GitHub shows it as a check suite too."""

    identity: Identity
    suite: Identity
    repository: "Repository" = field(repr=False)
    sha: str
    branch: str | None
    name: str
    event: str
    number: int
    attempt: int
    actor: User
    created_at: datetime
    checks: "list[CheckRun]" = field(default_factory=list, repr=False)

    @property
    def id(self) -> str:
        """Return the node id."""
        return self.identity.node


@dataclass(eq=False, kw_only=True)
class CheckRun:
    """A check on a commit; each is also a workflow job, under the same number, with a log."""

    identity: Identity
    repository: "Repository" = field(repr=False)
    run: WorkflowRun = field(repr=False)
    sha: str
    name: str
    status: str
    conclusion: str | None
    started_at: datetime
    completed_at: datetime | None
    required: bool = False
    details_url: str | None = None
    external_id: str = ""
    title: str | None = None
    summary: str | None = None
    text: str | None = None
    attempt: int = 1
    log: str = ""

    @property
    def id(self) -> str:
        """Return the node id."""
        return self.identity.node


@dataclass(eq=False, kw_only=True)
class CommitStatus:
    """A status somebody posted to a commit under a context name."""

    identity: Identity
    repository: "Repository" = field(repr=False)
    sha: str
    context: str
    state: str
    description: str | None
    target_url: str | None
    creator: User
    created_at: datetime

    @property
    def id(self) -> str:
        """Return the node id."""
        return self.identity.node
