"""Hangs an issue on a worker's hook: claim and hook in one atomic change, or nothing at all."""

from dataclasses import replace
from datetime import datetime, timedelta

from agent_sync.context import Context
from agent_sync.errors import AgentSyncError, BadHook, BadInput, Conflict, HookBusy, Refused
from agent_sync.lazy_dataclasses import dataclass
from agent_sync.leases.claim_refs import transport_here
from agent_sync.leases.identity import worktree_id
from agent_sync.task.branching import usual_name
from agent_sync.task.decision.claimable import objection, sub_issue_names
from agent_sync.task.decision.decide import card_change
from agent_sync.task.decision.tasks import Task
from agent_sync.work.claims import WantedClaim, claim_change, holding_of, refuse_held, tip_of, waiting_claim
from agent_sync.work.hook import attempts
from agent_sync.work.hook.model import FEWEST_TOOLS, MOST_TOOLS, Attempt, HookTask, JsonObject, WorkHook
from agent_sync.work.hook.moves import Assignment, after_sling
from agent_sync.work.hook.names import WorkerName, convoy_id, foreign_task_id, task_id, worker_named
from agent_sync.work.hook.orders import Done, Order, carry_out, hook_change
from agent_sync.work.hook.reading import history
from agent_sync.work.hook.states import ACTIVE, WorkState
from agent_sync.work.hook.view import HookSeen, WorkView
from agent_sync.work.hook.wording import understood, writable

DEFAULT_TOOLS = ("agent-sync", "file-system", "git")


@dataclass(frozen=True)
class Sling:
    """What is slung to whom, and how."""

    issue: int
    worker: str
    type: str = "code"
    tools: tuple[str, ...] = ()
    timeout: timedelta | None = None
    input: JsonObject | None = None
    force: bool = False


@dataclass(frozen=True)
class Slung:
    """The work that hangs on a hook now; `is_repeat` where it hung there before."""

    worker: WorkerName
    hook: WorkHook
    notes: tuple[str, ...] = ()
    is_repeat: bool = False


def sling(context: Context, wish: Sling, *, dry_run: bool = False) -> Done[Slung]:
    """Hang an issue on a hook; refuse what is closed, blocked, taken, or tried too often, and a hook that is taken."""
    notes = _tool_notes(wish)
    task = context.gateway.task(wish.issue)
    _refuse_unfit(task, force=wish.force)

    def decide(view: WorkView, now: datetime) -> Order[Slung]:
        name = worker_named(wish.worker, view.hooks)
        seen = view.hooks.get(name)
        repeat = _repeat(context, view, seen, wish.issue)
        if repeat:
            return Order(Slung(name, repeat, notes, is_repeat=True))
        _refuse_busy(name, seen)
        before = refuse_held(view, wish.issue)
        tried = _earlier_attempts(context, task_id(wish.issue, task.parent), force=wish.force)
        lease = waiting_claim(context, WantedClaim(wish.issue, name, usual_name(context, task)), before, now)
        with understood("The task", helps="agent-sync worker sling --help"):
            work = Assignment(_hook_task(task, wish, now), wish.tools or DEFAULT_TOOLS, tried)
            moved = after_sling(seen.hook if seen else None, work, holding_of(lease, lease.holder.user), name)
        hook = hook_change(name.ref, seen.sha if seen else "", moved, now)
        return Order(Slung(name, moved.hook, notes), (claim_change(wish.issue, lease, before), hook))

    done = carry_out(context, decide, issue=wish.issue, dry_run=dry_run)
    if dry_run or done.value.is_repeat:
        return done
    trouble = move_card(context, task, done.value.worker)
    return replace(done, value=replace(done.value, notes=(*notes, trouble))) if trouble else done


def move_card(context: Context, task: Task, worker: WorkerName) -> str:
    """Let the board show whose the task is now; return what was wrong, which does not undo the sling."""
    if context.settings.project.number is None:
        return ""
    change, trouble = card_change(task.card, status=context.settings.board.in_progress, agent=str(worker))
    try:
        if change:
            context.gateway.move_card(change)
    except AgentSyncError as error:
        trouble = str(error)
    return f"the card was not moved: {trouble}" if trouble else ""


def _tool_notes(wish: Sling) -> tuple[str, ...]:
    if len(wish.tools) > MOST_TOOLS:
        message = f"{len(wish.tools)} tools are too many; at most {MOST_TOOLS}."
        raise BadInput(message, helps="--tool for the three to five it needs")
    few = wish.tools and len(wish.tools) < FEWEST_TOOLS
    return (f"only {len(wish.tools)} tools are named; three to five are usual",) if few else ()


def _refuse_unfit(task: Task, *, force: bool) -> None:
    """Raise what stands against the issue on GitHub; only blockers and open sub-issues can be overruled."""
    attempted = f"slinging issue #{task.number}"
    found = objection(task.without_blockers() if force else task, own_ids=frozenset(), take_over=False)
    if found:
        error = Conflict if found.is_lost else Refused
        raise error(found.reason, attempted=attempted, helps=found.helps)
    parts = sub_issue_names(task)
    if parts and not force:
        message = f"Issue #{task.number} is no single task: it has open sub-issues: {', '.join(parts)}."
        raise Refused(message, attempted=attempted, helps="sling those one by one, or --force")


def _repeat(context: Context, view: WorkView, seen: HookSeen | None, issue: int) -> WorkHook | None:
    """Return the hook if this very sling was made before, by this worktree, and its answer was lost."""
    hook = seen.hook if seen else None
    if hook is None or hook.state is not WorkState.PENDING or hook.status.issue != issue:
        return None
    tip = tip_of(view, issue)
    is_ours = hook.status.worktree == worktree_id(context.place) and tip and tip.lease.nonce == hook.status.nonce
    return hook if is_ours else None


def _refuse_busy(name: WorkerName, seen: HookSeen | None) -> None:
    if seen and seen.hook is None:
        raise BadHook(seen.damage, attempted=f"slinging to {name}", helps="agent-sync worker repair")
    if seen and seen.hook and seen.hook.state in ACTIVE and seen.hook.task:
        message = f"{name} already has work: {seen.hook.task.id}, {seen.hook.state}."
        raise HookBusy(message, attempted=f"slinging to {name}", helps="agent-sync worker list")


def _earlier_attempts(context: Context, task: str, *, force: bool) -> tuple[Attempt, ...]:
    """Return what was tried before, on whatever hook; stop where a human must look first."""
    chains = [entry.hook.attempts for entry in history(transport_here(context)) if entry.hook]
    tried = attempts.merged_attempts(chains, task)
    reason = attempts.reason_to_escalate(tried, task)
    if reason and not force:
        raise Refused(f"{task}: {reason}; a human must look first.", attempted="slinging it again", helps="--force")
    return tried


def _hook_task(task: Task, wish: Sling, now: datetime) -> HookTask:
    given: JsonObject = {"issue": task.number, "title": writable(task.title), "url": task.url}
    return HookTask(
        id=task_id(task.number, task.parent),
        type=wish.type,
        input=given | (wish.input or {}),
        assigned=now,
        timeout=now + wish.timeout if wish.timeout else None,
        convoy_id=convoy_id(task.parent) if task.parent else None,
        # What is slung by force over its blockers says which they were.
        blocked_by=(
            *(task_id(number, None) for number in task.open_blockers),
            *map(foreign_task_id, task.foreign_blockers),
        ),
    )
