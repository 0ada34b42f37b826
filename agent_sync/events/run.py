"""Runs one hook event: who takes part, in which order, and what is said in the end."""

import contextlib
import os
import threading
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from agent_sync import settings as settings_file
from agent_sync.context import Context, context_at
from agent_sync.errors import AgentSyncError, BadConfig
from agent_sync.events import exchange, stamp
from agent_sync.events.exchange import Reply, parse, readers_of, trigger_of
from agent_sync.events.trouble import trouble_notice, trouble_text
from agent_sync.hook_event import BUSY, EventPart, HookEvent
from agent_sync.lazy_dataclasses import dataclass
from agent_sync.quiet import answer as quiet
from agent_sync.settings import Settings
from agent_sync.settings.approvals import held_back_line
from agent_sync.settings.problems import ignored_line
from agent_sync.system import clock
from agent_sync.system.processes import Watchdog, seconds_since_start
from agent_sync.task.decision.facts import Trigger
from agent_sync.task.decision.notice import Notice
from agent_sync.task.outbox import Readers, unread
from agent_sync.worktree import OUTBOX_FILE, Place, gate_root, other_places, place_of

if TYPE_CHECKING:
    from agent_sync.gates.answer import GateReply
    from agent_sync.gateway.port import Gateway

# What takes part in an event: it is given the gate's answer to this stop, if there is one.
Participant = Callable[[Context, HookEvent, "GateReply | None"], EventPart]
# Who takes part in which event, in this order: modules with a function `part`, loaded for their events alone.
PARTS: dict[Trigger, tuple[str, ...]] = {
    Trigger.STOP: ("gates.pull", "task.loop", "events.parts.lease", "events.parts.record"),
    Trigger.IDLE: ("task.loop", "events.parts.record", "events.parts.idle"),
    Trigger.SESSION_START: (
        "events.parts.board_ahead",
        "events.parts.morning",
        "events.parts.recovery",
        "events.parts.work",
        "events.parts.briefing",
    ),
    Trigger.PROMPT: ("task.loop", "events.parts.record"),
    Trigger.TOOL: ("task.loop", "events.parts.lease", "events.parts.record"),
}
# Who looks after claims that the session has in other worktrees of the clone.
PARTS_ELSEWHERE: dict[Trigger, tuple[str, ...]] = {
    Trigger.STOP: ("task.loop", "events.parts.lease", "events.parts.record"),
    Trigger.IDLE: ("task.loop", "events.parts.record"),
    Trigger.SESSION_START: ("events.parts.morning", "events.parts.held_elsewhere"),
    Trigger.PROMPT: ("task.loop", "events.parts.record"),
    Trigger.TOOL: ("task.loop", "events.parts.lease", "events.parts.record"),
}
STDOUT = 1
NOTHING_MORE = Reply()
# Before the settings are known, with the hook's own limit in them, a hook gives itself this long.
BEGINNING_S = 8.0
# However late it is, an answer is tried.
LEAST_S = 0.5


def run(arguments: list[str], raw: bytes) -> None:
    """Answer one hook event; whatever happens, the session continues."""
    try:
        status = answer(arguments, raw)
    except Exception as error:  # noqa: BLE001  # hooks fail open: no surprise of ours may stop the agent
        said = Reply(human=(trouble_text(error),))
        exchange.write(exchange.render(trigger_of(arguments), said), descriptor=STDOUT)
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
        context = context_at(place, environment, cwd=event.cwd)
    except AgentSyncError as error:
        # What is wrong with the settings is said like any other trouble: once, and on record.
        own = settings_file.own_environment(place, environment)
        context = Context(place, Settings(), own, _unconnected, cwd=event.cwd)
        beginning.stop()
        gate = participants(trigger)[:1] if trigger is Trigger.STOP else ()
        return answer_event(context, event, seen=seen, parts=(*gate, _raising(error)))
    beginning.stop()
    others = [context.beside(other) for other in other_places(place, event.session_id)]
    if trigger is Trigger.REWAKE:
        from agent_sync.events.parts.watcher import watch

        return watch([context, *others], event, arguments)
    return answer_event(context, event, seen=seen, others=[_side(other, trigger) for other in others])


def _refuse_input(trigger: Trigger, place: Place) -> None:
    """No part acts on input that is no JSON object; where a gate is configured, it says so."""
    if trigger is Trigger.STOP and gate_root("", place.root) is not None:
        from agent_sync.quiet import wording

        values = {"decision": "approve", "status": "invalid_input", "message": wording.INVALID_INPUT}
        said = Reply(decided=tuple(values.items()))
        exchange.write(exchange.render(trigger, said), descriptor=STDOUT)


def _raising(error: AgentSyncError) -> Participant:
    """Return a part that can only say what is wrong."""

    def part(_context: Context, _event: HookEvent, _gate: object) -> EventPart:
        raise error

    return part


def _unconnected(_context: Context) -> "Gateway":
    raise BadConfig("The settings cannot be used.", helps="agent-sync doctor")


def participants(trigger: Trigger, parts: Mapping[Trigger, tuple[str, ...]] = PARTS) -> tuple[Participant, ...]:
    """Load the parts of an event."""
    return tuple(import_module(f"agent_sync.{name}").part for name in parts[trigger])


@dataclass(frozen=True)
class Side:
    """One worktree that an event is about: how it lay before, who takes part there, and what they have found."""

    context: Context
    seen: str
    parts: tuple[Participant, ...]
    found: list[EventPart] = field(default_factory=list)


def _side(context: Context, trigger: Trigger) -> Side:
    """Return the side of another worktree in which the session has claimed something."""
    return Side(context, quiet.look(context.place, trigger), participants(trigger, PARTS_ELSEWHERE))


def answer_event(
    context: Context,
    event: HookEvent,
    *,
    seen: str,
    parts: tuple[Participant, ...] = (),
    others: Sequence[Side] = (),
) -> int:
    """Run every part within the deadline, print the joined reply, and leave a stamp where all were idle."""
    _tell_ignored(context, event)
    sides = [Side(context, seen, parts or participants(event.trigger)), *others]
    watchdog = Watchdog(
        _seconds_left(_deadline(context.settings, event.trigger)),
        at_limit=lambda: _say_what_there_is(sides, event),
        end_children=context.processes.close,
    )
    watchdog.start()
    for side in sides:
        for part in side.parts:
            side.found.append(run_part(side.context, event, part, gate=_gate_reply(side.found)))
    if not watchdog.answered_in_time():
        threading.Event().wait()
    _say(sides, event)
    for side in sides:
        if all(part.was_idle and not (part.human or part.agent) for part in side.found):
            _leave_stamp(side, event.trigger)
    return 0


def _leave_stamp(side: Side, trigger: Trigger) -> None:
    """Leave a stamp where all were idle and every notice has reached its readers."""
    outbox = str(Path(side.context.place.state_dir) / OUTBOX_FILE)
    # Seen before it is read: what is added later is noticed by the next event.
    sight = quiet.sight_of([outbox])
    if side.context.outbox.waiting():
        return
    dues = [part.due for part in side.found if part.due]
    watch = (*(line for part in side.found for line in part.watch), sight)
    wrote = (*(path for part in side.found for path in part.wrote), outbox)
    watched = stamp.WatchedFiles(side.seen, watch, wrote)
    stamp.leave(side.context.place, trigger, watched, due=min(dues, default=None), now=clock.now())


def _tell_ignored(context: Context, event: HookEvent) -> None:
    """Tell the human once in every session which settings are ignored: not approved, or not known."""
    held_back = held_back_line(context.held_back) if context.held_back else ""
    unknown = f"agent-sync: {ignored_line(context.unknown)}" if context.unknown else ""
    context.outbox.add(Notice(f"trust:{event.session_id}:{text}", text) for text in (held_back, unknown) if text)


def run_part(context: Context, event: HookEvent, part: Participant, *, gate: "GateReply | None" = None) -> EventPart:
    """Let one part look; its trouble is told once per session and does not stop the others."""
    try:
        return part(context, event, gate)
    except Exception as error:  # noqa: BLE001  # hooks fail open, and one part's trouble is not another's
        now = clock.now()
        trace = None if isinstance(error, AgentSyncError) else traceback.format_exc()
        context.log.write(now, "trouble", error=str(error), trace=trace, trigger=event.trigger)
        try:
            context.outbox.add([trouble_notice(error, event.session_id, now)])
        except (AgentSyncError, OSError):
            # Where nothing can be kept, it is said at once, and again until there is room.
            return replace(BUSY, human=(trouble_text(error),))
        return BUSY


def _say(sides: Sequence[Side], event: HookEvent, more: Reply = NOTHING_MORE) -> None:
    """Print, then mark: a kill in between repeats a sentence and never loses one."""
    own, later = sides[0].context, sides[0].context.settings.notify.agent == "later"
    is_attended = own.environment.get("CLAUDE_CODE_SESSION_ATTENDED") != "0"
    readers = readers_of(event.trigger, is_continuation=event.is_continuation, later=later, is_attended=is_attended)
    if event.is_wake_up:
        readers = Readers(human=False, agent=False)
    waiting = [side.context.outbox.waiting() for side in sides]
    news = (Reply(*unread(notices, readers)) for notices in waiting)
    whole = sum((*news, *(_reply_of(side.found) for side in sides), more), NOTHING_MORE)
    if exchange.write(exchange.render(event.trigger, whole), descriptor=STDOUT):
        for side, notices in zip(sides, waiting, strict=True):
            _mark(side.context, notices, readers)


def _mark(context: Context, read: tuple[Notice, ...], readers: Readers) -> None:
    """Forget what was read; where that fails a sentence is repeated, and nothing more is printed now."""
    try:
        context.outbox.mark(read, readers)
    except (AgentSyncError, OSError) as error:
        context.log.write(clock.now(), "trouble", error=str(error))


def _say_what_there_is(sides: Sequence[Side], event: HookEvent) -> None:
    late = Reply(human=("agent-sync ran out of time; it will continue at the next event.",))
    context, claim = sides[0].context, None
    if event.trigger is Trigger.SESSION_START:
        with contextlib.suppress(AgentSyncError):
            # A claim that is refused was said to be so by whoever looked at it first.
            claim = context.store.read()
    # What takes time to find out is left out.
    from agent_sync.events.parts.briefing import head_line_at_once

    line = (head_line_at_once(claim, clock.now()),) if claim else ()
    _say(sides, event, late + Reply(agent=line))


def _gate_reply(found: list[EventPart]) -> "GateReply | None":
    return next((part.gate for part in found if part.gate), None)


def _reply_of(found: list[EventPart]) -> Reply:
    """Join what the parts have to say; the gate's sentence for the human is among theirs."""
    human = tuple(line for part in found for line in part.human)
    agent = tuple(line for part in found for line in part.agent)
    gate = _gate_reply(found)
    values = gate.values() if gate else {}
    return Reply(human, agent, tuple((key, value) for key, value in values.items() if key != "systemMessage"))


def _deadline(settings: Settings, trigger: Trigger) -> float:
    """Return how many seconds a hook gives itself."""
    limits = settings.hooks
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


def _seconds_left(limit: float) -> float:
    """Return what is left of a limit: the client's own clock has run since it started this process."""
    return max(LEAST_S, limit - seconds_since_start())
