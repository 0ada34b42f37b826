"""Makes the view of a fleet from what was seen: pure, and the one value that every view prints."""

from datetime import UTC, datetime
from pathlib import PurePath

from agent_sync.fleet.ages import since
from agent_sync.fleet.commands import command_for
from agent_sync.fleet.seen import FleetSeen, HeldTask
from agent_sync.fleet.standing import Standing, standing_of, worker_of
from agent_sync.fleet.turns import YOU, attempts_of, turn_of
from agent_sync.fleet.view import FleetPull, FleetTask, FleetView, Lane, as_json
from agent_sync.leases.words import agent_label, is_this_machine
from agent_sync.task.decision.claimable import login_of
from agent_sync.task.decision.next_step import next_step
from agent_sync.task.decision.outside_text import one_line
from agent_sync.task.decision.tasks import BoardIssue

__all__ = ["FleetTask", "FleetView", "Lane", "as_json", "project"]

_REVIEWS = {"APPROVED": "approved", "CHANGES_REQUESTED": "changes requested", "REVIEW_REQUIRED": "review required"}
_LANES = list(Lane)


def project(seen: FleetSeen, now: datetime) -> FleetView:
    """Return the fleet in its four lanes."""
    held = [_held_task(one, seen, now) for one in seen.held]
    taken = {task.issue for task in held}
    ready = [_ready_task(issue, seen) for issue in seen.ready if issue.number not in taken]
    today = now.astimezone().date()
    return FleetView(
        repository=seen.repository,
        tasks=(*sorted(held, key=_place), *ready),
        looked_at=seen.looked_at,
        paused_until=seen.paused_until if seen.paused_until and seen.paused_until > now else None,
        stale_reason=one_line(seen.stale_reason, limit=300),
        finished_today=sum(at.astimezone().date() == today for at in seen.finished),
        board_note=seen.board_note,
    )


def _place(task: FleetTask) -> tuple[int, datetime, int, str]:
    """Return what tasks are sorted by: lane, then who has waited longest; of unknown age comes last."""
    last = datetime.max.replace(tzinfo=UTC)
    return _LANES.index(task.lane), task.since or last, task.issue, task.worktree


def _held_task(held: HeldTask, seen: FleetSeen, now: datetime) -> FleetTask:
    standing = standing_of(held, seen, now)
    turn = turn_of(standing, seen)
    pull, lease, here = standing.pull, held.lease, held.here
    number = pull.number if pull else standing.claim.pr_number if standing.claim else None
    agent = worker_of(lease) or (lease.holder.agent if lease else "") or (here and here.claim and here.claim.agent_id)
    return FleetTask(
        repository=seen.repository,
        issue=held.issue,
        title=_title(standing),
        situation=standing.stands,
        lane=turn.lane,
        reason=turn.reason,
        since=since(standing),
        who=turn.who,
        name=one_line(_agent_name(held), limit=120),
        agent=one_line(agent or "", limit=60),
        host=one_line(lease.holder.host if lease and not worker_of(lease) else "", limit=60),
        worktree=here.root if here else "",
        pull=FleetPull(number, pull.url if pull else "") if number else None,
        ci=standing.ci.ci.value if standing.ci else "",
        review=_review(standing),
        attempts=attempts_of(standing),
        next_sentence=next_step(standing.stands).sentence if standing.stands else turn.reason,
        next_command=command_for(standing, turn.lane, seen.root),
    )


def _agent_name(held: HeldTask) -> str:
    """Return the agent of a task as people read it, with its machine where that is another one."""
    lease, here = held.lease, held.here
    if worker_of(lease):
        return worker_of(lease)
    if lease:
        there = "" if is_this_machine(lease.holder) else f" on {lease.holder.host}"
        return f"{agent_label(lease.holder)}{there}"
    agent = here.claim.agent_id if here and here.claim else ""
    return f"{login_of(agent)}/{PurePath(here.root).name}" if here and login_of(agent) else agent


def _title(standing: Standing) -> str:
    here = standing.held.here
    known = standing.issue.title if standing.issue else here.title if here else ""
    return one_line(known)


def _review(standing: Standing) -> str:
    """Return what reviewers say together, in a word or two; empty where nobody has to say anything."""
    pull = standing.pull
    if pull is None:
        return ""
    if pull.changes_requested_by:
        return _REVIEWS["CHANGES_REQUESTED"]
    return _REVIEWS.get(pull.review_decision, "review asked" if pull.conversation.requested else "")


def _ready_task(issue: BoardIssue, seen: FleetSeen) -> FleetTask:
    priority = one_line(issue.priority or "", limit=40)
    return FleetTask(
        repository=seen.repository,
        issue=issue.number,
        title=one_line(issue.title),
        situation=None,
        lane=Lane.READY,
        reason=f"priority {priority}" if priority else "can be claimed now",
        since=_created(issue),
        who=YOU,
        next_sentence="Nobody works on it, and nothing is in its way.",
        next_command=f"agent-sync claim {issue.number}",
    )


def _created(issue: BoardIssue) -> datetime | None:
    try:
        return datetime.fromisoformat(issue.created)
    except ValueError:
        return None
