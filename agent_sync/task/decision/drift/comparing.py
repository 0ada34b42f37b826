"""Compares a pull request, its issue and its card with what this claim has made of them."""

from typing import Any

from agent_sync.task.claim.drift_seen import NO_DRIFT, DriftSeen, IssueChange
from agent_sync.task.claim.model import Claim
from agent_sync.task.decision.facts import Card, IssueSeen, Pull, PullState
from agent_sync.task.decision.tasks import Task

# How the id of every item of a board begins.
_ITEM = "PVTI_"


def drift_of(claim: Claim, pull: Pull, issue: IssueSeen | None, *, is_head_here: bool | None) -> DriftSeen:
    """Return what others have changed; what was not asked stays as it was last seen."""
    before = claim.drift or NO_DRIFT
    fields = _pull_drift(pull, before) | _head_drift(pull, before, is_head_here)
    return before.model_copy(update=fields | (issue_drift(claim, issue, head=pull.head_sha) if issue else {}))


def _pull_drift(pull: Pull, before: DriftSeen) -> dict[str, Any]:
    is_open, seen = pull.state is PullState.OPEN, pull.drift
    is_still_reopened = is_open and before.reopened_sha == pull.head_sha
    fields = {"reopened_sha": before.reopened_sha if is_still_reopened else ""}
    if seen is None:
        return fields
    return fields | {
        "base": seen.base if is_open else "",
        "is_branch_deleted": pull.state is PullState.CLOSED and seen.is_branch_deleted,
        "revert": seen.revert.number if seen.revert else None,
        "is_revert_merged": seen.revert is not None and seen.revert.is_merged,
    }


def _head_drift(pull: Pull, before: DriftSeen, is_head_here: bool | None) -> dict[str, Any]:  # noqa: FBT001
    was_foreign = before.foreign_head == pull.head_sha
    is_foreign = pull.state is PullState.OPEN and (was_foreign if is_head_here is None else not is_head_here)
    forced = pull.drift.force_push if pull.drift else None
    by = forced.by if forced and forced.sha == pull.head_sha else before.forced_by if was_foreign else ""
    return {"foreign_head": pull.head_sha if is_foreign else "", "forced_by": by if is_foreign else ""}


def issue_drift(claim: Claim, issue: IssueSeen, *, head: str = "") -> dict[str, Any]:
    """Return what others have made of the issue and its card, as fields of `DriftSeen`; `head` is that of the PR."""
    change = _issue_change(claim, issue, head)
    fields: dict[str, Any] = {"issue": change}
    if issue.viewer or change is IssueChange.GONE:
        is_reassigned = change is not IssueChange.GONE and _was_assigned(claim, issue) and not _is_assigned(issue)
        fields |= {"is_reassigned": is_reassigned, "assignees": issue.assignees if is_reassigned else ()}
    if issue.card_status is not None:
        fields["card_status"] = moved_card(claim, issue.card_status)
    return fields


def issue_of(task: Task) -> IssueSeen:
    """Return the issue of a task that was asked for by itself."""
    status = task.card.status or "" if isinstance(task.card, Card) and not task.card.is_archived else None
    return IssueSeen(task.is_open, task.assignees, task.viewer.login, status)


def card_to_watch(claim: Claim) -> str:
    """Return the id of the card that the claim has written last; nothing where somebody's move could not be told."""
    is_written = bool(claim.last_synced_status) and claim.refused_status is None
    return claim.item_id if is_written and claim.item_id.startswith(_ITEM) else ""


def moved_card(claim: Claim, status: str) -> str:
    """Return where somebody has moved the card; nothing where it is as it was last written, or about to be written."""
    written = claim.last_synced_status
    if not written or claim.status != written or status.casefold() == written.casefold():
        return ""
    return status or "no status"


def _issue_change(claim: Claim, issue: IssueSeen, head: str) -> IssueChange:
    before = claim.drift.issue if claim.drift else IssueChange.NONE
    if issue.is_gone or not issue.is_open:
        return IssueChange.GONE if issue.is_gone else IssueChange.CLOSED
    # With the next push the work has gone on: that the issue was closed for a while is no news any more.
    has_gone_on = before is IssueChange.REOPENED and claim.checks is not None and head not in {"", claim.checks.sha}
    return IssueChange.NONE if before is IssueChange.NONE or has_gone_on else IssueChange.REOPENED


def _was_assigned(claim: Claim, issue: IssueSeen) -> bool:
    """Tell whether our own claim has assigned the account that asks now; one written by hand assigns nobody."""
    is_told = claim.lease is not None and not claim.is_unmirrored
    return is_told and claim.agent_id.rpartition("-")[0].casefold() == issue.viewer.casefold()


def _is_assigned(issue: IssueSeen) -> bool:
    return issue.viewer.casefold() in {name.casefold() for name in issue.assignees}
