"""Watches a pull request in the background of an idle session and wakes the agent when that is worth a turn."""

import os
import select
import time
import traceback
from pathlib import Path

from agent_sync.context import Context
from agent_sync.errors import AgentSyncError
from agent_sync.events import reply
from agent_sync.events.deadline import Watchdog
from agent_sync.events.event import HookEvent
from agent_sync.events.parts.idle import suggestion
from agent_sync.events.parts.record import kept
from agent_sync.quiet import answer as quiet
from agent_sync.system import clock, files
from agent_sync.task.claim.model import Claim
from agent_sync.task.claim.phases import Phase
from agent_sync.task.decision.actions import Notice
from agent_sync.task.decision.facts import Trigger
from agent_sync.task.loop import drive

WATCHER_LOCK = "rewake.lock"
STDERR = 2
WAKE = 2
NOTHING_NEW = 0
_GLANCE = 1.0
# In these phases something outside the session leads on.
_WATCHED = frozenset({Phase.READY_FOR_PR, Phase.PR_CREATED, Phase.CHECKS_RUNNING, Phase.DONE})


def watch(context: Context, event: HookEvent) -> int:
    """Look again and again until something is worth a turn; return the exit status that says so."""
    limit, parent = context.settings.hooks.idle_deadline_s, os.getppid()
    context.cwd = event.cwd
    Watchdog(limit, at_limit=lambda: None, end_children=context.processes.close).start()
    # Every idle event starts a watcher; one per worktree is enough.
    with files.locked_if_free(Path(context.place.state_dir) / WATCHER_LOCK) as is_alone:
        while is_alone and not _is_orphaned(parent):
            _look(context, event)
            if _has_woken(context):
                return WAKE
            if not _is_worth_watching(context):
                break
            _sleep_until_due(context, parent)
    return NOTHING_NEW


def _is_orphaned(parent: int) -> bool:
    """Tell whether the session is gone: nobody could be woken any more, and the next session's watcher waits."""
    reader = select.poll()
    reader.register(STDERR, 0)
    return os.getppid() != parent or any(event & (select.POLLERR | select.POLLHUP) for _, event in reader.poll(0))


def _look(context: Context, event: HookEvent) -> None:
    try:
        if context.store.read() is None:
            _keep_suggestion(context)
        else:
            drive(context, Trigger.REWAKE, session_id=event.session_id)
            kept(context, event)
    except Exception as error:  # noqa: BLE001  # nobody can be told now, and the next look may succeed
        trace = None if isinstance(error, AgentSyncError) else traceback.format_exc()
        context.log.write(clock.now(), "trouble", error=str(error), trace=trace, trigger=Trigger.REWAKE)


def _keep_suggestion(context: Context) -> None:
    """Without a claim nothing is worth a turn; what could come next is told with the next prompt."""
    _, said = suggestion(context)
    context.outbox.add(Notice(f"next:{text}", text, for_human=False, for_agent=True) for text in said.agent)


def _has_woken(context: Context) -> bool:
    """Print, then mark: a kill in between repeats a sentence and never loses one."""
    waking = context.outbox.waking()
    text = "".join(f"{notice.text}\n" for notice in waking)
    is_told = bool(waking) and reply.write(text, descriptor=STDERR)
    if is_told:
        context.outbox.mark_woken(waking)
    return is_told


def _is_worth_watching(context: Context) -> bool:
    claim = _claim(context)
    return claim is not None and claim.phase in _WATCHED and not claim.closed_unmerged and claim.may_act


def _claim(context: Context) -> Claim | None:
    try:
        return context.store.read()
    except AgentSyncError:
        return None


def _sleep_until_due(context: Context, parent: int) -> None:
    """Sleep until the next look is due; an edit of the claim file makes it due at once."""
    claim = _claim(context)
    pause = max(_GLANCE, context.settings.checks.backoff_s)
    if claim and claim.not_before:
        pause = max(pause, (claim.not_before - clock.now()).total_seconds())
    due = time.monotonic() + pause
    before = quiet.state_of(context.place.claim_file)
    while (left := due - time.monotonic()) > 0 and quiet.state_of(context.place.claim_file) == before:
        if _is_orphaned(parent):
            return
        time.sleep(min(_GLANCE, left))
