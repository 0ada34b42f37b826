"""The recovery's part in a session's start: it reconciles, notes a crash, and tells what the session must know."""

from typing import TYPE_CHECKING

from agent_sync.context import Context
from agent_sync.events.parts.record import forget_prompt
from agent_sync.hook_event import IDLE, EventPart, HookEvent

if TYPE_CHECKING:
    from agent_sync.record.machine.model import Owner


def part(context: Context, event: HookEvent, _gate: object) -> EventPart:
    """Look at git, the lease and GitHub, note a crash of the session before, and tell the essential."""
    if not context.may_have_record:
        forget_prompt(context)
        return IDLE
    from agent_sync.record import keep
    from agent_sync.record.crash.recovery import is_validating, recover
    from agent_sync.record.page.session_text import session_text

    before = context.recorder.current()
    other = _other_session(event, before.record.owner) if before else ""
    recover(context, session_id=event.session_id)
    found = keep.begin_session(context, event.session_id)
    claim = context.store.read()
    # Work that is elsewhere now must not be resumed, however far it had come here.
    if found is None or (claim is not None and not claim.may_act):
        return IDLE
    running = is_validating(found.store, found.record)
    text = session_text(found.record, str(found.store.directory), is_validating=running)
    warned = (other,) if other else ()
    return EventPart(was_idle=False, agent=(*filter(None, (text,)), *warned), human=warned) if text else IDLE


def _other_session(event: HookEvent, owner: "Owner") -> str:
    """Return a warning where another live session works on the same task in this worktree."""
    from agent_sync.record.crash.owner import SystemProcesses, is_other_session

    if not is_other_session(owner, event.session_id, SystemProcesses()):
        return ""
    return (
        f"agent-sync: another session (process {owner.pid}) works on this task in this worktree and is still running. "
        "Two sessions overwrite each other's files: end one of them, or use `agent-sync claim ISSUE --worktree`."
    )
