"""Gives a task back: the board and the assignment, the lease, and the claim file last."""

from agent_sync.context import Context
from agent_sync.errors import AgentSyncError, Refused
from agent_sync.lazy_dataclasses import dataclass
from agent_sync.leases import fence
from agent_sync.record import keep as recording
from agent_sync.record.disk.ending import abandon
from agent_sync.system import clock
from agent_sync.task.claim.model import Claim
from agent_sync.task.decision.actions import LeaseLost, LeaseUnknown, LeftOnHook
from agent_sync.task.decision.decide import card_change
from agent_sync.task.decision.facts import Card, PullState
from agent_sync.task.decision.outside_text import one_line


@dataclass(frozen=True)
class GivenBack:
    """What came of giving a task back: what was wrong with the board, or where the task is already."""

    trouble: str = ""
    gone_to: str = ""


def give_back(context: Context, claim: Claim, *, reason: str, force: bool) -> GivenBack:
    """Give the task back: board and assignment while nobody else can have it, then the lease, then the file."""
    found = fence.lease_stop(context, claim, is_ending=True)
    if isinstance(found, LeaseLost | LeftOnHook):
        given = GivenBack(gone_to=fence.whereabouts(found))
    else:
        given = GivenBack(_take_back(context, claim, found, reason=reason, force=force))
    why = f"the claim was given back{': ' + reason if reason else ''}"
    recording.attempt(context, lambda context: abandon(context, why))
    with context.store.locked() as token:
        context.store.delete(token, claim)
    return given


def _take_back(context: Context, claim: Claim, doubt: LeaseUnknown | None, *, reason: str, force: bool) -> str:
    """Take back what others see; by force whatever can be, and what could not be is returned."""
    try:
        fence.refuse(context, claim, doubt, attempted=f"giving issue #{claim.issue_number} back")
        trouble = _unmirror(context, claim, reason=reason, force=force)
        _release_lease(context, claim, reason)
    except AgentSyncError as error:
        if not force:
            raise
        return _release_anyway(context, claim, str(error), reason)
    return trouble


def _release_lease(context: Context, claim: Claim, reason: str) -> None:
    """Give the lease back; what hangs on a worker's hook is given back in the same push."""
    if not fence.worker_of(claim):
        fence.release(context, claim)
        return
    from agent_sync.work.endings.with_claim import release_with_hook

    release_with_hook(context, claim, reason)


def _release_anyway(context: Context, claim: Claim, trouble: str, reason: str) -> str:
    """Give at least the lease back where GitHub could not be told."""
    try:
        _release_lease(context, claim, reason)
    except AgentSyncError as error:
        return f"{trouble} {error.happened}"
    return trouble


def _unmirror(context: Context, claim: Claim, *, reason: str, force: bool) -> str:
    task = context.gateway.task(claim.issue_number)
    if (
        not force
        and claim.pr_number
        and context.gateway.pull(claim.pr_number, with_checks=False).state is PullState.OPEN
    ):
        message = f"PR #{claim.pr_number} is open."
        helps = "merge or close it first; see `agent-sync release --help`"
        raise Refused(message, attempted=f"giving issue #{claim.issue_number} back", helps=helps)
    holder = task.card.agent if isinstance(task.card, Card) else None
    if not task.is_open or holder not in {None, claim.agent_id}:
        return f"Issue #{task.number} is {'held by ' + one_line(holder) if holder else 'closed'}; it was left as it is."
    change, trouble = card_change(task.card, status=context.settings.board.ready, agent="")
    context.log.write(clock.now(), "release", issue=claim.issue_number, reason=reason or None)
    return context.gateway.release_task(task, change) or trouble
