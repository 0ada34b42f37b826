"""The view of a fleet as values: lanes, tasks, and the same for programs."""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any

from agent_sync.lazy_dataclasses import dataclass
from agent_sync.task.decision.situations import Situation


class Lane(StrEnum):
    """Whose turn it is, in the order in which lanes are shown."""

    NEEDS_YOU = "needs_you"
    WORKING = "working"
    WAITING = "waiting"
    READY = "ready"


LANE_NAMES = {Lane.NEEDS_YOU: "Needs you", Lane.WORKING: "Working", Lane.WAITING: "Waiting", Lane.READY: "Ready"}


@dataclass(frozen=True)
class FleetPull:
    """A pull request by number, and its address where that is known."""

    number: int
    url: str = ""


@dataclass(frozen=True)
class FleetTask:
    """One task of the fleet: how it stands, whose turn it is and why, and the command that moves it."""

    repository: str
    issue: int
    title: str
    # None where only a lease is known, and for what is ready.
    situation: Situation | None
    lane: Lane
    reason: str
    since: datetime | None = None
    who: str = ""
    # The agent as people read it, and as the board and the lease name it.
    name: str = ""
    agent: str = ""
    host: str = ""
    worktree: str = ""
    pull: FleetPull | None = None
    ci: str = ""
    review: str = ""
    attempts: int = 0
    next_sentence: str = ""
    next_command: str = ""


@dataclass(frozen=True)
class FleetView:
    """All tasks in their order: by lane, who has waited longest first, and what is ready as `next` would take it."""

    repository: str
    tasks: tuple[FleetTask, ...]
    looked_at: datetime
    paused_until: datetime | None = None
    stale_reason: str = ""
    finished_today: int = 0
    board_note: str = ""

    def lane(self, lane: Lane) -> tuple[FleetTask, ...]:
        """Return the tasks of one lane."""
        return tuple(task for task in self.tasks if task.lane is lane)

    @property
    def counts(self) -> dict[Lane, int]:
        """How many tasks each lane has; every lane is there."""
        return {lane: len(self.lane(lane)) for lane in Lane}


def situation_name(task: FleetTask) -> str | None:
    """Return the name of a task's situation, as every view calls it."""
    return type(task.situation).__name__ if task.situation else None


def as_json(view: FleetView) -> dict[str, Any]:
    """Return the view for programs."""
    return {
        "repository": view.repository,
        "tasks": [task_values(task) for task in view.tasks],
        "counts": {lane.value: count for lane, count in view.counts.items()},
        "looked_at": view.looked_at.isoformat(),
        "paused_until": _moment(view.paused_until),
        "stale_reason": view.stale_reason,
        "finished_today": view.finished_today,
        "board_note": view.board_note,
    }


def view_of(values: Mapping[str, Any]) -> FleetView:
    """Return the view that another process has printed for programs; it names situations, and does not carry them."""
    return FleetView(
        repository=values["repository"],
        tasks=tuple(_task_of(task) for task in values["tasks"]),
        looked_at=datetime.fromisoformat(values["looked_at"]),
        paused_until=_moment_of(values["paused_until"]),
        stale_reason=values["stale_reason"],
        finished_today=values["finished_today"],
        board_note=values["board_note"],
    )


def _task_of(values: Mapping[str, Any]) -> FleetTask:
    names = ("repository", "title", "reason", "who", "name", "agent", "host", "worktree", "ci", "review", "attempts")
    return FleetTask(
        **{name: values[name] for name in names},
        issue=values["issue"] or 0,
        situation=None,
        lane=Lane(values["lane"]),
        since=_moment_of(values["since"]),
        pull=FleetPull(**values["pull"]) if values["pull"] else None,
        next_sentence=values["sentence"],
        next_command=values["next"],
    )


def task_values(task: FleetTask) -> dict[str, Any]:
    """Return one task for programs."""
    return {
        "repository": task.repository,
        "issue": task.issue or None,
        "title": task.title,
        "situation": situation_name(task),
        "lane": task.lane.value,
        "reason": task.reason,
        "since": _moment(task.since),
        "who": task.who,
        "name": task.name,
        "agent": task.agent,
        "host": task.host,
        "worktree": task.worktree,
        "pull": {"number": task.pull.number, "url": task.pull.url} if task.pull else None,
        "ci": task.ci,
        "review": task.review,
        "attempts": task.attempts,
        "sentence": task.next_sentence,
        "next": task.next_command,
    }


def _moment_of(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None


def _moment(at: datetime | None) -> str | None:
    return at.isoformat() if at else None
