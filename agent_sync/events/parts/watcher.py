"""Watches a pull request in the background of an idle session and wakes the agent when that is worth a turn."""

import contextlib
import os
import select
import time
import traceback
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from agent_sync.context import Context
from agent_sync.errors import AgentSyncError
from agent_sync.events import exchange
from agent_sync.events.parts.idle import suggestion
from agent_sync.events.parts.record import keep_record
from agent_sync.events.trouble import trouble_notice
from agent_sync.hook_event import HookEvent
from agent_sync.quiet import answer as quiet
from agent_sync.system import clock, files
from agent_sync.system.processes import Watchdog
from agent_sync.task.claim.model import Claim
from agent_sync.task.claim.phases import Phase
from agent_sync.task.decision.facts import Trigger
from agent_sync.task.decision.needs import next_poll_at
from agent_sync.task.decision.notice import Notice
from agent_sync.task.loop import drive
from agent_sync.worktree import WATCHER_LOCK

STDERR = 2
WAKE = 2
NOTHING_NEW = 0
_PAUSE = 1.0
# In these phases something outside the session leads on.
_WATCHED = frozenset({Phase.READY_FOR_PR, Phase.PR_CREATED, Phase.CHECKS_RUNNING, Phase.DONE})


def watch(contexts: Sequence[Context], event: HookEvent) -> int:
    """Look again and again until something is worth a turn; return the exit status that says so.

    The first worktree is the session's own, the others are those in which it has claimed something.
    """
    first, parent = contexts[0], os.getppid()
    limit = first.settings.hooks.idle_deadline_s
    Watchdog(limit, at_limit=lambda: None, end_children=first.processes.close).start()
    with contextlib.ExitStack() as stack:
        # Every idle event starts a watcher; one per worktree is enough.
        alone = [context for context in contexts if stack.enter_context(_watching_alone(context))]
        while alone and not _is_orphaned(parent):
            troubled = [context for context in alone if not _look(context, event)]
            if _has_woken(alone):
                return WAKE
            alone = [context for context in alone if _is_worth_watching(context)]
            if alone:
                _sleep_until_due(alone, troubled, parent)
    return NOTHING_NEW


def _watching_alone(context: Context) -> contextlib.AbstractContextManager[bool]:
    return files.locked_if_free(Path(context.place.state_dir) / WATCHER_LOCK)


def _is_orphaned(parent: int) -> bool:
    """Tell whether the session is gone: nobody could be woken any more, and the next session's watcher waits."""
    reader = select.poll()
    reader.register(STDERR, 0)
    return os.getppid() != parent or any(event & (select.POLLERR | select.POLLHUP) for _, event in reader.poll(0))


def _look(context: Context, event: HookEvent) -> bool:
    """Look once; tell whether that went well."""
    try:
        if context.store.read() is None:
            _keep_suggestion(context)
        else:
            drive(context, Trigger.REWAKE, session_id=event.session_id)
            keep_record(context, event)
    except Exception as error:  # noqa: BLE001  # the next look may succeed
        trace = None if isinstance(error, AgentSyncError) else traceback.format_exc()
        context.log.write(clock.now(), "trouble", error=str(error), trace=trace, trigger=Trigger.REWAKE)
        _keep_trouble(context, error, event)
        return False
    return True


def _keep_trouble(context: Context, error: Exception, event: HookEvent) -> None:
    """Nobody can be told now: the human reads with the next prompt that nothing was seen for a while."""
    with contextlib.suppress(AgentSyncError, OSError):
        context.outbox.add([trouble_notice(error, event.session_id or Trigger.REWAKE, clock.now())])


def _keep_suggestion(context: Context) -> None:
    """Without a claim nothing is worth a turn; what could come next is told with the next prompt."""
    context.outbox.add(
        Notice(f"next:{text}", text, for_human=False, for_agent=True) for text in suggestion(context).agent
    )


def _has_woken(contexts: Sequence[Context]) -> bool:
    """Print, then mark: a kill in between repeats a sentence and never loses one."""
    waking = [context.outbox.waking() for context in contexts]
    text = "".join(f"{notice.agent_text or notice.text}\n" for notices in waking for notice in notices)
    is_told = bool(text) and exchange.write(text, descriptor=STDERR)
    if is_told:
        for context, notices in zip(contexts, waking, strict=True):
            context.outbox.mark_woken(notices)
    return is_told


def _is_worth_watching(context: Context) -> bool:
    claim = _claim(context)
    return claim is not None and claim.phase in _WATCHED and not claim.closed_unmerged and claim.may_act


def _claim(context: Context) -> Claim | None:
    try:
        return context.store.read()
    except AgentSyncError:
        return None


def _sleep_until_due(contexts: Sequence[Context], troubled: Sequence[Context], parent: int) -> None:
    """Sleep until the next look is due; an edit of a claim file makes it due at once."""
    now = clock.now()
    due = time.monotonic() + min(_pause(context, now, has_looked=context not in troubled) for context in contexts)
    before = _claim_states(contexts)
    while (left := due - time.monotonic()) > 0 and _claim_states(contexts) == before:
        if _is_orphaned(parent):
            return
        time.sleep(min(_PAUSE, left))


def _claim_states(contexts: Sequence[Context]) -> list[str]:
    return [quiet.state_of(context.place.claim_file) for context in contexts]


def _pause(context: Context, now: datetime, *, has_looked: bool) -> float:
    """Return how long until the next look: what is left of the backoff, or all of it where the look came to nothing."""
    claim, backoff = _claim(context), context.settings.checks.backoff_s
    if claim is None:
        return max(_PAUSE, backoff)
    asked_off = (claim.not_before - now).total_seconds() if claim.not_before else 0.0
    left = (next_poll_at(claim, now, backoff) - now).total_seconds()
    # Whoever reset the moment of the last look while we looked wants another one.
    is_reset = has_looked and claim.is_pull_open and claim.pr_number is not None and claim.last_check_poll is None
    return max(_PAUSE, asked_off, left if left > 0 or is_reset else backoff)
