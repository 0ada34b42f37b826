"""Acts for the claims of this machine that no live session looks after: opens, polls, closes, keeps leases."""

from pathlib import Path

from agent_sync.context import Context, context_at
from agent_sync.errors import AgentSyncError
from agent_sync.events.parts.record import keep_record
from agent_sync.events.parts.renewals import renew_due
from agent_sync.fleet.attending import is_renewal_due, is_step_due, unattended
from agent_sync.fleet.seen import KEPT_BY_WATCH, FleetSeen, HeldTask
from agent_sync.system import clock, files
from agent_sync.task.decision.facts import Trigger
from agent_sync.task.loop import drive
from agent_sync.worktree import WATCHER_LOCK, worktree


def look_after(context: Context, seen: FleetSeen) -> tuple[int, tuple[str, ...]]:
    """Do what is due for each; return for how many something was done, and what went wrong."""
    acted, troubles = 0, []
    for held in unattended(seen):
        try:
            acted += _act_for(context, held, seen)
        except (AgentSyncError, OSError) as error:
            context.log.write(clock.now(), "trouble", error=str(error), issue=held.issue, trigger="watch")
            troubles.append(f"#{held.issue}: {error}")
    return acted, tuple(troubles)


def _act_for(context: Context, held: HeldTask, seen: FleetSeen) -> bool:
    """Bring one task on; the watcher of an idle session, where there is one, does so itself."""
    place = worktree(held.here.root) if held.here else None
    claim = held.here.claim if held.here else None
    issue = seen.github.issue(held.issue) if seen.github else None
    if place is None or claim is None:
        return False
    is_due = is_step_due(claim, issue.pull if issue else None, wake=seen.wake, remote=seen.remote)
    keeps_lease = is_renewal_due(held, clock.now())
    if not is_due and not keeps_lease:
        return False
    there = context_at(place, context.environment)
    with files.locked_if_free(Path(place.state_dir) / WATCHER_LOCK) as is_alone:
        if not is_alone:
            return False
        if is_due:
            drive(there, Trigger.REWAKE, session_id="")
            keep_record(there)
        if keeps_lease:
            renew_due(there, session_id=KEPT_BY_WATCH)
    return True
