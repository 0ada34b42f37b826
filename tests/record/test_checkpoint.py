"""What a checkpoint does to the record, and when one is made."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from agent_sync.errors import IllegalMove
from agent_sync.record.machine.machine import with_first_event, with_move
from agent_sync.record.machine.model import Checkpoint, FileSnapshot, Record
from agent_sync.record.machine.states import CheckpointCause, RecordMove, RecordState
from agent_sync.record.machine.templates import steps_of
from agent_sync.record.observe.checkpoints import KEPT, checkpoint_id, interval_due, is_wanted, with_checkpoint
from agent_sync.record.receipts.integrity import broken_at
from agent_sync.settings import Settings
from agent_sync.settings.tables import RecordSettings

NOW = datetime(2026, 1, 17, 14, 30, 22, tzinfo=UTC)


def running(*moves: RecordMove) -> Record:
    record = Record(
        task_id="fix", workspace="demo", task_index=0, description="fix", template="bugfix", created_at=NOW,
        updated_at=NOW, state=RecordState.INITIALIZING, steps=steps_of("bugfix", Settings()), worktree="/work",
    )  # fmt: skip
    record = with_first_event(record, NOW)
    for move in moves or (RecordMove.SETUP_COMPLETE, RecordMove.START_STEP):
        record = with_move(record, move, NOW)
    return record


def checkpoint(number: int = 1, key: str = "", **more) -> Checkpoint:
    values = {"created_at": NOW, "description": "done", "trigger": CheckpointCause.MANUAL} | more
    return Checkpoint(checkpoint_id=checkpoint_id(number.to_bytes(4, "big")), key=key, **values)


def test_name_of_a_checkpoint():
    """A name is a prefix and eight digits of the randomness that was given."""
    assert checkpoint_id(b"\xa1\xb2\xc3\xd4more") == "ckpt-a1b2c3d4"
    with pytest.raises(ValueError, match="4 random bytes"):
        checkpoint_id(b"abc")


def test_whole_checkpoint_is_in_the_history():
    """The event holds the whole checkpoint in plain JSON, and the step points at it."""
    made = checkpoint(7, files_snapshot=(FileSnapshot(path="a.py", size=3),), artifacts=("log",))
    record = with_checkpoint(running(), made)
    told = record.history[-1].details["checkpoint"]
    assert Checkpoint.model_validate_json(json.dumps(told)) == made
    assert record.current_step.current_checkpoint_id == "ckpt-00000007"
    assert (record.state, record.checkpoints, record.checkpoints_total) == (RecordState.STEP_RUNNING, (made,), 1)
    assert broken_at(record, []) is None


def test_same_key_changes_nothing():
    """An automatic checkpoint that is there already returns the very same record; those without a key are all new."""
    record = with_checkpoint(running(), checkpoint(1, "git_commit:abc"))
    assert with_checkpoint(record, checkpoint(2, "git_commit:abc")) is record
    assert with_checkpoint(with_checkpoint(record, checkpoint(3)), checkpoint(4)).checkpoints_total == 3


def test_list_is_capped_and_counted():
    """The list keeps the last ones, the count goes on, and a key that only the history knows is still known."""
    record = running()
    for number in range(KEPT + 6):
        record = with_checkpoint(record, checkpoint(number, f"git_commit:{number}"))
    assert (len(record.checkpoints), record.checkpoints_total) == (KEPT, KEPT + 6)
    assert record.checkpoints[0].key == "git_commit:6"
    assert with_checkpoint(record, checkpoint(999, "git_commit:0")) is record


def test_checkpoint_without_a_step():
    """A task that is still being set up has no step to point from, and a finished one takes no checkpoint."""
    fresh = with_first_event(
        running().model_copy(update={"state": RecordState.INITIALIZING, "current_step": None, "history": ()}), NOW
    )
    assert with_checkpoint(fresh, checkpoint()).current_step is None
    with pytest.raises(IllegalMove):
        with_checkpoint(with_move(running(), RecordMove.ABANDON, NOW), checkpoint())


SWITCHES = {
    CheckpointCause.COMMIT: "on_commit",
    CheckpointCause.PUSH: "on_push",
    CheckpointCause.PULL: "on_pr",
    CheckpointCause.VALIDATION: "on_validation",
    CheckpointCause.STEP_COMPLETE: "on_step_complete",
}


@pytest.mark.parametrize("trigger", list(CheckpointCause))
def test_each_trigger_has_its_switch(trigger):
    """Everything is wanted unless its own switch says otherwise; what a person asks for is always wanted."""
    off = {"interval_s": 0.0} if trigger is CheckpointCause.INTERVAL else {SWITCHES.get(trigger, "on_push"): False}
    assert is_wanted(trigger, RecordSettings())
    assert is_wanted(trigger, RecordSettings(**off)) is (trigger is CheckpointCause.MANUAL)


DUE = {
    "not yet": ((), 299, False),
    "since the step began": ((), 300, True),
    "a checkpoint in between": ((checkpoint(created_at=NOW + timedelta(seconds=200), attempt=1),), 300, False),
    "since that checkpoint": ((checkpoint(created_at=NOW + timedelta(seconds=200), attempt=1),), 500, True),
    "a checkpoint of an earlier attempt": ((checkpoint(created_at=NOW + timedelta(seconds=200)),), 300, True),
    "a checkpoint from the future": ((checkpoint(created_at=NOW + timedelta(days=9), attempt=1),), 1, True),
}


@pytest.mark.parametrize(("checkpoints", "seconds", "is_due"), DUE.values(), ids=DUE)
def test_interval(checkpoints, seconds, is_due):
    """A running step is due when its last sign is older than the interval."""
    record = running().model_copy(update={"checkpoints": checkpoints})
    now = NOW + timedelta(seconds=seconds)
    assert interval_due(record, RecordSettings(), now) is is_due
    assert not interval_due(record, RecordSettings(interval_s=0.0), now)


def test_interval_is_for_running_steps():
    """Neither a pending step nor a human who is waited for makes checkpoints."""
    later = NOW + timedelta(hours=1)
    assert not interval_due(running(RecordMove.SETUP_COMPLETE), RecordSettings(), later)
    waiting = running(RecordMove.SETUP_COMPLETE, RecordMove.START_STEP, RecordMove.MANUAL_REQUIRED)
    assert not interval_due(waiting, RecordSettings(), later)


def test_auto_checkpoints():
    """Each automatic trigger leaves its own checkpoint, in order, and the last one is the step's current one."""
    record = running()
    for number, trigger in enumerate(trigger for trigger in CheckpointCause if trigger is not CheckpointCause.MANUAL):
        name = checkpoint_id(number.to_bytes(4, "big"))
        made = Checkpoint(checkpoint_id=name, created_at=NOW, description="Test checkpoint", trigger=trigger)
        record = with_checkpoint(record, made)
    assert [point.trigger for point in record.checkpoints] == [
        CheckpointCause.COMMIT,
        CheckpointCause.PUSH,
        CheckpointCause.PULL,
        CheckpointCause.VALIDATION,
        CheckpointCause.STEP_COMPLETE,
        CheckpointCause.INTERVAL,
    ]
    assert record.current_step is not None
    assert record.current_step.current_checkpoint_id == record.checkpoints[-1].checkpoint_id
    assert broken_at(record, []) is None
