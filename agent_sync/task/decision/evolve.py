"""The only writer of the phase: makes the next claim from what happened."""

from typing import assert_never

from agent_sync.task.claim.model import ChecksSeen, Claim, FeedbackSeen, WithheldNote
from agent_sync.task.claim.phases import WithheldBy
from agent_sync.task.decision.actions import (
    BranchPushed,
    CardMoved,
    CardRefused,
    ChecksNoted,
    ChecksUnsettled,
    ClaimDeleted,
    Consented,
    FeedbackNoted,
    HandedOff,
    LeaseLost,
    LeaseUnknown,
    LeftOnHook,
    Outcome,
    Paused,
    PullAdopted,
    PullClosed,
    PullMerged,
    PullOpened,
    PullRefused,
    PullReopened,
    Said,
    TaskClosed,
    Withheld,
)
from agent_sync.task.decision.facts import Pull
from agent_sync.task.decision.messages import pull_refused
from agent_sync.task.decision.steps import TRANSITIONS


class ImpossibleTransition(Exception):
    """An outcome that cannot happen in this phase: a mistake of ours, never the user's."""


def evolve(claim: Claim, outcome: Outcome) -> Claim:
    """Return the claim after `outcome`."""
    phases = TRANSITIONS[type(outcome)]
    if claim.phase not in phases:
        raise ImpossibleTransition(f"{type(outcome).__name__} in phase {claim.phase}")
    changes = _changes(claim, outcome)
    if not isinstance(outcome, Said | Withheld | Paused | ClaimDeleted | LeaseUnknown):
        changes.setdefault("not_before", None)
    return claim.model_copy(update={"phase": phases[claim.phase], **changes})


def _changes(claim: Claim, outcome: Outcome) -> dict[str, object]:  # noqa: PLR0912  # one arm for each outcome
    match outcome:
        case PullOpened() | PullAdopted():
            return _with_pull(claim, outcome)
        case ChecksUnsettled() | ChecksNoted():
            return _with_checks(outcome)
        case CardMoved(status):
            return {"last_synced_status": status, "refused_status": None}
        case CardRefused(status):
            return {"refused_status": status}
        case PullClosed():
            return {"closed_unmerged": True}
        case PullReopened():
            return {"closed_unmerged": False}
        case HandedOff(summary, branch, draft, status):
            anew = {"closed_unmerged": False, "withheld": None}
            return {"summary": summary, "branch": branch, "draft": draft, "status": status, **anew}
        case Withheld(by, notice):
            return {"withheld": WithheldNote(by=by, reason=notice.text)}
        case PullRefused(reason):
            return {"withheld": WithheldNote(by=WithheldBy.GITHUB, reason=pull_refused(claim, reason).text)}
        case FeedbackNoted(pull):
            return {"feedback": _feedback(pull)}
        case Consented(even_unmerged):
            return {"close_unmerged": even_unmerged, "withheld": None}
        case Paused(until):
            return {"not_before": until}
        case BranchPushed() | LeaseLost() | LeftOnHook():
            return _with_lease(claim, outcome)
        case PullMerged() | TaskClosed() | ClaimDeleted() | LeaseUnknown() | Said():
            return {}
        case _:
            assert_never(outcome)


def _with_pull(claim: Claim, outcome: PullOpened | PullAdopted) -> dict[str, object]:
    """Phase and number change together; a board in trouble is not recorded as synced."""
    board = (
        {"refused_status": outcome.status}
        if outcome.board_trouble
        else {"last_synced_status": outcome.status, "refused_status": None}
    )
    is_new = outcome.pull.number != claim.pr_number
    polls = {"last_check_poll": None, "checks": None, "feedback": None} if is_new else {}
    known = {"pr_number": outcome.pull.number, "status": outcome.status, "closed_unmerged": False, "withheld": None}
    return {**known, **board, **polls}


def _with_lease(claim: Claim, outcome: BranchPushed | LeaseLost | LeftOnHook) -> dict[str, object]:
    if isinstance(outcome, BranchPushed):
        return {"lease": outcome.lease} if outcome.lease else {}
    ended = {"lost_to": outcome.lost_to} if isinstance(outcome, LeaseLost) else {"left_on": outcome.worker}
    return {"lease": claim.lease.model_copy(update=ended)} if claim.lease else {}


def _feedback(pull: Pull) -> FeedbackSeen | None:
    """Return what stands against a merge; nothing where nothing does."""
    if not pull.changes_requested_by and not pull.is_conflicting:
        return None
    return FeedbackSeen(changes_requested_by=pull.changes_requested_by, is_conflicting=pull.is_conflicting)


def _with_checks(outcome: ChecksUnsettled | ChecksNoted) -> dict[str, object]:
    verdict = outcome.verdict
    seen = ChecksSeen(
        sha=verdict.sha, passed=verdict.passed, total=verdict.total, state=verdict.ci.value, failed=verdict.failed
    )
    return {"last_check_poll": outcome.at, "checks": seen}
