"""`agent-sync gate stop-hook`: the stop gate alone, one line of JSON whatever happens."""

import os
import threading
from typing import NoReturn

from agent_sync import settings as settings_file
from agent_sync.context import context_at
from agent_sync.events import exchange
from agent_sync.events.exchange import parse
from agent_sync.gates.answer import GateReply, failed_open, gate, no_project
from agent_sync.gates.pull import tell_stderr
from agent_sync.gates.status import Status
from agent_sync.quiet import answer as quiet, wording
from agent_sync.system.processes import Watchdog
from agent_sync.task.decision.facts import Trigger
from agent_sync.worktree import place_of

STDOUT, STDERR = 1, 2
# The rest is for putting a run that was cut off on record.
GATE_SHARE = 0.9
# Before the settings are known, with the hook's own limit in them, it gives itself this long.
BEGINNING_S = 8.0


def run(raw: bytes) -> NoReturn:
    """Answer one stop; the only thing on standard output is the reply, and the exit code is always 0."""
    answer_to = os.dup(STDOUT)
    # Whatever else should print, by mistake, does so where it cannot spoil the reply.
    os.dup2(STDERR, STDOUT)
    try:
        found = _answer(raw, answer_to)
    except Exception as error:  # noqa: BLE001  # hooks fail open: no surprise of ours may stop the agent
        found = failed_open(error)
    tell_stderr(found.notes)
    exchange.write(found.line(), descriptor=answer_to)
    os._exit(0)


def _answer(raw: bytes, answer_to: int) -> GateReply:
    beginning = Watchdog(BEGINNING_S, at_limit=lambda: _late(answer_to), end_children=lambda: None)
    beginning.start()
    environment = settings_file.environment()
    event = parse(Trigger.STOP, raw)
    starts = [event.cwd if event else "", quiet.process_dir()]
    place = place_of(starts, environment.get("CLAUDE_PROJECT_DIR", ""))
    if place is None:
        return no_project() if event else _unreadable()
    context = context_at(place, environment)
    limit = context.settings.hooks.stop_deadline_s
    watchdog = Watchdog(limit, at_limit=lambda: _late(answer_to), end_children=context.processes.close)
    beginning.stop()
    watchdog.start()
    found = gate(context, event, deadline=limit * GATE_SHARE)
    if not watchdog.answered_in_time():
        threading.Event().wait()
    return found


def _unreadable() -> GateReply:
    return GateReply(Status.INVALID_INPUT, wording.INVALID_INPUT)


def _late(answer_to: int) -> None:
    message = "The gate ran out of time; the stop was allowed."
    late = GateReply(Status.INFRASTRUCTURE_ERROR, message, human=f"agent-sync: {message}")
    exchange.write(late.line(), descriptor=answer_to)
