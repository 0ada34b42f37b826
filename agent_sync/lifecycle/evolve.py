"""The only writer of the phase: makes the next claim from what happened."""

from typing import assert_never

from agent_sync.claim.model import ChecksSeen, Claim
from agent_sync.lifecycle.actions import (
    BranchPushed,
    CardMoved,
    CardRefused,
    ChecksNoted,
    ChecksUnsettled,
    ClaimDeleted,
    Consented,
    HandedOff,
    LeaseLost,
    LeaseUnknown,
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
)
from agent_sync.lifecycle.steps import TRANSITIONS


class ImpossibleTransition(Exception):
    """An outcome that cannot happen in this phase: a mistake of ours, never the user's."""


def evolve(claim: Claim, outcome: Outcome) -> Claim:
    """Return the claim after `outcome`."""
    phases = TRANSITIONS[type(outcome)]
    if claim.phase not in phases:
        raise ImpossibleTransition(f"{type(outcome).__name__} in phase {claim.phase}")
    changes = _changes(claim, outcome)
    if not isinstance(outcome, Said | Paused | ClaimDeleted | LeaseUnknown):
        changes.setdefault("not_before", None)
    return claim.model_copy(update={"phase": phases[claim.phase], **changes})


def _changes(claim: Claim, outcome: Outcome) -> dict[str, object]:
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
            return {"summary": summary, "branch": branch, "draft": draft, "status": status, "closed_unmerged": False}
        case Consented(even_unmerged):
            return {"close_unmerged": even_unmerged}
        case Paused(until):
            return {"not_before": until}
        case BranchPushed() | LeaseLost():
            return _with_lease(claim, outcome)
        case PullRefused() | PullMerged() | TaskClosed() | ClaimDeleted() | LeaseUnknown() | Said():
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
    polls = {"last_check_poll": None, "checks": None} if is_new else {}
    return {"pr_number": outcome.pull.number, "status": outcome.status, "closed_unmerged": False, **board, **polls}


def _with_lease(claim: Claim, outcome: BranchPushed | LeaseLost) -> dict[str, object]:
    if isinstance(outcome, BranchPushed):
        return {"lease": outcome.lease} if outcome.lease else {}
    return {"lease": claim.lease.model_copy(update={"lost_to": outcome.lost_to})} if claim.lease else {}


def _with_checks(outcome: ChecksUnsettled | ChecksNoted) -> dict[str, object]:
    verdict = outcome.verdict
    seen = ChecksSeen(sha=verdict.sha, passed=verdict.passed, total=verdict.total, state=verdict.ci.value)
    return {"last_check_poll": outcome.at, "checks": seen}
