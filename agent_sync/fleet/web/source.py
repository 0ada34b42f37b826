"""Where the page gets the fleet from: the same look and the same projection as every other view."""

from collections.abc import Mapping
from typing import Any

from agent_sync.context import Context
from agent_sync.fleet.look import look
from agent_sync.fleet.projection import project
from agent_sync.fleet.seen import FleetSeen
from agent_sync.fleet.view import FleetTask, FleetView
from agent_sync.fleet.web.actions import TaskAction, actions_for
from agent_sync.fleet.web.task_details import task_details
from agent_sync.system import clock


class FleetSource:
    """Looks at the fleet, and answers what is asked about a task from the last look."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._seen: FleetSeen | None = None
        self._view: FleetView | None = None

    @property
    def environment(self) -> Mapping[str, str]:
        """What commands of the page run with."""
        return self._context.environment

    def look(self) -> FleetView:
        """Look once more."""
        seen = look(self._context)
        self._seen, self._view = seen, project(seen, clock.now())
        return self._view

    def details(self, issue: int) -> dict[str, Any] | None:
        """Return the page of a task; None where the last look saw no such task."""
        if self._seen is None or self._view is None:
            return None
        return task_details(self._context, self._seen, self._view, issue)

    def actions(self, issue: int) -> tuple[TaskAction, ...]:
        """Return what a person may do with a task."""
        task = self._task(issue)
        return actions_for(task) if task else ()

    def directory(self, issue: int) -> str:
        """Return where commands for a task run: its worktree, or the one that the page was started in."""
        task = self._task(issue)
        return task.worktree if task and task.worktree else self._context.place.root

    def _task(self, issue: int) -> FleetTask | None:
        return next((one for one in self._view.tasks if one.issue == issue), None) if self._view else None
