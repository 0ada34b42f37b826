"""Says how a task stands: one value, derived from claim, lease, record, gate and what is known of the pull request."""

from dataclasses import dataclass
from datetime import datetime
from typing import assert_never

from agent_sync.task.claim.model import Claim
from agent_sync.task.claim.phases import Phase, WithheldBy
from agent_sync.task.decision import actions
from agent_sync.task.decision.checks import CI, Verdict, verdict
from agent_sync.task.decision.facts import Pull, PullState
from agent_sync.task.decision.situations import (
    Ahead,
    AwaitingConsent,
    AwaitingMerge,
    ChangesRequested,
    CIFailed,
    ClosedUnmerged,
    Closing,
    Coding,
    Conflicting,
    Crashed,
    Free,
    LeaseUnknown,
    LeftOnHook,
    Lost,
    NotClosed,
    NotOpened,
    Opening,
    Paused,
    Recorded,
    Situation,
    Stage,
    Unclaimed,
    WaitingForHuman,
    Watching,
    Withheld,
)


@dataclass(frozen=True)
class RecordSeen:
    """What the recovery record says of the task."""

    task_id: str
    stage: Stage
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
    lease: actions.LeaseLost | actions.LeaseUnknown | actions.LeftOnHook | None = None


NOTHING_ASKED = Known()


def situation(claim: Claim | None, record: RecordSeen | None, now: datetime, known: Known = NOTHING_ASKED) -> Situation:
    """Return how the task of a worktree stands."""
    # The first that applies: whose the work is; what a human has decided or must decide about the merged work; what
    # the record waits for; GitHub's pause; then the phase, of which what needs work here comes before what waits.
    if claim is None:
        return _without_claim(record, known)
    return (
        _not_held(claim, known)
        or _merged(claim, known)
        or (_interrupted(record) if record else None)
        or _paused(claim, now)
        or _in_phase(claim, known)
    )


def checks_known(claim: Claim, pull: Pull | None) -> Verdict | None:
    """Return how the checks stand, from a look just now or from the last one that the claim remembers."""
    if pull and (pull.checks is not None or pull.checks_note):
        return verdict(pull.head_sha, pull.checks)
    seen = claim.checks
    if seen is None or seen.state not in {ci.value for ci in CI}:
        return None
    running = max(0, seen.total - seen.passed - len(seen.failed))
    return Verdict(CI(seen.state), seen.sha, seen.passed, seen.failed, running)


def _without_claim(record: RecordSeen | None, known: Known) -> Situation:
    if record is None or record.stage is Stage.ENDED:
        return Free(known.has_board)
    if record.issue is not None:
        return Unclaimed(record.task_id, record.issue)
    return _interrupted(record) or Recorded(record.task_id, record.stage, record.step, record.validation)


def _not_held(claim: Claim, known: Known) -> Situation | None:
    issue, note = claim.issue_number, claim.lease
    found = known.lease
    if isinstance(found, actions.LeaseLost):
        return Lost(issue, found.lost_to)
    if note and note.lost_to:
        return Lost(issue, note.lost_to)
    if note and note.left_on:
        return LeftOnHook(issue, note.left_on)
    return LeaseUnknown(issue, found.reason) if isinstance(found, actions.LeaseUnknown) else None


def _merged(claim: Claim, known: Known) -> Situation | None:
    issue = claim.issue_number
    if claim.phase is Phase.DONE:
        note = claim.withheld if claim.withheld and claim.withheld.by is WithheldBy.UNMERGED else None
        return NotClosed(issue, note.reason) if note else Closing(issue)
    is_merged = known.pull is not None and known.pull.state is PullState.MERGED
    return AwaitingConsent(issue, claim.pr_number) if is_merged or claim.phase is Phase.MERGED_DETECTED else None


def _interrupted(record: RecordSeen) -> Situation | None:
    if record.stage is Stage.WAITING and not record.is_claims_wait:
        return WaitingForHuman(record.task_id, record.waiting_for, is_claim=record.issue is not None)
    return Crashed(record.task_id, record.advice) if record.stage is Stage.RECOVERING else None


def _paused(claim: Claim, now: datetime) -> Situation | None:
    until = claim.not_before
    return Paused(claim.issue_number, until) if until and until > now else None


def _in_phase(claim: Claim, known: Known) -> Situation:
    match claim.phase:
        case Phase.CODING:
            return Coding(claim.issue_number)
        case Phase.READY_FOR_PR:
            return _opening(claim)
        case Phase.PR_CREATED | Phase.CHECKS_RUNNING:
            return _open(claim, known)
        case Phase.MERGED_DETECTED | Phase.DONE:
            return Closing(claim.issue_number)
        case _:
            assert_never(claim.phase)


def _opening(claim: Claim) -> Situation:
    note, issue = claim.withheld, claim.issue_number
    if note is None or note.by is WithheldBy.UNMERGED:
        return Opening(issue)
    return Withheld(issue, note.reason) if note.by is WithheldBy.GATE else NotOpened(issue, note.by, note.reason)


def _open(claim: Claim, known: Known) -> Situation:
    """Return how an open pull request stands: what needs work before what waits, and a push before all."""
    pr, pull, ci = claim.pr_number, known.pull, checks_known(claim, known.pull)
    if claim.closed_unmerged or (pull and pull.state is PullState.CLOSED):
        return ClosedUnmerged(claim.issue_number, pr)
    if pr is None and ci is None:
        return NotOpened(claim.issue_number, WithheldBy.BRANCH, f"The claim names no PR (phase {claim.phase}).")
    if known.is_ahead:
        return Ahead(pr)
    is_conflicting, wanting = _feedback(claim, pull)
    if is_conflicting:
        return Conflicting(pr)
    if ci and ci.ci is CI.FAILED:
        return CIFailed(pr, ci.failed)
    if wanting:
        return ChangesRequested(pr, wanting)
    return AwaitingMerge(pr) if ci and ci.ci is CI.GREEN else Watching(pr, ci.ci if ci else CI.NONE)


def _feedback(claim: Claim, pull: Pull | None) -> tuple[bool, tuple[str, ...]]:
    if pull:
        return pull.is_conflicting, pull.changes_requested_by
    seen = claim.feedback
    return (seen.is_conflicting, seen.changes_requested_by) if seen else (False, ())
