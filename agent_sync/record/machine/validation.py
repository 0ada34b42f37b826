"""What a validation does to the record: before it runs, what it proves, and how the step goes on."""

import hashlib
from datetime import datetime
from enum import Enum
from typing import assert_never

from agent_sync.record.machine.machine import moved
from agent_sync.record.machine.model import Record
from agent_sync.record.machine.states import Move, State, StepStatus
from agent_sync.record.machine.templates import CLAIM_TO_CLOSE
from agent_sync.record.receipts.canonical import canonical
from agent_sync.record.receipts.receipt import Receipt

VALIDATE = "validate"
# What the record says of a run of the gates.
GATES = "agent-sync gate run"


class Ending(Enum):
    """How a validation ended."""

    PASSED = "passed"
    FAILED = "failed"
    GIVEN_UP = "failed as often as is allowed"
    UNDECIDED = "could not be asked"


def validating(record: Record, command: str, now: datetime) -> Record:
    """Return the record while `command` runs, so that a crash meanwhile is known to be one in validation."""
    if record.state is State.STEP_PENDING:
        record = moved(record, Move.START_STEP, now)
    if record.state is State.STEP_RUNNING:
        return moved(record, Move.STEP_OUTPUT, now, command=command)
    return record


def validation_command(record: Record) -> str:
    """Return what the last validation ran, or is running; nothing where that is not known."""
    begun = [event for event in record.history if event.trigger is Move.STEP_OUTPUT]
    return str(begun[-1].details.get("command", "")) if begun else ""


def receipted(record: Record, receipt: Receipt, now: datetime) -> Record:
    """Return the record with a further receipt; the history vouches for every byte of it."""
    digest = hashlib.sha256(canonical(receipt.model_dump(mode="json"))).hexdigest()
    named = {"receipt_id": receipt.receipt_id, "command": receipt.command, "exit_code": receipt.exit_code}
    noted = moved(record, Move.RECEIPT, now, **named, digest=digest)
    changes = {"receipts": (*record.receipts, receipt), "receipts_total": record.receipts_total + 1}
    return _proven(noted.model_copy(update=changes), receipt)


def validated(record: Record, ending: Ending, now: datetime) -> Record:
    """Return how the task goes on after a validation that was begun by `validating`."""
    if record.state is not State.STEP_VALIDATING:
        return record
    if record.template == CLAIM_TO_CLOSE:
        return _in_claim(record, ending, now)
    match ending:
        case Ending.PASSED:
            return moved(record, Move.VALIDATE_PASS, now)
        case Ending.FAILED | Ending.GIVEN_UP:
            return moved(record, Move.VALIDATE_FAIL, now, reason="the validation failed")
        case Ending.UNDECIDED:
            return moved(record, Move.CONTINUE_STEP, now)
        case _:
            assert_never(ending)


def _in_claim(record: Record, ending: Ending, now: datetime) -> Record:
    """In a claim the phase leads: a failing gate sends the agent back, and only the last one calls a human."""
    is_validate = record.current_step is not None and record.current_step.step_name == VALIDATE
    match ending:
        case Ending.PASSED if is_validate:
            return moved(moved(record, Move.VALIDATE_PASS, now), Move.START_STEP, now)
        case Ending.PASSED | Ending.UNDECIDED:
            return moved(record, Move.CONTINUE_STEP, now)
        case Ending.FAILED:
            return moved(moved(record, Move.STEP_FAILED, now), Move.START_STEP, now)
        case Ending.GIVEN_UP:
            return moved(record, Move.MANUAL_REQUIRED, now, reason="the gates failed as often as is allowed")
        case _:
            assert_never(ending)


def _proven(record: Record, receipt: Receipt) -> Record:
    """Note the receipt at its step, the latest passing one."""
    step = record.current_step
    if step is None or receipt.exit_code:
        return record
    own = record.steps[step.step_index].model_copy(update={"receipt_id": receipt.receipt_id})
    if own.status is StepStatus.COMPLETED:
        return record
    steps = (*record.steps[: step.step_index], own, *record.steps[step.step_index + 1 :])
    return record.model_copy(update={"steps": steps})
