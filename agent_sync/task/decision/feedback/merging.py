"""Says what stands between an open pull request and its merge, in GitHub's own opinion."""

from agent_sync.lazy_patterns import pattern
from agent_sync.task.claim.model import FeedbackSeen
from agent_sync.task.decision.facts import Pull
from agent_sync.task.decision.feedback.checks import ChecksVerdict, verdict
from agent_sync.task.decision.feedback.reviews import Wake, open_threads
from agent_sync.task.decision.outside_text import quoted

READY = frozenset({"CLEAN", "HAS_HOOKS"})
# What a shell takes as it stands; the commands for other names are left to the reader.
_PLAIN_NAME = pattern(r"[\w.][\w./-]*")


def pull_verdict(pull: Pull) -> ChecksVerdict:
    """Return the verdict over the checks of the pull request's head commit."""
    return verdict(pull.head_sha, pull.reported)


def is_ready(pull: Pull) -> bool:
    """Tell whether GitHub says that the pull request can be merged now."""
    return pull.merge_state in READY and pull.queue_position is None and not missing_for_merge(pull)


def missing_for_merge(pull: Pull) -> str:
    """Return in one line what a merge lacks apart from checks; nothing where GitHub names nothing."""
    reasons = [
        "it is a draft" if pull.is_draft or pull.merge_state == "DRAFT" else "",
        _missing_review(pull),
        _unresolved(pull),
        "it must be updated with its base branch" if pull.merge_state == "BEHIND" else "",
    ]
    named = [reason for reason in reasons if reason]
    return "; ".join(named) or _UNNAMED.get(pull.merge_state, "")


_UNNAMED = {
    "BLOCKED": "a rule of the repository blocks it",
    "UNSTABLE": "not every check has passed",
    "UNKNOWN": "GitHub is still working out whether it can be merged",
}


def _missing_review(pull: Pull) -> str:
    asked = ", ".join(quoted(name, limit=40) for name in pull.conversation.requested)
    if pull.changes_requested_by or pull.review_decision == "CHANGES_REQUESTED":
        return f"a new review by {asked} is awaited" if asked and not pull.changes_requested_by else "changes requested"
    if pull.review_decision == "REVIEW_REQUIRED":
        return "a required review is missing" + (f" (asked: {asked})" if asked else "")
    return ""


def _unresolved(pull: Pull) -> str:
    count = sum(not thread.is_resolved for thread in pull.conversation.threads)
    if not count or not pull.needs_resolution or pull.merge_state in READY:
        return ""
    return f"{count} conversation{'s' if count > 1 else ''} must be resolved"


def update_commands(upstream: str) -> str:
    """Return what is typed to bring the base branch in; nothing where its name is not plain, or not known."""
    remote, _, base = upstream.partition("/")
    if not base or not _PLAIN_NAME.fullmatch(upstream):
        return ""
    return f"git fetch {remote} && git merge {upstream}"


def feedback_of(pull: Pull, *, wake: Wake = Wake.WRITERS, remote: str = "origin") -> FeedbackSeen | None:
    """Return what stands against a merge apart from checks; nothing where nothing does."""
    is_queued = pull.queue_position is not None
    seen = FeedbackSeen(
        changes_requested_by=pull.changes_requested_by,
        is_conflicting=pull.is_conflicting,
        is_behind=pull.merge_state == "BEHIND",
        missing=missing_for_merge(pull),
        threads=len(open_threads(pull.conversation, wake)),
        queue_position=pull.queue_position,
        ejected=pull.ejection.reason or "no reason given" if pull.ejection and not is_queued else "",
    )
    if seen == FeedbackSeen():
        return None
    return seen.model_copy(update={"upstream": f"{remote}/{pull.base}" if pull.base else ""})
