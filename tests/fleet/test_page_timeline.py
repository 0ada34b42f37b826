"""What the page of a task says about its past: rows in order, and whom its time belongs to."""

from datetime import UTC, datetime, timedelta

from agent_sync.fleet.web.timeline import SpentBy, time_spent, timeline
from agent_sync.record.machine.model import Checkpoint, Event
from agent_sync.record.machine.states import CheckpointCause, RecordMove, RecordState
from agent_sync.task.decision.claims_seen import PullMoments

START = datetime(2026, 11, 17, 12, tzinfo=UTC)


def at(minutes):
    """Return a moment of the story."""
    return START + timedelta(minutes=minutes)


def event(minutes, move, state, step="implement"):
    """Return one entry of a history."""
    return Event(
        seq=minutes, timestamp=at(minutes), to_state=state, trigger=move, step_name=step, prev="0" * 64, hash="1" * 64
    )


HISTORY = (
    event(0, RecordMove.INIT, RecordState.INITIALIZING, ""),
    event(0, RecordMove.START_STEP, RecordState.STEP_RUNNING),
    event(30, RecordMove.STEP_COMPLETE, RecordState.STEP_VALIDATING, "validate"),
    event(32, RecordMove.VALIDATE_FAIL, RecordState.STEP_RUNNING),
    event(40, RecordMove.STEP_COMPLETE, RecordState.STEP_RUNNING, "checks"),
    event(50, RecordMove.STEP_COMPLETE, RecordState.AWAITING_HUMAN, "merge"),
    event(80, RecordMove.HUMAN_APPROVE, RecordState.COMPLETED, "close"),
)


def test_time_belongs_to_whoever_was_at_it():
    """Agent, gates, CI and the wait for a person are told apart; after the end no time passes."""
    assert time_spent(HISTORY, at(500)) == {
        SpentBy.AGENT: 38 * 60,
        SpentBy.GATES: 2 * 60,
        SpentBy.CI: 10 * 60,
        SpentBy.PERSON: 30 * 60,
    }


def test_the_last_state_lasts_until_now():
    """A wait that has not ended grows."""
    assert time_spent(HISTORY[:-1], at(110))[SpentBy.PERSON] == 60 * 60


def test_nothing_recorded_is_no_time():
    """A task of another machine has no history here."""
    assert set(time_spent((), at(1)).values()) == {0.0}


def test_rows_of_record_and_github_are_in_order():
    """Commits, gates and what GitHub knows make one list, in plain words."""
    commit = Checkpoint(
        checkpoint_id="ckpt-1", created_at=at(20), description="Commit: Lock\x1b[31m it", trigger=CheckpointCause.COMMIT
    )
    rows = timeline(HISTORY, [commit], PullMoments(opened=at(41), reviewed=at(70)))
    assert [(row.who, row.text) for row in rows] == [
        ("agent-sync", "claimed the issue"),
        ("agent", "committed: Lock[31m it"),
        ("agent-sync", "gates failed"),
        ("GitHub", "the pull request was opened"),
        ("person", "reviewed"),
        ("person", "approved"),
    ]
