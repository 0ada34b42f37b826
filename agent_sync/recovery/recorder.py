"""Keeps the record of the task that one worktree is at: finds it, begins it, and changes it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from agent_sync.git import Git
from agent_sync.place import Place
from agent_sync.recovery import active
from agent_sync.recovery.home import Home
from agent_sync.recovery.machine import begun, moved
from agent_sync.recovery.model import Owner, Record, StepContext
from agent_sync.recovery.owner import Processes, client_process
from agent_sync.recovery.states import Move, State
from agent_sync.recovery.store import RecordStore
from agent_sync.recovery.templates import CLAIM_TO_CLOSE, steps_of
from agent_sync.settings import Settings

Change = Callable[[Record], Record]


@dataclass(frozen=True)
class NewTask:
    """What a task is begun with."""

    description: str
    template: str
    issue_number: int | None = None
    branch: str = ""
    resumed_from: str = ""
    session_id: str = ""


@dataclass
class Recorder:
    """The record of one worktree."""

    place: Place
    settings: Settings
    environment: Mapping[str, str]
    git: Git

    @cached_property
    def home(self) -> Home | None:
        """Where records live; None where this user has no home, or wants no record."""
        return Home.of(self.environment) if self.settings.record.enabled else None

    def owner(self, session_id: str) -> Owner:
        """Return the process on whose behalf this one runs."""
        found = client_process(Processes())
        return found.model_copy(update={"session_id": session_id})

    def opened(self) -> tuple[RecordStore, Record] | None:
        """Return the record of the task that is going on here."""
        return active.active_record(self.place, self.home) if self.home else None

    def change(self, change: Change, now: datetime) -> Record | None:
        """Change the record of the task that is going on here, if there is one; an equal record is not written."""
        found = self.opened()
        if found is None or self.home is None:
            return None
        changed = found[0].update(change, now)
        if changed.state in _OVER:
            active.forget(self.place)
        return changed

    def begin(self, task: NewTask, now: datetime) -> tuple[RecordStore, Record] | None:
        """Begin the record of a task, and its first step."""
        if self.home is None:
            return None
        steps = steps_of(task.template, self.settings)
        workspace = self.home.workspace(self.place)
        wanted = f"issue-{task.issue_number}" if task.issue_number else task.description
        store, task_id, index = self.home.new_task(workspace, wanted)
        record = Record(
            task_id=task_id,
            workspace=workspace,
            task_index=index,
            description=task.description,
            template=task.template,
            created_at=now,
            updated_at=now,
            state=State.INITIALIZING,
            steps=steps,
            issue_number=task.issue_number,
            branch=task.branch,
            worktree=self.place.root,
            owner=self.owner(task.session_id),
            resumed_from=task.resumed_from,
        )
        store.create(begun(record, now))
        active.remember(self.place, workspace, task_id)
        return store, store.update(lambda new: self._set_up(new, now), now)

    def _set_up(self, record: Record, now: datetime) -> Record:
        """End the set-up; a claim is worked on at once, other tasks wait for `step start`."""
        limit = 0 if record.template == CLAIM_TO_CLOSE else self.settings.record.max_attempts
        ready = moved(record, Move.SETUP_COMPLETE, now)
        step = ready.current_step or StepContext(step_name=record.steps[0].name, step_index=0)
        ready = ready.model_copy(update={"current_step": step.model_copy(update={"max_attempts": limit})})
        return moved(ready, Move.START_STEP, now) if record.template == CLAIM_TO_CLOSE else ready


_OVER = frozenset({State.COMPLETED, State.FAILED, State.ABANDONED})
