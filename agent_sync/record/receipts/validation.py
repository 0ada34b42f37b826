"""What a validation does to the record: before it runs, the signed receipts it leaves, and how the step continues."""

import hashlib
import os
from collections.abc import Sequence
from datetime import datetime
from enum import Enum
from typing import NamedTuple, assert_never

from agent_sync.lazy_dataclasses import dataclass
from agent_sync.plain.json_reading import canonical
from agent_sync.record.disk.recorder import Recorder
from agent_sync.record.machine.machine import head_of, with_move
from agent_sync.record.machine.model import Record
from agent_sync.record.machine.states import CLAIM_TO_CLOSE, CheckpointCause, RecordMove, RecordState, StepStatus
from agent_sync.record.observe.checkpoints import NewCheckpoint, is_wanted, step_checkpoint, with_checkpoints
from agent_sync.record.receipts import keys
from agent_sync.record.receipts.receipt import CommandRun, Receipt, ReceiptKind, ReceiptSlot, ReceiptSubject
from agent_sync.record.receipts.signing import sign

VALIDATE = "validate"


class ValidationEnd(Enum):
    """How a validation ended."""

    PASSED = "passed"
    FAILED = "failed"
    GIVEN_UP = "failed as often as is allowed"
    UNDECIDED = "could not be asked"


@dataclass(frozen=True)
class CheckedTree:
    """What the commands were run on, and on whose behalf."""

    commit: str
    tree: str
    is_dirty: bool
    kind: ReceiptKind


class LabelledRun(NamedTuple):
    """A command that was run, and what it is called."""

    run: CommandRun
    label: str


def with_validation_begun(record: Record, command: str, now: datetime, *, cwd: str = "") -> Record:
    """Return the record while `command` runs, so that a crash meanwhile is known to be one in validation.

    With the directory it ran in it can be run again; a command that holds a secret is not kept as it was.
    """
    if record.state is RecordState.STEP_PENDING:
        record = with_move(record, RecordMove.START_STEP, now)
    if record.state is RecordState.STEP_RUNNING:
        return with_move(record, RecordMove.STEP_OUTPUT, now, **({"command": command} | ({"cwd": cwd} if cwd else {})))
    return record


def with_validation(  # noqa: PLR0913  # who keeps it, what ran, on what, and how it ended
    recorder: Recorder,
    record: Record,
    runs: Sequence[LabelledRun],
    *,
    checked: CheckedTree,
    end: ValidationEnd,
    now: datetime,
) -> Record:
    """Return the record with a receipt for each command, a checkpoint where all passed, and how the step continues."""
    master = keys.obtain(recorder.environment) if runs else None
    for one in runs:
        if master:
            receipt = sign(one.run, _subject(record, checked, one.label), next_slot(record), master)
            record = with_receipt(record, receipt, now)
    if end is ValidationEnd.PASSED:
        named = ", ".join(one.label or one.run.command for one in runs)
        artifacts = tuple(f"artifacts/{one.receipt_id}.json" for one in record.receipts[-len(runs) :]) if runs else ()
        passed = NewCheckpoint(CheckpointCause.VALIDATION, f"Validation passed: {named}", artifacts=artifacts)
        ends_step = record.state is RecordState.STEP_VALIDATING and record.template != CLAIM_TO_CLOSE
        wanted = (passed, *(step_checkpoint(record) if ends_step else ()))
        new = tuple(one for one in wanted if is_wanted(one.trigger, recorder.settings.record))
        record = with_checkpoints(record, recorder.git, new, now, os.urandom)
    return with_validation_ended(record, end, now)


def with_receipt(record: Record, receipt: Receipt, now: datetime) -> Record:
    """Return the record with a further receipt; the history vouches for every byte of it."""
    digest = hashlib.sha256(canonical(receipt.model_dump(mode="json"))).hexdigest()
    named = {"receipt_id": receipt.receipt_id, "command": receipt.command, "exit_code": receipt.exit_code}
    after = with_move(record, RecordMove.RECEIPT, now, **named, digest=digest)
    changes = {"receipts": (*record.receipts, receipt), "receipts_total": record.receipts_total + 1}
    return _with_proof_of_step(after.model_copy(update=changes), receipt)


def with_validation_ended(record: Record, end: ValidationEnd, now: datetime) -> Record:
    """Return how the task continues after a validation that was begun by `with_validation_begun`."""
    is_done = end is ValidationEnd.PASSED and record.template != CLAIM_TO_CLOSE
    if record.state is RecordState.RECOVERING and is_done:
        return with_move(record, RecordMove.SKIP_STEP, now)
    if record.state is not RecordState.STEP_VALIDATING:
        return record
    if record.template == CLAIM_TO_CLOSE:
        return _ended_in_claim(record, end, now)
    match end:
        case ValidationEnd.PASSED:
            return with_move(record, RecordMove.VALIDATE_PASS, now)
        case ValidationEnd.FAILED | ValidationEnd.GIVEN_UP:
            return with_move(record, RecordMove.VALIDATE_FAIL, now, reason="the validation failed")
        case ValidationEnd.UNDECIDED:
            return with_move(record, RecordMove.CONTINUE_STEP, now)
        case _:
            assert_never(end)


def next_slot(record: Record) -> ReceiptSlot:
    """Return the place of the receipt that is made next."""
    return ReceiptSlot(record.task_id, record.task_index, record.receipts_total)


def _subject(record: Record, checked: CheckedTree, label: str) -> ReceiptSubject:
    step = record.current_step
    return ReceiptSubject(
        step_name=step.step_name if step else "",
        attempt=step.attempt if step else 0,
        kind=checked.kind,
        label=label,
        git_commit=checked.commit,
        git_tree=checked.tree,
        git_dirty=checked.is_dirty,
        history_head=head_of(record),
    )


def _ended_in_claim(record: Record, end: ValidationEnd, now: datetime) -> Record:
    """In a claim the phase leads: a failing gate sends the agent back, and only the last one calls a human."""
    is_validate = record.current_step is not None and record.current_step.step_name == VALIDATE
    match end:
        case ValidationEnd.PASSED if is_validate:
            return with_move(with_move(record, RecordMove.VALIDATE_PASS, now), RecordMove.START_STEP, now)
        case ValidationEnd.PASSED | ValidationEnd.UNDECIDED:
            return with_move(record, RecordMove.CONTINUE_STEP, now)
        case ValidationEnd.FAILED:
            return with_move(with_move(record, RecordMove.STEP_FAILED, now), RecordMove.START_STEP, now)
        case ValidationEnd.GIVEN_UP:
            return with_move(record, RecordMove.MANUAL_REQUIRED, now, reason="the gates failed as often as is allowed")
        case _:
            assert_never(end)


def _with_proof_of_step(record: Record, receipt: Receipt) -> Record:
    """Note the receipt at its step, the latest passing one."""
    step = record.current_step
    if step is None or receipt.exit_code:
        return record
    own = record.steps[step.step_index].model_copy(update={"receipt_id": receipt.receipt_id})
    if own.status is StepStatus.COMPLETED:
        return record
    steps = (*record.steps[: step.step_index], own, *record.steps[step.step_index + 1 :])
    return record.model_copy(update={"steps": steps})
