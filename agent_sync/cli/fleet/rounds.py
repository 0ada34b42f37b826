"""One round over the fleet: look, act for claims that nobody looks after, and say what is new, within the budget."""

from dataclasses import replace
from datetime import datetime
from typing import Any

from agent_sync.cli.fleet.alarm import due_alarms, run_command
from agent_sync.context import Context
from agent_sync.errors import AgentSyncError
from agent_sync.events.unattended import look_after
from agent_sync.fleet.budget import SharedBudget, cost_of, pause_s, paused_until
from agent_sync.fleet.look import look
from agent_sync.fleet.projection import FleetView, as_json, project
from agent_sync.fleet.view import FleetTask
from agent_sync.lazy_dataclasses import dataclass
from agent_sync.system import clock

# Looks come no faster than this, however short the backoff is.
LEAST_PAUSE_S = 5.0


@dataclass(frozen=True)
class Round:
    """What a round came to: the fleet, what a person is told, what went wrong, and when to look again."""

    view: FleetView
    told: tuple[FleetTask, ...] = ()
    troubles: tuple[str, ...] = ()
    pause_s: float = LEAST_PAUSE_S


def round_values(played: Round) -> dict[str, Any]:
    """Return a round for programs: the fleet as everywhere, and what came of watching it."""
    told = [task.issue for task in played.told]
    return as_json(played.view) | {"told": told, "troubles": list(played.troubles), "look_again_s": played.pause_s}


def play_round(context: Context, *, everywhere: bool) -> Round:
    """Look at the fleet and do what is due; where only the reserve of people is left, GitHub is not asked."""
    now, reserve = clock.now(), context.settings.fleet.reserve
    shared = _shared_budget(context)
    until = paused_until(shared.read(), reserve, now) if shared else None
    if until:
        seen = replace(look(context, everywhere=everywhere, asks_github=False), paused_until=until)
        return Round(project(seen, now), pause_s=_seconds_until(until))
    seen = look(context, everywhere=everywhere)
    acted, troubles = look_after(context, seen)
    if acted:
        seen = look(context, everywhere=everywhere)
    pause = max(_pause(context, shared), _seconds_until(seen.paused_until))
    return _told(context, Round(project(seen, clock.now()), troubles=troubles, pause_s=pause))


def _seconds_until(moment: datetime | None) -> float:
    return max(0.0, (moment - clock.now()).total_seconds()) if moment else 0.0


def _pause(context: Context, shared: SharedBudget | None) -> float:
    """Note what GitHub has stated, and return how long all processes together can wait until the next look."""
    least_s = max(LEAST_PAUSE_S, context.settings.checks.backoff_s)
    if shared is None:
        return least_s
    before, budget = shared.read(), context.gateway.budget
    shared.note(budget)
    cost = cost_of(before, budget, context.requests)
    return pause_s(budget, context.settings.fleet.reserve, cost, clock.now(), least_s=least_s)


def _told(context: Context, played: Round) -> Round:
    """Tell a person what is new; a view that is not up to date settles nothing, and begins nothing."""
    if played.view.stale_reason:
        return played
    due = due_alarms(context, played.view, clock.now())
    trouble = run_command(context, due)
    return replace(played, told=due, troubles=(*played.troubles, *filter(None, [trouble])))


def _shared_budget(context: Context) -> SharedBudget | None:
    """Return the budget that all processes of this machine share; none without a way to GitHub."""
    try:
        return SharedBudget.at(context.environment, context.gateway.budget_key)
    except AgentSyncError:
        return None
