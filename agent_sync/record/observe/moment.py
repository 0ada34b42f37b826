"""Takes the present moment of a worktree down as a checkpoint."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from agent_sync.record.disk.snapshots import snapshots
from agent_sync.record.machine.checkpoint import checkpoint_id, checkpointed
from agent_sync.record.machine.model import Checkpoint, FileSnapshot, Record
from agent_sync.record.machine.states import Trigger
from agent_sync.record.observe.touched import TreeState, files_touched, working_tree_state
from agent_sync.system.git import Git
from agent_sync.system.masking import masked
from agent_sync.task.decision.outside_text import one_line

Randomness = Callable[[int], bytes]
_LONGEST = 200
_RANDOM_BYTES = 4


@dataclass(frozen=True)
class What:
    """What a checkpoint is about; without a commit of its own it is about the one that is checked out."""

    trigger: Trigger
    description: str
    key: str = ""
    commit: str = ""
    artifacts: tuple[str, ...] = ()
    # The step it belongs to, where that is not the present one.
    step_index: int | None = None


def completion(record: Record) -> tuple[What, ...]:
    """Return the checkpoint of a step that is about to be completed."""
    step = record.current_step
    if step is None:
        return ()
    key = f"step:{step.step_name}:{record.steps[step.step_index].attempts}"
    return (What(Trigger.STEP_COMPLETE, f"Step {step.step_name} is complete", key),)


def noted(record: Record, git: Git, what: tuple[What, ...], now: datetime, randomness: Randomness) -> Record:
    """Return the record with these checkpoints, the files the step has touched, and how they lie on disk.

    The files are as they are now, so only the last checkpoint says how they lie.
    """
    if not what:
        return record
    record = with_files_touched(record, git)
    state = working_tree_state(git)
    paths = record.current_step.files_touched if record.current_step else ()
    for number, item in enumerate(what, 1):
        lie = snapshots(git.root, paths) if number == len(what) else ()
        name = checkpoint_id(randomness(_RANDOM_BYTES))
        record = checkpointed(record, _checkpoint(record, item, state, lie, now=now, name=name))
    return record


def with_files_touched(record: Record, git: Git) -> Record:
    """Return the record with the files its present step has touched by now."""
    step = record.current_step
    if step is None:
        return record
    touched = step.model_copy(update={"files_touched": files_touched(git, step.base_commit)})
    return record.model_copy(update={"current_step": touched})


def _checkpoint(  # noqa: PLR0913  # a checkpoint has as many sides
    record: Record, what: What, state: TreeState, lie: tuple[FileSnapshot, ...], *, now: datetime, name: str
) -> Checkpoint:
    step_name, step_index, attempt = _belongs_to(record, what)
    return Checkpoint(
        checkpoint_id=name,
        created_at=now,
        step_name=step_name,
        step_index=step_index,
        attempt=attempt,
        description=one_line(masked(what.description), limit=_LONGEST),
        trigger=what.trigger,
        git_branch=one_line(state.branch, limit=_LONGEST),
        git_commit=what.commit or state.head,
        git_dirty=state.dirty,
        artifacts=what.artifacts,
        files_snapshot=lie,
        key=what.key,
    )


def _belongs_to(record: Record, what: What) -> tuple[str, int, int]:
    """Return name, number and attempt of the step a checkpoint belongs to."""
    if what.step_index is not None:
        own = record.steps[what.step_index]
        return own.name, what.step_index, own.attempts
    step = record.current_step
    return (step.step_name, step.step_index, step.attempt) if step else ("", 0, 0)
