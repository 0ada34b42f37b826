"""What follows from an outcome: the next claim (nothing else writes the phase), and the sentences to be said."""

import hashlib
from dataclasses import replace
from datetime import datetime, timedelta
from typing import assert_never

from agent_sync.task.claim.drift_seen import NO_DRIFT, DriftSeen
from agent_sync.task.claim.model import ChecksSeen, Claim, FailuresSeen, WithheldNote, following
from agent_sync.task.claim.phases import WithheldBy
from agent_sync.task.decision import messages
from agent_sync.task.decision.actions import (
    BranchPushed,
    CardMoved,
    CardRefused,
    ChecksNoted,
    ChecksUnsettled,
    ClaimDeleted,
    ClosedByMerge,
    Consented,
    FeedbackNoted,
    HandedOff,
    LeaseLost,
    LeaseUnknown,
    LeftOnHook,
    Outcome,
    PauseNoted,
    PullAdopted,
    PullClosed,
    PullMerged,
    PullOpened,
    PullRefused,
    PullReopened,
    Said,
    StepWithheld,
    TaskClosed,
)
from agent_sync.task.decision.drift.drift_actions import DriftNoted
from agent_sync.task.decision.facts import Facts, Pull, Trigger
from agent_sync.task.decision.feedback import pull_messages
from agent_sync.task.decision.feedback.checks import CI
from agent_sync.task.decision.feedback.ci_messages import checks_polled
from agent_sync.task.decision.feedback.feedback_actions import JobsRerun, PullUnmoved, ReviewRequested
from agent_sync.task.decision.feedback.merging import feedback_of
from agent_sync.task.decision.feedback.pull_messages import about_feedback, failure_report, round_text
from agent_sync.task.decision.messages import pull_refused
from agent_sync.task.decision.needs import own_status
from agent_sync.task.decision.next_step import lacks_commits
from agent_sync.task.decision.notice import Notice, as_told, for_session
from agent_sync.task.decision.steps import TRANSITIONS
from agent_sync.task.failures.failure import fingerprint_of

# A pause that follows another one so soon is the same trouble.
SAME_PAUSE = timedelta(hours=1)
# After a limit agents come back within this part of the wait, one after the other, but for so many seconds.
SPREAD, LEAST_SPREAD, MOST_SPREAD = 0.1, timedelta(seconds=5), timedelta(seconds=60)


class ImpossibleTransition(Exception):
    """An outcome that cannot happen in this phase: a mistake of ours, never the user's."""


def evolve(claim: Claim, outcome: Outcome) -> Claim:
    """Return the claim after `outcome`."""
    phases = TRANSITIONS[type(outcome)]
    if claim.phase not in phases:
        raise ImpossibleTransition(f"{type(outcome).__name__} in phase {claim.phase}")
    changes = _changes(claim, outcome)
    if not isinstance(outcome, Said | StepWithheld | PauseNoted | ClaimDeleted | LeaseUnknown):
        changes.setdefault("not_before", None)
    return claim.model_copy(update={"phase": phases[claim.phase], **changes})


def _changes(claim: Claim, outcome: Outcome) -> dict[str, object]:  # noqa: PLR0912  # one arm for each outcome
    match outcome:
        case PullOpened() | PullAdopted():
            return _with_pull(claim, outcome)
        case ChecksUnsettled() | ChecksNoted():
            return _with_checks(claim, outcome)
        case PullUnmoved(at):
            return {"last_check_poll": at}
        case JobsRerun(pull):
            return {"failures": (claim.failures or FailuresSeen()).model_copy(update={"rerun_sha": pull.head_sha})}
        case CardMoved(status):
            written = {"status": status, "last_synced_status": status, "refused_status": None, "refused_at": None}
            return written | _with_drift(claim, card_status="")
        case CardRefused(status, _, at):
            return {"status": status, "refused_status": status, "refused_at": at}
        case PullClosed(pull, at):
            looked = {"last_check_poll": at} if at else {}
            return {"closed_unmerged": True} | looked | _with_drift(claim, is_branch_deleted=pull.is_branch_deleted)
        case PullReopened(pull):
            again = _with_drift(claim, is_branch_deleted=False, reopened_sha=pull.head_sha)
            return {"closed_unmerged": False} | again
        case DriftNoted(_, seen, at):
            return _kept_drift(seen) | ({"last_check_poll": at} if at else {})
        case HandedOff(summary, branch, draft, status, is_wanted_anyway):
            anew = {
                "closed_unmerged": False,
                "withheld": None,
                "open_anyway": is_wanted_anyway,
            }
            return {"summary": summary, "branch": branch, "draft": draft, **_own(status), **anew}
        case StepWithheld(by, notice):
            return {"withheld": WithheldNote(by=by, reason=notice.text)}
        case PullRefused(reason):
            return {"withheld": WithheldNote(by=WithheldBy.GITHUB, reason=pull_refused(claim, reason).text)}
        case FeedbackNoted(pull, wake, remote):
            return {"feedback": feedback_of(pull, wake=wake, remote=remote)}
        case Consented(even_unmerged):
            return {"close_unmerged": even_unmerged, "withheld": None}
        case PauseNoted():
            return {"not_before": _back_at(claim, outcome)}
        case BranchPushed() | LeaseLost() | LeftOnHook():
            return _with_lease(claim, outcome)
        case (
            PullMerged() | ClosedByMerge() | TaskClosed() | ClaimDeleted() | LeaseUnknown() | ReviewRequested() | Said()
        ):
            return {}
        case _:
            assert_never(outcome)


def _back_at(claim: Claim, pause: PauseNoted) -> datetime:
    """Return when this claim asks GitHub again: a while after the limit's end that is always the same for it."""
    spread = min(max(SPREAD * (pause.until - pause.at), LEAST_SPREAD), MOST_SPREAD)
    name = f"{claim.agent_id} {claim.issue_number} {claim.lease.nonce if claim.lease else ''}"
    share = int(hashlib.sha256(name.encode(errors="backslashreplace")).hexdigest()[:8], 16) / 0xFFFFFFFF
    return pause.until + share * spread


def _with_drift(claim: Claim, **changes: object) -> dict[str, object]:
    return _kept_drift((claim.drift or NO_DRIFT).model_copy(update=changes))


def _kept_drift(seen: DriftSeen) -> dict[str, object]:
    return {"drift": None if seen == NO_DRIFT else seen}


def _with_pull(claim: Claim, outcome: PullOpened | PullAdopted) -> dict[str, object]:
    """Phase and number change together; a board in trouble is not recorded as synced."""
    board = (
        {"refused_status": outcome.status, "refused_at": outcome.at}
        if outcome.board_trouble
        else {"last_synced_status": outcome.status, "refused_status": None, "refused_at": None}
    )
    is_new = outcome.pull.number != claim.pr_number
    fresh = {"last_check_poll": None, "checks": None, "feedback": None, "failures": None, "drift": None}
    polls = fresh if is_new else _new_head(claim, outcome.pull)
    known = {"pr_number": outcome.pull.number, **_own(outcome.status), "closed_unmerged": False, "withheld": None}
    return {**known, **board, **polls}


def _own(status: str) -> dict[str, str]:
    return {"status": status, "own_status": own_status(status)}


def _new_head(claim: Claim, pull: Pull) -> dict[str, object]:
    return {"last_check_poll": None} if claim.checks and claim.checks.sha != pull.head_sha else {}


def _with_lease(claim: Claim, outcome: BranchPushed | LeaseLost | LeftOnHook) -> dict[str, object]:
    if isinstance(outcome, BranchPushed):
        # Checks of another commit say nothing of this one: the next look need not wait.
        is_new = bool(outcome.sha) and claim.checks is not None and claim.checks.sha != outcome.sha
        return ({"last_check_poll": None} if is_new else {}) | ({"lease": outcome.lease} if outcome.lease else {})
    ended = {"lost_to": outcome.lost_to} if isinstance(outcome, LeaseLost) else {"left_on": outcome.worker}
    return {"lease": claim.lease.model_copy(update=ended)} if claim.lease else {}


def failures_seen(claim: Claim, outcome: ChecksUnsettled | ChecksNoted) -> FailuresSeen | None:
    """Return what to remember of failing checks; another failure than before is progress, and a pass ends the count."""
    before, verdict = claim.failures or FailuresSeen(), outcome.verdict
    if verdict.ci is CI.GREEN:
        return FailuresSeen(rerun_sha=before.rerun_sha) if claim.failures else None
    if isinstance(outcome, ChecksUnsettled) and outcome.is_held:
        return before.model_copy(update={"held": verdict.failed_runs})
    if isinstance(outcome, ChecksNoted) or outcome.failures is None:
        return claim.failures
    fingerprint = fingerprint_of(outcome.failures, verdict.failed)
    rounds = 1
    if before.fingerprint == fingerprint:
        rounds = before.rounds if before.sha == verdict.sha else following(before.rounds)
    known = {"sha": verdict.sha, "runs": verdict.failed_runs, "fingerprint": fingerprint, "rounds": rounds}
    return before.model_copy(update=known)


def _with_checks(claim: Claim, outcome: ChecksUnsettled | ChecksNoted) -> dict[str, object]:
    verdict = outcome.verdict
    seen = ChecksSeen(
        sha=verdict.sha,
        passed=verdict.passed,
        total=verdict.total,
        state=verdict.ci.value,
        failed=verdict.failed,
        missing=verdict.missing,
        approval_url=verdict.approval_url,
    )
    return {"last_check_poll": outcome.at, "checks": seen, "failures": failures_seen(claim, outcome)}


def report(  # noqa: PLR0912  # one arm for each outcome
    trigger: Trigger, claim: Claim, outcome: Outcome, facts: Facts
) -> tuple[Notice, ...]:
    """Return what is to be said of `outcome`, which happened to `claim`."""
    match outcome:
        case PullOpened() | PullAdopted():
            return _pull_news(claim, outcome)
        case PullRefused(reason):
            return (messages.pull_refused(claim, reason),)
        case ChecksUnsettled() | ChecksNoted():
            return _checks(trigger, claim, outcome, facts)
        case JobsRerun():
            return (pull_messages.jobs_rerun(outcome),)
        case ReviewRequested():
            return (pull_messages.review_requested(outcome),)
        case PullMerged(pull):
            return _merged(trigger, messages.pull_merged(claim, pull, facts.session), claim, facts)
        case ClosedByMerge(pull):
            return (messages.closed_by_merge(claim, pull),)
        case PullClosed(pull):
            return _now(trigger, messages.closed_unmerged(claim, pull), facts)
        case DriftNoted():
            return tuple(one for news in _drift_news(claim, outcome) for one in _now(trigger, news, facts))
        case PullReopened(pull):
            return (messages.pull_reopened(pull),)
        case CardRefused(status, trouble):
            news = messages.board_trouble(claim, trouble, status)
            # A person who asks hears it each time.
            again = f"@{facts.now.isoformat()}" if trigger is Trigger.SYNC else ""
            return (replace(news, id=news.id + again),)
        case TaskClosed(trouble, stays_open):
            done = facts.settings.board.done
            return (messages.task_closed(claim, trouble=trouble, done=done, stays_open=stays_open),)
        case PauseNoted(until):
            # GitHub often asks for a minute, again and again: that is told once.
            is_same = claim.not_before is not None and until - claim.not_before < SAME_PAUSE
            return () if is_same else (messages.github_paused(evolve(claim, outcome)),)
        case LeaseLost():
            return (messages.lease_lost(evolve(claim, outcome), facts.session_id),)
        case LeaseUnknown(reason):
            return (messages.lease_unknown(claim, reason, facts.session_id),)
        case Said(notice) | StepWithheld(_, notice):
            return (notice,)
        case BranchPushed() | CardMoved() | HandedOff() | Consented() | ClaimDeleted() | LeftOnHook():
            return ()
        case FeedbackNoted() | PullUnmoved():
            return ()


def _drift_news(claim: Claim, outcome: DriftNoted) -> tuple[Notice, ...]:
    from agent_sync.task.decision.drift.drift_messages import drift_news

    return drift_news(claim, outcome)


def _pull_news(claim: Claim, outcome: PullOpened | PullAdopted) -> tuple[Notice, ...]:
    pull = outcome.pull
    news = messages.pull_opened(pull)
    if isinstance(outcome, PullAdopted):
        news = messages.pull_adopted(pull, outcome.update)
    refused = (messages.extra_refused(pull, note) for note in outcome.notes)
    return (news, *refused, *_board(claim, outcome.board_trouble, outcome.status))


def _board(claim: Claim, trouble: str, status: str) -> tuple[Notice, ...]:
    return (messages.board_trouble(claim, trouble, status),) if trouble else ()


# What is kept to itself by the watcher in the background and at a session's start: nothing in it needs anybody.
_UNEVENTFUL = frozenset({CI.RUNNING, CI.NONE, CI.UNAVAILABLE, CI.MISSING})


def _checks(trigger: Trigger, claim: Claim, outcome: ChecksUnsettled | ChecksNoted, facts: Facts) -> tuple[Notice, ...]:
    """A plain idle event reports every look, a session's start what is settled, the watcher only what is new."""
    ci, is_background = outcome.verdict.ci, trigger in {Trigger.REWAKE, Trigger.SESSION_START}
    if isinstance(outcome, ChecksUnsettled) and outcome.is_held:
        return ()
    if is_background and ci in _UNEVENTFUL:
        return ()
    again = "" if is_background else f"@{outcome.at.isoformat()}"
    known = failures_seen(claim, outcome)
    known = known if known and known.sha == outcome.verdict.sha else None
    failures = outcome.failures if isinstance(outcome, ChecksUnsettled) else None
    more = round_text(known, failures or ()) if ci is CI.FAILED else ""
    said = checks_polled(outcome.pull, outcome.verdict, known=known, more=more, wakes_green=facts.settings.notify.green)
    if facts.is_ahead and said.agent_text:
        said = replace(said, agent_text=f"{said.text} {outcome.pull.url} {lacks_commits(outcome.pull.number)}")
    is_watcher = trigger is Trigger.REWAKE
    if is_watcher and known and not more and checks_polled(outcome.pull, outcome.verdict).id in facts.told:
        # A session that began was told of it before it was looked into.
        said = as_told(said)
    said = replace(said, id=said.id + again)
    why = failure_report(outcome.pull, known, failures) if known and failures is not None else None
    return (*_now(trigger, said, facts), *(_now(trigger, why, facts) if why else ()))


def _merged(trigger: Trigger, asked: Notice, claim: Claim, facts: Facts) -> tuple[Notice, ...]:
    """A session that is asked at its start is not reminded with its first prompt."""
    is_start = trigger is Trigger.SESSION_START
    return (asked, as_told(messages.merged_reminder(claim, facts.session))) if is_start else (asked,)


def _now(trigger: Trigger, notice: Notice, facts: Facts) -> tuple[Notice, ...]:
    return for_session(notice, facts.session) if trigger is Trigger.SESSION_START else (notice,)


def told_before(claim: Claim, outcome: Outcome) -> tuple[str, ...]:
    """Return how the ids begin of notices that `outcome` makes news again, whatever an earlier round has said.

    An outcome that moves the claim happens once in a task: a second time means that somebody began anew.
    """
    match outcome:
        case PullOpened(pull) | PullAdopted(pull):
            return (f"pr:{pull.number}", *messages.about_pull(pull))
        case ChecksUnsettled(pull) | ChecksNoted(pull):
            return () if claim.checks else about_feedback(pull)
        case PullClosed() if claim.closed_unmerged:
            return ()
        case PullMerged(pull) | ClosedByMerge(pull) | PullClosed(pull) | PullReopened(pull):
            return messages.about_pull(pull)
        case DriftNoted():
            return tuple(news.id for news in _drift_news(claim, outcome))
        case TaskClosed():
            return (messages.task_closed(claim, trouble="", done="").id,)
        case StepWithheld(_, notice):
            return (notice.id,) if claim.withheld is None else ()
        case _:
            return ()
