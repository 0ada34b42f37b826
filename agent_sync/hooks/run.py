"""Runs one hook event: who takes part, in which order, and what is said in the end."""

import os
import threading
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from agent_sync import clock, quiet, settings as settings_file
from agent_sync.desk import Connect, Desk, desk_at
from agent_sync.errors import AgentSyncError
from agent_sync.hooks import reply, stamp
from agent_sync.hooks.briefing import brief
from agent_sync.hooks.event import HookEvent, parse, trigger_of
from agent_sync.hooks.outbox import readers_of
from agent_sync.hooks.reply import Reply
from agent_sync.hooks.watchdog import Watchdog
from agent_sync.lifecycle.actions import Notice
from agent_sync.lifecycle.facts import Trigger
from agent_sync.place import place_of
from agent_sync.rounds import BUSY, Looked, drive

STDOUT = 1


@dataclass(frozen=True)
class Part:
    """What one participant of a hook event has found and has to say."""

    looked: Looked
    reply: Reply = field(default_factory=Reply)


Participant = Callable[[Desk, HookEvent], Part]


def lifecycle(desk: Desk, event: HookEvent) -> Part:
    """Bring the claim as far as it goes now."""
    return Part(drive(desk, event.trigger, session_id=event.session_id))


def briefing(desk: Desk, event: HookEvent) -> Part:
    """Tell a new session what it holds."""
    told = brief(desk, event)
    return Part(BUSY if told else Looked(was_idle=True), told)


PARTS: dict[Trigger, tuple[Participant, ...]] = {
    Trigger.STOP: (lifecycle,),
    Trigger.IDLE: (lifecycle,),
    Trigger.SESSION_START: (briefing,),
    Trigger.PROMPT: (lifecycle,),
    Trigger.TOOL: (lifecycle,),
}


def run(arguments: list[str], raw: bytes) -> None:
    """Answer one hook event; whatever happens, the session goes on."""
    from agent_sync.gateway.connect import connect

    try:
        status = answer(arguments, raw, connect)
    except Exception as error:  # noqa: BLE001  # hooks fail open: no surprise of ours may stop the agent
        reply.write(reply.render(trigger_of(arguments), _trouble(error)), descriptor=STDOUT)
        status = 0
    os._exit(status)


def answer(arguments: list[str], raw: bytes, connect: Connect) -> int:
    """Find out what the event is about, let every part look, and say the result."""
    trigger = trigger_of(arguments)
    event = parse(trigger, raw)
    environment = settings_file.environment()
    if event is None:
        return 0
    place = place_of([event.cwd, quiet.process_dir()], environment.get("CLAUDE_PROJECT_DIR", ""))
    if place is None:
        return 0
    seen = quiet.look(place, arguments[0])
    desk = desk_at(place, environment, connect)
    if trigger is Trigger.REWAKE:
        from agent_sync.hooks.rewake import watch

        return watch(desk, event)
    return _answered(desk, event, seen=seen)


def _answered(desk: Desk, event: HookEvent, *, seen: str) -> int:
    watchdog = Watchdog(
        deadline(desk, event.trigger),
        at_limit=lambda: _say_what_there_is(desk, event),
        end_children=desk.processes.end_all,
    )
    watchdog.start()
    parts = [_looked(desk, event, part) for part in PARTS[event.trigger]]
    if not watchdog.answered_in_time():
        threading.Event().wait()
    said = _say(desk, event, sum((part.reply for part in parts), Reply()))
    if all(part.looked.was_idle for part in parts) and not said and not desk.outbox.waiting():
        dues = [part.looked.due for part in parts if part.looked.due]
        stamp.leave(desk.place, event.trigger, seen=seen, due=_earliest(dues), now=clock.now())
    return 0


def _looked(desk: Desk, event: HookEvent, part: Participant) -> Part:
    """Let one part look; its trouble is told once per session and does not stop the others."""
    try:
        return part(desk, event)
    except AgentSyncError as error:
        desk.log.write(clock.now(), "trouble", code=error.code, error=str(error), trigger=event.trigger)
        notice = Notice(f"trouble:{event.session_id}:{error}", f"agent-sync: {error}")
        desk.outbox.add([notice])
        return Part(BUSY)


def _say(desk: Desk, event: HookEvent, said: Reply) -> bool:
    """Print, then mark: a kill in between repeats a sentence and never loses one."""
    later = desk.settings.notify.agent == "later"
    readers = readers_of(event.trigger, is_continuation=event.is_continuation, later=later)
    whole = desk.outbox.reply_for(readers) + said
    text = reply.render(event.trigger, whole)
    reply.write(text, descriptor=STDOUT)
    desk.outbox.mark(readers)
    return bool(text)


def _say_what_there_is(desk: Desk, event: HookEvent) -> None:
    _say(desk, event, Reply(human=("agent-sync ran out of time; it goes on at the next event.",)))


def deadline(desk: Desk, trigger: Trigger) -> float:
    """Return how many seconds a hook gives itself."""
    limits = desk.settings.hooks
    match trigger:
        case Trigger.STOP | Trigger.SYNC:
            return limits.stop_deadline_s
        case Trigger.IDLE | Trigger.REWAKE:
            return limits.idle_deadline_s
        case Trigger.SESSION_START:
            return limits.session_start_deadline_s
        case Trigger.PROMPT:
            return limits.prompt_deadline_s
        case Trigger.TOOL:
            return limits.tool_deadline_s


def _earliest(dues: list[datetime]) -> datetime | None:
    return min(dues, default=None)


def _trouble(error: Exception) -> Reply:
    if isinstance(error, AgentSyncError):
        return Reply(human=(f"agent-sync: {error}",))
    last = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{os.path.basename(last.filename)}:{last.lineno}"  # noqa: PTH119  # a display name, not a path
    return Reply(
        human=(f"agent-sync stumbled ({type(error).__name__} at {where}) and did nothing. Try: agent-sync doctor",)
    )
