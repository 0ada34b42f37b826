"""The stop gate: looks at a stop, runs the gates if it has to, and answers; infrastructure never blocks."""

import contextlib
import json
import time
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from agent_sync.context import Context
from agent_sync.gates.config.stop_settings import StopSettings, stop_settings
from agent_sync.gates.definitions.which_definitions import GateDefinitions, gate_definitions
from agent_sync.gates.instructions import block_reason
from agent_sync.gates.memory import keeping, stamps, state as states
from agent_sync.gates.memory.told import definitions_scope, untold
from agent_sync.gates.plan.changes import WantedChanges
from agent_sync.gates.plan.prepare import RunOptions, StopAttempt, has_unresolved
from agent_sync.gates.run import lock
from agent_sync.gates.run.logs import LogDir
from agent_sync.gates.run.report import about_definitions, for_pull
from agent_sync.gates.run.results import JobOutcome, RunResult
from agent_sync.gates.status import OPENS_PULL, Status, is_blocking
from agent_sync.gates.verdict import MOST_BLOCKS, GateVerdict, Stop, verdict
from agent_sync.hook_event import HookEvent
from agent_sync.lazy_dataclasses import dataclass
from agent_sync.quiet import answer as quiet, gate as quick, wording
from agent_sync.system import clock, files, git_tree
from agent_sync.system.masking import masked
from agent_sync.task.decision.facts import Trigger
from agent_sync.worktree import GATE_BLOCKS

# The human hears of these; the others are everyday.
_REPORTED = frozenset(
    {
        Status.FAILED,
        Status.RETRY_LIMIT_EXCEEDED,
        Status.INFRASTRUCTURE_ERROR,
        Status.ERROR,
        Status.PASSED_WITH_WARNINGS,
    }
)
_HAVE_RUN = frozenset({Status.PASSED, Status.PASSED_WITH_WARNINGS})


@dataclass(frozen=True)
class GateReply:
    """The gate's answer to one stop, and what the rest of agent-sync wants to know about it."""

    status: Status
    message: str
    reason: str = ""
    human: str = ""
    summary: str = ""
    passed: tuple[str, ...] = ()
    tree: str = ""
    may_open_pull: bool = False
    due: datetime | None = None
    # What is said on standard error, where the client keeps it for whoever looks for it.
    notes: tuple[str, ...] = ()

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


def gate(
    context: Context, event: HookEvent | None, *, deadline: float, needs_pass: bool = False, verifies: bool = False
) -> GateReply:
    """Answer a stop within `deadline` seconds; None is one whose input could not be read.

    With `needs_pass` the interval holds nothing up and nothing blocks. With `verifies` a stop that follows a block is
    looked at like any other; by itself the gate approves it at once.
    """
    try:
        until = time.monotonic() + deadline
        verifies = verifies or context.settings.gate.verify_active
        return _answer_stop(context, event, deadline=until, needs_pass=needs_pass, verifies=verifies)
    except Exception as error:  # noqa: BLE001  # no surprise of ours may keep an agent from stopping
        return failed_open(error)


def failed_open(error: Exception) -> GateReply:
    """Return the answer to trouble nobody foresaw."""
    message = f"The gate failed unexpectedly: {type(error).__name__}: {masked(str(error))}"
    return GateReply(Status.ERROR, message, human=f"agent-sync: {message}. The stop was allowed.")


def no_project() -> GateReply:
    """Return the answer where there is no repository, and so no project."""
    return _reply_without_run(GateVerdict(Status.NO_CONFIG, wording.NO_CONFIG), GateDefinitions(None))


def _answer_stop(
    context: Context, stop_event: HookEvent | None, *, deadline: float, needs_pass: bool, verifies: bool
) -> GateReply:
    event = stop_event or HookEvent(Trigger.STOP)
    first = Stop(
        is_readable=stop_event is not None,
        is_active=event.is_continuation,
        is_nested=quiet.has_marker(context.environment),
        needs_pass=needs_pass,
        verify_active=verifies,
    )
    answer = verdict(replace(first, has_config=False))
    if answer and answer.status is not Status.NO_CONFIG:
        return _reply_without_run(answer, GateDefinitions(None))
    # Before anything else: a branch that has switched its gates off must not keep that to itself.
    definitions = gate_definitions(context, event.cwd or context.place.root)
    root = definitions.root
    if root is None:
        answer = GateVerdict(Status.NO_CONFIG, wording.NO_CONFIG)
        news = () if needs_pass else _definition_news(context, event, definitions)
        return _reply_without_run(answer, definitions, told=news)
    settings = stop_settings(context.place, root, context.environment, directory=definitions.directory)
    before = quick.look(context.place, str(root), settings.log_dir)
    stop = _with_last_run(first, event, settings)
    answer = verdict(stop)
    if answer:
        told = () if needs_pass else _news(context, event, _topics(settings.warnings), definitions)
        reply = _reply_without_run(answer, definitions, told=told, seconds_left=stop.seconds_left)
        reply = replace(reply, notes=(*settings.warnings, *reply.notes))
        # A stamp would answer sessions that have not been told.
        if reply.due and not settings.warnings and not definitions.news:
            stamps.leave_interval(context, root, settings.log_dir, due=reply.due, before=before)
        return reply
    if needs_pass and _is_still_failing(context, root, Path(settings.log_dir)):
        message = "The gates failed, and nothing has changed since."
        failed = RunResult(Status.FAILED, message, definitions=definitions.changes, remarks=definitions.remarks)
        return GateReply(Status.FAILED, message, summary=for_pull(failed))
    # Who needs a pass asks for himself; only a stop of the agent can be sent back.
    may_block = not needs_pass and (not event.is_continuation or verifies)
    return _run_gates(context, definitions, event, deadline=deadline, may_block=may_block, settings=settings)


def _is_still_failing(context: Context, root: Path, log_dir: Path) -> bool:
    """Tell whether a run would only repeat the last failure, and use up a retry for it."""
    from agent_sync.gates.plan import snapshot as snapshots
    from agent_sync.gates.plan.repo import Repo

    state = states.read(log_dir)
    if state is None or not state.has_failed:
        return False
    return snapshots.take(Repo(context.git, context.place, root), log_dir).tree == state.working_tree_ref


def _with_last_run(stop: Stop, event: HookEvent, settings: StopSettings) -> Stop:
    """Add what the log directory tells."""
    directory = Path(settings.log_dir)
    state = states.read(directory)
    left = 0.0
    if state and state.completed_at and not state.is_partial:
        passed = (clock.now() - state.completed_at).total_seconds()
        # A record from the future, after a change of the clock, throttles nothing.
        left = settings.interval_minutes * 60 - passed if passed >= 0 else 0.0
    return replace(
        stop,
        is_enabled=settings.is_enabled,
        subagents=event.subagents,
        lock_holder=lock.holder(directory),
        seconds_left=left,
        has_unresolved=has_unresolved(LogDir(directory), state),
    )


def _reply_without_run(
    answer: GateVerdict, definitions: GateDefinitions, *, told: tuple[str, ...] = (), seconds_left: float = 0.0
) -> GateReply:
    due = clock.now() + timedelta(seconds=seconds_left) if answer.status is Status.INTERVAL_NOT_ELAPSED else None
    off = "Gates: off." if answer.status is Status.STOP_HOOK_DISABLED else "Gates: none configured."
    may_open = answer.status in OPENS_PULL
    human = "\n".join(f"agent-sync: {line}" for line in told)
    summary = "\n".join([off, *about_definitions(definitions.changes, definitions.remarks)]) if may_open else ""
    notes = (answer.message,) if due else ()
    return GateReply(
        answer.status, answer.message, human=human, summary=summary, may_open_pull=may_open, due=due, notes=notes
    )


def _news(context: Context, event: HookEvent, topics: dict[str, str], definitions: GateDefinitions) -> tuple[str, ...]:
    """Return what the person was not told yet in this session or, about new gates, since the claim."""
    return (*untold(context, event.session_id, topics), *_definition_news(context, event, definitions))


def _definition_news(context: Context, event: HookEvent, definitions: GateDefinitions) -> tuple[str, ...]:
    if not definitions.news:
        return ()
    scope = definitions_scope(context, event, adds_only=definitions.adds_only)
    return untold(context, scope, _topics(definitions.news))


def _topics(lines: tuple[str, ...]) -> dict[str, str]:
    return {line: line for line in lines}


def _run_gates(  # noqa: PLR0913  # where, what, how long, and whether it may block
    context: Context,
    definitions: GateDefinitions,
    event: HookEvent,
    *,
    deadline: float,
    may_block: bool,
    settings: StopSettings,
) -> GateReply:
    from agent_sync.gates.run.execute import execute_run

    root = definitions.root or Path(context.place.root)
    limit = min(deadline, time.monotonic() + context.settings.gate.deadline_s)
    options = RunOptions(WantedChanges(working=True), deadline=limit, attempt=_attempt(event) if may_block else None)
    result = execute_run(context, root, options, definitions=definitions)
    if is_blocking(result.status) and may_block:
        result = _limit_blocks(context, event, result)
    blocks = is_blocking(result.status) and may_block
    topics = _run_topics(result, settings.warnings)
    shown = GateDefinitions(None, changes=result.definitions, remarks=result.remarks)
    human = _news(context, event, topics, shown) if may_block else ()
    if not topics and not shown.news:
        stamps.leave_pass(context, root, settings.log_dir, result=result)
    return GateReply(
        status=result.status,
        message=result.message,
        reason=block_reason(result) if blocks else "",
        human="\n".join(f"agent-sync: {line}" for line in human),
        summary=for_pull(result),
        passed=tuple(one.id for one in result.results if one.outcome is JobOutcome.PASSED),
        tree=result.tree,
        may_open_pull=_may_open(context, result),
        notes=settings.warnings,
    )


def _attempt(event: HookEvent) -> StopAttempt:
    return StopAttempt(event.session_id, event.turn, is_known_turn=bool(event.prompt_id) or event.is_continuation)


def _may_open(context: Context, result: RunResult) -> bool:
    """Tell whether a pull request may follow: what was looked at must be what is committed."""
    looked_at = result.tree if result.status in _HAVE_RUN else result.seen
    return result.status in OPENS_PULL and bool(looked_at) and looked_at == git_tree.committed_tree(context.git)


def _run_topics(result: RunResult, warnings: tuple[str, ...]) -> dict[str, str]:
    """Return what the person should know of a run, each under what makes it the same thing as last time."""
    lines = [line for line in result.error.splitlines() if line not in result.message]
    topics = _topics((*lines, *warnings, *result.notes))
    if result.status not in _REPORTED:
        return topics
    where = f"\nagent-sync: full details: {result.console_log}" if result.console_log else ""
    # The limit is one thing however often it is met; every block is a thing of its own.
    topic = {Status.RETRY_LIMIT_EXCEEDED: result.seen, Status.FAILED: str(result.console_log)}
    return {f"{result.status}: {topic.get(result.status, result.message)}": result.message + where} | topics


def _limit_blocks(context: Context, event: HookEvent, result: RunResult) -> RunResult:
    """Send the same unchanged work back only so often within one prompt, for clients that never say `active`."""
    file = Path(context.place.state_dir) / GATE_BLOCKS
    count = _blocks(file, event, result) + 1
    if count > MOST_BLOCKS:
        message = f"{result.message} It was sent back {MOST_BLOCKS} times without a change. A human should look."
        return replace(result, status=Status.RETRY_LIMIT_EXCEEDED, message=message)
    values = {"turn": event.turn, "tree": result.seen, "count": count}
    with contextlib.suppress(OSError):
        keeping.keep(file, json.dumps(values).encode())
    return result


def _blocks(file: Path, event: HookEvent, result: RunResult) -> int:
    try:
        values: dict[str, Any] = json.loads(files.read_own(file) or b"{}")
        is_same = (values.get("turn"), values.get("tree")) == (event.turn, result.seen)
        return int(values.get("count", 0)) if is_same else 0
    except (files.NotPlain, OSError, ValueError, TypeError, AttributeError, ArithmeticError, RecursionError):
        return 0
