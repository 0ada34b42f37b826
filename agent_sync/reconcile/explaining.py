"""Gathers what an explanation is made of: the worktree's own task, or one that is held elsewhere or by nobody."""

from dataclasses import replace
from datetime import datetime
from typing import Any

from agent_sync.context import Context
from agent_sync.errors import GitHubError
from agent_sync.fleet.commands import command_for
from agent_sync.fleet.look import held_task
from agent_sync.fleet.reading import WorktreeClaim
from agent_sync.fleet.seen import FleetSeen, HeldTask
from agent_sync.fleet.standing import standing_of
from agent_sync.fleet.turns import turn_of
from agent_sync.fleet.worktrees import seen_in
from agent_sync.leases.acquire import mode_here, unsettled
from agent_sync.leases.claim_refs import read_claim, transport_here
from agent_sync.leases.model import Lease, LeaseMode, LeaseState
from agent_sync.leases.results import Unknown
from agent_sync.reconcile.comparison import TaskSeen, differences
from agent_sync.reconcile.explanation import (
    MOST_LINES,
    Explanation,
    LookedAt,
    free_issue,
    held_elsewhere,
    looks,
    upcoming_here,
)
from agent_sync.reconcile.looking import look
from agent_sync.system import clock
from agent_sync.task.claim.model import Claim
from agent_sync.task.decision.claimable import objection, warnings
from agent_sync.task.decision.claims_seen import ClaimAsked, ClaimedIssue, ClaimsSeen
from agent_sync.task.decision.next_step import NextStep, next_step
from agent_sync.task.decision.outside_text import one_line
from agent_sync.task.decision.situation import Known
from agent_sync.task.decision.situations import Situation
from agent_sync.task.situation_here import situation_of


def explain_claim(context: Context, claim: Claim) -> Explanation:
    """Explain this worktree's own task."""
    seen, trouble = _look(context, claim)
    stands = situation_of(context, claim, Known(pull=seen.pull, issue=seen.issue, lease=seen.lease))
    waits_for, who = _turn_here(context, seen, stands)
    settings = context.settings
    happens = upcoming_here(seen, backoff_s=settings.checks.backoff_s, allowance_s=settings.lease.allowance_s)
    return Explanation(
        issue=claim.issue_number,
        waits_for=waits_for,
        who=who,
        step=next_step(stands),
        stands=stands,
        looked_at=(*looks(seen), *([LookedAt("GitHub", seen.now, trouble)] if trouble else [])),
        upcoming=happens,
        # What GitHub was not asked about would only seem to differ.
        differences=() if trouble else differences(seen),
        log=_log(context, claim.issue_number),
    )


def _look(context: Context, claim: Claim) -> tuple[TaskSeen, str]:
    """Look at everything; while GitHub cannot be asked, or asked to be left alone, at the rest, and say why."""
    now = clock.now()
    if claim.not_before and claim.not_before > now:
        until = f"not asked: its rate limit is reached until {claim.not_before:%H:%M:%S} UTC"
        return look(context, claim, asks_github=False), until
    try:
        return look(context, claim), ""
    except GitHubError as error:
        return look(context, claim, asks_github=False), f"could not be asked: {one_line(error.happened, limit=300)}"


def _turn_here(context: Context, seen: TaskSeen, stands: Situation) -> tuple[str, str]:
    """Return what is waited for and who acts: the same words that the view of the fleet has for it."""
    claim = seen.claim
    held = HeldTask(claim.issue_number, seen.held, seen_in(context, WorktreeClaim(context.place.root, claim)))
    viewer = seen.issue.viewer if seen.issue else ""
    # Whoever opened the pull request from this worktree is the one who asks.
    issue = ClaimedIssue(claim.issue_number, "", "", is_open=True, pull=seen.pull, pull_author=viewer)
    fleet = _fleet(context, held, ClaimsSeen(viewer, (issue,)), seen.now)
    turn = turn_of(replace(standing_of(held, fleet, seen.now), stands=stands), fleet)
    return turn.reason, turn.who


def _fleet(context: Context, held: HeldTask, github: ClaimsSeen, now: datetime) -> FleetSeen:
    settings = context.settings
    return FleetSeen(
        repository="",
        looked_at=now,
        held=(held,),
        github=github,
        root=context.place.root,
        remote=context.remotes.base,
        allowance_s=settings.lease.allowance_s,
        merges_itself=bool(settings.pr.auto_merge),
    )


def explain_issue(context: Context, issue: int) -> Explanation:
    """Explain an issue that this worktree does not hold, from its claim ref and GitHub."""
    tip = read_claim(transport_here(context), issue)
    if isinstance(tip, Unknown):
        raise unsettled(issue, tip, attempted=f"explaining issue #{issue}")
    lease = tip.lease if tip else None
    if lease and lease.state is LeaseState.HELD:
        found = _held(context, lease)
    else:
        task = context.gateway.task(issue)
        against = objection(task, own_ids=frozenset(), take_over=False)
        found = free_issue(
            task, against, warnings(task, ready=context.settings.board.ready), last=lease, now=clock.now()
        )
    return replace(found, log=_log(context, issue))


def _held(context: Context, lease: Lease) -> Explanation:
    now, allowance = clock.now(), context.settings.lease.allowance_s
    github = context.gateway.claims([ClaimAsked(lease.issue, lease.pr, lease.branch)])
    held = held_task(context, lease)
    fleet = _fleet(context, held, github, now)
    standing = standing_of(held, fleet, now)
    turn = turn_of(standing, fleet)
    is_person = mode_here(context.environment) is LeaseMode.MANUAL
    found = held_elsewhere(
        lease,
        now=now,
        allowance_s=allowance,
        pull=standing.pull,
        waits_for=turn.reason,
        who=turn.who,
        is_person=is_person,
    )
    if held.gone:
        number, where = lease.issue, f" in {held.home}" if held.home else ""
        said = (
            f"This clone holds issue #{number}{where}, but {held.gone}: continue it, or `agent-sync release {number}`."
        )
        found = replace(found, step=NextStep(said, command_for(standing, turn.lane, context.place.root)))
    return replace(found, stands=standing.stands)


def _log(context: Context, issue: int) -> tuple[dict[str, Any], ...]:
    """Return the newest lines of the log that are about the issue."""
    return tuple(line for line in context.log.records() if line.get("issue") == issue)[-MOST_LINES:]
