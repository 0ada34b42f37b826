"""The state machine of the recovery record."""

import pytest
from support.records import NOW, fresh_record

from agent_sync.errors import IllegalMove
from agent_sync.record.machine.chain import broken_at
from agent_sync.record.machine.machine import EDGES, moved, reworked
from agent_sync.record.machine.states import ACTIVE, TERMINAL, Move, State, StepStatus
from agent_sync.record.machine.templates import BUILT_IN, steps_of
from agent_sync.settings import Settings

M = Move

# From (none) through every row of the machine: what happened, and where it led.
ROWS: dict[str, tuple[tuple[Move, ...], State]] = {
    "init to initializing": ((), State.INITIALIZING),
    "initializing to step_pending": ((M.SETUP_COMPLETE,), State.STEP_PENDING),
    "initializing to failed": ((M.SETUP_FAILED,), State.FAILED),
    "step_pending to step_running": ((M.SETUP_COMPLETE, M.START_STEP), State.STEP_RUNNING),
    "step_running to step_validating": ((M.SETUP_COMPLETE, M.START_STEP, M.STEP_OUTPUT), State.STEP_VALIDATING),
    "a validation that leaves the step running": (
        (M.SETUP_COMPLETE, M.START_STEP, M.STEP_OUTPUT, M.CONTINUE_STEP),
        State.STEP_RUNNING,
    ),
    "validation passed": ((M.SETUP_COMPLETE, M.START_STEP, M.STEP_OUTPUT, M.VALIDATE_PASS), State.STEP_PENDING),
    "validation failed": ((M.SETUP_COMPLETE, M.START_STEP, M.STEP_OUTPUT, M.VALIDATE_FAIL), State.AWAITING_HUMAN),
    "a step without validation": ((M.SETUP_COMPLETE, M.START_STEP, M.STEP_COMPLETE), State.STEP_PENDING),
    "a human approves": (
        (M.SETUP_COMPLETE, M.START_STEP, M.STEP_OUTPUT, M.VALIDATE_FAIL, M.HUMAN_APPROVE),
        State.STEP_PENDING,
    ),
    "a human rejects": (
        (M.SETUP_COMPLETE, M.START_STEP, M.STEP_OUTPUT, M.VALIDATE_FAIL, M.HUMAN_REJECT),
        State.STEP_PENDING,
    ),
    "a human lets it go on": (
        (M.SETUP_COMPLETE, M.START_STEP, M.MANUAL_REQUIRED, M.HUMAN_RESUME),
        State.STEP_RUNNING,
    ),
    "crash": ((M.SETUP_COMPLETE, M.START_STEP, M.CRASH_DETECTED), State.RECOVERING),
    "retry after a crash": ((M.SETUP_COMPLETE, M.START_STEP, M.CRASH_DETECTED, M.RETRY_STEP), State.STEP_PENDING),
    "skip after a crash": ((M.SETUP_COMPLETE, M.START_STEP, M.CRASH_DETECTED, M.SKIP_STEP), State.STEP_PENDING),
    "resume after a crash": (
        (M.SETUP_COMPLETE, M.START_STEP, M.CRASH_DETECTED, M.RESUME_CHECKPOINT),
        State.STEP_RUNNING,
    ),
    "validate again after a crash": (
        (M.SETUP_COMPLETE, M.START_STEP, M.CRASH_DETECTED, M.RETRY_VALIDATION),
        State.STEP_VALIDATING,
    ),
    "a human is needed after a crash": (
        (M.SETUP_COMPLETE, M.START_STEP, M.CRASH_DETECTED, M.MANUAL_REQUIRED),
        State.AWAITING_HUMAN,
    ),
    "abandoned": ((M.SETUP_COMPLETE, M.START_STEP, M.ABANDON), State.ABANDONED),
    "the last step is the end": ((M.SETUP_COMPLETE, *(M.START_STEP, M.STEP_COMPLETE) * 7), State.COMPLETED),
    "the last validation is the end": (
        (M.SETUP_COMPLETE, *(M.START_STEP, M.STEP_COMPLETE) * 6, M.START_STEP, M.STEP_OUTPUT, M.VALIDATE_PASS),
        State.COMPLETED,
    ),
    "the last approval is the end": (
        (
            M.SETUP_COMPLETE,
            *(M.START_STEP, M.STEP_COMPLETE) * 6,
            *(M.START_STEP, M.STEP_OUTPUT, M.VALIDATE_FAIL, M.HUMAN_APPROVE),
        ),
        State.COMPLETED,
    ),
    "the third failure is the end": ((M.SETUP_COMPLETE, *(M.START_STEP, M.STEP_FAILED) * 3), State.FAILED),
    "a second failure is not": ((M.SETUP_COMPLETE, *(M.START_STEP, M.STEP_FAILED) * 2), State.STEP_PENDING),
}


@pytest.mark.parametrize(("moves", "end"), ROWS.values(), ids=ROWS)
def test_hook_state_transitions(moves: tuple[Move, ...], end: State) -> None:
    """Each row of the machine ends where it says, with one chained event per move."""
    record = fresh_record()
    for move in moves:
        record = moved(record, move, NOW)
    assert record.state is end
    assert [event.trigger for event in record.history] == [Move.INIT, *moves]
    assert broken_at(record, []) is None


@pytest.mark.parametrize("move", [move for move in Move if move is not Move.INIT])
@pytest.mark.parametrize("state", list(State))
def test_what_the_table_does_not_know_is_refused(state: State, move: Move) -> None:
    """A move is possible exactly where the table has an edge."""
    record = moved(fresh_record(), Move.SETUP_COMPLETE, NOW).model_copy(update={"state": state})
    if state in EDGES[move]:
        assert moved(record, move, NOW).history[-1].from_state is state
    else:
        with pytest.raises(IllegalMove, match=str(state)):
            moved(record, move, NOW)


def test_terminal_states_are_never_left() -> None:
    """Completed, failed and abandoned have no way out: a new record goes on from them."""
    assert not [move for move, edges in EDGES.items() for state in edges if state in TERMINAL]
    assert set(EDGES[Move.ABANDON]) == ACTIVE


def test_attempts_are_counted_per_step() -> None:
    """Every start counts; a completed step keeps its count and the next begins at one."""
    record = moved(fresh_record(), Move.SETUP_COMPLETE, NOW)
    for move in (M.START_STEP, M.STEP_FAILED, M.START_STEP):
        record = moved(record, move, NOW)
    assert record.current_step is not None
    assert record.current_step.attempt == 2
    record = moved(moved(record, Move.STEP_COMPLETE, NOW), Move.START_STEP, NOW)
    assert record.current_step is not None
    assert (record.current_step.step_name, record.current_step.attempt) == ("plan", 1)
    assert [step.attempts for step in record.steps[:2]] == [2, 1]


def test_rework_opens_the_steps_again() -> None:
    """Going back to an earlier step makes it and all after it pending, and leaves those before it done."""
    record = moved(fresh_record(), Move.SETUP_COMPLETE, NOW)
    for move in (M.START_STEP, M.STEP_COMPLETE) * 3:
        record = moved(record, move, NOW)
    record = reworked(moved(record, Move.START_STEP, NOW), 1, NOW, reason="the pull request was closed")
    assert record.state is State.STEP_PENDING
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
