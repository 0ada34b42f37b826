"""The recovery record's part in an event: it takes in what happened."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

from agent_sync.context import Context
from agent_sync.hook_event import IDLE, EventPart, HookEvent
from agent_sync.quiet import answer as quiet
from agent_sync.system import files
from agent_sync.task.decision.facts import Trigger
from agent_sync.worktree import record_pointer, spool_file

if TYPE_CHECKING:
    from agent_sync.record.disk.contents import Occasion

# In these events somebody is at work; an idle session is not.
_WORK = frozenset({Trigger.STOP, Trigger.PROMPT, Trigger.TOOL})


def part(context: Context, event: HookEvent, _gate: object) -> EventPart:
    """The record's part in an event."""
    if event.trigger is Trigger.PROMPT and not context.may_have_record:
        _spare_prompt(context, event)
    return keep_record(context, event)


def keep_record(context: Context, event: HookEvent | None = None) -> EventPart:
    """Bring the record up to date, with an event if there is one; return when and for which files to look again."""
    if not context.may_have_record:
        return IDLE
    from agent_sync.record import keep

    pointer = record_pointer(context.place)
    watch, before = keep.watched_files(context), quiet.state_of(pointer)
    record = keep.catch_up(context, *([_occasion(event)] if event else []))
    wrote = () if quiet.state_of(pointer) == before else (pointer,)
    # The next prompt may be a human's answer, so it must not be answered by a stamp.
    is_answer_due = bool(event and event.trigger is Trigger.PROMPT and record and keep.is_answer_awaited(record))
    return EventPart(was_idle=not is_answer_due, due=keep.next_checkpoint_at(context, record), watch=watch, wrote=wrote)


def forget_prompt(context: Context) -> None:
    """Delete a prompt that led to no claim: its session is over."""
    Path(spool_file(context.place, "on-prompt")).unlink(missing_ok=True)


def _spare_prompt(context: Context, event: HookEvent) -> None:
    """Keep a prompt that may lead to a claim: the record that it belongs into does not exist yet."""
    if not event.prompt or event.is_wake_up or not context.settings.record.enabled:
        return
    values = {"prompt": event.prompt, "session_id": event.session_id}
    try:
        file = (
            Path(files.state_directory(Path(context.place.state_dir)))
            / Path(spool_file(context.place, "on-prompt")).name
        )
        files.write_atomic(file, json.dumps(values).encode())
    except (OSError, files.NotPlain):
        # Only what was asked for is lost, and a prompt must not wait for it.
        return


def _occasion(event: HookEvent) -> "Occasion":
    from agent_sync.record.disk.contents import Occasion

    if event.is_wake_up:
        return Occasion(session_id=event.session_id)
    is_work = event.trigger in _WORK
    return Occasion(event.session_id, said=event.said, prompt=event.prompt, is_work=is_work)
