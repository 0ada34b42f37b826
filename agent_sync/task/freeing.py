"""Frees a claim that its holder left, by a person's word or once it has expired: said in its ref and on the issue."""

from dataclasses import replace

from agent_sync.context import Context
from agent_sync.errors import AgentSyncError, BadInput, Refused
from agent_sync.lazy_dataclasses import dataclass
from agent_sync.leases.acquire import conflict, mode_here, take_over_objection, unsettled
from agent_sync.leases.claim_refs import transport_here
from agent_sync.leases.identity import holder_here
from agent_sync.leases.keeper import LeaseKeeper
from agent_sync.leases.model import LeaseMode, LeaseState, Tip, proof_of
from agent_sync.leases.results import LeaseChange, LeaseRequest, NotHeld, Unknown, Won
from agent_sync.leases.words import held_by, holder_name
from agent_sync.system import clock
from agent_sync.task.decision.decide import card_change
from agent_sync.task.decision.facts import Card
from agent_sync.task.decision.outside_text import one_line, quoted
from agent_sync.task.decision.tasks import Person, Task

FREED = "freed"


@dataclass(frozen=True)
class Freed:
    """Who held the task, and what was wrong with telling GitHub."""

    holder: str
    trouble: str = ""


def refuse_in_session(context: Context, *, attempted: str, what: str = "say that a holder has left") -> None:
    """Stop an agent: only a person may decide that a holder has left, or what else takes work away."""
    if mode_here(context.environment) is LeaseMode.AUTO:
        message = f"Only a person may {what}: this is a session of an agent."
        raise Refused(message, attempted=attempted, helps="ask a human to run it in a terminal")


def holder_to_free(context: Context, issue: int) -> tuple[Tip | None, Task]:
    """Return the claim that would be freed and its task; raise what stands against it."""
    attempted = f"freeing issue #{issue}"
    refuse_in_session(context, attempted=attempted)
    seen = LeaseKeeper(transport_here(context), context.place).read(issue)
    if isinstance(seen, Unknown):
        raise unsettled(issue, seen)
    tip = seen if seen and seen.lease.state is LeaseState.HELD else None
    worker = _worker_of(context, tip) if tip else ""
    if worker:
        message = f"Issue #{issue} hangs on the work hook of {worker}."
        raise Refused(message, attempted=attempted, helps=f"agent-sync worker cancel {worker} --force")
    task = context.gateway.task(issue)
    if tip is None and not _agent_on_card(task):
        people = ", ".join(task.assignees)
        whose = f"It is assigned to {people}, which is changed on GitHub: {task.url}" if people else "Nobody holds it."
        raise BadInput(f"Issue #{issue} has no claim to free. {whose}", attempted=attempted, helps="agent-sync claim")
    return tip, task


def _worker_of(context: Context, tip: Tip) -> str:
    """Return the worker on whose hook a claim's work hangs, which ends with the claim or not at all."""
    if "/" not in tip.lease.holder.agent:
        return ""
    from agent_sync.work.endings.with_claim import hook_with
    from agent_sync.work.hook.reading import view_here

    seen = hook_with(view_here(context), tip.lease.nonce)
    return str(seen.name) if seen else ""


def free(context: Context, issue: int, *, reason: str) -> Freed:
    """Take the claim from its holder and give it back at once; then tell the board and the issue."""
    tip, task = holder_to_free(context, issue)
    holder = held_by(tip.lease) if tip else quoted(_agent_on_card(task))
    if tip:
        _end(context, tip, f"Freed by a person from {holder_name(tip.lease)}: {_why(reason)}")
    context.log.write(clock.now(), "release", issue=issue, reason=reason or None, forced=True, holder=holder)
    agent = tip.lease.holder.agent if tip else _agent_on_card(task)
    said = f"@{task.viewer.login} freed this claim of {holder}." + (f" Reason: {reason}" if reason else "")
    return Freed(holder, _tell(context, task, agent, said))


def free_expired(context: Context, tip: Tip) -> Freed:
    """Free a claim that has run out, under the conditions of a take-over; raise what speaks against it."""
    lease, attempted = tip.lease, f"freeing issue #{tip.lease.issue}"
    found = take_over_objection(context, tip)
    if found:
        raise Refused(f"Issue #{lease.issue} was not freed: {found}.", attempted=attempted, helps="agent-sync explain")
    task, holder = context.gateway.task(lease.issue), held_by(lease)
    _end(context, tip, f"Freed from {holder_name(lease)}: it has expired")
    context.log.write(clock.now(), "release", issue=lease.issue, reason="expired", forced=True, holder=holder)
    said = f"agent-sync freed this claim, which has expired: it was held by {holder}."
    return Freed(holder, _tell(context, task, lease.holder.agent, said))


def _why(reason: str) -> str:
    return one_line(reason) or "no reason was given"


def _end(context: Context, tip: Tip, note: str) -> None:
    """Begin a holding of this worktree and end it, so that the former holder finds its claim lost, not finished."""
    lease, keeper = tip.lease, LeaseKeeper(transport_here(context), context.place)
    request = LeaseRequest(
        # A card that could not be cleared now still names the former agent: by this name it is found later.
        holder_here(context.place, agent=lease.holder.agent),
        clock.now(),
        context.settings.lease.ttl_s,
        LeaseMode.MANUAL,
        lease.branch,
        lease.pr,
        FREED,
        note,
    )
    outcome = keeper.take_over(tip, request)
    match outcome:
        case Won(won):
            keeper.release(proof_of(won.lease), LeaseChange(clock.now()))
        case NotHeld(other):
            raise conflict(other.lease)
        case Unknown():
            raise unsettled(lease.issue, outcome)


def _tell(context: Context, task: Task, agent: str, said: str) -> str:
    """Clear the card and the holder's assignment, and say on the issue who freed it, from whom and why."""
    login = agent.rpartition("-")[0]
    known = {name.casefold(): Person(name, id_) for name, id_ in task.assignee_ids}
    person = known.get(login.casefold(), Person(login, ""))
    change, trouble = card_change(task.card, status=context.settings.board.ready, agent="")
    change = change if task.is_open else None
    try:
        told = context.gateway.release_task(replace(task, viewer=person), change)
        context.gateway.comment(task.issue_id, said)
    except AgentSyncError as error:
        return str(error)
    return told or (trouble if context.settings.project.number is not None else "")


def _agent_on_card(task: Task) -> str:
    return (task.card.agent or "") if isinstance(task.card, Card) else ""
