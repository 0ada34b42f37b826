"""Turns what agent-sync has run itself into signed receipts of a task."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from agent_sync.record.disk.recorder import Recorder
from agent_sync.record.machine.chain import head_of
from agent_sync.record.machine.checkpoint import is_wanted
from agent_sync.record.machine.model import Record
from agent_sync.record.machine.states import State, Trigger
from agent_sync.record.machine.templates import CLAIM_TO_CLOSE
from agent_sync.record.machine.validation import Ending, receipted, validated
from agent_sync.record.observe.moment import What, completion, noted
from agent_sync.record.receipts import keys
from agent_sync.record.receipts.evidence import Kind, Ran, Slot, Work
from agent_sync.record.receipts.signing import sign


@dataclass(frozen=True)
class Looked:
    """What the commands were run on."""

    commit: str
    tree: str
    is_dirty: bool
    kind: Kind


def with_validation(  # noqa: PLR0913  # who keeps it, what ran, on what, and how it ended
    recorder: Recorder,
    record: Record,
    ran: Sequence[tuple[Ran, str]],
    *,
    looked: Looked,
    ending: Ending,
    now: datetime,
) -> Record:
    """Return the record with a receipt for each command, a checkpoint where all passed, and how the step goes on."""
    master = keys.obtain(recorder.environment) if ran else None
    for one, label in ran:
        if master:
            receipt = sign(one, _work(record, looked, label), next_slot(record), master)
            record = receipted(record, receipt, now)
    if ending is Ending.PASSED:
        passed = What(Trigger.VALIDATION, _passed(ran), artifacts=_artifacts(record, len(ran)))
        ends_step = record.state is State.STEP_VALIDATING and record.template != CLAIM_TO_CLOSE
        wanted = (passed, *(completion(record) if ends_step else ()))
        what = tuple(one for one in wanted if is_wanted(one.trigger, recorder.settings.record))
        record = noted(record, recorder.git, what, now, os.urandom)
    return validated(record, ending, now)


def next_slot(record: Record) -> Slot:
    """Return the place of the receipt that is made next."""
    return Slot(record.task_id, record.task_index, record.receipts_total)


def _work(record: Record, looked: Looked, label: str) -> Work:
    step = record.current_step
    return Work(
        step_name=step.step_name if step else "",
        attempt=step.attempt if step else 0,
        kind=looked.kind,
        label=label,
        git_commit=looked.commit,
        git_tree=looked.tree,
        git_dirty=looked.is_dirty,
        history_head=head_of(record),
    )


def _passed(ran: Sequence[tuple[Ran, str]]) -> str:
    return "Validation passed: " + ", ".join(label or one.command for one, label in ran)


def _artifacts(record: Record, count: int) -> tuple[str, ...]:
    return tuple(f"artifacts/{one.receipt_id}.json" for one in record.receipts[-count:]) if count else ()
