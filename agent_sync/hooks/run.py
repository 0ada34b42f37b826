"""Runs one hook event: who takes part, in which order, and what is said in the end."""

import os
import threading
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from agent_sync import clock, quiet, settings as settings_file
from agent_sync.desk import Desk, desk_at
from agent_sync.errors import AgentSyncError
from agent_sync.hooks import reply, stamp
from agent_sync.hooks.briefing import brief
from agent_sync.hooks.event import HookEvent, parse, trigger_of
from agent_sync.hooks.reply import Reply, readers_of
from agent_sync.hooks.unclaimed import suggestion
from agent_sync.hooks.watchdog import Watchdog
from agent_sync.lifecycle.actions import Notice
from agent_sync.lifecycle.facts import Trigger
from agent_sync.place import place_of
from agent_sync.rounds import BUSY, IDLE, Looked, drive

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


def unclaimed(desk: Desk, _event: HookEvent) -> Part:
    """Look after a session that holds no claim."""
    if desk.store.read() is not None:
        return Part(IDLE)
    return Part(*suggestion(desk))


def briefing(desk: Desk, event: HookEvent) -> Part:
    """Tell a new session what it holds."""
    told = brief(desk, event)
    return Part(BUSY if told else IDLE, told)


PARTS: dict[Trigger, tuple[Participant, ...]] = {
    Trigger.STOP: (lifecycle,),
    Trigger.IDLE: (lifecycle, unclaimed),
    Trigger.SESSION_START: (briefing,),
    Trigger.PROMPT: (lifecycle,),
    Trigger.TOOL: (lifecycle,),
}


def run(arguments: list[str], raw: bytes) -> None:
    """Answer one hook event; whatever happens, the session goes on."""
    try:
        status = answer(arguments, raw)
    except Exception as error:  # noqa: BLE001  # hooks fail open: no surprise of ours may stop the agent
        said = Reply(human=(_trouble(error),))
        reply.write(reply.render(trigger_of(arguments), said), descriptor=STDOUT)
        status = 0
    os._exit(status)


def answer(arguments: list[str], raw: bytes) -> int:
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
    desk = desk_at(place, environment)
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
    except Exception as error:  # noqa: BLE001  # hooks fail open, and one part's trouble is not another's
        now = clock.now()
        trace = None if isinstance(error, AgentSyncError) else traceback.format_exc()
        desk.log.write(now, "trouble", error=str(error), trace=trace, trigger=event.trigger)
        text = _trouble(error)
        desk.outbox.add([Notice(f"trouble:{event.session_id or now.isoformat()}:{text}", text)])
        return Part(BUSY)


def _say(desk: Desk, event: HookEvent, said: Reply) -> bool:
    """Print, then mark: a kill in between repeats a sentence and never loses one."""
    later = desk.settings.notify.agent == "later"
    readers = readers_of(event.trigger, is_continuation=event.is_continuation, later=later)
    whole = Reply(*desk.outbox.unread(readers)) + said
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


def _trouble(error: Exception) -> str:
    if isinstance(error, AgentSyncError):
        return f"agent-sync: {error}"
    last = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{Path(last.filename).name}:{last.lineno}"
    return f"agent-sync stumbled ({type(error).__name__} at {where}); the next event goes on. Try: agent-sync doctor"
