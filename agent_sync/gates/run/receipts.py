"""Puts a run of the gates on the recovery record: that it runs, what each check proves, and how it ended."""

import hashlib
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from agent_sync.context import Context
from agent_sync.errors import AgentSyncError, BadKey
from agent_sync.gates.plan.prepare import Prepared
from agent_sync.gates.run.results import Executed, RunResult
from agent_sync.gates.status import Status
from agent_sync.quiet import answer as quiet
from agent_sync.system import clock
from agent_sync.task.decision import messages

if TYPE_CHECKING:
    from agent_sync.record.machine.validation import Ending
    from agent_sync.record.receipts.evidence import Ran

# Checks write both streams to one log, so the other one has nothing.
_NOTHING = hashlib.sha256(b"").hexdigest()


def note_began(context: Context) -> None:
    """Say on the record that the gates run, so that a crash meanwhile is known to be one in validation."""
    _kept(context, _began)


def note_ended(context: Context, prepared: Prepared, result: RunResult, *, is_full: bool) -> None:
    """Sign a receipt for every check that ran, and say on the record how the run ended."""
    _kept(context, lambda context, now: _ended(context, prepared, result, is_full=is_full, now=now))


def _kept(context: Context, note: Callable[[Context, datetime], None]) -> None:
    """Trouble with the record is told; it does not change what the gates say."""
    if not Path(quiet.record_pointer(context.place)).exists():
        return
    now = clock.now()
    try:
        note(context, now)
    except (AgentSyncError, OSError) as error:
        context.log.write(now, "trouble", error=str(error))
        context.outbox.add([messages.record_unwritten(str(error))])


def _began(context: Context, now: datetime) -> None:
    from agent_sync.record.machine.validation import GATES, validating

    context.recorder.change(lambda record: validating(record, GATES, now), now)


def _ended(context: Context, prepared: Prepared, result: RunResult, *, is_full: bool, now: datetime) -> None:
    from agent_sync.record.machine.validation import Ending, validated
    from agent_sync.record.receipts.signed import Looked, with_validation

    ran = tuple((_ran(one.executed), one.id) for one in result.results if one.executed)
    head = prepared.repo.head()
    committed = context.git.ask("rev-parse", "--verify", "--quiet", "HEAD^{tree}").stdout.strip()
    tree = prepared.snapshot.tree
    looked = Looked(head, tree, is_dirty=tree != committed, kind="gate")
    ending = _ending(result.status) if is_full else Ending.UNDECIDED
    try:
        context.recorder.change(
            lambda record: with_validation(context.recorder, record, ran, looked=looked, ending=ending, now=now), now
        )
    except BadKey:
        # Without a key nothing can be proven; how the run ended is known all the same.
        context.recorder.change(lambda record: validated(record, ending, now), now)
        raise


def _ran(executed: Executed) -> "Ran":
    from agent_sync.record.receipts.evidence import Ran

    took = executed.completed_at - executed.started_at
    return Ran(
        command=executed.command,
        argv=("sh", "-c", executed.command),
        cwd=executed.directory,
        exit_code=executed.exit_code,
        started_at=executed.started_at,
        completed_at=executed.completed_at,
        duration_ms=max(0, int(took.total_seconds() * 1000)),
        stdout_hash=executed.output_hash,
        stderr_hash=_NOTHING,
    )


def _ending(status: Status) -> "Ending":
    from agent_sync.record.machine.validation import Ending

    match status:
        case Status.PASSED | Status.PASSED_WITH_WARNINGS:
            return Ending.PASSED
        case Status.FAILED:
            return Ending.FAILED
        case Status.RETRY_LIMIT_EXCEEDED:
            return Ending.GIVEN_UP
        case _:
            return Ending.UNDECIDED
