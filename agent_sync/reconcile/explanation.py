"""Says why a task does not move: what was looked at and when, what it waits for, who acts, and what happens when."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any

from agent_sync.lazy_dataclasses import dataclass
from agent_sync.leases.model import Lease, LeaseMode, LeaseState
from agent_sync.leases.rules import (
    TakeOverObjection,
    expires_at,
    is_dated_ahead,
    objection_to_taking_over,
    renewal_due_at,
)
from agent_sync.leases.words import dated_ahead, held_by, moment
from agent_sync.reconcile.comparison import TaskSeen
from agent_sync.reconcile.difference import Difference
from agent_sync.task.claim.phases import Phase
from agent_sync.task.decision.claimable import ClaimObjection
from agent_sync.task.decision.facts import Card, Pull, PullState
from agent_sync.task.decision.feedback.merging import pull_verdict
from agent_sync.task.decision.needs import next_poll_at
from agent_sync.task.decision.next_step import NextStep
from agent_sync.task.decision.outside_text import one_line, quoted
from agent_sync.task.decision.situations import Situation
from agent_sync.task.decision.tasks import Task

_A_PERSON_DECIDES = frozenset({TakeOverObjection.MANUAL, TakeOverObjection.OPEN_PULL})
# So many lines of the log are shown as proof.
MOST_LINES = 8


@dataclass(frozen=True)
class LookedAt:
    """One thing that was looked at, when, and what it said."""

    what: str
    at: datetime
    found: str


@dataclass(frozen=True)
class Upcoming:
    """What happens by itself, and when."""

    at: datetime
    what: str


@dataclass(frozen=True)
class Explanation:
    """Why a task stands where it stands."""

    issue: int
    waits_for: str
    who: str
    step: NextStep
    stands: Situation | None = None
    looked_at: tuple[LookedAt, ...] = ()
    upcoming: tuple[Upcoming, ...] = ()
    differences: tuple[Difference, ...] = ()
    log: tuple[dict[str, Any], ...] = ()


def looks(seen: TaskSeen) -> Iterator[LookedAt]:
    """Return what was looked at for this worktree's task, just now and before."""
    claim, now = seen.claim, seen.now
    yield LookedAt("claim", now, f"phase {claim.phase}, status {quoted(claim.status or 'none')}")
    if seen.pull:
        yield LookedAt("pull request", now, pull_words(seen.pull))
    if seen.issue:
        state = "gone" if seen.issue.is_gone else "open" if seen.issue.is_open else "closed"
        people = ", ".join(quoted(name, limit=40) for name in seen.issue.assignees) or "nobody"
        yield LookedAt("issue", now, f"#{claim.issue_number} {state}, assigned to {people}")
    if isinstance(seen.card, Card):
        agent = quoted(seen.card.agent, limit=60) if seen.card.agent else "nobody"
        yield LookedAt("card", now, f"{quoted(seen.card.status or 'no status')}, agent {agent}")
    if seen.held:
        yield LookedAt("lease", now, f"held here, epoch {seen.held.epoch}, renewed at {moment(seen.held.renewed_at)}")
    if seen.record:
        yield LookedAt("record", now, f"task {quoted(seen.record.task_id)} is {seen.record.stage.value}")
    if claim.last_check_poll:
        state = claim.checks.state if claim.checks else "nothing"
        yield LookedAt("CI, as last noted", claim.last_check_poll, one_line(state, limit=60))


def pull_words(pull: Pull) -> str:
    """Return how a pull request and its CI stand, in a few words."""
    if pull.state is not PullState.OPEN:
        return f"PR #{pull.number} {pull.state.value}"
    found = pull_verdict(pull)
    draft = ", draft" if pull.is_draft else ""
    return f"PR #{pull.number} open{draft}, CI {found.ci.value}, {found.passed}/{found.total}"


def upcoming_here(seen: TaskSeen, *, backoff_s: float, allowance_s: float) -> tuple[Upcoming, ...]:
    """Return what happens by itself to this worktree's task, soonest first."""
    claim, now = seen.claim, seen.now
    found = []
    if claim.not_before and claim.not_before > now:
        found.append(Upcoming(claim.not_before, "GitHub may be asked again: its rate limit is reached until then"))
    is_watched = claim.phase in {Phase.PR_CREATED, Phase.CHECKS_RUNNING} and not claim.closed_unmerged
    if is_watched and claim.may_act:
        due = max(now, next_poll_at(claim, now, backoff_s))
        found.append(Upcoming(due, "the next look at the pull request, once the session is idle"))
    if seen.held and claim.may_act:
        found += lease_moments(seen.held, now, allowance_s=allowance_s, is_own=True)
    return tuple(sorted(found, key=lambda one: one.at))


def lease_moments(lease: Lease, now: datetime, *, allowance_s: float, is_own: bool) -> list[Upcoming]:
    """Return when a lease is renewed and when it runs out; one made by hand does neither."""
    if lease.mode is LeaseMode.MANUAL or lease.state is not LeaseState.HELD:
        return []
    if is_dated_ahead(lease, now) and not is_own:
        return []
    ends = expires_at(lease, now) + timedelta(seconds=allowance_s)
    over = Upcoming(ends, "the claim expires unless it is renewed, and others may take the issue over")
    due = max(now, renewal_due_at(lease.renewed_at, lease.ttl_s, now))
    return [Upcoming(due, "the session's hooks renew the lease"), over] if is_own else [over]


def held_elsewhere(  # noqa: PLR0913  # lease, GitHub, what follows from both, and who asks
    lease: Lease, *, now: datetime, allowance_s: float, pull: Pull | None, waits_for: str, who: str, is_person: bool
) -> Explanation:
    """Return why an issue that another worktree holds does not move."""
    objection = _objection(lease, now, allowance_s, pull)
    taken, command = _taking_over(lease, objection, is_person=is_person, now=now)
    looked = [LookedAt("lease", now, f"held by {held_by(lease)}")]
    looked += [LookedAt("pull request", now, pull_words(pull))] if pull else []
    return Explanation(
        issue=lease.issue,
        waits_for=waits_for,
        who=who,
        step=NextStep(f"Issue #{lease.issue} is held elsewhere. {taken}", command),
        looked_at=tuple(looked),
        upcoming=tuple(lease_moments(lease, now, allowance_s=allowance_s, is_own=False)),
    )


def _taking_over(
    lease: Lease, objection: TakeOverObjection | None, *, is_person: bool, now: datetime
) -> tuple[str, str]:
    """Return whether the reader may take a claim over, and the command that does, or that makes it possible."""
    command = f"agent-sync claim {lease.issue} --take-over"
    if objection is None:
        return "Its claim has expired: it may be taken over.", command
    if is_dated_ahead(lease, now):
        return f"It cannot be taken over yet: {dated_ahead(lease)}.", "agent-sync reconcile --all"
    if objection not in _A_PERSON_DECIDES:
        return f"It cannot be taken over: {objection}.", ""
    if is_person:
        return f"{objection[0].upper()}{objection[1:]}: you may take it over.", f"{command} --yes"
    return f"Only a person may take it over: {objection}.", ""


def _objection(lease: Lease, now: datetime, allowance_s: float, pull: Pull | None) -> TakeOverObjection | None:
    """Return what speaks against a take-over, as far as that is known without looking at the branch."""
    is_open = pull is not None and pull.state is PullState.OPEN
    return objection_to_taking_over(
        lease, now, branch_moved=False, has_open_pull=is_open, consent=False, allowance_s=allowance_s
    )


def free_issue(
    task: Task, found: ClaimObjection | None, warnings: Sequence[str], *, last: Lease | None, now: datetime
) -> Explanation:
    """Return why an issue that nobody holds by a lease does not move."""
    step = NextStep(f"Nobody holds issue #{task.number}: it can be claimed.", f"agent-sync claim {task.number}")
    waits, who = "somebody to claim it", "anybody"
    if found:
        step = NextStep(found.reason, "" if found.is_lost else "agent-sync next")
        waits, who = one_line(found.reason.rstrip("."), limit=300), "others" if found.is_lost else "you"
    elif warnings:
        step = NextStep(f"{step.sentence} But {'; '.join(one_line(one, limit=200) for one in warnings)}.", step.command)
    card = quoted(task.card.status or "no status") if isinstance(task.card, Card) else "no card"
    state = "open" if task.is_open else "closed"
    people = ", ".join(quoted(name, limit=40) for name in task.assignees) or "nobody"
    looked = [LookedAt("issue", now, f"#{task.number} {state}, assigned to {people}, card {card}")]
    ended = f"not held; last by {held_by(last)}" if last else "never claimed"
    looked.append(LookedAt("lease", now, ended))
    return Explanation(task.number, waits, who, step, looked_at=tuple(looked))
