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


ACTIONS_APP = "github-actions"


@dataclass(frozen=True)
class Step:
    """One step of a job."""

    number: int
    name: str
    conclusion: str | None = None
    log: str = ""


@dataclass(frozen=True)
class Annotation:
    """A remark of a check at a line of a file."""

    path: str
    line: int
    message: str
    level: str = "failure"
    title: str | None = None


@dataclass(eq=False, kw_only=True)
class WorkflowRun:
    """A suite of checks on one commit: the run of a workflow or, with another `app`, what that application made.

    Where nobody has said how far it is, its checks do; a run that was started and has no checks yet says so itself.
    """

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
    app: str = ACTIONS_APP
    status: str | None = None
    conclusion: str | None = None
    checks: "list[CheckRun]" = field(default_factory=list, repr=False)

    @property
    def id(self) -> str:
        """Return the node id."""
        return self.identity.node

    @property
    def is_workflow(self) -> bool:
        """Say whether this is the run of a workflow."""
        return self.app == ACTIONS_APP


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
    created_at: datetime
    started_at: datetime | None
    completed_at: datetime | None
    required: bool = False
    details_url: str | None = None
    external_id: str = ""
    title: str | None = None
    summary: str | None = None
    text: str | None = None
    attempt: int = 1
    log: str = ""
    steps: tuple[Step, ...] = ()
    annotations: tuple[Annotation, ...] = ()

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
