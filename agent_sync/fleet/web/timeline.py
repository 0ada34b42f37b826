"""What happened to a task, in order, and where its time went: pure, from the record and what GitHub said."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from enum import StrEnum

from agent_sync.lazy_dataclasses import dataclass
from agent_sync.record.machine.model import Checkpoint, Event
from agent_sync.record.machine.states import CheckpointCause, RecordMove, RecordState
from agent_sync.task.decision.claims_seen import PullMoments
from agent_sync.task.decision.outside_text import one_line


class SpentBy(StrEnum):
    """Who the time of a task belongs to."""

    AGENT = "agent"
    GATES = "gates"
    CI = "CI"
    PERSON = "waiting for a person"


@dataclass(frozen=True)
class TimelineRow:
    """One thing that happened: when, who did it, and what."""

    at: datetime
    who: str
    text: str


# Of the record's moves, those that a person wants to read about.
_MOVES = {
    RecordMove.INIT: ("agent-sync", "claimed the issue"),
    RecordMove.VALIDATE_PASS: ("agent-sync", "gates passed"),
    RecordMove.VALIDATE_FAIL: ("agent-sync", "gates failed"),
    RecordMove.HUMAN_APPROVE: ("person", "approved"),
    RecordMove.HUMAN_REJECT: ("person", "sent the work back"),
    RecordMove.HUMAN_RESUME: ("person", "resumed the task"),
    RecordMove.REWORK: ("agent-sync", "back to an earlier step"),
    RecordMove.SESSION_ENDED: ("agent", "ended its session"),
    RecordMove.CHANGED_OUTSIDE: ("agent-sync", "the record was changed outside of agent-sync"),
    RecordMove.CRASH_DETECTED: ("agent-sync", "found that the session had crashed"),
    RecordMove.MANUAL_REQUIRED: ("agent-sync", "waits for a person"),
    RecordMove.ABANDON: ("person", "gave the task up"),
}
_CAUSES = {
    CheckpointCause.COMMIT: ("agent", "committed"),
    CheckpointCause.PUSH: ("agent", "pushed"),
    CheckpointCause.PULL: ("agent-sync", "opened the pull request"),
    CheckpointCause.MANUAL: ("agent", "noted"),
}
_CI_STEPS = frozenset({"checks"})
_PERSON_STEPS = frozenset({"merge", "close"})


def timeline(events: Iterable[Event], checkpoints: Iterable[Checkpoint], moments: PullMoments) -> list[TimelineRow]:
    """Return everything worth reading, oldest first."""
    rows = [TimelineRow(event.timestamp, *_MOVES[event.trigger]) for event in events if event.trigger in _MOVES]
    rows += [_checkpoint_row(point) for point in checkpoints if point.trigger in _CAUSES]
    rows += [TimelineRow(at, who, text) for at, who, text in _github_moments(moments) if at]
    return sorted(rows, key=lambda row: row.at)


def _checkpoint_row(point: Checkpoint) -> TimelineRow:
    who, what = _CAUSES[point.trigger]
    about = one_line(point.description).removeprefix("Commit: ").removeprefix("Push: ")
    return TimelineRow(point.created_at, who, f"{what}: {about}" if about else what)


def _github_moments(moments: PullMoments) -> list[tuple[datetime | None, str, str]]:
    return [
        (moments.opened, "GitHub", "the pull request was opened"),
        (moments.checked, "GitHub", "the last check ended"),
        (moments.reviewed, "person", "reviewed"),
        (moments.ended, "GitHub", "the pull request was merged or closed"),
    ]


def time_spent(events: Sequence[Event], now: datetime) -> dict[SpentBy, float]:
    """Return how many seconds belong to each; the last state lasts until now, and an ended task adds nothing."""
    spent = dict.fromkeys(SpentBy, 0.0)
    ends = [*(event.timestamp for event in events[1:]), now]
    for event, end in zip(events, ends, strict=False):
        by = _spent_by(event)
        if by:
            spent[by] += max(0.0, (end - event.timestamp).total_seconds())
    return spent


def _spent_by(event: Event) -> SpentBy | None:
    match event.to_state:
        case RecordState.AWAITING_HUMAN:
            return SpentBy.PERSON
        case RecordState.STEP_VALIDATING:
            return SpentBy.GATES
        case RecordState.COMPLETED | RecordState.FAILED | RecordState.ABANDONED:
            return None
        case _ if event.step_name in _CI_STEPS:
            return SpentBy.CI
        case _ if event.step_name in _PERSON_STEPS:
            return SpentBy.PERSON
        case _:
            return SpentBy.AGENT
