"""Validates the present step of a task: runs a command itself, and puts a signed receipt on record."""

import shlex
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path

from agent_sync.context import Context
from agent_sync.errors import LockHeld, NoRecord
from agent_sync.gates.run.watchman import watching
from agent_sync.lazy_dataclasses import dataclass
from agent_sync.record import keep
from agent_sync.record.disk.contents import ARTIFACTS, VALIDATING, VALIDATION_LOCK
from agent_sync.record.disk.store import OpenRecord
from agent_sync.record.machine.model import Record
from agent_sync.record.machine.progress import readable_text
from agent_sync.record.observe.checkpoints import TreeState, working_tree_state
from agent_sync.record.receipts import keys
from agent_sync.record.receipts.receipt import CommandRun
from agent_sync.record.receipts.running import NOT_EXECUTABLE, NOT_FOUND, Artifacts, Outlet, RunSettings, run
from agent_sync.record.receipts.validation import (
    CheckedTree,
    LabelledRun,
    ValidationEnd,
    next_slot,
    with_validation,
    with_validation_begun,
)
from agent_sync.system import files


@dataclass(frozen=True)
class CommandToRun:
    """What is run: a line for the shell or a program with its arguments, what it is called, and for how long."""

    command: str | Sequence[str]
    label: str = ""
    timeout: timedelta | None = None
    # Where it runs, if not where agent-sync does.
    cwd: str = ""


def validate(context: Context, opened: OpenRecord, given: CommandToRun, shown: Outlet) -> Record:
    """Run a command for the task and return the record with its receipt; two at a time are refused."""
    directory, task_id = opened.store.directory, opened.record.task_id
    with files.locked_if_free(directory / VALIDATION_LOCK) as is_alone:
        if not is_alone:
            message = f"Another validation of {task_id} is running."
            raise LockHeld(message, attempted="validating", helps="agent-sync record status")
        cwd = given.cwd or context.cwd
        line = given.command if isinstance(given.command, str) else shlex.join(given.command)
        # Without a key nothing could be signed: that is said before anything is run or recorded.
        keys.obtain(context.environment)
        keep.work(context, lambda record, now: _with_begun(record, line, cwd, now))
        before = working_tree_state(context.git)
        under_way = Artifacts(directory / ARTIFACTS, VALIDATING)
        limit = given.timeout.total_seconds() if given.timeout else None
        with watching() as watchman:
            # Should this process be killed, the command does not outlive it.
            surroundings = RunSettings(Path(cwd), context.environment, context.processes, limit, watchman)
            ran = LabelledRun(run(given.command, surroundings, under_way, shown=shown), given.label)
        checked = _checked_tree(before, working_tree_state(context.git))

        def end(record: Record, now: datetime) -> Record:
            if record.task_id != task_id:
                raise _task_ended(task_id)
            return _with_end(context, record, ran, checked=checked, under_way=under_way, now=now)

        changed = keep.work(context, end)
        if changed is None:
            raise _task_ended(task_id)
        return changed


def _with_begun(record: Record, line: str, cwd: str, now: datetime) -> Record:
    """Note the command, so that it can be run again; one that holds a secret is not kept as it was."""
    text = readable_text(line)
    is_whole = text == line.strip()
    return with_validation_begun(record, text, now, cwd=cwd if is_whole else "")


def end_of_run(run: CommandRun) -> ValidationEnd:
    """Return how a validation ended; a program that could not be started says nothing about the work."""
    if run.exit_code in {NOT_FOUND, NOT_EXECUTABLE}:
        return ValidationEnd.UNDECIDED
    return ValidationEnd.FAILED if run.exit_code else ValidationEnd.PASSED


def _task_ended(task_id: str) -> NoRecord:
    message = f"Task {task_id} has ended while the command ran, so no receipt was made."
    return NoRecord(message, attempted="noting how the validation ended", helps="agent-sync record status")


def _with_end(  # noqa: PLR0913  # what ran, on what, and where its output is
    context: Context, record: Record, ran: LabelledRun, *, checked: CheckedTree, under_way: Artifacts, now: datetime
) -> Record:
    """Under the record's lock the number of the receipt is certain: the output gets its name."""
    own = Artifacts(under_way.directory, next_slot(record).receipt_id)
    end = end_of_run(ran.run)
    changed = with_validation(context.recorder, record, (ran,), checked=checked, end=end, now=now)
    under_way.stdout.replace(own.stdout)
    under_way.stderr.replace(own.stderr)
    return changed


def _checked_tree(before: TreeState, after: TreeState) -> CheckedTree:
    """What a command has changed on its way it was not run on: then the receipt is for no commit."""
    is_dirty = before.dirty or after.dirty or before.tree != after.tree
    return CheckedTree(before.head, before.tree, is_dirty=is_dirty, kind="command")
