"""Runs one hook event: who takes part, in which order, and what is said in the end."""

import contextlib
import os
import threading
import traceback
from pathlib import Path

from agent_sync import settings as settings_file
from agent_sync.context import Context, context_at
from agent_sync.errors import AgentSyncError, BadConfig
from agent_sync.events import reply, stamp
from agent_sync.events.deadline import Watchdog, deadline
from agent_sync.events.event import HookEvent, parse, trigger_of
from agent_sync.events.parts.briefing import head_line
from agent_sync.events.parts.table import PARTS, Part, Participant, gate
from agent_sync.events.reply import Reply, readers_of
from agent_sync.gateway.port import Gateway
from agent_sync.quiet import answer as quiet
from agent_sync.settings import Settings
from agent_sync.settings.approvals import held_back_line
from agent_sync.system import clock
from agent_sync.system.disk_errors import disk_trouble
from agent_sync.task.decision.actions import Notice
from agent_sync.task.decision.facts import Trigger
from agent_sync.task.decision.situation import situation
from agent_sync.task.loop import BUSY
from agent_sync.task.outbox import Readers, unread
from agent_sync.worktree import Place, gate_root, place_of

STDOUT = 1
# Before the settings are known, with the hook's own limit in them, a hook gives itself this long.
BEGINNING_S = 8.0


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
    beginning = Watchdog(BEGINNING_S, at_limit=lambda: None, end_children=lambda: None)
    beginning.start()
    event = parse(trigger, raw) or parse(trigger, raw + quiet.rest_of_stdin())
    environment = settings_file.environment()
    starts = [event.cwd if event else "", quiet.process_dir()]
    place = place_of(starts, environment.get("CLAUDE_PROJECT_DIR", ""))
    if place is None:
        return 0
    if event is None:
        _refuse_input(trigger, place)
        return 0
    seen = quiet.look(place, arguments[0])
    if quiet.has_marker(environment) and quiet.has_marker(settings_file.own_environment(place, environment)):
        # The marker is the user's own word and not the checkout's: a gate's program has started this agent.
        return 0
    try:
        context = context_at(place, environment)
    except AgentSyncError as error:
        # What is wrong with the settings is said like any other trouble: once, and on record.
        context = Context(place, Settings(), settings_file.own_environment(place, environment), _unconnected)
        beginning.stop()
        parts = (gate, _raising(error)) if trigger is Trigger.STOP else (_raising(error),)
        return answer_event(context, event, seen=seen, parts=parts)
    beginning.stop()
    if trigger is Trigger.REWAKE:
        from agent_sync.events.parts.watcher import watch

        return watch(context, event)
    return answer_event(context, event, seen=seen)


def _refuse_input(trigger: Trigger, place: Place) -> None:
    """No part acts on input that is no JSON object; where a gate is configured, it says so."""
    if trigger is Trigger.STOP and gate_root("", place.root) is not None:
        from agent_sync.quiet import wording

        values = {"decision": "approve", "status": "invalid_input", "message": wording.INVALID_INPUT}
        said = Reply(decided=tuple(values.items()))
        reply.write(reply.render(trigger, said), descriptor=STDOUT)


def _raising(error: AgentSyncError) -> Participant:
    """Return a part that can only say what is wrong."""

    def part(_context: Context, _event: HookEvent) -> Part:
        raise error

    return part


def _unconnected(_context: Context) -> Gateway:
    raise BadConfig("The settings cannot be used.", helps="agent-sync doctor")


def answer_event(context: Context, event: HookEvent, *, seen: str, parts: tuple[Participant, ...] = ()) -> int:
    """Run every part within the deadline, print the joined reply, and leave a stamp if all were idle."""
    context.cwd = event.cwd
    _tell_held_back(context, event)
    found: list[Part] = []
    watchdog = Watchdog(
        deadline(context.settings, event.trigger),
        at_limit=lambda: _say_what_there_is(context, event, found),
        end_children=context.processes.close,
    )
    watchdog.start()
    for part in parts or PARTS[event.trigger]:
        found.append(run_part(context, event, part))  # noqa: PERF401  # the watchdog says what is found so far
    if not watchdog.answered_in_time():
        threading.Event().wait()
    said = _say(context, event, _joined(found))
    if all(part.looked.was_idle for part in found) and not said and not context.outbox.waiting():
        dues = [part.looked.due for part in found if part.looked.due]
        watch = tuple(sight for part in found for sight in part.looked.watch)
        wrote = tuple(path for part in found for path in part.looked.wrote)
        sight = stamp.Sight(seen, watch, wrote)
        stamp.leave(context.place, event.trigger, sight, due=min(dues, default=None), now=clock.now())
    return 0


def _tell_held_back(context: Context, event: HookEvent) -> None:
    """Tell the human once in every session what the repository's files ask for without approval."""
    if context.held_back:
        text = held_back_line(context.held_back)
        context.outbox.add([Notice(f"trust:{event.session_id}:{text}", text)])


def run_part(context: Context, event: HookEvent, part: Participant) -> Part:
    """Let one part look; its trouble is told once per session and does not stop the others."""
    try:
        return part(context, event)
    except Exception as error:  # noqa: BLE001  # hooks fail open, and one part's trouble is not another's
        now = clock.now()
        trace = None if isinstance(error, AgentSyncError) else traceback.format_exc()
        context.log.write(now, "trouble", error=str(error), trace=trace, trigger=event.trigger)
        text = _trouble(error)
        try:
            context.outbox.add([Notice(f"trouble:{event.session_id or now.isoformat()}:{text}", text)])
        except (AgentSyncError, OSError):
            # Where nothing can be kept, it is said at once, and again until there is room.
            return Part(BUSY, Reply(human=(text,)))
        return Part(BUSY)


def _say(context: Context, event: HookEvent, said: Reply) -> bool:
    """Print, then mark: a kill in between repeats a sentence and never loses one; tell whether anyone was told."""
    later = context.settings.notify.agent == "later"
    readers = readers_of(event.trigger, is_continuation=event.is_continuation, later=later)
    if event.is_wake_up:
        readers = Readers(human=False, agent=False)
    waiting = context.outbox.waiting()
    whole = Reply(*unread(waiting, readers)) + said + Reply(decided=_decided(context))
    if reply.write(reply.render(event.trigger, whole), descriptor=STDOUT):
        _mark(context, waiting, readers)
    return bool(whole.human or whole.agent)


def _decided(context: Context) -> tuple[tuple[str, str], ...]:
    """Return what the gate has decided about this stop, without the sentence for the human, which is joined."""
    values = context.gate_reply.values() if context.gate_reply else {}
    return tuple((key, value) for key, value in values.items() if key != "systemMessage")


def _mark(context: Context, read: tuple[Notice, ...], readers: Readers) -> None:
    """Forget what was read; where that fails a sentence is repeated, and nothing more is printed now."""
    try:
        context.outbox.mark(read, readers)
    except (AgentSyncError, OSError) as error:
        context.log.write(clock.now(), "trouble", error=str(error))


def _say_what_there_is(context: Context, event: HookEvent, found: list[Part]) -> None:
    late = _joined(found) + Reply(human=("agent-sync ran out of time; it will continue at the next event.",))
    claim = None
    if event.trigger is Trigger.SESSION_START:
        with contextlib.suppress(AgentSyncError):
            # A claim that is refused was said to be so by whoever looked at it first.
            claim = context.store.read()
    # What takes time to find out is left out.
    line = (head_line(claim, situation(claim, None, clock.now())),) if claim else ()
    _say(context, event, late + Reply(agent=line))


def _joined(found: list[Part]) -> Reply:
    return sum((part.reply for part in found), Reply())


def _trouble(error: Exception) -> str:
    known = error if isinstance(error, AgentSyncError) else disk_trouble(error)
    if known:
        return f"agent-sync: {known}"
    last = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{Path(last.filename).name}:{last.lineno}"
    what = f"{type(error).__name__} at {where}"
    return f"agent-sync hit an unexpected error ({what}) and will retry at the next event. Try: agent-sync doctor"
