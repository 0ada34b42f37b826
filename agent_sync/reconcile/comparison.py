"""Compares the sides of one task, pure: whatever disagrees with the claim is one difference."""

from collections.abc import Iterator
from dataclasses import field, replace
from datetime import datetime

from agent_sync.lazy_dataclasses import dataclass
from agent_sync.leases.fence import LeaseStop
from agent_sync.leases.model import Lease
from agent_sync.leases.rules import renewal_due_at
from agent_sync.reconcile.difference import Difference, Remedy, Side
from agent_sync.task.claim.drift_seen import DriftSeen, IssueChange
from agent_sync.task.claim.model import Claim
from agent_sync.task.claim.phases import Phase
from agent_sync.task.decision.actions import LeaseLost, LeaseUnknown, LeftOnHook
from agent_sync.task.decision.decide import status_trouble
from agent_sync.task.decision.drift.comparing import drift_of, issue_drift, moved_card
from agent_sync.task.decision.drift.drift_messages import people
from agent_sync.task.decision.facts import Branch, Card, IssueSeen, NoCard, Pull, PullState
from agent_sync.task.decision.feedback.merging import pull_verdict
from agent_sync.task.decision.next_step import HANDOFF, PUSH, RELEASE
from agent_sync.task.decision.outside_text import one_line, quoted
from agent_sync.task.decision.situation import RecordSeen
from agent_sync.task.decision.situations import RecordStage
from agent_sync.work.findings import HookFinding, Repair

_OPEN = (Phase.PR_CREATED, Phase.CHECKS_RUNNING)


@dataclass(frozen=True)
class TaskSeen:
    """Everything that says something of one task; None where it was not asked, or is not there."""

    claim: Claim
    now: datetime
    branch: Branch
    is_ahead: bool = False
    is_head_here: bool = True
    pull: Pull | None = None
    issue: IssueSeen | None = None
    card: Card | NoCard | None = None
    lease: LeaseStop | None = None
    held: Lease | None = None
    record: RecordSeen | None = None
    findings: tuple[HookFinding, ...] = field(default_factory=tuple)
    has_board: bool = True


def differences(seen: TaskSeen) -> tuple[Difference, ...]:
    """Return everything that disagrees, side by side; whoever does not hold the issue repairs nothing on GitHub."""
    drift = _drift(seen)
    found = (*_git(seen, drift), *_pull(seen, drift), *_ci(seen), *_issue(seen, drift), *_card(seen))
    if seen.lease:
        found = tuple(replace(one, remedy=Remedy.TOLD) if one.is_ours else one for one in found)
    return (*found, *_lease(seen), *_record(seen), *_hook(seen))


def _drift(seen: TaskSeen) -> DriftSeen:
    if seen.pull:
        return drift_of(seen.claim, seen.pull, seen.issue, is_head_here=seen.is_head_here)
    return DriftSeen(**issue_drift(seen.claim, seen.issue)) if seen.issue else DriftSeen()


def _git(seen: TaskSeen, drift: DriftSeen) -> Iterator[Difference]:
    branch = quoted(seen.claim.branch)
    if seen.branch.local_sha is None:
        yield Difference(Side.GIT, f"branch {branch} is not in this clone", Remedy.TOLD, "git fetch, then git switch")
    elif not seen.branch.is_current:
        yield Difference(Side.GIT, f"another branch than {branch} is checked out", Remedy.TOLD, "git switch")
    if drift.foreign_head:
        by = f"{quoted(drift.forced_by, limit=40)} has force-pushed" if drift.forced_by else "somebody else has pushed"
        yield Difference(Side.GIT, f"{by} {drift.foreign_head[:12]}, which is not here", Remedy.LEFT, "git fetch")
    elif seen.is_ahead:
        yield Difference(Side.GIT, "the branch has commits that the pull request lacks", Remedy.TOLD, PUSH)


def _pull(seen: TaskSeen, drift: DriftSeen) -> Iterator[Difference]:
    claim, pull = seen.claim, seen.pull
    if pull is None:
        if claim.pr_number or claim.phase in _OPEN:
            yield Difference(Side.PULL, "the claim speaks of one, and none is there", Remedy.SYNC)
        return
    name, is_known = f"PR #{pull.number}", claim.pr_number == pull.number
    if not is_known and pull.state is PullState.OPEN:
        is_sought = claim.phase in {*_OPEN, Phase.READY_FOR_PR}
        remedy = Remedy.SYNC if is_sought else Remedy.TOLD
        yield Difference(Side.PULL, f"{name} of this branch is open, and the claim does not name it", remedy, HANDOFF)
    if not is_known and pull.state is PullState.MERGED and claim.phase is Phase.CODING:
        yield Difference(Side.PULL, f"{name} of this branch is merged, and the claim does not name it", Remedy.SYNC)
    if is_known and claim.phase in _OPEN:
        yield from _ended(claim, pull, name)
    if drift.base:
        yield Difference(Side.PULL, f"{name} goes into {quoted(drift.base)} now", Remedy.LEFT)
    if drift.revert:
        done = "has taken" if drift.is_revert_merged else "would take"
        yield Difference(Side.PULL, f"PR #{drift.revert} {done} {name} back", Remedy.LEFT)


def _ended(claim: Claim, pull: Pull, name: str) -> Iterator[Difference]:
    """Yield that the pull request ended, or did not, and the claim says otherwise."""
    deleted = ", and its branch was deleted" if pull.is_branch_deleted else ""
    match pull.state:
        case PullState.MERGED:
            yield Difference(Side.PULL, f"{name} is merged, and the claim does not know it", Remedy.SYNC)
        case PullState.CLOSED if claim.closed_unmerged:
            yield Difference(Side.PULL, f"{name} was closed without merging{deleted}", Remedy.LEFT, HANDOFF)
        case PullState.CLOSED:
            said = f"{name} was closed without merging{deleted}, and the claim does not know it"
            yield Difference(Side.PULL, said, Remedy.SYNC)
        case PullState.OPEN if claim.closed_unmerged:
            yield Difference(Side.PULL, f"{name} is open again, and the claim does not know it", Remedy.SYNC)
        case PullState.OPEN:
            return


def _ci(seen: TaskSeen) -> Iterator[Difference]:
    claim, pull = seen.claim, seen.pull
    if pull is None or pull.state is not PullState.OPEN or claim.phase not in _OPEN or claim.pr_number != pull.number:
        return
    found, known = pull_verdict(pull), claim.checks
    now = (found.sha, found.ci.value, found.passed, found.total, found.failed)
    if known is None or now != (known.sha, known.state, known.passed, known.total, known.failed):
        was = f"{known.state}, {known.passed}/{known.total}" if known else "nothing yet"
        said = f"it is {found.ci.value}, {found.passed}/{found.total}; the claim knows {one_line(was, limit=60)}"
        yield Difference(Side.CI, said, Remedy.SYNC)


def _issue(seen: TaskSeen, drift: DriftSeen) -> Iterator[Difference]:
    claim, name = seen.claim, f"issue #{seen.claim.issue_number}"
    if claim.is_unmirrored:
        yield Difference(Side.ISSUE, f"GitHub was not told that {name} is claimed", Remedy.MIRROR)
        return
    is_closing = claim.phase is Phase.DONE
    if is_closing and seen.issue and seen.issue.is_open:
        yield Difference(Side.ISSUE, f"{name} is open, and its closing was agreed to", Remedy.SYNC)
    if drift.issue is IssueChange.GONE:
        yield Difference(Side.ISSUE, f"{name} was transferred or deleted", Remedy.LEFT, f"{RELEASE} --force")
    elif drift.issue is IssueChange.CLOSED and not is_closing:
        is_merged = seen.pull is not None and seen.pull.state is PullState.MERGED
        said = f"{name} is closed, and the claim is in phase {claim.phase}"
        yield Difference(Side.ISSUE, said, Remedy.SYNC if is_merged else Remedy.LEFT, "" if is_merged else RELEASE)
    elif drift.is_reassigned:
        yield Difference(Side.ISSUE, f"{name} is assigned to {people(drift.assignees)}", Remedy.LEFT, RELEASE)


def _card(seen: TaskSeen) -> Iterator[Difference]:
    claim, card = seen.claim, seen.card
    if card is None or not seen.has_board or claim.is_unmirrored:
        return
    if isinstance(card, NoCard):
        yield Difference(Side.CARD, one_line(card.reason, limit=300), Remedy.LEFT)
    elif card.is_archived:
        yield Difference(Side.CARD, "it is archived", Remedy.LEFT)
    elif claim.status and claim.status != claim.last_synced_status and (trouble := status_trouble(card, claim.status)):
        yield Difference(Side.CARD, one_line(trouble, limit=300), Remedy.TOLD, "agent-sync doctor")
    elif claim.status and claim.status != claim.last_synced_status:
        said = f"it says {quoted(card.status or 'no status')}, and the claim {quoted(claim.status)}"
        yield Difference(Side.CARD, said, Remedy.SYNC)
    elif moved := moved_card(claim, card.status or ""):
        said = f"it was moved to {quoted(moved)} (agent-sync had put it to {quoted(claim.last_synced_status or '')})"
        yield Difference(Side.CARD, said, Remedy.LEFT)
    elif card.agent_field_id and claim.agent_id and card.agent != claim.agent_id:
        said = f"its Agent field names {quoted(card.agent)}" if card.agent else "its Agent field is empty"
        yield Difference(Side.CARD, said, Remedy.LEFT if card.agent else Remedy.CARD)


def _lease(seen: TaskSeen) -> Iterator[Difference]:
    note, held = seen.claim.lease, seen.held
    match seen.lease:
        case LeaseLost(lost_to):
            remedy = Remedy.TOLD if seen.claim.is_lost else Remedy.NOTE_LOSS
            yield Difference(Side.LEASE, f"the issue is held by {lost_to}", remedy, RELEASE)
        case LeftOnHook(worker):
            said = f"the work was left on the hook of {quoted(worker)}"
            yield Difference(Side.LEASE, said, Remedy.TOLD, "agent-sync worker take")
        case LeaseUnknown(reason, helps):
            yield Difference(Side.LEASE, f"it cannot be checked: {one_line(reason, limit=300)}", Remedy.TOLD, helps)
        case None if note and held:
            yield from _stale_lease(seen, held)


def _stale_lease(seen: TaskSeen, held: Lease) -> Iterator[Difference]:
    claim = seen.claim
    told = (held.branch, held.pr, held.phase)
    if told != (claim.branch or held.branch, claim.pr_number or held.pr, claim.phase.value):
        said = f"others see phase {quoted(held.phase or 'none')}, and the claim is in {claim.phase}"
        yield Difference(Side.LEASE, said, Remedy.RENEW)
    elif renewal_due_at(held.renewed_at, held.ttl_s, seen.now) <= seen.now:
        yield Difference(Side.LEASE, f"it was last renewed at {held.renewed_at:%H:%M} UTC", Remedy.RENEW)


def _record(seen: TaskSeen) -> Iterator[Difference]:
    record, issue = seen.record, seen.claim.issue_number
    if record is None or record.stage is RecordStage.ENDED:
        yield Difference(Side.RECORD, f"there is no recovery record of issue #{issue} at work", Remedy.RECORD)
    elif record.issue != issue:
        yield Difference(Side.RECORD, f"it is about task {quoted(record.task_id)}", Remedy.RECORD)


def _hook(seen: TaskSeen) -> Iterator[Difference]:
    for one in seen.findings:
        worker = f"the hook of {one.worker}: " if one.worker else ""
        remedy = Remedy.TOLD if one.repair is Repair.TELL else Remedy.HOOK
        yield Difference(Side.HOOK, worker + one_line(one.reason, limit=300), remedy, "agent-sync worker list")
