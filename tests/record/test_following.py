"""The record follows the claim."""

from datetime import timedelta

import pytest
from support.records import NOW, WAYS, after, at_step, fresh_record, with_checkpoint

from agent_sync.record.machine.machine import with_move
from agent_sync.record.machine.model import Record
from agent_sync.record.machine.progress import Goal, abandoned_record, completed_record, goal_of, record_at_goal
from agent_sync.record.machine.states import (
    ACTIVE,
    BUILT_IN,
    CLAIM_TO_CLOSE,
    TERMINAL,
    RecordMove,
    RecordState,
    StepStatus,
)
from agent_sync.record.receipts.integrity import broken_at
from agent_sync.task.claim.model import ChecksSeen, Claim
from agent_sync.task.claim.phases import Phase

LATER = NOW + timedelta(minutes=10)
GREEN = ChecksSeen(sha="6" * 40, passed=3, total=3, state="green")
RED = ChecksSeen(sha="6" * 40, passed=2, total=3, state="failed")
NAMES = BUILT_IN[CLAIM_TO_CLOSE]
MERGE = "PR #45 is green and waits to be merged"
CLOSE = "a human decides whether the issue is closed"
CLOSED = "PR #45 was closed without merging: a human decides how to go on"

GOALS = {
    "coding": ({"phase": Phase.CODING}, Goal("implement")),
    "handed off": ({"phase": Phase.READY_FOR_PR}, Goal("validate", upto="pull_request")),
    "opened": ({"phase": Phase.PR_CREATED}, Goal("checks")),
    "checks fail": ({"phase": Phase.CHECKS_RUNNING, "checks": RED}, Goal("checks")),
    "opened and green": ({"phase": Phase.PR_CREATED, "checks": GREEN}, Goal("merge", waits=MERGE)),
    "green": ({"phase": Phase.CHECKS_RUNNING, "checks": GREEN}, Goal("merge", waits=MERGE)),
    "closed unmerged": ({"phase": Phase.PR_CREATED, "closed_unmerged": True}, Goal("checks", waits=CLOSED)),
    "green, its number lost": (
        {"phase": Phase.PR_CREATED, "checks": GREEN, "pr_number": None},
        Goal("merge", waits="The pull request is green and waits to be merged"),
    ),
    "merged": ({"phase": Phase.MERGED_DETECTED}, Goal("close", waits=CLOSE)),
    "done": ({"phase": Phase.DONE}, Goal("close")),
}


@pytest.mark.parametrize(("fields", "goal"), GOALS.values(), ids=GOALS)
def test_where_a_claim_belongs(fields, goal):
    """Each phase of the claim has its step, and waits where a human must act."""
    assert goal_of(Claim(**{"schema_version": 1, "issue_number": 42, "pr_number": 45} | fields)) == goal


def reachable() -> dict[str, Record]:
    """Return a record in every state, at every step where that state has one."""
    records = {f"{state}": after(fresh_record(CLAIM_TO_CLOSE), *way) for state, way in WAYS.items()}
    records["recovering before setup"] = after(fresh_record(CLAIM_TO_CLOSE), RecordMove.CRASH_DETECTED)
    records["waiting before setup"] = after(records["recovering before setup"], RecordMove.MANUAL_REQUIRED)
    records["completed"] = completed_record(at_step("close", CLAIM_TO_CLOSE), NOW)
    for name in NAMES:
        running = at_step(name, CLAIM_TO_CLOSE)
        waiting = with_move(running, RecordMove.MANUAL_REQUIRED, NOW, source="claim", reason="something else")
        pending = after(running, RecordMove.STEP_FAILED)
        records |= {
            f"{name} running": running,
            f"{name} with a checkpoint": with_checkpoint(running),
            f"{name} validating": after(running, RecordMove.STEP_OUTPUT),
            f"{name} failed once": pending,
            f"{name} waiting for the claim": waiting,
            f"{name} refused by its validation": after(running, RecordMove.STEP_OUTPUT, RecordMove.VALIDATE_FAIL),
            f"{name} recovering": after(running, RecordMove.CRASH_DETECTED),
            f"{name} crashed before it was tried again": after(pending, RecordMove.CRASH_DETECTED),
            f"{name} next": after(running, RecordMove.STEP_COMPLETE),
            f"{name} next, crashed": after(running, RecordMove.STEP_COMPLETE, *_crash(name)),
            f"{name} next, waiting": after(
                running, RecordMove.STEP_COMPLETE, *_crash(name, RecordMove.MANUAL_REQUIRED)
            ),
        }
    return records


def _crash(name: str, *moves: RecordMove) -> tuple[RecordMove, ...]:
    """Nothing crashes after the last step."""
    return () if name == NAMES[-1] else (RecordMove.CRASH_DETECTED, *moves)


RECORDS = reachable()
AIMS = {goal.step + goal.waits: goal for _, goal in GOALS.values()}


def test_the_table_has_every_state():
    """The records below are in every state there is."""
    assert {record.state for record in RECORDS.values()} == set(RecordState)


@pytest.mark.parametrize("goal", AIMS.values(), ids=AIMS)
def test_from_any_state_to_any_goal(goal):
    """One call brings the record to its goal by moves of the machine; a second changes nothing."""
    for name, record in RECORDS.items():
        must_follow(name, record, goal)


def must_follow(name, record, goal):
    """Bring a record to a goal, and look at what became of it."""
    there = record_at_goal(record, goal, LATER)
    assert record_at_goal(there, goal, LATER + timedelta(days=1)) is there, name
    assert broken_at(there, []) is None, name
    if record.state in TERMINAL:
        assert there is record, name
        return
    if there.current_step is None:
        assert goal == Goal("implement"), f"{name}: only the first step is reached before it has begun"
        assert there is record, name
        return
    assert there.current_step.step_name in {goal.step, goal.upto}, name
    index = there.current_step.step_index
    assert [step.status for step in there.steps[:index]] == [StepStatus.COMPLETED] * index, name
    assert {step.status for step in there.steps[index + 1 :]} <= {StepStatus.PENDING}, name
    if goal.waits:
        assert (there.state, there.waiting_for) == (RecordState.AWAITING_HUMAN, goal.waits), name
    elif there.state not in {RecordState.STEP_RUNNING, RecordState.STEP_VALIDATING}:
        untouched = "only what is left to a human or to recovery is not at work, and it is not touched"
        assert there is record, f"{name}: {untouched}"
        assert there.state in {RecordState.AWAITING_HUMAN, RecordState.RECOVERING}, name


# What was waited for at the same step: whether the claim's word ends it.
KEPT = {
    "the claim's own wait is over": ("close waiting for the claim", False),
    "a validation that failed is a human's": ("close refused by its validation", True),
    "the advice after a crash is the agent's": ("close recovering", True),
}


@pytest.mark.parametrize(("name", "is_kept"), KEPT.values(), ids=KEPT)
def test_only_its_own_wait_is_ended(name, is_kept):
    """At the same step, the claim ends what it has waited for itself, and nothing else."""
    there = record_at_goal(RECORDS[name], Goal("close"), LATER)
    assert (there is RECORDS[name]) is is_kept
    assert is_kept or there.state is RecordState.STEP_RUNNING


def test_within_a_phase_the_record_may_be_ahead():
    """A claim that is handed off does not pull the record back from the pull request; a later step it does."""
    handed_off = Goal("validate", upto="pull_request")
    ahead = RECORDS["pull_request running"]
    assert record_at_goal(ahead, handed_off, LATER) is ahead
    back = record_at_goal(RECORDS["merge waiting for the claim"], handed_off, LATER)
    assert back.current_step is not None
    assert (back.current_step.step_name, back.current_step.attempt) == ("validate", 2)


def test_a_goal_that_is_no_step_of_the_template():
    """A record of another template does not follow a claim."""
    record = at_step("implement", "bugfix")
    assert record_at_goal(record, Goal("merge"), LATER) is record


def test_a_whole_claim():
    """From the claim to the close every step is completed once, in order."""
    record = fresh_record(CLAIM_TO_CLOSE)
    for _, goal in GOALS.values():
        record = record_at_goal(record, goal, LATER)
    record = completed_record(record, LATER)
    assert record.state is RecordState.COMPLETED
    assert {step.status for step in record.steps} == {StepStatus.COMPLETED}
    assert all(step.completed_at == LATER for step in record.steps)


def test_every_task_can_be_ended():
    """Finishing and giving up work from every state, and leave what has ended as it is."""
    for name, record in RECORDS.items():
        done, gone = completed_record(record, LATER), abandoned_record(record, "released", LATER)
        if record.state in ACTIVE:
            assert (done.state, gone.state) == (RecordState.COMPLETED, RecordState.ABANDONED), name
            assert gone.history[-1].details == {"reason": "released"}, name
            assert broken_at(done, []) is None, name
        else:
            assert done is record, name
            assert gone is record, name
