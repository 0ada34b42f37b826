"""What is said of what others did to the pull request, its branch, the issue and the card, each once."""

from collections.abc import Iterator
from typing import assert_never

from agent_sync.task.claim.drift_seen import NO_DRIFT, DriftSeen, IssueChange
from agent_sync.task.claim.model import Claim
from agent_sync.task.decision.drift.drift_actions import DriftNoted
from agent_sync.task.decision.notice import Notice
from agent_sync.task.decision.outside_text import quoted

MOST_PEOPLE = 5


def drift_news(claim: Claim, outcome: DriftNoted) -> tuple[Notice, ...]:
    """Return what has changed since the last look; what is as it was before was said then."""
    before, seen = claim.drift or NO_DRIFT, outcome.seen
    return tuple(_pull_news(outcome.pull.number, before, seen)) + tuple(_issue_news(claim, before, seen))


def _pull_news(pr: int, before: DriftSeen, seen: DriftSeen) -> Iterator[Notice]:
    if seen.base and seen.base != before.base:
        yield retargeted(pr, seen.base)
    if seen.foreign_head and seen.foreign_head != before.foreign_head:
        yield foreign_head(pr, seen)
    if seen.revert and (seen.revert, seen.is_revert_merged) != (before.revert, before.is_revert_merged):
        yield reverted(pr, seen.revert, is_merged=seen.is_revert_merged)


def _issue_news(claim: Claim, before: DriftSeen, seen: DriftSeen) -> Iterator[Notice]:
    if seen.issue is not before.issue:
        yield from _issue_changed(claim, seen.issue)
    if seen.is_reassigned and seen.assignees != before.assignees:
        yield reassigned(claim, seen.assignees)
    elif seen.is_reassigned and not before.is_reassigned:
        yield reassigned(claim, ())
    if seen.card_status and seen.card_status != before.card_status:
        yield moved_on_board(claim, seen.card_status)


def _issue_changed(claim: Claim, change: IssueChange) -> Iterator[Notice]:
    issue = f"Issue #{claim.issue_number}"
    match change:
        case IssueChange.CLOSED:
            text = f"{issue} was closed while PR #{claim.pr_number} is not merged. A human decides whether it goes on."
        case IssueChange.REOPENED:
            text = f"{issue} is open again: the work on PR #{claim.pr_number} goes on."
        case IssueChange.GONE:
            text = (
                f"{issue} is no longer in this repository: it was transferred or deleted. A human decides what becomes "
                f"of PR #{claim.pr_number}; `agent-sync release --force` gives the task up here."
            )
        case IssueChange.NONE:
            return
        case _:
            assert_never(change)
    yield _patient(f"issue-{change}:{claim.issue_number}", text)


def reassigned(claim: Claim, assignees: tuple[str, ...]) -> Notice:
    """The issue was given to others: that is left as it is."""
    text = (
        f"Issue #{claim.issue_number} is assigned to {people(assignees)} now. That is left as it is: "
        "a human decides whether the work goes on here."
    )
    return _patient(f"reassigned:{claim.issue_number}:{','.join(assignees)}", text)


def moved_on_board(claim: Claim, status: str) -> Notice:
    """The card is not where it was put: that is left as it is."""
    text = (
        f"The card of issue #{claim.issue_number} was moved to {quoted(status, limit=60)} on the board "
        f"(agent-sync had put it to {quoted(claim.last_synced_status or '', limit=60)}). It is left there."
    )
    return _patient(f"card-moved:{claim.issue_number}:{status}", text)


def retargeted(pr: int, base: str) -> Notice:
    """The pull request goes into another branch than before."""
    text = f"PR #{pr} goes into branch {quoted(base)} now: somebody has changed its base. It is left so."
    return _patient(f"retargeted:{pr}:{base}", text)


def foreign_head(pr: int, seen: DriftSeen) -> Notice:
    """The branch on GitHub has commits that are not here."""
    what = f"{quoted(seen.forced_by, limit=40)} has force-pushed" if seen.forced_by else "Somebody else has pushed"
    helps = "compare before any more work" if seen.forced_by else "pull it before any more work"
    text = (
        f"{what} to the branch of PR #{pr}: it is at {seen.foreign_head[:12]}, which is not here. Nothing is pushed "
        f"over it; {helps}."
    )
    return _patient(f"foreign-head:{pr}:{seen.foreign_head}", text)


def reverted(pr: int, revert: int, *, is_merged: bool) -> Notice:
    """Somebody takes the merge back."""
    if is_merged:
        text = f"PR #{pr} was taken back: PR #{revert}, which reverts it, is merged. The work is not in any more."
    else:
        text = f"PR #{revert} would take the merged PR #{pr} back."
    return _patient(f"revert:{pr}:{revert}:{'merged' if is_merged else 'open'}", text)


def people(names: tuple[str, ...]) -> str:
    """Return people by their names, quoted."""
    more = f" and {len(names) - MOST_PEOPLE} more" if len(names) > MOST_PEOPLE else ""
    return (", ".join(quoted(name, limit=40) for name in names[:MOST_PEOPLE]) or "nobody") + more


def _patient(identity: str, text: str) -> Notice:
    """Return what the human is told now, and the agent early enough with the next prompt."""
    return Notice(identity, text, for_agent=True, can_wait=True)
