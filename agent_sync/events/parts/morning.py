"""Looks at the pull request that a new session holds: what became of it since somebody last looked?"""

import threading
from dataclasses import replace

from agent_sync.context import Context
from agent_sync.hook_event import BUSY, IDLE, EventPart, HookEvent
from agent_sync.system import clock
from agent_sync.task.loop import drive

# A session learns what it holds at once, whether GitHub answers or not.
_PATIENCE_S = 8.0


def part(context: Context, event: HookEvent, _gate: object) -> EventPart:
    """Drive the claim as far as a session's start does, and for so long."""
    if not context.store.file.exists():
        return IDLE
    found: list[EventPart] = []
    raised: list[Exception] = []

    def look() -> None:
        try:
            # With a connection of its own: it may still be waited for when the next part asks.
            found.append(drive(replace(context), event.trigger, session_id=event.session_id))
        except Exception as error:  # noqa: BLE001  # it is raised again where the part is run
            raised.append(error)

    # A thread, because a name look-up cannot be interrupted; nobody waits for it when this process ends.
    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    thread.join(_PATIENCE_S)
    if raised:
        raise raised[0]
    if not found:
        context.log.write(clock.now(), "trouble", error="GitHub has not answered yet", trigger=event.trigger)
    return found[0] if found else BUSY
