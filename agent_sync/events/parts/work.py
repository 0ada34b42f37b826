"""The work hook's part in a session's start: a session that is bound to a worker hears what waits on its hook."""

from agent_sync.context import Context
from agent_sync.hook_event import BUSY, IDLE, EventPart, HookEvent


def part(context: Context, event: HookEvent, _gate: object) -> EventPart:
    """Tell a bound session what waits on its hook; work may be slung there at any time."""
    from agent_sync.work.identity import bound_worker

    if not bound_worker(context, session_id=event.session_id):
        return IDLE
    from agent_sync.work.gupp import gupp

    order = gupp(context, event.session_id)
    return EventPart(was_idle=False, agent=(order,)) if order else BUSY
