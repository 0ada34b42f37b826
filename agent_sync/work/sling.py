"""Hangs an issue on a worker's hook: claim and hook in one atomic change, or nothing at all."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from agent_sync.context import Context
from agent_sync.errors import BadHook, BadInput, Conflict, HookBusy, Refused
from agent_sync.leases.identity import worktree_id
from agent_sync.task.decision.claimable import branch_name, objection
from agent_sync.task.decision.tasks import Task
from agent_sync.work.holdings import Wanted, claim_step, holding_of, refuse_held, tip_of, waiting_claim
from agent_sync.work.hook import attempts
from agent_sync.work.hook.model import FEWEST_TOOLS, MOST_TOOLS, Attempt, Hook, HookTask, Json
from agent_sync.work.hook.moves import Assignment, slung
from agent_sync.work.hook.names import WorkerName, convoy_id, task_id, worker_named
from agent_sync.work.hook.orders import Done, Order, Step, carry_out
from agent_sync.work.hook.reading import history
from agent_sync.work.hook.shelf import shelf_for
from agent_sync.work.hook.sight import HookSeen, Sight
from agent_sync.work.hook.states import ACTIVE, State
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
    input: Json | None = None
    force: bool = False


@dataclass(frozen=True)
class Slung:
    """The work that hangs on a hook now; `is_repeat` where it hung there before."""

    worker: WorkerName
    hook: Hook
    notes: tuple[str, ...] = ()
    is_repeat: bool = False


def sling(context: Context, wish: Sling, *, dry_run: bool = False) -> Done[Slung]:
    """Hang an issue on a hook; refuse what is closed, blocked, taken, or tried too often, and a hook that is taken."""
    notes = _tool_notes(wish)
    task = context.gateway.task(wish.issue)
    _refuse_unfit(task, force=wish.force)

    def decide(sight: Sight, now: datetime) -> Order[Slung]:
        name = worker_named(wish.worker, sight.hooks)
        seen = sight.hooks.get(name)
        repeat = _repeat(context, sight, seen, wish.issue)
        if repeat:
            return Order(Slung(name, repeat, notes, is_repeat=True))
        _refuse_busy(name, seen)
        before = refuse_held(sight, wish.issue)
        tried = _tried(context, task_id(wish.issue, task.parent), now, force=wish.force)
        lease = waiting_claim(context, Wanted(wish.issue, name, branch_name(task.title, task.number)), before, now)
        with understood("The task", helps="agent-sync worker sling --help"):
            work = Assignment(_hook_task(task, wish, now), wish.tools or DEFAULT_TOOLS, tried)
            moved = slung(seen.hook if seen else None, work, holding_of(lease, lease.holder.user), name)
        hook_step = Step(name.ref, seen.sha if seen else "", moved)
        return Order(Slung(name, moved.hook, notes), (claim_step(wish.issue, lease, before), hook_step))

    return carry_out(context, decide, issue=wish.issue, dry_run=dry_run)


def _tool_notes(wish: Sling) -> tuple[str, ...]:
    if len(wish.tools) > MOST_TOOLS:
        message = f"{len(wish.tools)} tools are too many; at most {MOST_TOOLS}."
        raise BadInput(message, helps="--tool for the three to five it needs")
    few = wish.tools and len(wish.tools) < FEWEST_TOOLS
    return (f"only {len(wish.tools)} tools are named; three to five are usual",) if few else ()


def _refuse_unfit(task: Task, *, force: bool) -> None:
    """Raise what stands against the issue on GitHub; only a blocker can be overruled."""
    found = objection(replace(task, open_blockers=()) if force else task, own_ids=frozenset(), take_over=False)
    if found:
        error = Conflict if found.is_lost else Refused
        raise error(found.reason, attempted=f"slinging issue #{task.number}", helps=found.helps)


def _repeat(context: Context, sight: Sight, seen: HookSeen | None, issue: int) -> Hook | None:
    """Return the hook if this very sling was made before, by this worktree, and its answer was lost."""
    hook = seen.hook if seen else None
    if hook is None or hook.state is not State.PENDING or hook.status.issue != issue:
        return None
    tip = tip_of(sight, issue)
    is_ours = hook.status.worktree == worktree_id(context.place) and tip and tip.lease.nonce == hook.status.nonce
    return hook if is_ours else None


def _refuse_busy(name: WorkerName, seen: HookSeen | None) -> None:
    if seen and seen.hook is None:
        raise BadHook(seen.damage, attempted=f"slinging to {name}", helps="agent-sync worker repair")
    if seen and seen.hook and seen.hook.state in ACTIVE and seen.hook.task:
        message = f"{name} already has work: {seen.hook.task.id}, {seen.hook.state}."
        raise HookBusy(message, attempted=f"slinging to {name}", helps="agent-sync worker list")


def _tried(context: Context, task: str, now: datetime, *, force: bool) -> tuple[Attempt, ...]:
    """Return what was tried before, on whatever hook; stop where a human must look first."""
    chains = [entry.hook.attempts for entry in history(shelf_for(context, now)) if entry.hook]
    tried = attempts.merged(chains, task)
    reason = attempts.reason_to_escalate(tried, task)
    if reason and not force:
        raise Refused(f"{task}: {reason}; a human must look first.", attempted="slinging it again", helps="--force")
    return tried


def _hook_task(task: Task, wish: Sling, now: datetime) -> HookTask:
    given: Json = {"issue": task.number, "title": writable(task.title), "url": task.url}
    return HookTask(
        id=task_id(task.number, task.parent),
        type=wish.type,
        input=given | (wish.input or {}),
        assigned=now,
        timeout=now + wish.timeout if wish.timeout else None,
        convoy_id=convoy_id(task.parent) if task.parent else None,
        # What is slung by force over its blockers says which they were.
        blocked_by=tuple(task_id(number, None) for number in task.open_blockers),
    )
