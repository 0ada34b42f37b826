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
from agent_sync.system import clock, git_tree
from agent_sync.worktree import record_pointer

if TYPE_CHECKING:
    from agent_sync.record.receipts.receipt import CommandRun
    from agent_sync.record.receipts.validation import ValidationEnd

# Checks write both streams to one log, so the other one has nothing.
_NOTHING = hashlib.sha256(b"").hexdigest()


def note_began(context: Context) -> None:
    """Say on the record that the gates run, so that a crash meanwhile is known to be one in validation."""
    _note_in_record(context, _note_start)


def note_ended(context: Context, prepared: Prepared, result: RunResult, *, is_full: bool) -> None:
    """Sign a receipt for every check that ran, and say on the record how the run ended."""
    _note_in_record(context, lambda context, now: _note_end(context, prepared, result, is_full=is_full, now=now))


def _note_in_record(context: Context, note: Callable[[Context, datetime], None]) -> None:
    """Trouble with the record is told; it does not change what the gates say."""
    if not Path(record_pointer(context.place)).exists():
        return
    now = clock.now()
    try:
        note(context, now)
    except (AgentSyncError, OSError) as error:
        context.log.write(now, "trouble", error=str(error))
        from agent_sync.task.decision import messages

        context.outbox.add([messages.record_unwritten(str(error))])


def _note_start(context: Context, now: datetime) -> None:
    from agent_sync.record.machine.states import GATES
    from agent_sync.record.receipts.validation import with_validation_begun

    context.recorder.change(lambda record: with_validation_begun(record, GATES, now), now)


def _note_end(context: Context, prepared: Prepared, result: RunResult, *, is_full: bool, now: datetime) -> None:
    from agent_sync.record.receipts.validation import (
        CheckedTree,
        LabelledRun,
        ValidationEnd,
        with_validation,
        with_validation_ended,
    )

    runs = tuple(LabelledRun(_ran(one.executed), one.id) for one in result.results if one.executed)
    head = prepared.repo.head()
    committed = git_tree.committed_tree(context.git)
    tree = prepared.snapshot.tree
    checked = CheckedTree(head, tree, is_dirty=tree != committed, kind="gate")
    end = _ending(result.status) if is_full else ValidationEnd.UNDECIDED
    try:
        context.recorder.change(
            lambda record: with_validation(context.recorder, record, runs, checked=checked, end=end, now=now), now
        )
    except BadKey:
        # Without a key nothing can be proven; how the run ended is known all the same.
        context.recorder.change(lambda record: with_validation_ended(record, end, now), now)
        raise


def _ran(executed: Executed) -> "CommandRun":
    from agent_sync.record.receipts.receipt import CommandRun

    took = executed.completed_at - executed.started_at
    return CommandRun(
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


def _ending(status: Status) -> "ValidationEnd":
    from agent_sync.record.receipts.validation import ValidationEnd

    match status:
        case Status.PASSED | Status.PASSED_WITH_WARNINGS:
            return ValidationEnd.PASSED
        case Status.FAILED:
            return ValidationEnd.FAILED
        case Status.RETRY_LIMIT_EXCEEDED:
            return ValidationEnd.GIVEN_UP
        case _:
            return ValidationEnd.UNDECIDED
