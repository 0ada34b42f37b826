"""Keeps the recovery record true: whatever happens to a claim, in git or in a session is brought into it."""

import os
from collections.abc import Callable, Iterator
from datetime import datetime
from functools import partial
from pathlib import Path

from agent_sync.clients import agent_here
from agent_sync.context import Context
from agent_sync.errors import AgentSyncError
from agent_sync.gateway.transport.remotes import base_branch
from agent_sync.quiet import answer as quiet
from agent_sync.record.crash.advice import resumed_after_crash
from agent_sync.record.disk.contents import NO_OCCASION, Occasion, UnreadInput
from agent_sync.record.disk.recorder import Recorder, touch_pointer
from agent_sync.record.disk.store import OpenRecord
from agent_sync.record.machine.asked import with_prompt
from agent_sync.record.machine.machine import with_move
from agent_sync.record.machine.model import Owner, Record
from agent_sync.record.machine.progress import (
    abandoned_record,
    goal_of,
    has_moved_on,
    is_answered,
    record_at_goal,
    since_crash,
    waits_for_claim,
    with_output,
    with_progress_counted,
    with_work,
)
from agent_sync.record.machine.states import (
    CLAIM_TO_CLOSE,
    TERMINAL,
    CheckpointCause,
    RecordMove,
    RecordState,
    StepStatus,
)
from agent_sync.record.machine.templates import TaskStart
from agent_sync.record.observe.activity import with_git_activity
from agent_sync.record.observe.checkpoints import (
    NewCheckpoint,
    branch_checkpoint,
    interval_at,
    is_wanted,
    step_checkpoint,
    with_checkpoints,
    with_files_touched,
)
from agent_sync.record.page.next_steps import record_seen_of, with_claim
from agent_sync.system import clock, git_history
from agent_sync.task.claim.model import Claim
from agent_sync.task.claim.phases import Phase
from agent_sync.task.decision import messages
from agent_sync.task.decision.situation import RecordSeen
from agent_sync.worktree import Place, spool_file


def catch_up(context: Context, occasion: Occasion = NO_OCCASION) -> Record | None:
    """Bring the record of this worktree's task up to date in one write; a claim without a record gets one."""
    claim = context.store.read()
    _begin_missing(context, claim, occasion)
    unread = UnreadInput(context.place)
    spoken = unread.added_to(occasion)
    # A prompt that was saved earlier was given before whatever a human is waited for now.
    has_prompt = occasion.is_work and bool(occasion.prompt)
    change = partial(_up_to_date, context=context, claim=claim, occasion=spoken, has_prompt=has_prompt)
    with context.git.one_look():
        changed = context.recorder.change(change, clock.now())
    unread.clear()
    return changed


def preview(context: Context, record: Record) -> Record:
    """Return the record as the next write would have it, with what git says now; nothing is written."""
    if record.state in TERMINAL:
        return record
    occasion = UnreadInput(context.place).added_to(NO_OCCASION)
    with context.git.one_look():
        claim = context.store.read()
        shown = _up_to_date(record, context=context, claim=claim, occasion=occasion, has_prompt=False, is_look=True)
        return with_files_touched(shown, context.git)


def with_session_end(context: Context, record: Record, now: datetime) -> Record:
    """Return the record with its owner gone in peace, if that is what its session's end has left behind."""
    return _with_end(record, UnreadInput(context.place).ended_session(), now)


def _with_end(record: Record, ended: str, now: datetime) -> Record:
    owner = record.owner
    is_owners = bool(ended) and owner.session_id in {"", ended}
    if not is_owners or owner.has_left or record.state in TERMINAL:
        return record
    left = owner.model_copy(update={"has_left": True})
    return with_move(record, RecordMove.SESSION_ENDED, now, session_id=ended).model_copy(update={"owner": left})


def begin_claim(recorder: Recorder, claim: Claim, title: str, *, session_id: str = "") -> OpenRecord | None:
    """Begin the record of a claim, or continue the one it has; any other task of the worktree is abandoned."""
    from agent_sync.record.disk.beginning import begin_task

    now = clock.now()
    found = recorder.current()
    if found and found.record.template == CLAIM_TO_CLOSE and found.record.issue_number == claim.issue_number:
        return found
    recorder.change(lambda record: abandoned_record(record, f"issue #{claim.issue_number} was claimed", now), now)
    named = title or f"Issue #{claim.issue_number}"
    task = TaskStart(named, CLAIM_TO_CLOSE, claim.issue_number, claim.branch, session_id=session_id)
    if not agent_here(recorder.environment):
        # Whatever a session was asked for, it is not why a person claims an issue.
        Path(spool_file(recorder.place, "on-prompt")).unlink(missing_ok=True)
    return begin_task(recorder, task, now)


def work(context: Context, change: Callable[[Record, datetime], Record], *, completes: bool = False) -> Record | None:
    """Change the record by a command of whoever works on the task; what git has seen so far comes before it."""
    unread = UnreadInput(context.place)
    ended = unread.ended_session()

    def changed(record: Record) -> Record:
        # Taken under the lock: of two that write at once, the later one must not seem to come from the past.
        now = clock.now()
        record = _with_end(record, ended, now)
        owner = context.recorder.owner("", record.owner)
        record = with_git_activity(_with_owner(record, owner, now), context.git, context.place, context.settings, now)
        if completes and is_wanted(CheckpointCause.STEP_COMPLETE, context.settings.record):
            record = with_checkpoints(record, context.git, step_checkpoint(record), now, os.urandom)
        return with_progress_counted(_taken_up(change(record, now), now))

    written = context.recorder.change(changed, clock.now())
    unread.clear()
    return written


def recorder_at(context: Context, place: Place) -> Recorder:
    """Return the recorder of a worktree of this clone, which may be a new one."""
    if place.root == context.place.root:
        return context.recorder
    return Recorder(place, context.settings, context.environment, context.git_at(place))


def attempt(context: Context, note: Callable[[Context], object]) -> None:
    """Write to the record if one is kept; trouble is reported at once, and stops nothing."""
    try:
        if context.recorder.home is not None:
            note(context)
    except (AgentSyncError, OSError) as error:
        context.log.write(clock.now(), "trouble", error=str(error))
        context.outbox.add([messages.record_unwritten(str(error))])


def receipt_lines(context: Context, commit: str) -> tuple[str, ...]:
    """Return what the record proves about a commit."""
    found = context.recorder.current()
    if found is None or not found.record.receipts:
        return ()
    from agent_sync.record.receipts import proof

    return proof.receipt_lines(found.record, proof.verdicts(found.record, context.environment), commit)


def begin_session(context: Context, session_id: str) -> OpenRecord | None:
    """Bring the record up to date for a new session; return it, if a task is under way."""
    catch_up(context, Occasion(session_id=session_id))
    # Whose session this is, its first event has to say: what was quiet in the one before is not answered quietly.
    touch_pointer(context.place)
    return context.recorder.current()


def record_seen(context: Context) -> RecordSeen | None:
    """Return what the record says of the task here, in the words of the situation."""
    found = context.recorder.current()
    return record_seen_of(found.record) if found else None


def is_answer_awaited(record: Record) -> bool:
    """Tell whether the next words of a human can let the task continue."""
    return record.state is RecordState.AWAITING_HUMAN and not waits_for_claim(record)


def watched_files(context: Context) -> tuple[str, ...]:
    """Return the files whose change gives the record something to do, as they are now."""
    branch = context.git.current_branch()
    if branch is None:
        return ()
    common = Path(context.place.common_dir)
    logs = common / "logs" / "refs"
    known = {path.name for path in (logs / "remotes").glob("*")} | {context.settings.git.remote}
    paths = [logs / "heads" / branch, common / "reftable" / "tables.list"]
    paths += [logs / "remotes" / remote / branch for remote in sorted(known)]
    return (quiet.sight_of([str(path) for path in paths]),)


def next_checkpoint_at(context: Context, record: Record | None) -> datetime | None:
    """Return when the next checkpoint falls due."""
    return interval_at(record, context.settings.record) if record else None


def _begin_missing(context: Context, claim: Claim | None, occasion: Occasion) -> None:
    """Begin a record for a claim that has none: it was written by hand, or before records were kept."""
    if claim is None or claim.phase is Phase.DONE:
        # What is closed has its record behind it, or never had one.
        return
    found = context.recorder.current()
    if found is None or (found.record.template == CLAIM_TO_CLOSE and found.record.issue_number != claim.issue_number):
        begin_claim(context.recorder, claim, "", session_id=occasion.session_id)


def _up_to_date(  # noqa: PLR0913  # the record, the world, and what the occasion is
    record: Record,
    *,
    context: Context,
    claim: Claim | None,
    occasion: Occasion,
    has_prompt: bool,
    is_look: bool = False,
) -> Record:
    # Taken under the lock: of two that write at once, the later one must not seem to come from the past.
    now = clock.now()
    claim_here = claim if record.template == CLAIM_TO_CLOSE else None
    # The worktree may have been moved.
    branch = claim_here.branch if claim_here else _branch_of(context, record)
    record = record.model_copy(update={"worktree": context.place.root, "branch": branch})
    goal = goal_of(claim_here) if claim_here else None
    record = _with_end(record, occasion.ended, now)
    is_answer = occasion.is_answer or (has_prompt and is_answered(record, occasion.session_id))
    if occasion.is_work:
        record = _with_owner(record, context.recorder.owner(occasion.session_id, record.owner), now)
    if occasion.resumes:
        record = resumed_after_crash(record, now)
    if is_answer and record.state is RecordState.AWAITING_HUMAN and not (goal and goal.waits):
        record = with_move(record, RecordMove.HUMAN_RESUME, now)
    before = record = _with_branch_found(context, record, now) if claim_here else record
    record = record_at_goal(record, goal, now) if goal else record
    record = with_output(_with_base_commit(context, record), occasion.said)
    if occasion.prompt:
        record = with_prompt(record, occasion.prompt, occasion.session_id or record.owner.session_id)
    if occasion.said or occasion.prompt:
        record = with_files_touched(record, context.git)
    # A look is no progress: only a write makes the checkpoint of an interval.
    record = with_git_activity(record, context.git, context.place, context.settings, now, is_at_work=not is_look)
    new = tuple(
        one for one in _milestones(before, record, claim_here) if is_wanted(one.trigger, context.settings.record)
    )
    record = with_checkpoints(record, context.git, new, now, os.urandom)
    if record.template == CLAIM_TO_CLOSE:
        record = with_claim(record, claim, is_ahead=_is_branch_ahead(context, claim))
    return with_progress_counted(with_work(_taken_up(record, now)))


def _with_branch_found(context: Context, record: Record, now: datetime) -> Record:
    """Note what is on the branch of a claim whose record begins: somebody has worked on it before."""
    git, step = context.git, record.current_step
    is_new = step is not None and step.started_at is not None and not step.base_commit and not record.checkpoints
    base = _base_of_branch(context, record.branch) if is_new else ""
    if step is None or not base or base == git_history.head_commit(git):
        return record
    record = record.model_copy(update={"current_step": step.model_copy(update={"base_commit": base})})
    found = branch_checkpoint(git, base) if is_wanted(CheckpointCause.COMMIT, context.settings.record) else ()
    return with_checkpoints(record, git, found, now, os.urandom) if found else with_files_touched(record, git)


def _base_of_branch(context: Context, branch: str) -> str:
    """Return the commit at which the branch that is checked out has left its base; empty where that is unknown."""
    base, git = base_branch(context), context.git
    there = git.remote_head_of(context.remotes.base, base) if base else None
    if there is None or git.current_branch() != branch:
        return ""
    return git_history.merge_base(git, there, git_history.head_commit(git)) or ""


def _branch_of(context: Context, record: Record) -> str:
    """Return the branch of a task without a claim: the one that is checked out."""
    return record.branch if record.template == CLAIM_TO_CLOSE else context.git.current_branch() or record.branch


def _taken_up(record: Record, now: datetime) -> Record:
    """Return the record at work again where the task has moved on since its crash; words alone move nothing."""
    if record.state is RecordState.RECOVERING and has_moved_on(since_crash(record)):
        return resumed_after_crash(record, now)
    return record


def _is_branch_ahead(context: Context, claim: Claim | None) -> bool:
    """Tell whether the branch has commits that its pull request does not have, as last pushed."""
    if claim is None or not claim.is_pull_open:
        return False
    there = context.git.remote_head_of(context.remotes.push, claim.branch)
    return git_history.is_ahead(context.git, claim.branch, there)


def _with_owner(record: Record, owner: Owner, now: datetime) -> Record:
    """Return the record with its owner; a process that does not name its session keeps the one it has."""
    same = owner.model_copy(update={"session_id": owner.session_id or record.owner.session_id})
    if record.owner in (owner, same):
        return record
    return with_move(record, RecordMove.OWNER, now).model_copy(update={"owner": owner})


def _with_base_commit(context: Context, record: Record) -> Record:
    """Note the commit a step begins at: files touched are counted from there."""
    step = record.current_step
    if step is None or step.base_commit or step.started_at is None:
        return record
    based = step.model_copy(update={"base_commit": git_history.head_commit(context.git)})
    return record.model_copy(update={"current_step": based})


def _milestones(before: Record, after: Record, claim: Claim | None) -> Iterator[NewCheckpoint]:
    """Yield the checkpoints that follow from where the task has come."""
    for number, (old, step) in enumerate(zip(before.steps, after.steps, strict=True)):
        if step.status is StepStatus.COMPLETED and old.status is not StepStatus.COMPLETED:
            key = f"step:{step.name}:{step.attempts}"
            yield NewCheckpoint(CheckpointCause.STEP_COMPLETE, f"Step {step.name} is complete", key, step_index=number)
    if claim and claim.pr_number:
        yield NewCheckpoint(CheckpointCause.PULL, f"PR #{claim.pr_number} is open", f"pr:{claim.pr_number}")
