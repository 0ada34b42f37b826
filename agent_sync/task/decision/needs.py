"""Which questions must be asked of git and GitHub before a decision can be made: as few as possible."""

from dataclasses import dataclass
from datetime import timedelta

from agent_sync.task.claim.model import Claim
from agent_sync.task.decision.facts import Facts, GateSeen, Trigger
from agent_sync.task.decision.steps import STEPS, Step


@dataclass(frozen=True)
class AskBranch:
    """What does this clone know of the branch?"""

    branch: str


@dataclass(frozen=True)
class AskGate:
    """Has the work passed the quality gate?"""


@dataclass(frozen=True)
class AskLookup:
    """Is there a pull request for the branch, and what would opening one need?"""

    branch: str
    issue: int


@dataclass(frozen=True)
class AskPull:
    """What became of the pull request?"""

    number: int
    with_checks: bool


@dataclass(frozen=True)
class AskCard:
    """Where is the task on the board?"""

    issue: int


@dataclass(frozen=True)
class AskClosing:
    """May the task be closed, and what is left to do?"""

    issue: int
    pull: int | None
    branch: str


Question = AskBranch | AskGate | AskLookup | AskPull | AskCard | AskClosing


def needs(trigger: Trigger, claim: Claim, facts: Facts) -> tuple[Question, ...]:
    """Return what is still to be asked; nothing while GitHub wants to be left alone, or once the work is elsewhere."""
    if not claim.may_act or is_paused(claim, facts):
        return ()
    match STEPS[trigger][claim.phase]:
        case Step.OPEN_PULL:
            return _for_opening(claim, facts)
        case Step.WATCH_PULL:
            return _for_watching(trigger, claim, facts)
        case Step.CLOSE:
            return _for_closing(claim, facts)
        case Step.SYNC_BOARD:
            return _for_board(trigger, claim, facts)
        case Step.REMIND | Step.NOTHING:
            return ()


def is_paused(claim: Claim, facts: Facts) -> bool:
    """Tell whether GitHub asked not to be called yet."""
    return claim.not_before is not None and facts.now < claim.not_before


def is_poll_due(claim: Claim, facts: Facts) -> bool:
    """Tell whether the checks may be looked at again; a stamp from the future means that they never were."""
    last = claim.last_check_poll
    if last is None or last > facts.now:
        return True
    return facts.now - last >= timedelta(seconds=facts.settings.checks.backoff_s)


def is_board_behind(trigger: Trigger, claim: Claim) -> bool:
    """Tell whether the card should say something else than it was last told to."""
    refused = claim.refused_status == claim.status and trigger is not Trigger.SYNC
    return bool(claim.status) and claim.status != claim.last_synced_status and not refused


def _for_opening(claim: Claim, facts: Facts) -> tuple[Question, ...]:
    if not claim.branch or not claim.summary.strip():
        return ()
    if facts.branch is None or facts.gate is None:
        # What is local comes first: work that may not be opened costs no request.
        local = ((facts.branch, AskBranch(claim.branch)), (facts.gate, AskGate()))
        return tuple(question for known, question in local if known is None)
    if facts.lookup is None and not is_withheld(claim, facts.gate, facts):
        return (AskLookup(claim.branch, claim.issue_number),)
    return ()


def is_withheld(claim: Claim, gate: GateSeen, facts: Facts) -> bool:
    """Tell whether the gate keeps the pull request back; a draft states what it says instead."""
    if not gate.is_configured or not facts.settings.pr.require_gate or claim.draft:
        return False
    is_about_head = facts.branch is not None and facts.branch.is_current
    return not (gate.may_open and is_about_head)


def _for_watching(trigger: Trigger, claim: Claim, facts: Facts) -> tuple[Question, ...]:
    if claim.pr_number is None:
        return (AskLookup(claim.branch, claim.issue_number),) if claim.branch and facts.lookup is None else ()
    if claim.closed_unmerged and trigger is Trigger.REWAKE:
        # Polling stops; the next plain look or a new handoff leads on.
        return ()
    if facts.pull is None:
        # A person who asks is answered, however short ago the checks were looked at.
        is_due = trigger is Trigger.SYNC or is_poll_due(claim, facts)
        return (AskPull(claim.pr_number, with_checks=is_due),)
    return _for_board(trigger, claim, facts)


def _for_board(trigger: Trigger, claim: Claim, facts: Facts) -> tuple[Question, ...]:
    if is_board_behind(trigger, claim) and facts.card is None:
        return (AskCard(claim.issue_number),)
    return ()


def _for_closing(claim: Claim, facts: Facts) -> tuple[Question, ...]:
    if facts.closing is None:
        return (AskClosing(claim.issue_number, claim.pr_number, claim.branch),)
    return ()
