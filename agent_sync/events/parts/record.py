"""The recovery record's part in a hook: it takes in what happened, and tells a new session where the task stands."""

from pathlib import Path

from agent_sync.context import Context
from agent_sync.events.event import HookEvent
from agent_sync.events.reply import Reply
from agent_sync.quiet import answer as quiet
from agent_sync.record.observe.last_words import GLANCE, Occasion
from agent_sync.task.decision.facts import Trigger
from agent_sync.task.loop import IDLE, Looked

# In these events somebody is at work; an idle session is not.
_WORK = frozenset({Trigger.STOP, Trigger.PROMPT, Trigger.TOOL})


def kept(context: Context, event: HookEvent | None = None) -> Looked:
    """Bring the record up to date with an event, or just so; return when and for which files to look again."""
    if not may_have_record(context):
        return IDLE
    from agent_sync.record import keep as recording

    pointer = quiet.record_pointer(context.place)
    watch, before = recording.watched(context), quiet.state_of(pointer)
    record = recording.catch_up(context, _occasion(event) if event else GLANCE)
    wrote = () if quiet.state_of(pointer) == before else (pointer,)
    return Looked(was_idle=True, due=recording.due(context, record), watch=watch, wrote=wrote)


def recalled(context: Context, event: HookEvent) -> Reply:
    """Note a crash of the session before, and say in one line where to read on."""
    if not may_have_record(context):
        return Reply()
    from agent_sync.record import keep as recording
    from agent_sync.record.crash.recovery import recover
    from agent_sync.record.disk import active
    from agent_sync.record.page.synopsis import synopsis

    recover(context)
    recording.catch_up(context, Occasion(session_id=event.session_id))
    # Whose session this is, its first event has to say: what was quiet in the one before is not answered quietly.
    active.touch(context.place)
    found, claim = context.recorder.opened(), context.store.read()
    if found is None or (claim and not claim.may_act):
        # Work that is elsewhere now must not be resumed, however far it had come here.
        return Reply()
    line = synopsis(found[1], str(found[0].directory))
    return Reply(agent=(line,) if line else ())


def may_have_record(context: Context) -> bool:
    """Tell whether it is worth looking: without claim and pointer there is nothing to keep."""
    has_pointer = Path(quiet.record_pointer(context.place)).exists()
    return context.settings.record.enabled and (has_pointer or context.store.file.exists())


def _occasion(event: HookEvent) -> Occasion:
    if event.is_wake_up:
        return Occasion(session_id=event.session_id)
    is_work = event.trigger in _WORK
    return Occasion(event.session_id, said=event.said, prompt=event.prompt, is_work=is_work)
