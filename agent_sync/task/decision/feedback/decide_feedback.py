"""Decides what to do about the checks, the reviews and the merge of an open pull request."""

from itertools import islice

from agent_sync.task.claim.model import Claim
from agent_sync.task.decision.actions import Action, ChecksNoted, ChecksUnsettled, FeedbackNoted
from agent_sync.task.decision.facts import Facts, Pull, Trigger
from agent_sync.task.decision.feedback.checks import CI, ChecksVerdict
from agent_sync.task.decision.feedback.feedback_actions import RequestReview, RerunJobs
from agent_sync.task.decision.feedback.merging import pull_verdict
from agent_sync.task.decision.feedback.pull_messages import MOST_REMARKS, pull_news, review_request_id
from agent_sync.task.decision.feedback.reviews import Wake, reviews_of_older_commits
from agent_sync.task.decision.needs import curable_pattern, is_rerun_awaited, needs_logs
from agent_sync.task.decision.notice import Notice
from agent_sync.task.decision.once import record_change, say_now


def decide_checks(claim: Claim, facts: Facts, pull: Pull) -> tuple[Action, ...]:
    """Return what to do about the checks; nothing where they were not asked for."""
    if pull.checks is None and not pull.checks_note:
        return ()
    seen = pull_verdict(pull)
    if seen.ci is CI.FAILED:
        return _failing(claim, facts, pull, seen)
    if seen.ci is CI.RUNNING:
        return record_change(claim, ChecksUnsettled(pull, seen, facts.now))
    return record_change(claim, ChecksNoted(pull, seen, facts.now))


def _failing(claim: Claim, facts: Facts, pull: Pull, seen: ChecksVerdict) -> tuple[Action, ...]:
    """Run again what looks like infrastructure, once for each commit; else say why it failed."""
    failures = facts.failures or ()
    pattern = curable_pattern(claim, facts, seen)
    if pattern and not seen.running:
        return (RerunJobs(pull, tuple(one.url for one in failures), tuple(one.name for one in failures), pattern),)
    if pattern or is_rerun_awaited(claim, seen):
        # GitHub runs nothing again before the whole run is over; until then the logs are not read again.
        return record_change(claim, ChecksUnsettled(pull, seen, facts.now, is_held=True))
    is_looked_into = facts.failures is not None or not facts.settings.checks.logs
    why = failures if is_looked_into and needs_logs(claim, pull) else None
    return record_change(claim, ChecksUnsettled(pull, seen, facts.now, failures=why))


def decide_feedback(trigger: Trigger, claim: Claim, facts: Facts, pull: Pull) -> tuple[Action, ...]:
    """Return what to do about reviews, remarks, the base branch and the merge queue."""
    wake, remote = Wake(facts.settings.reviews.wake), facts.remote
    noted = record_change(claim, FeedbackNoted(pull, wake, remote))
    told = (say_now(trigger, facts, one) for one in pull_news(pull, wake=wake, remote=remote) if _is_due(trigger, one))
    said = tuple(action for actions in islice(filter(None, told), MOST_REMARKS) for action in actions)
    return (*noted, *said, *(_request_review(facts, pull) if not said else ()))


def _is_due(trigger: Trigger, notice: Notice) -> bool:
    """A session that begins hears what needs the agent; what was only mentioned is not mentioned again."""
    return trigger is not Trigger.SESSION_START or notice.wakes


def _request_review(facts: Facts, pull: Pull) -> tuple[Action, ...]:
    """Ask those who requested changes on an older commit to look at the new one, once for each review."""
    moved = reviews_of_older_commits(pull.conversation, pull.head_sha)
    identity = review_request_id(pull, tuple(review.remark.id for review in moved))
    if not moved or not facts.settings.reviews.request_again or identity in facts.told:
        return ()
    return (RequestReview(pull, moved),)
