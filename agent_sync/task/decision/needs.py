"""Which questions must be asked of git and GitHub before a decision can be made: as few as possible."""

from datetime import datetime, timedelta

from agent_sync.lazy_dataclasses import dataclass
from agent_sync.settings import Settings
from agent_sync.settings.tables import BoardSettings
from agent_sync.task.claim.model import Claim
from agent_sync.task.claim.phases import Phase
from agent_sync.task.decision.facts import Facts, GateSeen, Pull, PullState, Trigger
from agent_sync.task.decision.feedback.checks import CI, CheckRun, ChecksVerdict
from agent_sync.task.decision.feedback.merging import pull_verdict
from agent_sync.task.decision.steps import STEPS, PhaseStep

# A board that could not be updated is tried again after this long: somebody may have mended it.
BOARD_RETRY = timedelta(minutes=10)
# Somebody may open a closed pull request again: that is looked for now and then.
CLOSED_BACKOFF_S = 1800.0
# Where an agent that has committed a fix is reminded to push it.
REMINDED_TO_PUSH = frozenset({Trigger.STOP, Trigger.IDLE, Trigger.REWAKE})
# These look at the pull request whatever the backoff: a person asks, or a session begins.
ASKED_FOR = frozenset({Trigger.SYNC, Trigger.SESSION_START})


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
    """What became of the pull request, and is the issue still open?"""

    number: int
    issue: int


@dataclass(frozen=True)
class AskHead:
    """Does the branch here have the pull request's head?"""

    branch: str
    sha: str


@dataclass(frozen=True)
class AskAhead:
    """Does the branch here have commits that the pull request lacks? Without `sha`: as it was last pushed."""

    branch: str
    sha: str


@dataclass(frozen=True)
class AskBeside:
    """Does the branch have a pull request that the claim does not name?"""

    branch: str


@dataclass(frozen=True)
class AskFailures:
    """Why did these checks fail?"""

    sha: str
    checks: tuple[CheckRun, ...]


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


Question = (
    AskBranch | AskGate | AskLookup | AskPull | AskHead | AskAhead | AskBeside | AskFailures | AskCard | AskClosing
)


def needs(trigger: Trigger, claim: Claim, facts: Facts) -> tuple[Question, ...]:
    """Return what is still to be asked; nothing while GitHub wants to be left alone, or once the work is elsewhere."""
    if not claim.may_act or is_paused(claim, facts):
        return ()
    match STEPS[trigger][claim.phase]:
        case PhaseStep.OPEN_PULL:
            return _for_opening(claim, facts)
        case PhaseStep.WATCH_PULL:
            return _for_watching(trigger, claim, facts)
        case PhaseStep.AWAIT_CONSENT:
            return _for_consent(trigger, claim, facts)
        case PhaseStep.CLOSE:
            return _for_closing(claim, facts)
        case PhaseStep.SYNC_BOARD:
            return _for_unpushed(trigger, claim, facts) or _for_board(trigger, claim, facts)
        case PhaseStep.FIND_PULL:
            return _for_finding(trigger, claim, facts)
        case PhaseStep.REMIND | PhaseStep.NOTHING:
            return ()


def is_paused(claim: Claim, facts: Facts) -> bool:
    """Tell whether GitHub asked not to be called yet."""
    return claim.not_before is not None and facts.now < claim.not_before


def next_poll_at(claim: Claim, now: datetime, backoff_s: float) -> datetime:
    """Return when the pull request may be looked at again; a stamp from the future means that it never was."""
    last = claim.last_check_poll
    if claim.closed_unmerged:
        backoff_s = max(backoff_s, CLOSED_BACKOFF_S)
    return now if last is None or last > now else last + timedelta(seconds=backoff_s)


def is_poll_due(claim: Claim, facts: Facts) -> bool:
    """Tell whether the pull request may be looked at again."""
    return next_poll_at(claim, facts.now, facts.settings.checks.backoff_s) <= facts.now


def next_look_at(trigger: Trigger, claim: Claim, facts: Facts) -> datetime | None:
    """Return when time alone makes `trigger` ask something that it does not ask now."""
    moments = [claim.not_before]
    if claim.may_act and STEPS[trigger][claim.phase] not in {PhaseStep.NOTHING, PhaseStep.REMIND}:
        looks = STEPS[trigger][claim.phase] in {PhaseStep.WATCH_PULL, PhaseStep.AWAIT_CONSENT}
        moments.append(next_poll_at(claim, facts.now, facts.settings.checks.backoff_s) if looks else None)
        moments.append(_board_retry_at(claim, facts) if _is_card_wrong(claim, facts.settings) else None)
    return min((moment for moment in moments if moment), default=None)


def is_board_behind(trigger: Trigger, claim: Claim, facts: Facts) -> bool:
    """Tell whether the card should say something else than it was last told to, and may be told now."""
    if not _is_card_wrong(claim, facts.settings):
        return False
    retry = _board_retry_at(claim, facts)
    return (
        claim.refused_status != wanted_status(claim, facts.settings)
        or trigger is Trigger.SYNC
        or (retry is not None and retry <= facts.now)
    )


def own_status(status: str) -> str:
    """Return what to remember of a status that the settings gave: only a name of one's own could be mistaken."""
    usual = BoardSettings()
    return "" if status in {usual.ready, usual.in_progress, usual.in_review, usual.done} else status


def wanted_status(claim: Claim, settings: Settings) -> str:
    """Return what the card should say: a name that the settings no longer have means what the phase means."""
    board, usual = settings.board, BoardSettings()
    names = {board.ready, board.in_progress, board.in_review, board.done}
    is_ours = claim.status in {usual.ready, usual.in_progress, usual.in_review, usual.done, claim.own_status}
    if not claim.status or claim.status in names or not is_ours:
        return claim.status
    return board.in_progress if claim.phase is Phase.CODING else board.in_review


def _is_card_wrong(claim: Claim, settings: Settings) -> bool:
    status = wanted_status(claim, settings)
    return bool(status) and status != claim.last_synced_status


def _board_retry_at(claim: Claim, facts: Facts) -> datetime | None:
    """Return when a board that did not take the status is tried again; without any board, never."""
    if facts.settings.project.number is None or claim.refused_status != wanted_status(claim, facts.settings):
        return None
    refused = claim.refused_at
    return facts.now if refused is None or refused > facts.now else refused + BOARD_RETRY


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
        is_asked = claim.branch and facts.lookup is None and trigger is not Trigger.SESSION_START
        return (AskLookup(claim.branch, claim.issue_number),) if is_asked else ()
    is_due = trigger in ASKED_FOR or is_poll_due(claim, facts)
    if facts.pull is None and facts.unmoved_at is None and is_due:
        return (AskPull(claim.pr_number, claim.issue_number),)
    if facts.pull and facts.is_head_here is None and _is_head_new(claim, facts.pull):
        return (AskHead(claim.branch, facts.pull.head_sha),)
    if trigger is Trigger.SESSION_START:
        # Whoever waits for a session to begin waits for one request; the first look after that asks for the rest.
        return ()
    if unpushed := _for_unpushed(trigger, claim, facts):
        return unpushed
    if facts.pull and facts.failures is None and facts.settings.checks.logs and needs_logs(claim, facts.pull):
        return (AskFailures(facts.pull.head_sha, pull_verdict(facts.pull).failures),)
    return _for_board(trigger, claim, facts)


def _for_finding(trigger: Trigger, claim: Claim, facts: Facts) -> tuple[Question, ...]:
    if claim.branch and claim.pr_number is None and facts.beside is None:
        return (AskBeside(claim.branch),)
    return () if trigger is Trigger.SESSION_START else _for_board(trigger, claim, facts)


def unpushed_id(claim: Claim) -> str:
    """Return what makes sure that unpushed commits are said once for each commit that CI failed on."""
    return f"unpushed:{claim.pr_number}:{claim.checks.sha if claim.checks else ''}"


def _for_unpushed(trigger: Trigger, claim: Claim, facts: Facts) -> tuple[Question, ...]:
    """Ask git for commits that were not pushed, where CI failed and a fix is expected."""
    if trigger not in REMINDED_TO_PUSH or facts.is_ahead is not None or not claim.is_pull_open:
        return ()
    if facts.pull:
        is_failed = facts.pull.state is PullState.OPEN and pull_verdict(facts.pull).ci is CI.FAILED
    else:
        is_failed = (
            claim.checks is not None and claim.checks.state == CI.FAILED.value and unpushed_id(claim) not in facts.told
        )
    return (AskAhead(claim.branch, facts.pull.head_sha if facts.pull else ""),) if is_failed else ()


def _is_head_new(claim: Claim, pull: Pull) -> bool:
    """Tell whether the pull request's head may be somebody else's: it is not the one last seen, or it was that."""
    is_known = claim.checks is not None and claim.checks.sha == pull.head_sha
    is_foreign = claim.drift is not None and bool(claim.drift.foreign_head)
    return pull.state is PullState.OPEN and bool(claim.branch) and (is_foreign or not is_known)


def _for_consent(trigger: Trigger, claim: Claim, facts: Facts) -> tuple[Question, ...]:
    """Look once more at what was merged: the issue may be closed, or the merge taken back."""
    is_due = trigger in ASKED_FOR or is_poll_due(claim, facts)
    if claim.pr_number and facts.pull is None and is_due:
        return (AskPull(claim.pr_number, claim.issue_number),)
    return () if trigger is Trigger.SESSION_START else _for_board(trigger, claim, facts)


def needs_logs(claim: Claim, pull: Pull) -> bool:
    """Tell whether checks have failed that were not looked into yet."""
    if pull.state is not PullState.OPEN or pull.checks is None:
        return False
    seen, known = pull_verdict(pull), claim.failures
    if seen.ci is not CI.FAILED or is_rerun_awaited(claim, seen):
        return False
    return known is None or (known.sha, known.runs) != (seen.sha, seen.failed_runs)


def is_rerun_awaited(claim: Claim, seen: ChecksVerdict) -> bool:
    """Tell whether the failures are known to look like infrastructure and wait for the rest of their run."""
    held = claim.failures.held if claim.failures else ()
    return bool(seen.running and held) and held == seen.failed_runs


def curable_pattern(claim: Claim, facts: Facts, seen: ChecksVerdict) -> str:
    """Return why running the failed jobs again may help; nothing where one of them looks like a real failure."""
    patterns = [failure.infrastructure for failure in facts.failures or ()]
    is_done = claim.failures is not None and claim.failures.rerun_sha == seen.sha
    if not facts.settings.checks.rerun or is_done or len(patterns) < len(seen.failed) or not all(patterns):
        return ""
    return patterns[0] if patterns else ""


def _for_board(trigger: Trigger, claim: Claim, facts: Facts) -> tuple[Question, ...]:
    if is_board_behind(trigger, claim, facts) and facts.card is None:
        return (AskCard(claim.issue_number),)
    return ()


def _for_closing(claim: Claim, facts: Facts) -> tuple[Question, ...]:
    if facts.closing is None:
        return (AskClosing(claim.issue_number, claim.pr_number, claim.branch),)
    return ()
