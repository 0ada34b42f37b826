"""The stop gate: looks at a stop, runs the gates if it has to, and answers; infrastructure never blocks."""

import contextlib
import json
import time
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from agent_sync.context import Context
from agent_sync.gates.config.glance import Glance, glance
from agent_sync.gates.config.user_config import is_nested
from agent_sync.gates.definitions.which_definitions import GateDefinitions, gate_definitions
from agent_sync.gates.instructions import block_reason
from agent_sync.gates.memory import keeping, stamps, state as states
from agent_sync.gates.plan.changes import Wanted
from agent_sync.gates.plan.prepare import RunOptions, has_unresolved
from agent_sync.gates.run import lock
from agent_sync.gates.run.logs import LogDir
from agent_sync.gates.run.report import about_definitions, for_pull
from agent_sync.gates.run.results import RunResult
from agent_sync.gates.status import OPENS_PULL, Status, is_blocking
from agent_sync.gates.stop_event import StopEvent, read_event
from agent_sync.gates.verdict import MOST_BLOCKS, Stop, Verdict, verdict
from agent_sync.quiet import gate as quick, wording
from agent_sync.system import clock, files
from agent_sync.system.masking import masked

BLOCKS_FILE = "gauntlet-blocks.json"
TOLD_FILE = "gauntlet-told.json"
MOST_SESSIONS = 20
# The human hears of these; the others are everyday.
_TOLD = frozenset(
    {
        Status.FAILED,
        Status.RETRY_LIMIT_EXCEEDED,
        Status.INFRASTRUCTURE_ERROR,
        Status.ERROR,
        Status.PASSED_WITH_WARNINGS,
    }
)
_RAN = frozenset({Status.PASSED, Status.PASSED_WITH_WARNINGS})


@dataclass(frozen=True)
class GateReply:
    """The gate's answer to one stop, and what the rest of agent-sync wants to know about it."""

    status: Status
    message: str
    reason: str = ""
    human: str = ""
    summary: str = ""
    tree: str = ""
    may_open_pull: bool = False
    due: datetime | None = None

    @property
    def decision(self) -> str:
        """What the client is told to do with the stop."""
        return "block" if self.reason else "approve"

    def values(self) -> dict[str, str]:
        """Return the fields of the reply; a reason only where the stop is blocked."""
        values = {"decision": self.decision, "status": self.status.value, "message": self.message}
        if self.reason:
            values |= {"reason": self.reason, "stopReason": self.reason}
        return values | ({"systemMessage": self.human} if self.human else {})

    def line(self) -> str:
        """Return the reply as one line of JSON."""
        return json.dumps(self.values(), ensure_ascii=False) + "\n"


def gate(context: Context, raw: bytes, *, deadline: float, needs_pass: bool = False) -> GateReply:
    """Answer a stop within `deadline` seconds; with `needs_pass` the interval holds nothing up and nothing blocks."""
    try:
        return _answered(context, raw, deadline=time.monotonic() + deadline, needs_pass=needs_pass)
    except Exception as error:  # noqa: BLE001  # no surprise of ours may keep an agent from stopping
        return failed_open(error)


def failed_open(error: Exception) -> GateReply:
    """Return the answer to trouble nobody foresaw."""
    message = f"The gate failed unexpectedly: {type(error).__name__}: {masked(str(error))}"
    return GateReply(Status.ERROR, message, human=f"agent-sync: {message}. The stop was allowed.")


def no_project() -> GateReply:
    """Return the answer where there is no repository, and so no project."""
    return _quick(Verdict(Status.NO_CONFIG, wording.NO_CONFIG), GateDefinitions(None))


def _answered(context: Context, raw: bytes, *, deadline: float, needs_pass: bool) -> GateReply:
    event = read_event(raw)
    is_known = event is not None
    event = event or StopEvent()
    verify = context.settings.gate.verify_active
    first = Stop(
        is_readable=is_known,
        is_active=event.is_active,
        is_nested=is_nested(context.environment),
        needs_pass=needs_pass,
        verify_active=verify,
    )
    answer = verdict(replace(first, has_config=False))
    if answer and answer.status is not Status.NO_CONFIG:
        return _quick(answer, GateDefinitions(None))
    # Before anything else: a branch that has switched its gates off must not keep that to itself.
    definitions = gate_definitions(context, event.cwd or context.place.root)
    root = definitions.root
    if root is None:
        answer = Verdict(Status.NO_CONFIG, wording.NO_CONFIG)
        return _quick(answer, definitions, told=_news(context, event, definitions, needs_pass=needs_pass))
    seen = glance(context.place, root, context.environment, directory=definitions.directory)
    before = quick.look(context.place, str(root), seen.log_dir)
    stop = _looked(first, event, seen)
    answer = verdict(stop)
    if answer:
        told = (*seen.warnings, *_news(context, event, definitions, needs_pass=needs_pass))
        reply = _quick(answer, definitions, told=told, seconds_left=stop.seconds_left)
        # A stamp would answer sessions that have not been told.
        if reply.due and not reply.human and not definitions.said:
            stamps.leave_interval(context, root, seen.log_dir, due=reply.due, before=before)
        return reply
    if needs_pass and _is_still_failing(context, root, Path(seen.log_dir)):
        message = "The gates failed, and nothing has changed since."
        failed = RunResult(Status.FAILED, message, definitions=definitions.changes, remarks=definitions.remarks)
        return GateReply(Status.FAILED, message, summary=for_pull(failed))
    # Who needs a pass asks for himself; only a stop of the agent can be sent back.
    may_block = not needs_pass and (not event.is_active or verify)
    _news(context, event, definitions, needs_pass=needs_pass)
    return _ran(context, definitions, event, deadline=deadline, may_block=may_block, seen=seen)


def _is_still_failing(context: Context, root: Path, log_dir: Path) -> bool:
    """Tell whether a run would only repeat the last failure, and use up a retry for it."""
    from agent_sync.gates.plan import snapshot as snapshots
    from agent_sync.gates.plan.repo import Repo

    state = states.read(log_dir)
    if state is None or not state.has_failed:
        return False
    return snapshots.take(Repo(context.git, context.place, root), log_dir).tree == state.working_tree_ref


def _looked(stop: Stop, event: StopEvent, seen: Glance) -> Stop:
    """Add what the log directory tells."""
    directory = Path(seen.log_dir)
    state = states.read(directory)
    left = 0.0
    if state and state.completed_at and not state.is_partial:
        passed = (clock.now() - state.completed_at).total_seconds()
        # A record from the future, after a change of the clock, throttles nothing.
        left = seen.interval_minutes * 60 - passed if passed >= 0 else 0.0
    return replace(
        stop,
        is_enabled=seen.is_enabled,
        subagents=event.subagents,
        lock_holder=lock.holder(directory),
        seconds_left=left,
        has_unresolved=has_unresolved(LogDir(directory), state),
    )


def _quick(
    answer: Verdict, definitions: GateDefinitions, *, told: tuple[str, ...] = (), seconds_left: float = 0.0
) -> GateReply:
    due = clock.now() + timedelta(seconds=seconds_left) if answer.status is Status.INTERVAL_NOT_ELAPSED else None
    off = "Gates: off." if answer.status is Status.STOP_HOOK_DISABLED else "Gates: none configured."
    may_open = answer.status in OPENS_PULL
    human = "\n".join(f"agent-sync: {line}" for line in told)
    summary = "\n".join([off, *about_definitions(definitions.changes, definitions.remarks)]) if may_open else ""
    return GateReply(answer.status, answer.message, human=human, summary=summary, may_open_pull=may_open, due=due)


def _news(context: Context, event: StopEvent, definitions: GateDefinitions, *, needs_pass: bool) -> tuple[str, ...]:
    """Return what the person should know about the definitions, unless this session has been told the same."""
    said = definitions.said
    if not said or needs_pass or not event.session_id:
        return said
    file = Path(context.place.state_dir) / TOLD_FILE
    told = _told_before(file)
    if told.get(event.session_id) == list(said):
        return ()
    kept = dict(list((told | {event.session_id: list(said)}).items())[-MOST_SESSIONS:])
    with contextlib.suppress(OSError):
        keeping.keep(file, json.dumps(kept).encode())
    return said


def _told_before(file: Path) -> dict[str, Any]:
    try:
        values = json.loads(files.read_own(file) or b"{}")
    except (files.NotPlain, OSError, ValueError, RecursionError):
        return {}
    return values if isinstance(values, dict) else {}


def _ran(  # noqa: PLR0913  # where, what, how long, and whether it may block
    context: Context, definitions: GateDefinitions, event: StopEvent, *, deadline: float, may_block: bool, seen: Glance
) -> GateReply:
    from agent_sync.gates.run.execute import execute_run

    root = definitions.root or Path(context.place.root)
    limit = min(deadline, time.monotonic() + context.settings.gate.deadline_s)
    options = RunOptions(Wanted(working=True), deadline=limit)
    result = execute_run(context, root, options, definitions=definitions)
    if is_blocking(result.status) and may_block:
        result = _bounded(context, event, result)
    blocks = is_blocking(result.status) and may_block
    human = _human(result, seen.warnings)
    if not human:
        stamps.leave_pass(context, root, seen.log_dir, result=result)
    return GateReply(
        status=result.status,
        message=result.message,
        reason=block_reason(result) if blocks else "",
        human=human,
        summary=for_pull(result),
        tree=result.tree,
        may_open_pull=_may_open(context, result),
    )


def _may_open(context: Context, result: RunResult) -> bool:
    """Tell whether a pull request may follow: what was looked at must be what is committed."""
    looked_at = result.tree if result.status in _RAN else result.seen
    committed = context.git.ask("rev-parse", "--verify", "--quiet", "HEAD^{tree}").stdout.strip()
    return result.status in OPENS_PULL and bool(looked_at) and looked_at == committed


def _human(result: RunResult, warnings: tuple[str, ...]) -> str:
    """Return what the person should know, if anything."""
    lines = [result.message] if result.status in _TOLD else []
    lines += [line for line in result.error.splitlines() if line not in result.message]
    lines += [*warnings, *result.notes]
    lines += GateDefinitions(None, changes=result.definitions, remarks=result.remarks).said
    lines += [f"full details: {result.console_log}"] if result.status in _TOLD and result.console_log else []
    return "\n".join(f"agent-sync: {line}" for line in lines)


def _bounded(context: Context, event: StopEvent, result: RunResult) -> RunResult:
    """Send the same unchanged work back only so often within one prompt, for clients that never say `active`."""
    file = Path(context.place.state_dir) / BLOCKS_FILE
    count = _blocks(file, event, result) + 1
    if count > MOST_BLOCKS:
        message = f"{result.message} It was sent back {MOST_BLOCKS} times without a change. A human should look."
        return replace(result, status=Status.RETRY_LIMIT_EXCEEDED, message=message)
    values = {"turn": event.turn, "tree": result.seen, "count": count}
    with contextlib.suppress(OSError):
        keeping.keep(file, json.dumps(values).encode())
    return result


def _blocks(file: Path, event: StopEvent, result: RunResult) -> int:
    try:
        values: dict[str, Any] = json.loads(files.read_own(file) or b"{}")
        is_same = (values.get("turn"), values.get("tree")) == (event.turn, result.seen)
        return int(values.get("count", 0)) if is_same else 0
    except (files.NotPlain, OSError, ValueError, TypeError, AttributeError):
        return 0
