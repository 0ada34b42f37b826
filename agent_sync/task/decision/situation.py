"""Says how a task stands: one value, derived from claim, lease, record, gate and what is known of the pull request."""

from datetime import datetime
from typing import assert_never

from agent_sync.lazy_dataclasses import dataclass
from agent_sync.task.claim.drift_seen import NO_DRIFT, DriftSeen, IssueChange
from agent_sync.task.claim.model import Claim, FeedbackSeen
from agent_sync.task.claim.phases import Phase, WithheldBy
from agent_sync.task.decision import actions
from agent_sync.task.decision.drift.drift_situations import (
    BranchDeleted,
    ForeignHead,
    IssueClosed,
    IssueGone,
    IssueReopened,
    MovedOnBoard,
    Reassigned,
    Reopened,
    Retargeted,
    Reverted,
)
from agent_sync.task.decision.facts import IssueSeen, Pull, PullState
from agent_sync.task.decision.feedback.checks import CI, SETTLED_WELL, ChecksVerdict
from agent_sync.task.decision.feedback.merging import feedback_of, pull_verdict
from agent_sync.task.decision.feedback.reviews import Wake
from agent_sync.task.decision.situations import (
    Ahead,
    ApprovalNeeded,
    AwaitingConsent,
    AwaitingMerge,
    BehindBase,
    ChangesRequested,
    CIFailed,
    CIStuck,
    ClosedUnmerged,
    Closing,
    Coding,
    Conflicting,
    Crashed,
    Ejected,
    Free,
    InMergeQueue,
    LeaseUnverified,
    Lost,
    MergeBlocked,
    NotClosed,
    NotOpened,
    OnHook,
    Opening,
    Paused,
    PullFound,
    Recorded,
    RecordStage,
    Situation,
    ThreadsOpen,
    Unclaimed,
    WaitingForHuman,
    Watching,
    Withheld,
)


@dataclass(frozen=True)
class RecordSeen:
    """What the recovery record says of the task."""

    task_id: str
    stage: RecordStage
    # The issue of a claim; None for a task of `agent-sync start`.
    issue: int | None = None
    step: str = ""
    # What a human is waited for, and whether only because of where the claim is.
    waiting_for: str = ""
    is_claims_wait: bool = False
    # After a crash: why it is to be resumed as it is.
    advice: str = ""
    # What is typed to run its last validation again.
    validation: str = ""


@dataclass(frozen=True)
class Known:
    """What a look at git, the lease and GitHub came to; what was not asked is empty."""

    has_board: bool = True
    is_ahead: bool = False
    pull: Pull | None = None
    issue: IssueSeen | None = None
    # Whether the branch here has the pull request's head.
    is_head_here: bool | None = None
    lease: actions.LeaseLost | actions.LeaseUnknown | actions.LeftOnHook | None = None
    # Whose remarks count, and which remote is GitHub: from the settings.
    wake: Wake = Wake.WRITERS
    remote: str = "origin"


NOTHING_ASKED = Known()
# In these phases every look at the pull request tells what others have changed.
_LOOKED_AT = frozenset({Phase.PR_CREATED, Phase.CHECKS_RUNNING, Phase.MERGED_DETECTED})


def situation(claim: Claim | None, record: RecordSeen | None, now: datetime, known: Known = NOTHING_ASKED) -> Situation:
    """Return how the task of a worktree stands."""
    # The first that applies: whose the work is; what a human has decided or must decide about the merged work; whether
    # the issue still wants it; what the record waits for; GitHub's pause; then the phase, of which what needs work here
    # comes before what waits.
    if claim is None:
        return _without_claim(record, known)
    return (
        _not_held(claim, known)
        or _merged_situation(claim, known)
        or _issue_situation(claim, drift_known(claim, known))
        or (_interrupted_situation(record) if record else None)
        or _paused_situation(claim, now)
        or _in_phase(claim, known)
    )


def drift_known(claim: Claim, known: Known) -> DriftSeen:
    """Return what others have changed, from a look just now or from the last one that the claim remembers."""
    if known.pull is None and known.issue is None and claim.drift is None:
        return NO_DRIFT
    from agent_sync.task.decision.drift.comparing import drift_of, issue_drift

    if known.pull:
        return drift_of(claim, known.pull, known.issue or known.pull.issue, is_head_here=known.is_head_here)
    seen = claim.drift if claim.drift and claim.phase in _LOOKED_AT else NO_DRIFT
    if known.is_head_here:
        seen = seen.model_copy(update={"foreign_head": ""})
    return seen.model_copy(update=issue_drift(claim, known.issue)) if known.issue else seen


def checks_known(claim: Claim, pull: Pull | None) -> ChecksVerdict | None:
    """Return how the checks stand, from a look just now or from the last one that the claim remembers."""
    if pull and (pull.checks is not None or pull.checks_note):
        return pull_verdict(pull)
    seen = claim.checks
    if seen is None or seen.state not in {ci.value for ci in CI}:
        return None
    running = max(0, seen.total - seen.passed - len(seen.failed))
    ci, url = CI(seen.state), seen.approval_url
    return ChecksVerdict(ci, seen.sha, seen.passed, seen.failed, running, missing=seen.missing, approval_url=url)


def _without_claim(record: RecordSeen | None, known: Known) -> Situation:
    if record is None or record.stage is RecordStage.ENDED:
        return Free(known.has_board)
    if record.issue is not None:
        return Unclaimed(record.task_id, record.issue)
    return _interrupted_situation(record) or Recorded(record.task_id, record.stage, record.step, record.validation)


def _not_held(claim: Claim, known: Known) -> Situation | None:
    issue, note = claim.issue_number, claim.lease
    found = known.lease
    if isinstance(found, actions.LeaseLost):
        return Lost(issue, found.lost_to)
    if note and note.lost_to:
        return Lost(issue, note.lost_to)
    if note and note.left_on:
        return OnHook(issue, note.left_on)
    return LeaseUnverified(issue, found.reason) if isinstance(found, actions.LeaseUnknown) else None


def _merged_situation(claim: Claim, known: Known) -> Situation | None:
    issue = claim.issue_number
    if claim.phase is Phase.DONE:
        note = claim.withheld if claim.withheld and claim.withheld.by is WithheldBy.UNMERGED else None
        return NotClosed(issue, note.reason) if note else Closing(issue)
    if claim.phase is Phase.CODING and claim.pr_number is None:
        # A merge that the claim does not know is recorded first.
        return None
    is_merged = known.pull is not None and known.pull.state is PullState.MERGED
    if known.pull and is_merged and known.pull.is_issue_closed:
        # The merge has closed the issue: nobody has to decide anything.
        return Closing(issue)
    if not is_merged and claim.phase is not Phase.MERGED_DETECTED:
        return None
    drift = drift_known(claim, known)
    if drift.revert:
        return Reverted(issue, claim.pr_number, drift.revert, drift.is_revert_merged)
    return AwaitingConsent(issue, claim.pr_number)


def _issue_situation(claim: Claim, drift: DriftSeen) -> Situation | None:
    """Return what others did to the issue that makes a human decide whether the work goes on."""
    issue, pr = claim.issue_number, claim.pr_number
    match drift.issue:
        case IssueChange.GONE:
            return IssueGone(issue, pr)
        case IssueChange.CLOSED:
            return IssueClosed(issue, pr)
        case IssueChange.REOPENED | IssueChange.NONE:
            return Reassigned(issue, pr, drift.assignees) if drift.is_reassigned else None
        case _:
            assert_never(drift.issue)


def _interrupted_situation(record: RecordSeen) -> Situation | None:
    if record.stage is RecordStage.WAITING and not record.is_claims_wait:
        return WaitingForHuman(record.task_id, record.waiting_for, is_claim=record.issue is not None)
    return Crashed(record.task_id, record.advice) if record.stage is RecordStage.RECOVERING else None


def _paused_situation(claim: Claim, now: datetime) -> Situation | None:
    until = claim.not_before
    return Paused(claim.issue_number, until) if until and until > now else None


def _in_phase(claim: Claim, known: Known) -> Situation:
    match claim.phase:
        case Phase.CODING:
            return _coding(claim, known.pull)
        case Phase.READY_FOR_PR:
            return _opening(claim)
        case Phase.PR_CREATED | Phase.CHECKS_RUNNING:
            return _open(claim, known)
        case Phase.MERGED_DETECTED | Phase.DONE:
            return Closing(claim.issue_number)
        case _:
            assert_never(claim.phase)


def _coding(claim: Claim, pull: Pull | None) -> Situation:
    if pull is None or pull.state is PullState.CLOSED or claim.pr_number is not None:
        return Coding(claim.issue_number)
    return PullFound(claim.issue_number, pull.number, pull.state is PullState.MERGED)


def _opening(claim: Claim) -> Situation:
    note, issue = claim.withheld, claim.issue_number
    if note is None or note.by is WithheldBy.UNMERGED:
        return Opening(issue)
    return Withheld(issue, note.reason) if note.by is WithheldBy.GATE else NotOpened(issue, note.by, note.reason)


def _open(claim: Claim, known: Known) -> Situation:
    """Return how an open pull request stands: what needs work before what waits, and a push before all."""
    pr, pull, ci = claim.pr_number, known.pull, checks_known(claim, known.pull)
    drift = drift_known(claim, known)
    if pull.state is PullState.CLOSED if pull else claim.closed_unmerged:
        kind = BranchDeleted if drift.is_branch_deleted else ClosedUnmerged
        return kind(claim.issue_number, pr)
    if pr is None and ci is None:
        return NotOpened(claim.issue_number, WithheldBy.BRANCH, f"The claim names no PR (phase {claim.phase}).")
    if drift.foreign_head:
        return ForeignHead(pr, drift.foreign_head, drift.forced_by)
    if known.is_ahead:
        return Ahead(pr)
    seen = (feedback_of(pull, wake=known.wake, remote=known.remote) if pull else claim.feedback) or FeedbackSeen()
    stands = _needing_work(claim, seen, ci) or _waiting_for_others(pr, seen, ci)
    return (_moved_situation(claim, drift) or stands) if isinstance(stands, Watching) else stands


def _moved_situation(claim: Claim, drift: DriftSeen) -> Situation | None:
    """Return what others did that needs nothing but to be known; it stands back once CI has something to say."""
    pr = claim.pr_number
    if claim.closed_unmerged or drift.reopened_sha:
        return Reopened(pr)
    if drift.issue is IssueChange.REOPENED:
        return IssueReopened(claim.issue_number, pr)
    if drift.base:
        return Retargeted(pr, drift.base)
    return MovedOnBoard(claim.issue_number, pr, drift.card_status) if drift.card_status else None


def _needing_work(claim: Claim, seen: FeedbackSeen, ci: ChecksVerdict | None) -> Situation | None:
    """Return what the agent has to do for the pull request, if anything."""
    pr = claim.pr_number
    if seen.is_conflicting:
        return Conflicting(pr, seen.upstream)
    if ci and ci.ci is CI.FAILED:
        return _failed(claim, ci)
    if seen.changes_requested_by:
        return ChangesRequested(pr, seen.changes_requested_by)
    if seen.threads:
        return ThreadsOpen(pr, seen.threads)
    if seen.ejected:
        return Ejected(pr, seen.ejected)
    return BehindBase(pr, seen.upstream) if seen.is_behind else None


def _failed(claim: Claim, ci: ChecksVerdict) -> Situation:
    note = claim.failures
    is_stuck = note is not None and note.is_stuck and note.sha == ci.sha
    return (
        CIStuck(claim.pr_number, ci.failed, note.rounds) if note and is_stuck else CIFailed(claim.pr_number, ci.failed)
    )


def _waiting_for_others(pr: int | None, seen: FeedbackSeen, ci: ChecksVerdict | None) -> Situation:
    if seen.queue_position is not None:
        return InMergeQueue(pr, seen.queue_position)
    if ci and ci.ci is CI.APPROVAL:
        return ApprovalNeeded(pr, ci.approval_url)
    if ci is None or ci.ci not in SETTLED_WELL:
        return Watching(pr, ci.ci if ci else CI.NONE, ci.missing if ci else ())
    return MergeBlocked(pr, seen.missing) if seen.missing else AwaitingMerge(pr, ci.ci is CI.GREEN)
