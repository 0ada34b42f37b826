"""Every situation that a task can be in: a closed union of values, each of which carries what makes it true."""

from datetime import datetime
from enum import StrEnum

from agent_sync.lazy_dataclasses import dataclass
from agent_sync.task.claim.phases import WithheldBy
from agent_sync.task.decision.drift.drift_situations import DriftSituation
from agent_sync.task.decision.feedback.checks import CI


class RecordStage(StrEnum):
    """How far the recovery record of a task has come."""

    SETTING_UP = "setting up"
    PENDING = "pending"
    RUNNING = "running"
    VALIDATING = "validating"
    WAITING = "waiting"
    RECOVERING = "recovering"
    ENDED = "ended"


@dataclass(frozen=True)
class Free:
    """Nothing is worked on in this worktree."""

    has_board: bool


@dataclass(frozen=True)
class Unusable:
    """The claim file is refused or broken."""

    reason: str


@dataclass(frozen=True)
class Unclaimed:
    """The record of a claim is here, and the claim file is gone."""

    task_id: str
    issue: int


@dataclass(frozen=True)
class Recorded:
    """A task of `agent-sync start`, without GitHub."""

    task_id: str
    stage: RecordStage
    step: str
    validation: str = ""


@dataclass(frozen=True)
class Coding:
    """The agent works on the issue."""

    issue: int


@dataclass(frozen=True)
class PullFound:
    """The agent works on the issue, and the branch has a pull request that the claim does not name."""

    issue: int
    pr: int
    is_merged: bool


@dataclass(frozen=True)
class Withheld:
    """The gates keep the pull request from being opened."""

    issue: int
    reason: str


@dataclass(frozen=True)
class NotOpened:
    """Something else keeps the pull request from being opened."""

    issue: int
    by: WithheldBy
    reason: str


@dataclass(frozen=True)
class Opening:
    """The pull request is about to be opened."""

    issue: int


@dataclass(frozen=True)
class Ahead:
    """The branch here has commits that the pull request does not have."""

    pr: int | None


@dataclass(frozen=True)
class Conflicting:
    """The pull request conflicts with its base branch, which git calls `upstream` here."""

    pr: int | None
    upstream: str = ""


@dataclass(frozen=True)
class CIFailed:
    """Checks of the pull request failed."""

    pr: int | None
    failed: tuple[str, ...]


@dataclass(frozen=True)
class CIStuck:
    """The same failure came back after every push: a human has to look."""

    pr: int | None
    failed: tuple[str, ...]
    rounds: int


@dataclass(frozen=True)
class ApprovalNeeded:
    """A workflow waits for somebody to approve its run."""

    pr: int | None
    url: str


@dataclass(frozen=True)
class ThreadsOpen:
    """Reviewers wait for an answer in review threads."""

    pr: int | None
    threads: int


@dataclass(frozen=True)
class Ejected:
    """The pull request was taken out of the merge queue."""

    pr: int | None
    reason: str


@dataclass(frozen=True)
class InMergeQueue:
    """The pull request is in the merge queue."""

    pr: int | None
    position: int


@dataclass(frozen=True)
class BehindBase:
    """The rules ask for a branch that contains its base, and this one does not."""

    pr: int | None
    upstream: str


@dataclass(frozen=True)
class MergeBlocked:
    """CI is done, and something else is missing for the merge."""

    pr: int | None
    missing: str


@dataclass(frozen=True)
class ChangesRequested:
    """Reviewers want changes."""

    pr: int | None
    by: tuple[str, ...]


@dataclass(frozen=True)
class Watching:
    """CI runs, has not begun, lacks required checks, or cannot be seen."""

    pr: int | None
    ci: CI
    missing: tuple[str, ...] = ()


@dataclass(frozen=True)
class AwaitingMerge:
    """CI passed, or there is none: a human merges."""

    pr: int | None
    has_ci: bool = True


@dataclass(frozen=True)
class ClosedUnmerged:
    """The pull request was closed without merging."""

    issue: int
    pr: int | None


@dataclass(frozen=True)
class AwaitingConsent:
    """The pull request is merged: a human decides whether the issue is closed."""

    issue: int
    pr: int | None


@dataclass(frozen=True)
class Closing:
    """The issue is about to be closed."""

    issue: int


@dataclass(frozen=True)
class NotClosed:
    """Closing was asked for, and the work is not merged."""

    issue: int
    reason: str


@dataclass(frozen=True)
class OnHook:
    """The work was left on a worker's hook."""

    issue: int
    worker: str


@dataclass(frozen=True)
class Lost:
    """Somebody else holds the issue."""

    issue: int
    holder: str


@dataclass(frozen=True)
class LeaseUnverified:
    """Whether this worktree still holds the issue could not be checked."""

    issue: int
    reason: str


@dataclass(frozen=True)
class Crashed:
    """The session that worked on the task is gone; the record says how to resume."""

    task_id: str
    advice: str


@dataclass(frozen=True)
class WaitingForHuman:
    """The task waits for a human's answer."""

    task_id: str
    waiting_for: str
    is_claim: bool


@dataclass(frozen=True)
class Paused:
    """GitHub asked not to be called before a moment."""

    issue: int
    until: datetime


Situation = (
    Free | Unusable | Unclaimed | Recorded | Coding | PullFound | Withheld | NotOpened | Opening | Ahead
    | Conflicting | CIFailed | CIStuck | ApprovalNeeded | ThreadsOpen | Ejected | InMergeQueue
    | BehindBase | MergeBlocked | ChangesRequested | Watching | AwaitingMerge | ClosedUnmerged
    | AwaitingConsent | Closing | NotClosed | OnHook | Lost | LeaseUnverified | Crashed
    | WaitingForHuman | Paused | DriftSituation
)  # fmt: skip
