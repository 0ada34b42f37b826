"""Validates the present step of a task: runs a command itself, and puts a signed receipt on record."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from agent_sync.context import Context
from agent_sync.errors import LockHeld, NoRecord
from agent_sync.gates.run.watchman import watching
from agent_sync.record import keep as recording
from agent_sync.record.disk.derived import ARTIFACTS
from agent_sync.record.disk.recorder import Kept
from agent_sync.record.machine.model import Record
from agent_sync.record.machine.validation import Ending, validating
from agent_sync.record.observe.touched import TreeState, working_tree_state
from agent_sync.record.observe.words import readable
from agent_sync.record.receipts.evidence import Ran
from agent_sync.record.receipts.running import NOT_EXECUTABLE, NOT_FOUND, Artifacts, Surroundings, run
from agent_sync.record.receipts.signed import Looked, next_slot, with_validation
from agent_sync.record.receipts.tee import Outlet
from agent_sync.system import files

# Until the receipt has its number the output lies under this name.
_UNDER_WAY = "validating"
_LOCK = "validate.lock"


@dataclass(frozen=True)
class Check:
    """What is run: a line for the shell or a program with its arguments, what it is called, and for how long."""

    command: str | Sequence[str]
    label: str = ""
    timeout: timedelta | None = None


def validate(context: Context, kept: Kept, check: Check, shown: Outlet) -> Record:
    """Run a command for the task and return the record with its receipt; two at a time are refused."""
    directory = kept[0].directory
    with files.locked_if_free(directory / _LOCK) as is_alone:
        if not is_alone:
            message = f"Another validation of {kept[1].task_id} is running."
            raise LockHeld(message, attempted="validating", helps="agent-sync record status")
        line = check.command if isinstance(check.command, str) else shlex.join(check.command)
        recording.work(context, lambda record, now: validating(record, readable(line), now))
        before = working_tree_state(context.git)
        under_way = Artifacts(directory / ARTIFACTS, _UNDER_WAY)
        limit = check.timeout.total_seconds() if check.timeout else None
        with watching() as watchman:
            # Should this process be killed, the command does not outlive it.
            surroundings = Surroundings(Path(context.cwd), context.environment, context.processes, limit, watchman)
            ran = run(check.command, surroundings, under_way, shown=shown)
        looked = _looked(before, working_tree_state(context.git))
        task_id = kept[1].task_id

        def ended(record: Record, now: datetime) -> Record:
            if record.task_id != task_id:
                raise _over(task_id)
            return _ended(context, record, (ran, check.label), looked=looked, under_way=under_way, now=now)

        changed = recording.work(context, ended)
        if changed is None:
            raise _over(task_id)
        return changed


def _over(task_id: str) -> NoRecord:
    message = f"Task {task_id} has ended while the command ran, so no receipt was made."
    return NoRecord(message, attempted="noting how the validation ended", helps="agent-sync record status")


def ending_of(ran: Ran) -> Ending:
    """Return how a validation ended; a program that could not be started says nothing about the work."""
    if ran.exit_code in {NOT_FOUND, NOT_EXECUTABLE}:
        return Ending.UNDECIDED
    return Ending.FAILED if ran.exit_code else Ending.PASSED


def _ended(  # noqa: PLR0913  # what ran, on what, and where its output lies
    context: Context, record: Record, ran: tuple[Ran, str], *, looked: Looked, under_way: Artifacts, now: datetime
) -> Record:
    """Under the record's lock the number of the receipt is certain: the output gets its name."""
    own = Artifacts(under_way.directory, next_slot(record).receipt_id)
    changed = with_validation(context.recorder, record, (ran,), looked=looked, ending=ending_of(ran[0]), now=now)
    under_way.stdout.replace(own.stdout)
    under_way.stderr.replace(own.stderr)
    return changed


def _looked(before: TreeState, after: TreeState) -> Looked:
    """What a command has changed on its way it was not run on: then the receipt is for no commit."""
    is_dirty = before.dirty or after.dirty or before.tree != after.tree
    return Looked(before.head, before.tree, is_dirty=is_dirty, kind="command")
