"""Every sentence on the checks of a pull request."""

from agent_sync.task.claim.model import FailuresSeen
from agent_sync.task.decision.facts import Pull
from agent_sync.task.decision.feedback.checks import CI, SETTLED_WELL, ChecksVerdict
from agent_sync.task.decision.feedback.merging import is_ready, missing_for_merge
from agent_sync.task.decision.next_step import MOST_NAMES, PUBLISH
from agent_sync.task.decision.notice import Notice
from agent_sync.task.decision.outside_text import quoted


def checks_polled(
    pull: Pull,
    verdict: ChecksVerdict,
    *,
    wakes_green: bool = False,
    known: FailuresSeen | None = None,
    more: str = "",
) -> Notice:
    """The checks say this and `more`; `known` is what is known of the failure."""
    text = _ci_text(pull, verdict) + more
    is_failed, is_settled = verdict.ci is CI.FAILED, verdict.ci in SETTLED_WELL
    # The agent has tried often enough: what it is told now is for the human to act on.
    is_stuck = is_failed and known is not None and known.is_stuck
    is_agents = is_failed and not is_stuck
    is_merge_due = is_settled and is_ready(pull)
    return Notice(
        _identity(pull, verdict, known, is_merge_due=is_merge_due),
        text,
        for_human=is_failed or is_merge_due or verdict.ci in {CI.APPROVAL, CI.GREEN},
        for_agent=True,
        wakes=is_agents or (wakes_green and (is_merge_due or verdict.ci is CI.GREEN)),
        agent_text=f"{text} {pull.url} Commit a fix, {PUBLISH}" if is_agents else "",
        can_wait=not is_agents,
    )


def _identity(pull: Pull, verdict: ChecksVerdict, known: FailuresSeen | None, *, is_merge_due: bool) -> str:
    """Another check that ends meanwhile makes the same failure no news; a rerun that fails in another way does."""
    failed = known.fingerprint if known and known.fingerprint else ",".join(verdict.failed_runs)
    ready = ":ready" if is_merge_due else ""
    return f"ci:{pull.number}:{verdict.sha}:{verdict.ci.value}:{failed if verdict.failed else ''}{ready}"


def _ci_text(pull: Pull, verdict: ChecksVerdict) -> str:
    match verdict.ci:
        case CI.GREEN:
            green = "The check is green." if verdict.total == 1 else f"All {verdict.total} checks green."
            return _settled_text(pull, f"CI passed! {green}")
        case CI.ABSENT:
            return _settled_text(pull, "No CI is configured.")
        case CI.FAILED:
            return _failed_text(pull, verdict)
        case CI.RUNNING:
            return f"CI: {verdict.passed}/{verdict.total} passed, {verdict.running} running..."
        case CI.NONE:
            return f"CI: no checks reported yet for PR #{pull.number}."
        case CI.MISSING:
            names = ", ".join(quoted(name, limit=60) for name in verdict.missing[:MOST_NAMES])
            return f"CI: {verdict.passed}/{verdict.total} passed; required and not reported yet: {names}."
        case CI.APPROVAL:
            where = quoted(verdict.approval_url, limit=200)
            return f"CI: a workflow of PR #{pull.number} waits for a human's approval: {where}."
        case CI.UNAVAILABLE:
            return f"CI: the checks of PR #{pull.number} cannot be seen{_because(pull.checks_note)}."


def _settled_text(pull: Pull, said: str) -> str:
    """Say what comes after CI; whether it can be merged is GitHub's word: reviews and rules may stand against it."""
    if pull.queue_position is not None:
        return f"{said} PR #{pull.number} is in the merge queue, at place {pull.queue_position}."
    if is_ready(pull):
        return f"{said} PR #{pull.number} is ready to merge."
    missing = missing_for_merge(pull) or ("it conflicts with its base branch" if pull.is_conflicting else "")
    return f"{said} PR #{pull.number} is not ready to merge: {missing}." if missing else f"{said} (PR #{pull.number})"


def _failed_text(pull: Pull, verdict: ChecksVerdict) -> str:
    names = ", ".join(quoted(name, limit=50) for name in verdict.failed[:MOST_NAMES])
    more = f" and {len(verdict.failed) - MOST_NAMES} more" if len(verdict.failed) > MOST_NAMES else ""
    running = f", {verdict.running} running" if verdict.running else ""
    counts = f"{verdict.passed}/{verdict.total} passed{running}"
    return f"CI: {len(verdict.failed)} FAILED — {names}{more} (PR #{pull.number}, {counts})."


def _because(note: str) -> str:
    return f": {quoted(note, limit=300)}" if note else ""
