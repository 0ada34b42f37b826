"""What is decided after a crash, and what becomes of the record."""

from dataclasses import replace
from datetime import timedelta

import pytest
from support.records import NOW, RUNNING, TREE, WAYS, after, at_step, fresh_record, with_checkpoint, with_receipt

from agent_sync.record.crash.advice import Circumstances, diagnosis, resumed_after_crash, with_crash
from agent_sync.record.machine.machine import with_move
from agent_sync.record.machine.model import Record
from agent_sync.record.machine.progress import with_progress_counted
from agent_sync.record.machine.states import (
    TERMINAL,
    CheckpointCause,
    CrashType,
    OwnerStanding,
    RecordMove,
    RecordState,
    RecoveryAdvice,
    StepStatus,
)
from agent_sync.record.receipts.integrity import broken_at

LATER = NOW + timedelta(minutes=10)
SOON = NOW + timedelta(minutes=5)
GONE = Circumstances(OwnerStanding.GONE, LATER, stale_s=300, max_recoveries=3)
PROVEN = replace(GONE, valid_receipts=frozenset({"rcpt-001"}), tree=TREE)


def validating(step: str = "implement") -> Record:
    return after(at_step(step), RecordMove.STEP_OUTPUT)


# Who the owner was and how long it is silent: what kind of crash that is, if one at all.
CRASHES = {
    "the owner lives": (OwnerStanding.ALIVE, LATER, None),
    "the owner is gone": (OwnerStanding.GONE, NOW, CrashType.SIGNAL),
    "the machine was started anew": (OwnerStanding.OTHER_BOOT, NOW, CrashType.UNKNOWN),
    "another machine, silent for long": (OwnerStanding.OTHER_HOST, LATER, CrashType.TIMEOUT),
    "another machine, not silent for long": (OwnerStanding.OTHER_HOST, SOON, None),
    "nobody knows whose, silent for long": (OwnerStanding.UNKNOWN, LATER, CrashType.TIMEOUT),
    "nobody knows whose, not silent for long": (OwnerStanding.UNKNOWN, SOON, None),
    "nobody knows whose, and the clock went back": (OwnerStanding.UNKNOWN, NOW - timedelta(days=1), None),
}


@pytest.mark.parametrize(("standing", "now", "crash"), CRASHES.values(), ids=CRASHES)
def test_the_owner_tells_whether_it_crashed(standing, now, crash):
    """A live owner never crashed, one that is gone always has; silence decides only where the owner cannot be seen."""
    recovery = diagnosis(at_step("implement"), replace(GONE, standing=standing, now=now))
    assert (recovery.crash_type if recovery else None) == crash


@pytest.mark.parametrize("state", [state for state in WAYS if state in TERMINAL | {RecordState.AWAITING_HUMAN}])
def test_nothing_to_interrupt(state):
    """A task that has ended or waits for a human never crashes, however long ago and whoever owned it."""
    record = after(fresh_record(), *WAYS[state])
    assert diagnosis(record, GONE) is None
    running = diagnosis(at_step("plan"), GONE)
    assert running is not None
    assert with_crash(record, running, LATER) is record


# What was under way, and what else is known: what is recommended.
ADVICE = {
    "a receipt shows the validation passed": (with_receipt(validating()), PROVEN, RecoveryAdvice.SKIP_STEP),
    "a receipt shows the step passed": (with_receipt(at_step("plan")), PROVEN, RecoveryAdvice.SKIP_STEP),
    "a receipt whose signature is not valid": (
        with_receipt(validating()),
        replace(PROVEN, valid_receipts=frozenset()),
        RecoveryAdvice.RETRY_VALIDATION,
    ),
    "a receipt of another tree": (
        with_receipt(validating(), git_tree="8" * 40),
        PROVEN,
        RecoveryAdvice.RETRY_VALIDATION,
    ),
    "a receipt of a tree that is not known now": (
        with_receipt(validating(), git_tree=""),
        replace(PROVEN, tree=""),
        RecoveryAdvice.RETRY_VALIDATION,
    ),
    "a receipt of a tree with changes": (
        with_receipt(validating(), git_dirty=True),
        PROVEN,
        RecoveryAdvice.RETRY_VALIDATION,
    ),
    "a receipt of a failure": (with_receipt(validating(), exit_code=1), PROVEN, RecoveryAdvice.RETRY_VALIDATION),
    "a receipt of another step": (
        with_receipt(validating(), step_name="plan"),
        PROVEN,
        RecoveryAdvice.RETRY_VALIDATION,
    ),
    "a receipt of another task": (with_receipt(validating(), task_id="other"), PROVEN, RecoveryAdvice.RETRY_VALIDATION),
    "a receipt of one gate of several": (
        with_receipt(validating(), kind="gate"),
        PROVEN,
        RecoveryAdvice.RETRY_VALIDATION,
    ),
    "a pass that a failure followed": (
        with_receipt(with_receipt(validating()), exit_code=1),
        PROVEN,
        RecoveryAdvice.RETRY_VALIDATION,
    ),
    "a pass after which the step went on": (
        with_checkpoint(after(with_receipt(validating()), RecordMove.CONTINUE_STEP)),
        PROVEN,
        RecoveryAdvice.RETRY_STEP,
    ),
    "interrupted while validating": (validating(), GONE, RecoveryAdvice.RETRY_VALIDATION),
    "while validating, with a checkpoint": (with_checkpoint(validating()), GONE, RecoveryAdvice.RETRY_VALIDATION),
    "a checkpoint of this attempt": (with_checkpoint(at_step("implement")), GONE, RecoveryAdvice.RETRY_STEP),
    "a checkpoint of another step": (
        with_checkpoint(at_step("implement"), step_name="plan", step_index=1),
        GONE,
        RecoveryAdvice.MANUAL,
    ),
    "a checkpoint of an earlier attempt": (
        after(with_checkpoint(at_step("implement")), RecordMove.STEP_FAILED, RecordMove.START_STEP),
        GONE,
        RecoveryAdvice.MANUAL,
    ),
    "a step that may be repeated": (at_step("plan"), GONE, RecoveryAdvice.RETRY_STEP),
    "its last attempt": (
        after(at_step("plan"), *(RecordMove.STEP_FAILED, RecordMove.START_STEP) * 2),
        GONE,
        RecoveryAdvice.MANUAL,
    ),
    "a step that may not be repeated": (at_step("implement"), GONE, RecoveryAdvice.MANUAL),
    "such a step before it began": (after(at_step("plan"), RecordMove.STEP_COMPLETE), GONE, RecoveryAdvice.RETRY_STEP),
    "before the first step": (fresh_record(), GONE, RecoveryAdvice.RETRY_STEP),
    "the issue was closed meanwhile": (
        with_receipt(with_checkpoint(validating())),
        replace(PROVEN, outside="issue #42 is closed"),
        RecoveryAdvice.AWAIT_HUMAN,
    ),
    "the third crash without progress": (
        at_step("plan").model_copy(update={"recoveries_without_progress": 2}),
        GONE,
        RecoveryAdvice.RETRY_STEP,
    ),
    "the fourth crash without progress": (
        after(at_step("plan"), RecordMove.CRASH_DETECTED, RecordMove.RETRY_STEP, RecordMove.START_STEP).model_copy(
            update={"recoveries_without_progress": 3}
        ),
        GONE,
        RecoveryAdvice.MANUAL,
    ),
}


@pytest.mark.parametrize(("record", "found", "action"), ADVICE.values(), ids=ADVICE)
def test_what_is_recommended(record, found, action):
    """The way that repeats least is taken, and none that would skip work or repeat what may do harm."""
    recovery = diagnosis(record, found)
    assert recovery is not None
    assert recovery.recommended_action is action
    assert recovery.reason
    assert recovery.last_known_state is record.state
    assert recovery.outside == found.outside


HUMANS = {RecoveryAdvice.MANUAL, RecoveryAdvice.AWAIT_HUMAN}


@pytest.mark.parametrize(("record", "found", "action"), ADVICE.values(), ids=ADVICE)
def test_recovering_twice_changes_nothing(record, found, action):
    """A second look finds no second crash, and noting the same crash again leaves the record as it is."""
    recovery = diagnosis(record, found)
    assert recovery is not None
    once = with_crash(record, recovery, LATER)
    assert once.state is (RecordState.AWAITING_HUMAN if action in HUMANS else RecordState.RECOVERING)
    assert (once.waiting_for == recovery.reason) is (action in HUMANS)
    assert diagnosis(once, found) is None
    assert with_crash(once, recovery, LATER + timedelta(days=1)) is once
    assert broken_at(once, []) is None


def crashed(record: Record, found: Circumstances = GONE) -> Record:
    recovery = diagnosis(record, found)
    assert recovery is not None
    return with_crash(record, recovery, LATER)


# Where a task goes on after a crash: step, attempt and state.
RESUMED = {
    "from its checkpoint": (with_checkpoint(at_step("implement")), GONE, ("implement", 1, RecordState.STEP_RUNNING)),
    "with a new attempt": (at_step("plan"), GONE, ("plan", 2, RecordState.STEP_RUNNING)),
    "with the next step": (with_receipt(validating()), PROVEN, ("validate", 1, RecordState.STEP_RUNNING)),
    "with the validation": (validating(), GONE, ("implement", 1, RecordState.STEP_VALIDATING)),
    "at the beginning": (fresh_record(), GONE, ("analyze", 1, RecordState.STEP_RUNNING)),
    "with a step that had not begun": (
        after(fresh_record(), RecordMove.SETUP_COMPLETE),
        GONE,
        ("analyze", 1, RecordState.STEP_RUNNING),
    ),
    "not, while a human is asked": (at_step("implement"), GONE, ("implement", 1, RecordState.AWAITING_HUMAN)),
    "not, if it did not crash": (at_step("implement"), None, ("implement", 1, RecordState.STEP_RUNNING)),
}


@pytest.mark.parametrize(("record", "found", "place"), RESUMED.values(), ids=RESUMED)
def test_where_the_task_goes_on(record, found, place):
    """The task goes on as was recommended; doing so twice changes nothing more."""
    going = resumed_after_crash(crashed(record, found) if found else record, LATER)
    assert going.current_step is not None
    assert (going.current_step.step_name, going.current_step.attempt, going.state) == place
    assert resumed_after_crash(going, LATER) is going
    assert broken_at(going, []) is None


def test_a_step_that_never_began_uses_up_no_attempt():
    """With one attempt only, a crash before it began does not fail the task."""
    record = after(fresh_record(), RecordMove.SETUP_COMPLETE)
    assert record.current_step is not None
    single = record.current_step.model_copy(update={"max_attempts": 1})
    assert (
        resumed_after_crash(crashed(record.model_copy(update={"current_step": single})), LATER).state
        is RecordState.STEP_RUNNING
    )


def test_skipped_last_step_completes_the_task():
    """Where the receipt is of the last step there is no next one to start."""
    record = with_receipt(after(at_step("pull_request"), RecordMove.STEP_OUTPUT))
    ended = resumed_after_crash(crashed(record, PROVEN), LATER)
    assert ended.state is RecordState.COMPLETED
    assert ended.steps[-1].status is StepStatus.SKIPPED


def test_recovering_without_a_diagnosis_asks_a_human():
    """A record that someone put into recovery without a word about why does not go on by itself."""
    assert (
        resumed_after_crash(after(fresh_record(), *WAYS[RecordState.RECOVERING]), LATER).state
        is RecordState.AWAITING_HUMAN
    )


def test_crash_recovery_with_checkpoint():
    """A commit was made, the owner died: the step is retried from that checkpoint, and the attempt stays the same."""
    record = with_checkpoint(at_step("implement"), description="Initial commit")
    found = replace(GONE, standing=OwnerStanding.UNKNOWN)
    recovery = diagnosis(record, found)
    assert recovery is not None
    assert recovery.recommended_action == "retry_step"
    assert recovery.last_checkpoint_id == record.checkpoints[-1].checkpoint_id
    recovering = with_crash(record, recovery, LATER)
    assert recovering.state is RecordState.RECOVERING
    assert resumed_after_crash(recovering, LATER).history[-1].trigger is RecordMove.RESUME_CHECKPOINT


def test_the_interrupted_command_is_remembered():
    """What was being validated, and what it had printed, are part of the diagnosis."""
    record = with_move(at_step("implement"), RecordMove.STEP_OUTPUT, NOW, command="make test")
    assert record.current_step is not None
    step = record.current_step.model_copy(update={"last_output": "I shall run the tests"})
    found = replace(GONE, validation_output="running the tests")
    recovery = diagnosis(record.model_copy(update={"current_step": step}), found)
    assert recovery is not None
    assert recovery.was_validating
    assert (recovery.validation_cmd, recovery.partial_output) == ("make test", "running the tests")


def test_recoveries_without_progress_are_bounded():
    """A task that crashes again and again without getting anywhere is a human's after the limit."""
    record, states = at_step("plan").model_copy(update={"state": RecordState.STEP_RUNNING}), []
    assert record.current_step is not None
    record = record.model_copy(update={"current_step": record.current_step.model_copy(update={"max_attempts": 0})})
    for _ in range(4):
        record = crashed(with_progress_counted(record))
        states.append(record.state)
        record = resumed_after_crash(record, LATER)
    assert states == [RecordState.RECOVERING] * 3 + [RecordState.AWAITING_HUMAN]
    assert record.recoveries_without_progress == 4


# What happened after a recovery: whether the count begins anew.
PROGRESS = {
    "nothing": (lambda record: record, 1),
    "a commit": (with_checkpoint, 0),
    "only time passed": (lambda record: with_checkpoint(record, trigger=CheckpointCause.INTERVAL), 1),
    "a receipt": (with_receipt, 0),
    "the step was completed, and the next started": (
        lambda record: after(record, RecordMove.STEP_COMPLETE, RecordMove.START_STEP),
        0,
    ),
    "a human was asked": (lambda record: after(record, RecordMove.MANUAL_REQUIRED), 1),
    "a human decided": (lambda record: after(record, RecordMove.MANUAL_REQUIRED, RecordMove.HUMAN_RESUME), 0),
    "another owner": (lambda record: after(record, RecordMove.OWNER), 1),
}


@pytest.mark.parametrize(("happened", "count"), PROGRESS.values(), ids=PROGRESS)
def test_what_counts_as_progress(happened, count):
    """Whatever is reached after a recovery sets its count back; promises and passing time do not."""
    record = happened(resumed_after_crash(crashed(at_step("plan")), LATER))
    assert with_progress_counted(record).recoveries_without_progress == count
    assert with_progress_counted(with_progress_counted(record)) == with_progress_counted(record)


def test_progress_before_the_crash_does_not_count():
    """What was reached before the crash says nothing about the recovery."""
    record = crashed(with_checkpoint(after(fresh_record(), *RUNNING)))
    assert with_progress_counted(record).recoveries_without_progress == 1
