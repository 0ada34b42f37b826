"""Compares what the claim, the branch, the pull request, CI, the issue and the card say of one task."""

from agent_sync.lazy_dataclasses import dataclass
from agent_sync.task.claim.model import Claim
from agent_sync.task.claim.phases import Phase
from agent_sync.task.decision.facts import Branch, Card, NoCard, Pull, PullState
from agent_sync.task.decision.feedback.checks import CI, ChecksVerdict
from agent_sync.task.decision.feedback.merging import missing_for_merge, pull_verdict
from agent_sync.task.decision.outside_text import one_line, quoted
from agent_sync.task.decision.tasks import Task


@dataclass(frozen=True)
class Row:
    """One thing and what it says; a note marks a disagreement."""

    name: str
    says: str
    disagrees: str = ""


def rows(claim: Claim, branch: Branch, task: Task, pull: Pull | None) -> tuple[Row, ...]:
    """Return every part of the task side by side."""
    return (
        Row("claim", f"issue #{claim.issue_number}, phase {claim.phase}, status {claim.status or 'none'}"),
        _branch_row(claim, branch, pull),
        _pull_row(claim, pull),
        _ci_row(pull),
        _reviews_row(pull),
        *_merge_row(pull),
        _issue_row(claim, task),
        _card_row(claim, task),
    )


def _branch_row(claim: Claim, branch: Branch, pull: Pull | None) -> Row:
    if branch.local_sha is None:
        return Row("branch", f"{claim.branch or '(none)'}, not in this clone", "the claim's branch is not here")
    note = "" if branch.is_current else "another branch is checked out"
    if pull and pull.state is PullState.OPEN and pull.head_sha != branch.local_sha:
        note = f"the PR is at {pull.head_sha[:12]}"
    return Row("branch", f"{claim.branch} at {branch.local_sha[:12]}", note)


def _pull_row(claim: Claim, pull: Pull | None) -> Row:
    if pull is None:
        return Row("pull request", "none", "the claim names one" if claim.pr_number else "")
    note = "" if claim.pr_number else "the claim does not name it"
    if pull.state is PullState.MERGED and claim.phase not in {Phase.MERGED_DETECTED, Phase.DONE}:
        note = "merged, and the claim does not know yet"
    if pull.state is PullState.CLOSED:
        note = "closed without merging"
    if pull.is_conflicting:
        note = "conflicts with its base branch"
    draft = ", draft" if pull.is_draft else ""
    return Row("pull request", f"#{pull.number} {pull.state.value}{draft} {pull.url}", note)


def _ci_row(pull: Pull | None) -> Row:
    if pull is None:
        return Row("CI", "no pull request")
    seen = pull_verdict(pull)
    return Row("CI", _ci_words(seen), ", ".join(map(one_line, seen.failed or seen.missing)))


def _reviews_row(pull: Pull | None) -> Row:
    if pull is None:
        return Row("reviews", "no pull request")
    wanting = ", ".join(quoted(name, limit=60) for name in pull.changes_requested_by)
    unresolved = sum(not thread.is_resolved for thread in pull.conversation.threads)
    threads = f", {unresolved} unresolved thread{'s' if unresolved > 1 else ''}" if unresolved else ""
    says = "changes requested" if wanting else "no changes requested"
    return Row("reviews", says + threads, wanting and f"by {wanting}")


def _merge_row(pull: Pull | None) -> tuple[Row, ...]:
    """Return what GitHub says of the merge, of an open pull request only."""
    if pull is None or pull.state is not PullState.OPEN or not pull.merge_state:
        return ()
    if pull.queue_position is not None:
        return (Row("merge", f"in the merge queue, at place {pull.queue_position}"),)
    missing = missing_for_merge(pull)
    return (Row("merge", f"not ready: {missing}" if missing else pull.merge_state.lower()),)


def _ci_words(seen: ChecksVerdict) -> str:
    if seen.ci is CI.APPROVAL:
        return f"{seen.ci.value}: {one_line(seen.approval_url, limit=200)}"
    if not seen.total:
        return str(seen.ci.value)
    return f"{seen.ci.value}, {seen.passed}/{seen.total} passed"


def _issue_row(claim: Claim, task: Task) -> Row:
    state = "open" if task.is_open else "closed"
    people = ", ".join(task.assignees) or "nobody"
    note = ""
    if not task.is_open and claim.phase is not Phase.DONE:
        note = "the issue is closed, the claim is not done"
    elif task.viewer.login not in task.assignees:
        note = "you are not assigned"
    return Row("issue", f"#{task.number} {state}, assigned to {people}: {one_line(task.title)}", note)


def _card_row(claim: Claim, task: Task) -> Row:
    card = task.card
    match card:
        case NoCard(reason):
            return Row("card", "none", reason)
        case Card():
            note = ""
            if claim.status and (card.status or "").casefold() != claim.status.casefold():
                note = f"the claim says {claim.status}"
            elif claim.agent_id and card.agent != claim.agent_id:
                note = "the Agent field names somebody else" if card.agent else "the Agent field is empty"
            return Row("card", f"{card.status or 'no status'}, agent {one_line(card.agent or 'none', limit=60)}", note)
