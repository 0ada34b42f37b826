"""The state machine of the recovery record."""

import pytest
from support.records import NOW, fresh_record

from agent_sync.errors import IllegalMove
from agent_sync.record.machine.machine import EDGES, with_move, with_rework
from agent_sync.record.machine.states import ACTIVE, BUILT_IN, TERMINAL, RecordMove, RecordState, StepStatus
from agent_sync.record.machine.templates import steps_of
from agent_sync.record.receipts.integrity import broken_at
from agent_sync.settings import Settings

M = RecordMove

# From (none) through every row of the machine: what happened, and where it led.
ROWS: dict[str, tuple[tuple[RecordMove, ...], RecordState]] = {
    "init to initializing": ((), RecordState.INITIALIZING),
    "initializing to step_pending": ((M.SETUP_COMPLETE,), RecordState.STEP_PENDING),
    "initializing to failed": ((M.SETUP_FAILED,), RecordState.FAILED),
    "step_pending to step_running": ((M.SETUP_COMPLETE, M.START_STEP), RecordState.STEP_RUNNING),
    "step_running to step_validating": ((M.SETUP_COMPLETE, M.START_STEP, M.STEP_OUTPUT), RecordState.STEP_VALIDATING),
    "a validation that leaves the step running": (
        (M.SETUP_COMPLETE, M.START_STEP, M.STEP_OUTPUT, M.CONTINUE_STEP),
        RecordState.STEP_RUNNING,
    ),
    "validation passed": ((M.SETUP_COMPLETE, M.START_STEP, M.STEP_OUTPUT, M.VALIDATE_PASS), RecordState.STEP_PENDING),
    "validation failed": ((M.SETUP_COMPLETE, M.START_STEP, M.STEP_OUTPUT, M.VALIDATE_FAIL), RecordState.AWAITING_HUMAN),
    "a step without validation": ((M.SETUP_COMPLETE, M.START_STEP, M.STEP_COMPLETE), RecordState.STEP_PENDING),
    "a human approves": (
        (M.SETUP_COMPLETE, M.START_STEP, M.STEP_OUTPUT, M.VALIDATE_FAIL, M.HUMAN_APPROVE),
        RecordState.STEP_PENDING,
    ),
    "a human rejects": (
        (M.SETUP_COMPLETE, M.START_STEP, M.STEP_OUTPUT, M.VALIDATE_FAIL, M.HUMAN_REJECT),
        RecordState.STEP_PENDING,
    ),
    "a human lets it go on": (
        (M.SETUP_COMPLETE, M.START_STEP, M.MANUAL_REQUIRED, M.HUMAN_RESUME),
        RecordState.STEP_RUNNING,
    ),
    "crash": ((M.SETUP_COMPLETE, M.START_STEP, M.CRASH_DETECTED), RecordState.RECOVERING),
    "retry after a crash": ((M.SETUP_COMPLETE, M.START_STEP, M.CRASH_DETECTED, M.RETRY_STEP), RecordState.STEP_PENDING),
    "skip after a crash": ((M.SETUP_COMPLETE, M.START_STEP, M.CRASH_DETECTED, M.SKIP_STEP), RecordState.STEP_PENDING),
    "resume after a crash": (
        (M.SETUP_COMPLETE, M.START_STEP, M.CRASH_DETECTED, M.RESUME_CHECKPOINT),
        RecordState.STEP_RUNNING,
    ),
    "validate again after a crash": (
        (M.SETUP_COMPLETE, M.START_STEP, M.CRASH_DETECTED, M.RETRY_VALIDATION),
        RecordState.STEP_VALIDATING,
    ),
    "a human is needed after a crash": (
        (M.SETUP_COMPLETE, M.START_STEP, M.CRASH_DETECTED, M.MANUAL_REQUIRED),
        RecordState.AWAITING_HUMAN,
    ),
    "abandoned": ((M.SETUP_COMPLETE, M.START_STEP, M.ABANDON), RecordState.ABANDONED),
    "the last step is the end": ((M.SETUP_COMPLETE, *(M.START_STEP, M.STEP_COMPLETE) * 7), RecordState.COMPLETED),
    "the last validation is the end": (
        (M.SETUP_COMPLETE, *(M.START_STEP, M.STEP_COMPLETE) * 6, M.START_STEP, M.STEP_OUTPUT, M.VALIDATE_PASS),
        RecordState.COMPLETED,
    ),
    "the last approval is the end": (
        (
            M.SETUP_COMPLETE,
            *(M.START_STEP, M.STEP_COMPLETE) * 6,
            *(M.START_STEP, M.STEP_OUTPUT, M.VALIDATE_FAIL, M.HUMAN_APPROVE),
        ),
        RecordState.COMPLETED,
    ),
    "the third failure is the end": ((M.SETUP_COMPLETE, *(M.START_STEP, M.STEP_FAILED) * 3), RecordState.FAILED),
    "a second failure is not": ((M.SETUP_COMPLETE, *(M.START_STEP, M.STEP_FAILED) * 2), RecordState.STEP_PENDING),
}


@pytest.mark.parametrize(("moves", "end"), ROWS.values(), ids=ROWS)
def test_hook_state_transitions(moves: tuple[RecordMove, ...], end: RecordState) -> None:
    """Each row of the machine ends where it says, with one chained event per move."""
    record = fresh_record()
    for move in moves:
        record = with_move(record, move, NOW)
    assert record.state is end
    assert [event.trigger for event in record.history] == [RecordMove.INIT, *moves]
    assert broken_at(record, []) is None


@pytest.mark.parametrize("move", [move for move in RecordMove if move is not RecordMove.INIT])
@pytest.mark.parametrize("state", list(RecordState))
def test_what_the_table_does_not_know_is_refused(state: RecordState, move: RecordMove) -> None:
    """A move is possible exactly where the table has an edge."""
    record = with_move(fresh_record(), RecordMove.SETUP_COMPLETE, NOW).model_copy(update={"state": state})
    if state in EDGES[move]:
        assert with_move(record, move, NOW).history[-1].from_state is state
    else:
        with pytest.raises(IllegalMove, match=str(state)):
            with_move(record, move, NOW)


def test_terminal_states_are_never_left() -> None:
    """Completed, failed and abandoned have no way out: a new record goes on from them."""
    assert not [move for move, edges in EDGES.items() for state in edges if state in TERMINAL]
    assert set(EDGES[RecordMove.ABANDON]) == ACTIVE


def test_attempts_are_counted_per_step() -> None:
    """Every start counts; a completed step keeps its count and the next begins at one."""
    record = with_move(fresh_record(), RecordMove.SETUP_COMPLETE, NOW)
    for move in (M.START_STEP, M.STEP_FAILED, M.START_STEP):
        record = with_move(record, move, NOW)
    assert record.current_step is not None
    assert record.current_step.attempt == 2
    record = with_move(with_move(record, RecordMove.STEP_COMPLETE, NOW), RecordMove.START_STEP, NOW)
    assert record.current_step is not None
    assert (record.current_step.step_name, record.current_step.attempt) == ("plan", 1)
    assert [step.attempts for step in record.steps[:2]] == [2, 1]


def test_rework_opens_the_steps_again() -> None:
    """Going back to an earlier step makes it and all after it pending, and leaves those before it done."""
    record = with_move(fresh_record(), RecordMove.SETUP_COMPLETE, NOW)
    for move in (M.START_STEP, M.STEP_COMPLETE) * 3:
        record = with_move(record, move, NOW)
    record = with_rework(with_move(record, RecordMove.START_STEP, NOW), 1, NOW, reason="the pull request was closed")
    assert record.state is RecordState.STEP_PENDING
    assert [step.status for step in record.steps[:4]] == [
        StepStatus.COMPLETED,
        StepStatus.PENDING,
        StepStatus.PENDING,
        StepStatus.PENDING,
    ]
    assert record.current_step is not None
    assert record.current_step.step_name == "plan"


def test_every_template_has_steps() -> None:
    """No built-in template is empty, and their names are what the command line offers."""
    assert all(steps_of(name, Settings()) for name in BUILT_IN)
