"""What is said of an open pull request: why CI failed, what reviewers wrote, what keeps it from its merge."""

from collections.abc import Iterator

from agent_sync.task.claim.model import MOST_ROUNDS, FailuresSeen
from agent_sync.task.decision.facts import Ejection, Pull
from agent_sync.task.decision.feedback.feedback_actions import JobsRerun, ReviewRequested
from agent_sync.task.decision.feedback.merging import update_commands
from agent_sync.task.decision.feedback.reviews import (
    AuthorKind,
    Remark,
    ReviewThread,
    Wake,
    is_heard,
    short_id,
    spoken,
    wanting_changes,
)
from agent_sync.task.decision.next_step import PUBLISH
from agent_sync.task.decision.notice import Notice
from agent_sync.task.decision.outside_text import FENCE_NOTE, fenced, fenced_prose, fenced_tail, one_line, quoted
from agent_sync.task.failures.failure import Failure

# A reply of the hooks is cut at 9,000 characters: the logs of one look must leave room for the rest.
LOGS_LIMIT = 5_000
# So many remarks are told at one look; the others with the next.
MOST_REMARKS = 10


def about_feedback(pull: Pull) -> tuple[str, ...]:
    """Return how the ids of everything begin that is said of an open pull request: a new round hears it anew.

    A review that was requested again is not among them: nobody is asked twice.
    """
    kinds = ("ci", "failure", "rerun", "changes", "conflict", "behind", "ejected", "remark", "outdated")
    return tuple(f"{kind}:{pull.number}:" for kind in kinds)


def failure_report(pull: Pull, note: FailuresSeen, failures: tuple[Failure, ...]) -> Notice | None:
    """Tell why CI failed; a failure that came back was told before, and one without any log tells nothing."""
    if note.rounds > 1 or all(failure.note for failure in failures):
        return None
    share = LOGS_LIMIT // len(failures)
    parts = [
        f"Why CI failed on PR #{pull.number}, commit {note.sha[:12]}:",
        *(_failure(one, share) for one in failures),
    ]
    text = "\n".join([*parts, f"{FENCE_NOTE} Commit a fix, {PUBLISH}"])
    identity = f"failure:{pull.number}:{note.sha}:{note.fingerprint}"
    return Notice(identity, text, for_human=False, for_agent=True, wakes=True)


def round_text(note: FailuresSeen | None, failures: tuple[Failure, ...]) -> str:
    """Return what is added to a failure that came back on a new commit."""
    if note is None or note.rounds <= 1:
        return ""
    if note.is_stuck:
        return (
            f" It failed in the same way on {note.rounds} commits, so the agent is not woken for it any more: "
            f"a human should look into it.{_where(failures)}"
        )
    again = f" The same failure as before (round {note.rounds} of {MOST_ROUNDS}, then a human is asked)"
    return f"{again}: the last change did not cure it.{_where(failures)}"


def _where(failures: tuple[Failure, ...]) -> str:
    paths = [failure.path for failure in failures if failure.path]
    return f" Logs: {', '.join(paths)}" if paths else ""


def _failure(failure: Failure, limit: int) -> str:
    step = f", step {quoted(failure.step, limit=80)}" if failure.step else ""
    head = f"- {quoted(failure.name, limit=80)}{step}: {one_line(failure.url, limit=200)}"
    if failure.note:
        return f"{head}\n  No log: {quoted(failure.note, limit=200)}"
    noted = fenced("\n".join(failure.annotations), lines=10, limit=1_200) if failure.annotations else ""
    tail = fenced_tail(failure.tail, limit=max(400, limit - len(noted)))
    shown = len(tail.splitlines())
    whole = f"; all of it: {failure.path}" if failure.path else ""
    return "\n".join(
        part for part in (head, noted, f"  The last {shown} of {failure.lines} lines{whole}", tail) if part
    )


def jobs_rerun(outcome: JobsRerun) -> Notice:
    """Tell that jobs were run again, or why not."""
    names = ", ".join(quoted(name, limit=60) for name in outcome.names)
    why = f'CI: {names} failed on PR #{outcome.pull.number} and looks like infrastructure ("{outcome.pattern}")'
    done = f"could not be run again: {quoted(outcome.trouble, limit=200)}" if outcome.trouble else "was run again"
    text = f"{why}; it {done}{'' if outcome.trouble else ', once for this commit'}."
    return Notice(f"rerun:{outcome.pull.number}:{outcome.pull.head_sha}", text)


def review_requested(outcome: ReviewRequested) -> Notice:
    """Tell that a reviewer was asked to look again, or why not."""
    names = ", ".join(quoted(name, limit=40) for name in outcome.names)
    text = f"The branch of PR #{outcome.pull.number} has moved on since {names} requested changes; "
    done = f"a new review could not be requested: {quoted(outcome.trouble, limit=200)}."
    text += done if outcome.trouble else f"a new review by {names} was requested."
    return Notice(review_request_id(outcome.pull, outcome.review_ids), text)


def review_request_id(pull: Pull, reviews: tuple[str, ...]) -> str:
    """Return what makes sure that a reviewer is asked again once for each review."""
    return f"rereview:{pull.number}:{','.join(reviews)}"


def pull_news(pull: Pull, *, wake: Wake, remote: str) -> Iterator[Notice]:
    """Return everything that is to be said once of an open pull request, apart from its checks."""
    if pull.changes_requested_by:
        yield changes_requested(pull, wake)
    if pull.is_conflicting:
        yield conflicting(pull, remote)
    elif pull.merge_state == "BEHIND":
        yield behind(pull, remote)
    if pull.ejection and pull.queue_position is None:
        yield ejected(pull, pull.ejection)
    yield from _remarks(pull, wake)


def changes_requested(pull: Pull, wake: Wake) -> Notice:
    """A reviewer with write access wants changes."""
    people = ", ".join(quoted(name, limit=40) for name in pull.changes_requested_by)
    text = f"PR #{pull.number}: changes requested by {people}: {pull.url}"
    identity = f"changes:{pull.number}:{pull.review_id}"
    if wake is Wake.NOBODY:
        return Notice(identity, f"{text} The agent was not told (`reviews.wake`). See `agent-sync review list`.")
    remarks = [review.remark for review in wanting_changes(pull.conversation)]
    said = [one for one in remarks if one.kind is AuthorKind.WRITER and is_heard(one, wake)]
    if said:
        texts = (f"{quoted(one.author, limit=40)} wrote:\n{fenced_prose(one.body)}" for one in said)
        text = "\n".join([text, *texts, FENCE_NOTE])
    step = f"{text} Read the review, commit the changes, {PUBLISH}"
    return Notice(identity, text, for_agent=True, wakes=True, agent_text=step)


def conflicting(pull: Pull, remote: str = "origin") -> Notice:
    """The pull request cannot be merged as it is."""
    text = f"PR #{pull.number} conflicts with its base branch and cannot be merged: {pull.url}"
    step = f"{text} {_update(pull, remote)}, resolve and commit, {PUBLISH}"
    return Notice(f"conflict:{pull.number}:{pull.head_sha}", text, for_agent=True, wakes=True, agent_text=step)


def behind(pull: Pull, remote: str) -> Notice:
    """The rules ask for a branch that contains its base."""
    text = f"PR #{pull.number} must be updated with its base branch before it can be merged."
    step = f"{text} {_update(pull, remote)}, {PUBLISH}"
    return Notice(f"behind:{pull.number}:{pull.head_sha}", text, for_agent=True, wakes=True, agent_text=step)


def _update(pull: Pull, remote: str) -> str:
    commands = update_commands(f"{remote}/{pull.base}") if pull.base else ""
    return f"Run `{commands}`" if commands else "Merge the base branch"


def ejected(pull: Pull, ejection: Ejection) -> Notice:
    """The merge queue has thrown the pull request out."""
    where = f" on the queue's commit {ejection.commit[:12]}" if ejection.commit else ""
    text = (
        f"PR #{pull.number} was taken out of the merge queue{where}: "
        f"{quoted(ejection.reason or 'no reason given', limit=200)}. A human queues it again."
    )
    step = f"{text} Find out why, commit a fix, {PUBLISH}"
    return Notice(f"ejected:{pull.number}:{ejection.id}", text, for_agent=True, wakes=True, agent_text=step)


def _remarks(pull: Pull, wake: Wake) -> Iterator[Notice]:
    told_with_changes = {review.remark.id for review in wanting_changes(pull.conversation)}
    for remark, thread in spoken(pull.conversation):
        if remark.id not in told_with_changes or remark.author not in pull.changes_requested_by:
            yield remark_made(pull, remark, thread) if is_heard(remark, wake) else _unheard(pull, remark)
    for thread in pull.conversation.threads:
        if thread.is_outdated and thread.awaits_answer and any(is_heard(one, wake) for one in thread.remarks):
            yield _outdated(pull, thread)


def remark_made(pull: Pull, remark: Remark, thread: ReviewThread | None) -> Notice:
    """Somebody whose word counts has said something."""
    name = short_id(thread.id if thread else remark.id)
    text = "\n".join(
        [
            f"{quoted(remark.author, limit=40)}{remark.label} on PR #{pull.number}{_place(thread)} (id {name}):",
            fenced_prose(remark.body),
            f"{FENCE_NOTE} Answer with `agent-sync review reply {name} TEXT`"
            + (f", settle with `agent-sync review resolve {name}`." if thread else "."),
        ]
    )
    return Notice(f"remark:{pull.number}:{remark.id}", text, for_agent=True, wakes=True)


def _place(thread: ReviewThread | None) -> str:
    if thread is None:
        return ""
    line = f" line {thread.line}" if thread.line else ""
    return f", {quoted(thread.path, limit=200)}{line}"


def _unheard(pull: Pull, remark: Remark) -> Notice:
    """Somebody has said something that does not wake the agent: the human may want to know."""
    who = f"{quoted(remark.author, limit=40)} ({remark.kind.value})"
    if remark.kind is AuthorKind.WRITER:
        who = quoted(remark.author, limit=40)
    text = f"{who} commented on PR #{pull.number}; the agent was not told. See `agent-sync review list`."
    return Notice(f"remark:{pull.number}:{remark.id}", text)


def _outdated(pull: Pull, thread: ReviewThread) -> Notice:
    name = thread.short_id
    text = (
        f"A push has changed the lines of review thread {name} on PR #{pull.number}{_place(thread)}. "
        f"If that answers it: `agent-sync review reply {name} TEXT`, then `agent-sync review resolve {name}`."
    )
    return Notice(f"outdated:{pull.number}:{thread.id}", text, for_human=False, for_agent=True)
