"""Who takes part in which event, in which order; each part is loaded when it has something to look at."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from agent_sync.context import Context
from agent_sync.events.deadline import deadline
from agent_sync.events.event import HookEvent
from agent_sync.events.parts.briefing import brief
from agent_sync.events.parts.idle import suggestion
from agent_sync.events.parts.record import kept, recalled
from agent_sync.events.reply import Reply
from agent_sync.gates.pull import has_gates
from agent_sync.quiet import answer as quiet
from agent_sync.task.decision.facts import Trigger
from agent_sync.task.loop import BUSY, IDLE, Looked, drive
from agent_sync.worktree import GATE_CONFIG, gate_root


@dataclass(frozen=True)
class Part:
    """What one participant of a hook event has found and has to say."""

    looked: Looked
    reply: Reply = field(default_factory=Reply)


Participant = Callable[[Context, HookEvent], Part]


def lifecycle(context: Context, event: HookEvent) -> Part:
    """Bring the claim as far as it goes now; a prompt that no human typed is no occasion."""
    if event.is_wake_up:
        return Part(BUSY)
    return Part(drive(context, event.trigger, session_id=event.session_id))


def gate(context: Context, event: HookEvent) -> Part:
    """Let the quality gate decide about the stop; its answer stands whatever becomes of the other parts."""
    root = gate_root(event.cwd, context.place.root)
    # Gates that are taken away later must be noticed, so their file is watched.
    watch = (quiet.sight_of([str(Path(root) / GATE_CONFIG)]),) if root else ()
    if not has_gates(context, event.cwd):
        return Part(IDLE)
    from agent_sync.gates.answer import gate as decided_by

    context.gate_reply = decided_by(context, event.raw, deadline=deadline(context.settings, event.trigger))
    human = context.gate_reply.human
    looked = Looked(was_idle=True, watch=watch) if root else BUSY
    return Part(looked, Reply(human=(human,) if human else ()))


def unclaimed(context: Context, _event: HookEvent) -> Part:
    """Look after a session that holds no claim."""
    if context.store.read() is not None:
        return Part(IDLE)
    return Part(*suggestion(context))


def briefing(context: Context, event: HookEvent) -> Part:
    """Tell a new session what it holds."""
    told = brief(context, event)
    return Part(BUSY if told else IDLE, told)


def renewal(context: Context, event: HookEvent) -> Part:
    """Keep the lease of the claim alive."""
    if context.store.read() is None:
        return Part(IDLE)
    from agent_sync.events.parts import lease as renewals

    return Part(renewals.look(context, session_id=event.session_id))


def record(context: Context, event: HookEvent) -> Part:
    """Take into the recovery record what happened."""
    return Part(kept(context, event))


def recovery(context: Context, event: HookEvent) -> Part:
    """Tell a new session where the task stands that the last one was at."""
    told = recalled(context, event)
    return Part(BUSY if told else IDLE, told)


def work_hook(context: Context, event: HookEvent) -> Part:
    """Tell a session that is bound to a worker what hangs on its hook; it may be slung there at any time."""
    from agent_sync.work.identity import bound_worker

    if not bound_worker(context, session_id=event.session_id):
        return Part(IDLE)
    from agent_sync.work.gupp import gupp

    told = gupp(context, event.session_id)
    return Part(BUSY, Reply(agent=(told,) if told else ()))


PARTS: dict[Trigger, tuple[Participant, ...]] = {
    Trigger.STOP: (gate, lifecycle, renewal, record),
    Trigger.IDLE: (lifecycle, record, unclaimed),
    Trigger.SESSION_START: (recovery, work_hook, briefing),
    Trigger.PROMPT: (lifecycle, record),
    Trigger.TOOL: (lifecycle, renewal, record),
}
