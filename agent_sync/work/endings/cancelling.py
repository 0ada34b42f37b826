"""Cancels work on a hook: claim and hook end in one push, then card and assignment are given back."""

from dataclasses import replace
from datetime import datetime

from agent_sync.clients import agent_here
from agent_sync.context import Context
from agent_sync.errors import AgentSyncError, BadInput, HookBusy, Refused
from agent_sync.lazy_dataclasses import dataclass
from agent_sync.leases.identity import holder_here, worktree_id
from agent_sync.leases.model import LeaseState, Tip
from agent_sync.leases.words import holder_name
from agent_sync.task.decision.decide import card_change
from agent_sync.task.decision.facts import Card
from agent_sync.task.decision.outside_text import one_line
from agent_sync.task.decision.tasks import Task
from agent_sync.work.claims import ending_change, readable_hook, taken_away, tip_of
from agent_sync.work.hook import moves
from agent_sync.work.hook.model import WorkHook
from agent_sync.work.hook.names import WorkerName
from agent_sync.work.hook.orders import Order, carry_out, hook_change
from agent_sync.work.hook.states import ACTIVE, WorkState
from agent_sync.work.hook.view import HookSeen, WorkView
from agent_sync.work.hook.wording import writable

CANCELLING = "cancelling work"
_LONGEST_REASON = 1000


@dataclass(frozen=True)
class CancelledWork:
    """Work that is off its hook; `forced_from` names the session that was at it."""

    worker: WorkerName
    hook: WorkHook
    forced_from: str = ""
    notes: tuple[str, ...] = ()
    trouble: str = ""
    is_repeat: bool = False
    # Whether nobody holds the issue now, so that card and assignment are given back too.
    is_issue_free: bool = False


def cancel_work(context: Context, name: str, reason: str, *, force: bool, dry_run: bool = False) -> CancelledWork:
    """Take the work off a hook and give its issue back; refuse what a session is at, unless a person forces it."""

    def decide(view: WorkView, now: datetime) -> Order[CancelledWork]:
        seen = readable_hook(view, name, attempted=CANCELLING)
        hook = seen.hook
        if hook is None or hook.task is None or hook.state not in {*ACTIVE, WorkState.CANCELLED}:
            message = f"{seen.name} has no work to cancel."
            raise BadInput(message, attempted=CANCELLING, helps="agent-sync worker list")
        tip = tip_of(view, hook.status.issue or 0)
        holding = tip if tip and tip.lease.nonce == hook.status.nonce else None
        is_free = tip is None or tip is holding or tip.lease.state is not LeaseState.HELD
        if hook.state is WorkState.CANCELLED:
            return Order(CancelledWork(seen.name, hook, notes=view.notes, is_repeat=True, is_issue_free=is_free))
        _refuse(context, seen, hook, holding, force=force)
        is_taken = hook.state is WorkState.IN_PROGRESS
        forced_from = (holder_name(holding.lease) if holding else "nobody") if is_taken else ""
        work = CancelledWork(seen.name, hook, forced_from, view.notes, is_issue_free=is_free)
        return _order(context, work, seen, holding, reason=reason, now=now)

    cancelled = carry_out(context, decide, dry_run=dry_run).value
    return cancelled if dry_run else replace(cancelled, trouble=_tell(context, cancelled, reason))


def _refuse(context: Context, seen: HookSeen, hook: WorkHook, tip: Tip | None, *, force: bool) -> None:
    is_session = bool(agent_here(context.environment))
    is_taken = hook.state is WorkState.IN_PROGRESS
    if is_taken and not force:
        who = holder_name(tip.lease) if tip else "nobody that is known"
        message = f"{seen.name} is at work on {hook.task.id if hook.task else ''}: held by {who}."
        helps = f"a person in a terminal may add --force: agent-sync worker cancel {seen.name} --force"
        raise HookBusy(message, attempted=CANCELLING, helps=helps)
    if tip and tip.lease.pr and not force:
        message = f"PR #{tip.lease.pr} carries the work of {seen.name}."
        helps = "merge or close it; a person in a terminal may add --force"
        raise Refused(message, attempted=CANCELLING, helps=helps)
    is_slinger = not is_taken and hook.handoff is None and hook.status.worktree == worktree_id(context.place)
    if is_session and (force or not is_slinger):
        message = f"The work of {seen.name} was not slung by this session's worktree, so only a person may cancel it."
        raise Refused(message, attempted=CANCELLING, helps="ask a human to run it in a terminal")


def _order(  # noqa: PLR0913  # what is there, and what is said of it
    context: Context, work: CancelledWork, seen: HookSeen, tip: Tip | None, *, reason: str, now: datetime
) -> Order[CancelledWork]:
    """Return what takes the work off: the hook, and its claim where that is still held."""
    is_forced = bool(work.forced_from)
    me = holder_here(context.place)
    by = f"cancelled by {me.user}@{me.host}" + (f", by force from {work.forced_from}" if is_forced else "")
    said = writable(one_line(f"{by}: {reason}" if reason else by, limit=_LONGEST_REASON))
    moved = moves.after_cancel(work.hook, now, said)
    moved = replace(moved, message=f"{moved.message}\n\n{said}")
    changes = [hook_change(seen.name.ref, seen.sha, moved, now)]
    if tip and tip.lease.state is LeaseState.HELD:
        changes.insert(0, taken_away(context, tip, now, said) if is_forced else ending_change(tip, now))
    return Order(replace(work, hook=moved.hook), tuple(changes))


def _tell(context: Context, cancelled: CancelledWork, reason: str) -> str:
    """Give the issue back on GitHub; tell it of force. Return what was wrong."""
    issue = cancelled.hook.status.issue
    if not issue or not cancelled.is_issue_free:
        return ""
    said = (
        f"cancelled the work of {cancelled.worker}, held by {cancelled.forced_from}." if cancelled.forced_from else ""
    )
    return give_issue_back(context, issue, cancelled.worker, said=said, reason=reason)


def give_issue_back(context: Context, issue: int, worker: WorkerName, *, said: str = "", reason: str = "") -> str:
    """Put the card of a worker's issue back and clear agent and assignment; comment what is said.

    Return what was wrong.
    """
    try:
        task = context.gateway.task(issue)
        holder = task.card.agent if isinstance(task.card, Card) else None
        if not task.is_open or holder not in {None, str(worker)}:
            return ""
        change, trouble = card_change(task.card, status=context.settings.board.ready, agent="")
        told = context.gateway.release_task(task, change)
        if said:
            comment_on(context, task, said, reason)
    except AgentSyncError as error:
        return str(error)
    return told or (trouble if context.settings.project.number is not None else "")


def comment_on(context: Context, task: Task, said: str, reason: str) -> None:
    """Say on an issue what the person at the terminal did, and why."""
    why = f" Reason: {one_line(reason)}" if reason else ""
    context.gateway.comment(task.issue_id, f"@{task.viewer.login} {said}{why}")
