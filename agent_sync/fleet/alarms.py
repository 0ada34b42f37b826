"""Decides of which tasks a person is told: once when they come into Needs you, and again after longer and longer."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta

from agent_sync.fleet.view import FleetTask, FleetView, Lane, situation_name
from agent_sync.lazy_dataclasses import dataclass

# After the first time; later ones come a day apart.
REPEATS = (timedelta(hours=1), timedelta(hours=4))
DAILY = timedelta(days=1)


@dataclass(frozen=True)
class Told:
    """How often a person was told of a task, and when last."""

    at: datetime
    times: int = 1

    @property
    def due_at(self) -> datetime:
        """When they are told again, if it still needs them."""
        return self.at + (REPEATS[self.times - 1] if self.times <= len(REPEATS) else DAILY)


def alarm_key(task: FleetTask) -> str:
    """Return what makes two looks at a task the same reason to be told; ages and counts in a reason do not."""
    return f"{task.repository}#{task.issue} {task.worktree} {situation_name(task)}"


def alarms(told: Mapping[str, Told], view: FleetView, now: datetime) -> tuple[tuple[FleetTask, ...], dict[str, Told]]:
    """Return the tasks that a person is told of now, and what is known after that; what is settled is forgotten."""
    due: list[FleetTask] = []
    known: dict[str, Told] = {}
    for task in view.lane(Lane.NEEDS_YOU):
        before = told.get(alarm_key(task))
        if before and now < before.due_at:
            known[alarm_key(task)] = before
            continue
        due.append(task)
        known[alarm_key(task)] = replace(before, at=now, times=before.times + 1) if before else Told(now)
    return tuple(due), known


def alarm_text(tasks: tuple[FleetTask, ...]) -> str:
    """Return what a person reads: the task with its reason and command, or how many there are."""
    if len(tasks) == 1:
        task = tasks[0]
        return f"#{task.issue} {task.title}: {task.reason} ({task.next_command})"
    return f"{len(tasks)} tasks need you: " + ", ".join(f"#{task.issue}" for task in tasks)
