"""The table of moves."""

import pytest
from support.work_hooks import NOW, WORKER, complete, failed, handed_off, holding, result, slung, started, task

from agent_sync.errors import IllegalHookMove
from agent_sync.work.hook import moves
from agent_sync.work.hook.model import AttemptEnding
from agent_sync.work.hook.moves import Assignment
from agent_sync.work.hook.states import MOVES, TERMINAL, HookMove, WorkState, state_after


@pytest.mark.parametrize("move", HookMove)
@pytest.mark.parametrize("state", WorkState)
def test_only_the_table_leads_on(state, move):
    """Every pair of state and move is either in the table or refused with what would be allowed."""
    if move in MOVES[state]:
        assert state_after(state, move) is MOVES[state][move]
    else:
        with pytest.raises(IllegalHookMove, match=f"state {state} cannot {move}"):
            state_after(state, move)


def test_every_state_can_be_reached_and_left():
    """No state is a dead end, and none is unreachable."""
    reached = {after for table in MOVES.values() for after in table.values()}
    assert (set(MOVES), reached) == (set(WorkState), set(WorkState))
    assert all(HookMove.CLEAR in MOVES[state] and HookMove.SLING in MOVES[state] for state in TERMINAL)


@pytest.mark.parametrize(
    ("hook", "state", "outcomes"),
    [
        pytest.param(slung(), WorkState.PENDING, [], id="slung"),
        pytest.param(started(), WorkState.IN_PROGRESS, [AttemptEnding.RUNNING], id="started"),
        pytest.param(handed_off(), WorkState.HANDED_OFF, [AttemptEnding.RUNNING], id="handed off"),
        pytest.param(complete(), WorkState.COMPLETE, [AttemptEnding.COMPLETE], id="complete"),
        pytest.param(failed(), WorkState.FAILED, [AttemptEnding.FAILED], id="failed"),
        pytest.param(
            moves.after_cancel(started(), NOW, "x").hook, WorkState.CANCELLED, [AttemptEnding.ABANDONED], id="cancelled"
        ),
        pytest.param(moves.after_block(slung(), NOW, "#40").hook, WorkState.BLOCKED, [], id="blocked"),
        pytest.param(
            moves.after_requeue(started(), holding(), NOW, "x").hook,
            WorkState.PENDING,
            [AttemptEnding.ABANDONED],
            id="requeued",
        ),
    ],
)
def test_moves_count_attempts(hook, state, outcomes):
    """Each move leads where the table says and ends the attempt it ends."""
    assert (hook.state, [one.outcome for one in hook.attempts]) == (state, outcomes)


def test_resuming_is_the_same_attempt_and_restarting_a_new_one():
    """A context reset is no failure; a start after a crash is."""
    resumed = moves.after_start(handed_off(), holding(), NOW, is_resumed=True)
    assert (resumed.message, len(resumed.hook.attempts)) == ("Resume issue-42", 1)
    restarted = moves.after_start(started(), holding(), NOW, is_resumed=False)
    outcomes = [(one.number, one.outcome) for one in restarted.hook.attempts]
    assert (restarted.message, outcomes) == (
        "Start issue-42",
        [(1, AttemptEnding.ABANDONED), (2, AttemptEnding.RUNNING)],
    )


def test_messages_are_the_documented_ones():
    """The history reads like a diary."""
    before = started()
    assert moves.after_sling(None, Assignment(task(), ("a",)), holding(), WORKER).message == "Sling issue-42 to main/w1"
    assert moves.after_handoff(before, handed_off().handoff, holding()).message.startswith("Handoff checkpoint")
    assert moves.after_result(before, result(before), holding()).message == "Complete issue-42"
    assert moves.after_result(before, result(before, fails=True), holding()).message == "Fail issue-42"
    assert moves.after_clear(complete(), NOW, "x").message == "Clear issue-42"


def test_work_is_not_slung_over_work():
    """A hook with work on it takes no other."""
    for hook in (slung(), started(), handed_off()):
        with pytest.raises(IllegalHookMove):
            moves.after_sling(hook, Assignment(task(43), ("a",)), holding(43), WORKER)


def test_context_carries_what_was_tried():
    """The last three tries that came to nothing are in the context of the next one."""
    tried = failed().attempts
    hook = moves.after_sling(failed(), Assignment(task(), ("a",), tried), holding(), WORKER).hook
    assert [one.error.code for one in hook.context.previous_attempts] == ["E1"]
