"""Tells a session what it holds in another worktree of the clone."""

from agent_sync.context import Context
from agent_sync.events.parts.briefing import head_line
from agent_sync.hook_event import IDLE, EventPart, HookEvent
from agent_sync.task.decision.outside_text import quoted
from agent_sync.task.situation_here import situation_of


def part(context: Context, _event: HookEvent, _gate: object) -> EventPart:
    """Return one line on the claim of this worktree, and where that is."""
    claim = context.store.read()
    if claim is None:
        return IDLE
    line = head_line(claim, situation_of(context, claim))
    return EventPart(was_idle=False, agent=(f"In {quoted(context.place.root, limit=300)}: {line}",))
