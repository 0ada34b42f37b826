"""Watches a pull request in the background of an idle session and wakes the agent when that is worth a turn.

Each look is a fresh start: between two of them the process is a bare interpreter that sleeps (`quiet/asleep.py`).
"""

import contextlib
import json
import os
import sys
import time
import traceback
from collections.abc import Sequence
from datetime import datetime
from functools import partial
from pathlib import Path

from agent_sync.context import Context
from agent_sync.errors import AgentSyncError
from agent_sync.events import exchange
from agent_sync.events.parts.idle import suggestion
from agent_sync.events.parts.record import keep_record
from agent_sync.events.trouble import trouble_notice
from agent_sync.hook_event import HookEvent
from agent_sync.lazy_dataclasses import dataclass
from agent_sync.quiet import answer as quiet, asleep
from agent_sync.system import clock, files
from agent_sync.system.processes import Watchdog
from agent_sync.task.claim.model import Claim
from agent_sync.task.claim.phases import Phase
from agent_sync.task.decision.facts import Trigger
from agent_sync.task.decision.needs import next_poll_at
from agent_sync.task.decision.notice import Notice
from agent_sync.task.loop import drive
from agent_sync.task.watched import shared_look
from agent_sync.worktree import WATCHER_LOCK

STDERR = 2
WAKE = 2
NOTHING_NEW = 0
# Behind this word a command line tells what earlier looks have left.
GOES_ON = "--goes-on"
# In these phases something outside the session leads on.
_WATCHED = frozenset({Phase.READY_FOR_PR, Phase.PR_CREATED, Phase.CHECKS_RUNNING, Phase.DONE})


@dataclass(frozen=True)
class Watch:
    """What one look leaves for the next: when watching ends, whose child it is, and the locks by worktree."""

    until: float
    parent: int
    locks: dict[str, int]


def watch(contexts: Sequence[Context], event: HookEvent, arguments: Sequence[str]) -> int:
    """Look once, and go to sleep until the next look; return the exit status that says whether to wake the agent.

    The first worktree is the session's own, the others are those in which it has claimed something.
    """
    first = contexts[0]
    limit = first.settings.hooks.idle_deadline_s
    watching = _watch_so_far(arguments) or _begun_watch(contexts, limit)
    alone = [context for context in contexts if context.place.root in watching.locks]
    if not alone or asleep.is_orphaned(watching.parent):
        return NOTHING_NEW
    left_s = max(0.0, watching.until - time.monotonic())
    Watchdog(left_s, at_limit=lambda: None, end_children=first.processes.close).start()
    troubled = [context for context in alone if not _look(context, event)]
    if _has_woken(alone):
        return WAKE
    alone = [context for context in alone if _is_worth_watching(context)]
    if alone:
        _sleep_until_due(alone, troubled, watching, event)
    return NOTHING_NEW


def _begun_watch(contexts: Sequence[Context], limit: float) -> Watch:
    """Take the locks that are free: every idle event starts a watcher, and one per worktree is enough."""
    taken = ((one.place.root, files.lock_for_life(Path(one.place.state_dir) / WATCHER_LOCK)) for one in contexts)
    locks = {root: descriptor for root, descriptor in taken if descriptor is not None}
    return Watch(time.monotonic() + limit, os.getppid(), locks)


def _watch_so_far(arguments: Sequence[str]) -> Watch | None:
    """Return what the look before this one has left; None at the first."""
    if GOES_ON not in arguments:
        return None
    values = json.loads(arguments[arguments.index(GOES_ON) + 1])
    return Watch(values["until"], values["parent"], values["locks"])


def _look(context: Context, event: HookEvent) -> bool:
    """Look once; tell whether that went well."""
    try:
        if context.store.read() is None:
            _keep_suggestion(context)
        else:
            context.shared_look = partial(shared_look, context)
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


def _sleep_until_due(
    contexts: Sequence[Context], troubled: Sequence[Context], watching: Watch, event: HookEvent
) -> None:
    """Become a sleeper that looks again when that is due, or when a claim file is edited."""
    watched = [part for one in contexts for part in (one.place.claim_file, quiet.state_of(one.place.claim_file))]
    now = clock.now()
    due = time.monotonic() + min(_pause(context, now, has_looked=context not in troubled) for context in contexts)
    locks = {context.place.root: watching.locks[context.place.root] for context in contexts}
    for descriptor in watching.locks.values():
        os.set_inheritable(descriptor, descriptor in locks.values())
    _leave_as_input({"cwd": event.cwd or contexts[0].place.root, "session_id": event.session_id})
    kept = json.dumps({"until": watching.until, "parent": watching.parent, "locks": locks})
    look = [sys.executable, "-P", "-m", "agent_sync", *Trigger.REWAKE.split(), GOES_ON, kept]
    sleeper = [sys.executable, "-I", "-S", asleep.__file__, str(due), str(watching.until), str(watching.parent)]
    os.execv(sys.executable, [*sleeper, *watched, "--", *look])  # noqa: S606  # a part of this very program


def _leave_as_input(values: dict[str, str]) -> None:
    """Put the event where the next look reads it."""
    reader, writer = os.pipe()
    os.write(writer, json.dumps(values).encode())
    os.close(writer)
    os.dup2(reader, 0)


def _pause(context: Context, now: datetime, *, has_looked: bool) -> float:
    """Return how long until the next look: what is left of the backoff, or all of it where the look came to nothing."""
    claim, backoff = _claim(context), context.settings.checks.backoff_s
    if claim is None:
        return max(asleep.PAUSE, backoff)
    asked_off = (claim.not_before - now).total_seconds() if claim.not_before else 0.0
    left = (next_poll_at(claim, now, backoff) - now).total_seconds()
    # Whoever reset the moment of the last look while we looked wants another one.
    is_reset = has_looked and claim.is_pull_open and claim.pr_number is not None and claim.last_check_poll is None
    return max(asleep.PAUSE, asked_off, left if left > 0 or is_reset else backoff)
