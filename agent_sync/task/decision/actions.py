"""What can be done, and what can come of it: two closed unions."""

from datetime import datetime

from agent_sync.lazy_dataclasses import dataclass
from agent_sync.task.claim.model import LeaseNote
from agent_sync.task.claim.phases import WithheldBy
from agent_sync.task.decision.drift.drift_actions import DriftNoted
from agent_sync.task.decision.facts import Card, Pull
from agent_sync.task.decision.feedback.checks import ChecksVerdict
from agent_sync.task.decision.feedback.feedback_actions import FeedbackAction, FeedbackOutcome
from agent_sync.task.decision.feedback.reviews import Wake
from agent_sync.task.decision.notice import Notice
from agent_sync.task.decision.pull_orders import NO_EXTRAS, PullExtras, PullUpdate
from agent_sync.task.failures.failure import Failure


@dataclass(frozen=True)
class CardChange:
    """What to write on the card; an empty agent clears the field."""

    card: Card
    status: str
    agent: str


# Actions: each is safe to repeat.
@dataclass(frozen=True)
class PushBranch:
    """Push the claim's branch, fast-forward only."""

    branch: str
    sha: str


@dataclass(frozen=True)
class OpenPull:
    """Open the pull request and move the card."""

    repository_id: str
    branch: str
    base: str
    title: str
    body: str
    draft: bool
    status: str
    change: CardChange | None
    trouble: str = ""
    extras: PullExtras = NO_EXTRAS


@dataclass(frozen=True)
class AdoptPull:
    """Take a pull request that is already there for ours and move the card."""

    pull: Pull
    status: str
    change: CardChange | None
    trouble: str = ""
    update: PullUpdate | None = None
    extras: PullExtras = NO_EXTRAS


@dataclass(frozen=True)
class MoveCard:
    """Write Status and Agent on the card."""

    change: CardChange


@dataclass(frozen=True)
class CloseTask:
    """Comment, close the issue, move the card, clear the Agent field: each part only where it is missing."""

    issue_id: str
    issue_number: int
    comment: str | None
    close: bool
    change: CardChange | None
    trouble: str = ""
    stays_open: bool = False  # because only others may close it


@dataclass(frozen=True)
class DeleteClaim:
    """Delete the claim file: the task is over. `landed` is the commit at which its merged pull request ended."""

    landed: str = ""
    merged: Pull | None = None


@dataclass(frozen=True)
class RecordOutcome:
    """Nothing to do in the world: write down what was seen there."""

    outcome: "Outcome"


@dataclass(frozen=True)
class Say:
    """Nothing to do at all: say why."""

    notice: Notice


Action = PushBranch | OpenPull | AdoptPull | MoveCard | CloseTask | DeleteClaim | FeedbackAction | RecordOutcome | Say


# Outcomes: `evolve` makes the next claim from them, `report` the sentences.
@dataclass(frozen=True)
class BranchPushed:
    """The branch on GitHub is now at this commit, and the lease, if there is one, was renewed with it."""

    sha: str
    lease: LeaseNote | None = None


@dataclass(frozen=True)
class PullOpened:
    """There is a new pull request; the notes say what the settings asked for and GitHub refused."""

    pull: Pull
    status: str
    board_trouble: str = ""
    at: datetime | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class PullAdopted:
    """A pull request that was already there is ours; the notes say what GitHub refused."""

    pull: Pull
    status: str
    board_trouble: str = ""
    at: datetime | None = None
    notes: tuple[str, ...] = ()
    update: PullUpdate | None = None


@dataclass(frozen=True)
class PullRefused:
    """GitHub said no to the pull request; a later event tries again."""

    reason: str


@dataclass(frozen=True)
class StepWithheld:
    """The pull request was not opened, or the issue not closed; the notice says why."""

    by: WithheldBy
    notice: Notice


@dataclass(frozen=True)
class FeedbackNoted:
    """What reviewers, the base branch and the merge queue say of the open pull request."""

    pull: Pull
    wake: Wake = Wake.WRITERS
    remote: str = "origin"


@dataclass(frozen=True)
class CardMoved:
    """The card says what the claim says."""

    status: str


@dataclass(frozen=True)
class CardRefused:
    """The board did not take this status; it is tried again after a while."""

    status: str
    board_trouble: str
    at: datetime | None = None


@dataclass(frozen=True)
class ChecksUnsettled:
    """The checks of the open pull request are running or failing; a failure that is to be rerun `is_held` back."""

    pull: Pull
    verdict: ChecksVerdict
    at: datetime
    failures: tuple[Failure, ...] | None = None  # why they fail, where that was just looked into
    is_held: bool = False


@dataclass(frozen=True)
class ChecksNoted:
    """The checks of the open pull request are green, not there yet, or cannot be seen."""

    pull: Pull
    verdict: ChecksVerdict
    at: datetime


@dataclass(frozen=True)
class PullMerged:
    """The pull request was merged."""

    pull: Pull


@dataclass(frozen=True)
class ClosedByMerge:
    """The pull request was merged, and the issue is closed already: nothing is left to be asked."""

    pull: Pull


@dataclass(frozen=True)
class PullClosed:
    """The pull request was closed without merging."""

    pull: Pull
    at: datetime | None = None


@dataclass(frozen=True)
class PullReopened:
    """A pull request that had been closed is open again."""

    pull: Pull


@dataclass(frozen=True)
class PauseNoted:
    """GitHub asked not to be called for a while."""

    until: datetime
    at: datetime


@dataclass(frozen=True)
class HandedOff:
    """The agent says the work is ready for a pull request."""

    summary: str
    branch: str
    draft: bool
    status: str
    # Also for an issue that is closed, or somebody else's now.
    is_wanted_anyway: bool = False


@dataclass(frozen=True)
class Consented:
    """A human said that the issue may be closed."""

    even_unmerged: bool


@dataclass(frozen=True)
class TaskClosed:
    """The issue is closed, or left to those who may, and the card moved, or it is said why not."""

    board_trouble: str = ""
    stays_open: bool = False


@dataclass(frozen=True)
class ClaimDeleted:
    """The claim file is gone."""

    landed: str = ""


@dataclass(frozen=True)
class LeaseLost:
    """Somebody else holds the issue now; nothing more is written for this claim."""

    lost_to: str


@dataclass(frozen=True)
class LeftOnHook:
    """The work was left on a worker's hook; nothing more is written for this claim until it is taken from there."""

    worker: str


@dataclass(frozen=True)
class LeaseUnknown:
    """Whether the lease still holds is unknown; nothing was written, and a later event tries again."""

    reason: str
    helps: str = "run the same command again"


@dataclass(frozen=True)
class Said:
    """A sentence waits for its reader."""

    notice: Notice


PullOutcome = PullOpened | PullAdopted | PullRefused | PullMerged | ClosedByMerge | PullClosed | PullReopened
SeenOutcome = FeedbackNoted | FeedbackOutcome | DriftNoted | ChecksUnsettled | ChecksNoted
EndOutcome = Consented | TaskClosed | ClaimDeleted | LeaseLost | LeftOnHook | LeaseUnknown | PauseNoted | Said
Outcome = PullOutcome | SeenOutcome | EndOutcome | BranchPushed | StepWithheld | CardMoved | CardRefused | HandedOff
