"""Frees an issue that its holder left, by a person's word or once the claim has expired: in its ref and on GitHub."""

from dataclasses import replace

from agent_sync.clients import agent_here
from agent_sync.context import Context
from agent_sync.errors import AgentSyncError, Refused, WrongState
from agent_sync.lazy_dataclasses import dataclass
from agent_sync.leases.acquire import conflict, take_over_objection, unsettled
from agent_sync.leases.claim_refs import transport_here
from agent_sync.leases.identity import holder_here
from agent_sync.leases.keeper import LeaseKeeper
from agent_sync.leases.model import Lease, LeaseMode, LeaseState, Tip, proof_of
from agent_sync.leases.results import Doubt, LeaseChange, LeaseOutcome, LeaseRequest, NotHeld, Unknown, Won
from agent_sync.leases.words import held_by, holder_name
from agent_sync.system import clock
from agent_sync.task.decision.claimable import login_of
from agent_sync.task.decision.decide import card_change
from agent_sync.task.decision.facts import Card, Pull, PullState
from agent_sync.task.decision.outside_text import code, one_line, quoted
from agent_sync.task.decision.tasks import Person, Task

FREED = "freed"
_LONGEST_QUOTE = 400


@dataclass(frozen=True)
class Stuck:
    """An issue to be freed: its claim, which is held or has ended, or why its ref cannot be read, and its open PR."""

    task: Task
    tip: Tip | None = None
    unreadable: str = ""
    pull: Pull | None = None

    @property
    def is_held(self) -> bool:
        """Whether a claim holds it."""
        return self.tip is not None and self.tip.lease.state is LeaseState.HELD

    @property
    def agent(self) -> str:
        """The agent who holds it by its claim; of one that has ended the board may know a later one."""
        claimed, shown = self.tip.lease.holder.agent if self.tip else "", _agent_on_card(self.task)
        return claimed or shown if self.is_held else shown or claimed

    @property
    def holder(self) -> str:
        """Who holds it or did last, in words of other machines; empty where that cannot be read."""
        return held_by(self.tip.lease) if self.tip else quoted(self.agent) if self.agent else ""


@dataclass(frozen=True)
class Freed:
    """An issue that was freed: from what, what stays, and what was wrong with telling GitHub."""

    was: str
    trouble: str = ""
    stays: tuple[str, ...] = ()


def refuse_in_session(context: Context, *, attempted: str, what: str = "say that a holder has left") -> None:
    """Stop an agent: only a person may decide that a holder has left, or what else takes work away."""
    if agent_here(context.environment):
        message = f"Only a person may {what}: this is a session of an agent."
        raise Refused(message, attempted=attempted, helps="ask a human to run it in a terminal")


def stuck_issue(context: Context, issue: int) -> Stuck:
    """Return what would be freed; raise what stands against it."""
    attempted = f"freeing issue #{issue}"
    refuse_in_session(context, attempted=attempted)
    seen = _keeper(context).read(issue)
    if isinstance(seen, Unknown) and seen.doubt is not Doubt.UNREADABLE:
        raise unsettled(issue, seen, attempted=attempted)
    tip, unreadable = (None, seen.reason) if isinstance(seen, Unknown) else (seen, "")
    worker = _worker_of(context, tip) if tip and tip.lease.state is LeaseState.HELD else ""
    if worker:
        message = f"Issue #{issue} hangs on the work hook of {worker}."
        raise Refused(message, attempted=attempted, helps=f"agent-sync worker cancel {worker} --force")
    found = Stuck(context.gateway.task(issue), tip, unreadable)
    if not (found.is_held or unreadable or _has_left_traces(context, found)):
        raise _nothing_to_free(found.task, attempted)
    pull = context.gateway.branch_pull(tip.lease.branch) if tip and tip.lease.branch else None
    return replace(found, pull=pull if pull and pull.state is PullState.OPEN else None)


def _has_left_traces(context: Context, found: Stuck) -> bool:
    """Tell whether the card still names an agent, or shows what a claim that has ended left there."""
    if _agent_on_card(found.task) or found.tip is None:
        return bool(_agent_on_card(found.task))
    names, card = context.settings.board, found.task.card
    is_ours = isinstance(card, Card) and (card.status or "").casefold() in {
        name.casefold() for name in (names.in_progress, names.in_review) if name
    }
    return found.task.is_open and (is_ours or _assigned(found.task, found.agent) is not None)


def _nothing_to_free(task: Task, attempted: str) -> WrongState:
    people = ", ".join(task.assignees)
    whose = f"It is assigned to {people}, which is changed on GitHub: {task.url}" if people else "Nobody holds it."
    remove = f"gh issue edit {task.number} --remove-assignee {','.join(task.assignees)}"
    helps = remove if people else f"agent-sync claim {task.number}"
    return WrongState(f"Issue #{task.number} has no claim to free. {whose}", attempted=attempted, helps=helps)


def _worker_of(context: Context, tip: Tip) -> str:
    """Return the worker on whose hook a claim's work hangs, which ends with the claim or not at all."""
    if "/" not in tip.lease.holder.agent:
        return ""
    from agent_sync.work.endings.with_claim import hook_with
    from agent_sync.work.hook.reading import view_here

    seen = hook_with(view_here(context), tip.lease.nonce)
    return str(seen.name) if seen else ""


def free(context: Context, issue: int, *, reason: str) -> Freed:
    """Take the claim from its holder and release it at once; then clear the board and comment on the issue."""
    found = stuck_issue(context, issue)
    task, holder = found.task, code(found.holder, limit=_LONGEST_QUOTE)
    if found.unreadable:
        replace_unreadable(context, _keeper(context), issue, reason=reason)
        was, said = "its claim ref could not be read", "freed this issue: its claim ref could not be read."
    elif found.tip and not found.is_held:
        was, said = f"it was last held by {found.holder}", f"freed this issue, last held by {holder}."
    else:
        was, said = f"it was held by {found.holder}", f"freed this claim of {holder}."
    if found.tip and found.is_held:
        _end(context, found.tip, f"Freed by a person from {holder_name(found.tip.lease)}: {_why(reason)}")
    context.log.write(clock.now(), "release", issue=issue, reason=reason or None, forced=True, holder=found.holder)
    said = f"@{task.viewer.login} {said}" + (f" Reason: {reason}" if reason else "")
    return Freed(was, _tell(context, task, found.agent, said), tuple(_what_stays(found)))


def _what_stays(found: Stuck) -> list[str]:
    """Say what others see of the issue as before."""
    task = found.task
    gone = _assigned(task, found.agent)
    people = [login for login in task.assignees if not gone or login != gone.login]
    stays = [f"PR #{found.pull.number} stays open: {found.pull.url}"] if found.pull else []
    return [*stays, *([f"It is still assigned to {', '.join(people)}: {task.url}"] if people else [])]


def free_expired(context: Context, tip: Tip) -> Freed:
    """Free a claim that has run out, under the conditions of a take-over; raise what speaks against it."""
    lease, attempted = tip.lease, f"freeing issue #{tip.lease.issue}"
    found = take_over_objection(context, tip)
    if found:
        raise Refused(f"Issue #{lease.issue} was not freed: {found}.", attempted=attempted, helps="agent-sync explain")
    task, holder = context.gateway.task(lease.issue), held_by(lease)
    _end(context, tip, f"Freed from {holder_name(lease)}: it has expired")
    context.log.write(clock.now(), "release", issue=lease.issue, reason="expired", forced=True, holder=holder)
    quote = code(holder, limit=_LONGEST_QUOTE)
    said = f"agent-sync freed this claim, which has expired: it was held by {quote}."
    agent = lease.holder.agent
    return Freed(f"it was held by {holder}", _tell(context, task, agent, said), _untold(task, agent))


def _keeper(context: Context) -> LeaseKeeper:
    return LeaseKeeper(transport_here(context), context.place)


def clear_ended(context: Context, lease: Lease, status: str) -> Freed:
    """Clear card and assignment that a claim which has ended left behind, while the card still names it."""
    task, agent = context.gateway.task(lease.issue), lease.holder.agent
    if _agent_on_card(task) != agent:
        return Freed("")
    person = (_assigned(task, agent) if task.is_open else None) or Person("", "")
    change, trouble = card_change(task.card, status=status, agent="")
    told = context.gateway.release_task(replace(task, viewer=person), change)
    return Freed("", told or trouble, _untold(task, agent))


def _untold(task: Task, agent: str) -> tuple[str, ...]:
    """Say who is assigned where an agent's name does not tell whose assignment was the claim's."""
    is_told = not task.is_open or not task.assignees or login_of(agent)
    return () if is_told else (f"it is still assigned to {', '.join(task.assignees)}",)


def _why(reason: str) -> str:
    return one_line(reason) or "no reason was given"


def replace_unreadable(context: Context, keeper: LeaseKeeper, issue: int, *, reason: str) -> None:
    """Put a released lease in the place of a claim ref that was just found unreadable, by a person's word."""
    refuse_in_session(context, attempted=f"freeing issue #{issue}")
    request = _request(context, f"Freed by a person, because it could not be read: {_why(reason)}")
    _won(issue, keeper.replace(issue, request))


def _end(context: Context, tip: Tip, note: str) -> None:
    """Begin a holding of this worktree and end it, so that the former holder finds its claim lost, not finished."""
    lease, keeper = tip.lease, _keeper(context)
    won = _won(lease.issue, keeper.take_over(tip, _request(context, note, lease)))
    keeper.release(proof_of(won.lease), LeaseChange(clock.now()))


def _request(context: Context, note: str, former: Lease | None = None) -> LeaseRequest:
    ttl_s, lease = context.settings.lease.ttl_s, former
    # A card that could not be cleared now still names the former agent: by this name it is found later.
    holder = holder_here(context.place, agent=lease.holder.agent if lease else "")
    branch, pull = (lease.branch, lease.pr) if lease else ("", None)
    return LeaseRequest(holder, clock.now(), ttl_s, LeaseMode.MANUAL, branch, pull, FREED, note)


def _won(issue: int, outcome: LeaseOutcome) -> Tip:
    """Return what a swap has put there; raise what came in between."""
    match outcome:
        case Won(won):
            return won
        case NotHeld(other):
            raise conflict(other.lease)
        case Unknown():
            raise unsettled(issue, outcome, attempted=f"freeing issue #{issue}")


def _tell(context: Context, task: Task, agent: str, said: str) -> str:
    """Clear the card and the holder's assignment, and say on the issue who freed it, from whom and why."""
    person = _assigned(task, agent) or Person(login_of(agent), "")
    change, trouble = card_change(task.card, status=context.settings.board.ready if task.is_open else "", agent="")
    try:
        told = context.gateway.release_task(replace(task, viewer=person), change)
        context.gateway.comment(task.issue_id, said)
    except AgentSyncError as error:
        return str(error)
    return told or (trouble if context.settings.project.number is not None else "")


def _assigned(task: Task, agent: str) -> Person | None:
    """Return the person whose login an agent's name begins with, if they are assigned."""
    known = {name.casefold(): Person(name, id_) for name, id_ in task.assignee_ids}
    return known.get(login_of(agent).casefold())


def _agent_on_card(task: Task) -> str:
    return (task.card.agent or "") if isinstance(task.card, Card) else ""
