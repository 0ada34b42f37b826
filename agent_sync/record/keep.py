"""Keeps the recovery record true: whatever happens to a claim, in git or in a session is brought into it."""

import os
from collections.abc import Callable
from datetime import datetime
from functools import partial
from pathlib import Path

from agent_sync.context import Context
from agent_sync.errors import AgentSyncError
from agent_sync.quiet import answer as quiet
from agent_sync.record.crash.resuming import resumed
from agent_sync.record.disk.recorder import Kept, NewTask, Recorder
from agent_sync.record.machine.checkpoint import interval_at, is_wanted
from agent_sync.record.machine.following import abandoned, finished, followed, goal_of
from agent_sync.record.machine.machine import moved
from agent_sync.record.machine.model import Owner, Record
from agent_sync.record.machine.progress import progressed
from agent_sync.record.machine.states import Move, State, StepStatus, Trigger
from agent_sync.record.machine.templates import CLAIM_TO_CLOSE
from agent_sync.record.observe import words
from agent_sync.record.observe.last_words import GLANCE, Occasion, Spool
from agent_sync.record.observe.moment import What, completion, noted, with_files_touched
from agent_sync.record.observe.reconcile import reconciled
from agent_sync.record.page.told import with_claim
from agent_sync.record.receipts.proof import verdicts
from agent_sync.record.receipts.receipt_lines import receipt_lines as lines_of
from agent_sync.system import clock
from agent_sync.task.claim.model import Claim
from agent_sync.task.decision import messages
from agent_sync.task.situation_here import is_branch_ahead
from agent_sync.worktree import Place


def catch_up(context: Context, occasion: Occasion = GLANCE) -> Record | None:
    """Bring the record of this worktree's task up to date in one write; a claim without a record gets one."""
    claim = context.store.read()
    _begin_missing(context, claim, occasion)
    now = clock.now()
    spool = Spool(context.place)
    spoken = spool.joined(occasion)
    # A prompt that lay by was given before whatever a human is waited for now.
    is_answer = occasion.is_answer or (occasion.is_work and bool(occasion.prompt))
    change = partial(_caught_up, context=context, claim=claim, occasion=spoken, is_answer=is_answer, now=now)
    changed = context.recorder.change(change, now)
    spool.clear()
    return changed


def begin_claim(recorder: Recorder, claim: Claim, title: str, *, session_id: str = "") -> Kept | None:
    """Begin the record of a claim, or go on with the one it has; whatever else the worktree was at is given up."""
    now = clock.now()
    found = recorder.opened()
    if found and found[1].template == CLAIM_TO_CLOSE and found[1].issue_number == claim.issue_number:
        return found
    recorder.change(lambda record: abandoned(record, f"issue #{claim.issue_number} was claimed", now), now)
    task = NewTask(
        description=title or f"Issue #{claim.issue_number}",
        template=CLAIM_TO_CLOSE,
        issue_number=claim.issue_number,
        branch=claim.branch,
        session_id=session_id,
    )
    return recorder.begin(task, now)


def work(context: Context, change: Callable[[Record, datetime], Record], *, completes: bool = False) -> Record | None:
    """Change the record by a command of whoever works on the task; what git has seen so far comes before it."""
    now = clock.now()

    def changed(record: Record) -> Record:
        owner = context.recorder.owner("", record.owner)
        record = reconciled(owned(record, owner, now), context.git, context.place, context.settings, now)
        if completes and is_wanted(Trigger.STEP_COMPLETE, context.settings.record):
            record = noted(record, context.git, completion(record), now, os.urandom)
        return progressed(change(record, now))

    return context.recorder.change(changed, now)


def owned(record: Record, owner: Owner, now: datetime) -> Record:
    """Return the record with its owner; a process that does not name its session keeps the one it has."""
    same = owner.model_copy(update={"session_id": owner.session_id or record.owner.session_id})
    if record.owner in (owner, same):
        return record
    return moved(record, Move.OWNER, now).model_copy(update={"owner": owner})


def recorder_at(context: Context, place: Place) -> Recorder:
    """Return the recorder of a worktree of this clone, which may be a new one."""
    if place.root == context.place.root:
        return context.recorder
    return Recorder(place, context.settings, context.environment, context.git_at(place))


def attempt(context: Context, note: Callable[[Context], object]) -> None:
    """Write to the record if one is kept; trouble is told to the person at once, and stops nothing."""
    try:
        if context.recorder.home is not None:
            note(context)
    except (AgentSyncError, OSError) as error:
        context.log.write(clock.now(), "trouble", error=str(error))
        context.outbox.add([messages.record_unwritten(str(error))])


def finish(context: Context) -> None:
    """Complete the record: the issue is closed."""
    now = clock.now()
    context.recorder.change(lambda record: finished(record, now), now)


def abandon(context: Context, reason: str) -> Record | None:
    """Give the task up."""
    now = clock.now()
    return context.recorder.change(lambda record: abandoned(record, reason, now), now)


def receipt_lines(context: Context, commit: str) -> tuple[str, ...]:
    """Return what the record proves about a commit."""
    found = context.recorder.opened()
    return lines_of(found[1], verdicts(found[1], context.environment), commit) if found else ()


def watched(context: Context) -> tuple[str, ...]:
    """Return the files whose change gives the record something to do, as they lie now."""
    branch = context.git.current_branch()
    if branch is None:
        return ()
    common = Path(context.place.common_dir)
    logs = common / "logs" / "refs"
    known = {path.name for path in (logs / "remotes").glob("*")} | {context.settings.git.remote}
    paths = [logs / "heads" / branch, common / "reftable" / "tables.list"]
    paths += [logs / "remotes" / remote / branch for remote in sorted(known)]
    return (quiet.sight_of([str(path) for path in paths]),)


def due(context: Context, record: Record | None) -> datetime | None:
    """Return when the next checkpoint falls due."""
    return interval_at(record, context.settings.record) if record else None


def _begin_missing(context: Context, claim: Claim | None, occasion: Occasion) -> None:
    """Begin a record for a claim that has none: it was written by hand, or before records were kept."""
    if claim is None:
        return
    found = context.recorder.opened()
    if found is None or (found[1].template == CLAIM_TO_CLOSE and found[1].issue_number != claim.issue_number):
        begin_claim(context.recorder, claim, "", session_id=occasion.session_id)


def _caught_up(  # noqa: PLR0913  # the record, the world, and what was said
    record: Record, *, context: Context, claim: Claim | None, occasion: Occasion, is_answer: bool, now: datetime
) -> Record:
    record = _placed(record, context, claim)
    goal = goal_of(claim) if claim and record.template == CLAIM_TO_CLOSE else None
    if occasion.is_work:
        record = _at_work(context, record, occasion, now)
    if is_answer and record.state is State.AWAITING_HUMAN and not (goal and goal.waits):
        record = moved(record, Move.HUMAN_RESUME, now)
    before = record
    record = followed(record, goal, now) if goal else record
    record = words.with_prompt(words.with_output(_based(context, record), occasion.said), occasion.prompt)
    if occasion.said or occasion.prompt:
        record = with_files_touched(record, context.git)
    record = reconciled(record, context.git, context.place, context.settings, now)
    record = noted(record, context.git, tuple(_milestones(context, before, record, claim)), now, os.urandom)
    if record.template == CLAIM_TO_CLOSE:
        record = with_claim(record, claim, is_ahead=claim is not None and is_branch_ahead(context, claim))
    return progressed(words.with_work(record))


def _placed(record: Record, context: Context, claim: Claim | None) -> Record:
    """Return the record where its worktree is now, which may have been moved, on the branch that its claim names."""
    is_claim = claim is not None and record.template == CLAIM_TO_CLOSE
    where = {"worktree": context.place.root, "branch": claim.branch if claim and is_claim else record.branch}
    return record.model_copy(update=where)


def _at_work(context: Context, record: Record, occasion: Occasion, now: datetime) -> Record:
    """The session that speaks owns the task; after a crash it goes on."""
    owner = context.recorder.owner(occasion.session_id, record.owner)
    return resumed(owned(record, owner, now), now)


def _based(context: Context, record: Record) -> Record:
    """Note the commit a step begins at: what it touches is told from there."""
    step = record.current_step
    if step is None or step.base_commit or step.started_at is None:
        return record
    head = context.git.ask("rev-parse", "--verify", "--quiet", "HEAD").stdout.strip()
    return record.model_copy(update={"current_step": step.model_copy(update={"base_commit": head})})


def _milestones(context: Context, before: Record, after: Record, claim: Claim | None) -> list[What]:
    """List the checkpoints that follow from where the task has come."""
    done = [
        What(
            Trigger.STEP_COMPLETE,
            f"Step {step.name} is complete",
            f"step:{step.name}:{step.attempts}",
            step_index=number,
        )
        for number, (old, step) in enumerate(zip(before.steps, after.steps, strict=True))
        if step.status is StepStatus.COMPLETED and old.status is not StepStatus.COMPLETED
    ]
    if claim and claim.pr_number and after.template == CLAIM_TO_CLOSE:
        done.append(What(Trigger.PULL, f"PR #{claim.pr_number} is open", f"pr:{claim.pr_number}"))
    return [what for what in done if is_wanted(what.trigger, context.settings.record)]
