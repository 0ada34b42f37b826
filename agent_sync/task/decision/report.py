"""Chooses the sentences that follow from what happened."""

from agent_sync.task.claim.model import Claim
from agent_sync.task.decision import messages
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
    Notice,
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
from agent_sync.task.decision.checks import CI
from agent_sync.task.decision.evolve import evolve
from agent_sync.task.decision.facts import Facts, Trigger


def report(trigger: Trigger, claim: Claim, outcome: Outcome, facts: Facts) -> tuple[Notice, ...]:
    """Return what is to be said of `outcome`, which happened to `claim`."""
    match outcome:
        case PullOpened(pull, status, trouble) | PullAdopted(pull, status, trouble):
            said = messages.pull_opened if isinstance(outcome, PullOpened) else messages.pull_adopted
            return (said(pull), *_board(claim, trouble, status))
        case PullRefused(reason):
            return (messages.pull_refused(claim, reason),)
        case ChecksUnsettled() | ChecksNoted():
            return _checks(trigger, outcome, facts)
        case PullMerged(pull):
            return (messages.merged(claim, pull, facts.session_id),)
        case PullClosed(pull):
            return (messages.closed_unmerged(claim, pull),)
        case PullReopened(pull):
            return (messages.reopened(pull),)
        case CardRefused(status, trouble):
            return (messages.board_trouble(claim, trouble, status),)
        case TaskClosed(trouble):
            return (messages.task_closed(claim, trouble=trouble, done=facts.settings.board.done),)
        case Paused():
            return (messages.paused(evolve(claim, outcome)),)
        case LeaseLost() | LeaseUnknown():
            return (_lease(claim, outcome, facts.session_id),)
        case Said(notice) | Withheld(_, notice):
            return (notice,)
        case BranchPushed() | CardMoved() | HandedOff() | Consented() | ClaimDeleted() | FeedbackNoted() | LeftOnHook():
            return ()


def _board(claim: Claim, trouble: str, status: str) -> tuple[Notice, ...]:
    return (messages.board_trouble(claim, trouble, status),) if trouble else ()


def _lease(claim: Claim, outcome: LeaseLost | LeaseUnknown, session: str) -> Notice:
    if isinstance(outcome, LeaseUnknown):
        return messages.lease_unknown(claim, outcome.reason, session)
    return messages.lease_lost(evolve(claim, outcome), session)


def _checks(trigger: Trigger, outcome: ChecksUnsettled | ChecksNoted, facts: Facts) -> tuple[Notice, ...]:
    """A plain idle event reports every look; the watcher in the background only what is new."""
    ci = outcome.verdict.ci
    if trigger is Trigger.REWAKE and (
        ci in {CI.RUNNING, CI.NONE, CI.UNAVAILABLE} or (ci is CI.GREEN and not facts.settings.notify.green)
    ):
        return ()
    again = f"@{outcome.at.isoformat()}" if trigger is not Trigger.REWAKE else ""
    return (messages.checks_polled(outcome.pull, outcome.verdict, again=again),)
