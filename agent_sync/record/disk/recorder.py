"""Keeps the record of the task that one worktree is at: finds it, begins it, and changes it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from pathlib import Path

from agent_sync.errors import AgentSyncError
from agent_sync.record.crash.owner import client_process, is_above
from agent_sync.record.crash.proc import SystemProcesses
from agent_sync.record.disk import active
from agent_sync.record.disk.home import Home, home_of, issue_task, text_task, workspace_of
from agent_sync.record.disk.store import RecordStore
from agent_sync.record.machine.machine import begun, moved
from agent_sync.record.machine.model import Owner, Record, Step, StepContext
from agent_sync.record.machine.states import TERMINAL, Move, State, StepStatus
from agent_sync.record.machine.templates import CLAIM_TO_CLOSE, steps_of
from agent_sync.record.receipts.proof import page
from agent_sync.settings import Settings
from agent_sync.system.git import Git
from agent_sync.system.masking import masked
from agent_sync.worktree import Place

Change = Callable[[Record], Record]
Kept = tuple[RecordStore, Record]
# Here the next word or work of a session changes the state, so no hook may be answered by its stamp.
_EVENTFUL = frozenset({State.RECOVERING, State.AWAITING_HUMAN})


@dataclass(frozen=True)
class NewTask:
    """What a task is begun with."""

    description: str
    template: str
    issue_number: int | None = None
    branch: str = ""
    resumed_from: str = ""
    session_id: str = ""
    # Steps that have come some way already, where a task is taken up again; else the template's.
    steps: tuple[Step, ...] = ()


@dataclass
class Recorder:
    """The record of one worktree."""

    place: Place
    settings: Settings
    environment: Mapping[str, str]
    git: Git

    @cached_property
    def home(self) -> Home | None:
        """Where records live; None where nobody has a home, or no record is wanted."""
        is_somewhere = self.environment.get("ATLAS_HOME") or self.environment.get("HOME")
        if not self.settings.record.enabled or not is_somewhere:
            return None
        return home_of(self.environment, lambda record: page(record, self.environment))

    def owner(self, session_id: str, known: Owner | None = None) -> Owner:
        """Return the process on whose behalf this one runs; a command that the known owner has started is its own."""
        proc = SystemProcesses()
        if known and not session_id and is_above(known, proc):
            # Whatever else lies in between, `timeout` or a script, is gone when the command is.
            return known
        return client_process(proc, session_id=session_id)

    def opened(self) -> Kept | None:
        """Return the record of the task that is going on here; where it was lost sight of, it is pointed at again."""
        found = active.active_record(self.place, self.home) if self.home else None
        if found and not active.is_pointed(self.place):
            active.point(self.place, found[1])
        return found

    def change(self, change: Change, now: datetime) -> Record | None:
        """Change the record of the task that is going on here, if there is one; an equal record is not written."""
        found = self.opened()
        if found is None:
            return None
        changed = found[0].update(change, now)
        if changed.state in TERMINAL:
            active.unpoint(self.place)
        elif changed.state is not found[1].state and _EVENTFUL & {changed.state, found[1].state}:
            active.point(self.place, changed)
        return changed

    def put_aside(self, now: datetime) -> Path | None:
        """Move a record that cannot be used out of the way of a new one; return where to, None where there is none."""
        store = active.unusable_record(self.place, self.home) if self.home else None
        if store is None or self.home is None:
            return None
        aside = self.home.put_aside(store, now)
        active.unpoint(self.place)
        return aside

    def begin(self, task: NewTask, now: datetime, prepare: Callable[[], object] | None = None) -> Kept | None:
        """Begin the record of a task; a claim is worked on at once, other tasks wait for their first step.

        What `prepare` raises fails the task, and is raised again.
        """
        if self.home is None:
            return None
        steps = task.steps or steps_of(task.template, self.settings)
        workspace, root, owner = workspace_of(self.place), self.place.root, self.owner(task.session_id)
        wanted = issue_task(task.issue_number) if task.issue_number else text_task(masked(task.description))

        def first(task_id: str, index: int) -> Record:
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
                worktree=root,
                owner=owner,
                resumed_from=task.resumed_from,
                current_step=_taken_up(task.steps),
            )
            return begun(record, now)

        store, record = self.home.begin(workspace, wanted, first)
        active.point(self.place, record)
        try:
            if prepare:
                prepare()
        except AgentSyncError as error:
            reason = error.happened
            store.update(lambda new: moved(new, Move.SETUP_FAILED, now, reason=reason), now)
            active.unpoint(self.place)
            raise
        return store, store.update(lambda new: self.set_up(new, now), now)

    def set_up(self, record: Record, now: datetime) -> Record:
        """Return the record ready for its first step; one that is already is returned as it is."""
        if record.state is not State.INITIALIZING:
            return record
        is_claim = record.template == CLAIM_TO_CLOSE
        limit = 0 if is_claim else self.settings.record.max_attempts
        ready = moved(record, Move.SETUP_COMPLETE, now)
        step = ready.current_step or StepContext(step_name=record.steps[0].name, step_index=0)
        ready = ready.model_copy(update={"current_step": step.model_copy(update={"max_attempts": limit})})
        return moved(ready, Move.START_STEP, now) if is_claim else ready


def _taken_up(steps: tuple[Step, ...]) -> StepContext | None:
    """Return the first step that is left of a task that is taken up again."""
    left = [number for number, step in enumerate(steps) if step.status is StepStatus.PENDING]
    return StepContext(step_name=steps[left[0]].name, step_index=left[0]) if left else None
