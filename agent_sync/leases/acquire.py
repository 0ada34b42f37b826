"""Gets the lease of an issue: first come, first served, everywhere where the remote is shared."""

from collections.abc import Callable
from dataclasses import dataclass

from agent_sync.context import Context
from agent_sync.errors import BadLease, Conflict, LeaseUnsettled, Refused
from agent_sync.leases import rules
from agent_sync.leases.identity import holder_here, worktree_id
from agent_sync.leases.keeper import CloneKeeper, RemoteKeeper, keeper_for
from agent_sync.leases.model import Lease, State, Tip, Where, mine_of
from agent_sync.leases.note import mode_here
from agent_sync.leases.refs.sightings import Sightings
from agent_sync.leases.results import Change, Doubt, Lost, Outcome, Request, Unknown, Won
from agent_sync.leases.words import held_by
from agent_sync.system import clock
from agent_sync.system.git import refuse_odd_branch
from agent_sync.task.decision.facts import PullState
from agent_sync.task.decision.outside_text import one_line

# Against these this clone can still keep claims for itself; against a claim that cannot be read it cannot.
_LOCAL_INSTEAD = {
    Doubt.REFUSED: "{remote} does not accept claim refs",
    Doubt.UNREACHABLE: "{remote} cannot be reached",
    Doubt.UNWRITTEN: "{remote} cannot be written to",
}


@dataclass(frozen=True)
class Ask:
    """Who wants which issue, and how much it may cost another holder."""

    issue: int
    branch: str
    agent: str
    take_over: bool = False
    agrees: Callable[[str], bool] = lambda _question: False


@dataclass(frozen=True)
class Hold:
    """A lease that was got; `reason` says why for this clone only, `is_own` that it was ours already."""

    tip: Tip
    reason: str = ""
    is_own: bool = False
    is_taken_over: bool = False


def acquire(context: Context, ask: Ask) -> Hold:
    """Get the lease, or raise who has it; nothing else is written before."""
    refuse_odd_branch(ask.branch)
    now = clock.now()
    keeper = keeper_for(context.git, context.place, context.settings, now)
    outcome = keeper.acquire(ask.issue, _request(context, ask, branch=ask.branch))
    reason = keeper.reason if isinstance(keeper, CloneKeeper) else _reason_for_clone(context, outcome)
    if reason and not isinstance(keeper, CloneKeeper):
        _refuse_known(context, keeper, ask.issue)
        keeper = CloneKeeper(context.git, context.place, context.settings.git.remote, reason)
        outcome = keeper.acquire(ask.issue, _request(context, ask, branch=ask.branch))
    match outcome:
        case Won(tip):
            return Hold(tip, reason)
        case Lost(tip) if _is_own(context, tip):
            return Hold(tip, reason, is_own=True)
        case Lost(tip) if ask.take_over:
            return _taken_over(context, keeper, ask, tip)
        case Lost(tip):
            raise conflict(tip.lease)
        case Unknown():
            raise _trouble(ask.issue, outcome)


def confirm(context: Context, tip: Tip) -> None:
    """Forget how a lease was got, now that the claim file says so."""
    keeper_for(context.git, context.place, context.settings, clock.now(), where=tip.where).confirm(mine_of(tip.lease))


def give_up(context: Context, tip: Tip) -> None:
    """Give a lease back that was won for nothing; where that fails, the same claim made again finds it its own."""
    now = clock.now()
    keeper_for(context.git, context.place, context.settings, now, where=tip.where).release(
        mine_of(tip.lease), Change(now)
    )


def holder_known(context: Context, issue: int) -> Lease | None:
    """Return the lease by which somebody holds an issue, for a refusal that can then say more; one look."""
    seen = keeper_for(context.git, context.place, context.settings, clock.now()).read(issue)
    return seen.lease if isinstance(seen, Tip) and seen.lease.state is State.HELD else None


def conflict(lease: Lease) -> Conflict:
    """Return that somebody else holds an issue, and who."""
    message = f"Issue #{lease.issue} is held by {held_by(lease)}."
    return Conflict(message, attempted=f"claiming issue #{lease.issue}", helps="agent-sync next")


def _request(context: Context, ask: Ask, *, branch: str) -> Request:
    holder = holder_here(context.place, agent=ask.agent)
    ttl = context.settings.lease.ttl_s
    return Request(holder, clock.now(), ttl, mode_here(context.environment), branch=branch, phase="coding")


def _reason_for_clone(context: Context, outcome: Outcome) -> str:
    """Return why a claim can only be kept in this clone; a push that may have arrived is no such reason."""
    if not isinstance(outcome, Unknown) or (outcome.is_sent and not outcome.refused):
        return ""
    return _LOCAL_INSTEAD.get(outcome.doubt, "").format(remote=context.settings.git.remote)


def _refuse_known(context: Context, keeper: RemoteKeeper, issue: int) -> None:
    """Stop before an issue is claimed for this clone only that somebody held when the remote was last seen."""
    known = keeper.remote_store.known(issue)
    if isinstance(known, Tip) and known.lease.state is State.HELD and not _is_own(context, known):
        raise conflict(known.lease)


def _is_own(context: Context, tip: Tip) -> bool:
    """Tell whether a lease was got by this very worktree, whose claim file was lost."""
    if tip.lease.phase.startswith(rules.SLUNG):
        # Got here for somebody else: a worker, who takes it from its hook.
        return False
    written = context.store.last_written()
    is_written = bool(written and written.lease and rules.is_mine(tip.lease, written.lease.nonce))
    return is_written or tip.lease.holder.worktree == worktree_id(context.place)


def _taken_over(context: Context, keeper: RemoteKeeper | CloneKeeper, ask: Ask, tip: Tip) -> Hold:
    _refuse_taking_over(context, ask, tip)
    reason = keeper.reason if isinstance(keeper, CloneKeeper) else ""
    outcome = keeper.take_over(tip, _request(context, ask, branch=tip.lease.branch or ask.branch))
    match outcome:
        case Won(won):
            return Hold(won, reason, is_taken_over=True)
        case Lost(other) if _is_own(context, other):
            # The push of a run of ours that was killed has arrived only now.
            return Hold(other, reason, is_taken_over=True)
        case Lost(other):
            raise conflict(other.lease)
        case Unknown():
            raise _trouble(ask.issue, outcome)


def _refuse_taking_over(context: Context, ask: Ask, tip: Tip) -> None:
    """Look at what could speak against it, what costs nothing first, and ask a human last."""
    lease = _as_heard_of(context, tip)
    found = _objection(context, lease)
    if found is None:
        moved, is_open = _has_moved(context, tip), _has_open_pull(context, lease)
        found = _objection(context, lease, branch_moved=moved, has_open_pull=is_open)
    if found is rules.Objection.OPEN_PULL and ask.agrees(f"Issue #{ask.issue}: {found}. Take it over?"):
        return
    if found:
        message = f"Issue #{ask.issue} cannot be taken over: {found}. It is held by {held_by(lease)}."
        raise Refused(message, attempted=f"taking issue #{ask.issue} over", helps="agent-sync status --all")


def _as_heard_of(context: Context, tip: Tip) -> Lease:
    """Return a lease as its holder was last heard of; one that a wrong clock has dated runs from our first look."""
    now = clock.now()
    if not rules.is_ahead(tip.lease.renewed_at, now):
        return tip.lease
    return tip.lease.model_copy(update={"renewed_at": Sightings(context.place).first(tip, now)})


def _objection(
    context: Context, lease: Lease, *, branch_moved: bool = False, has_open_pull: bool = False
) -> rules.Objection | None:
    return rules.objection_to_taking_over(
        lease,
        clock.now(),
        branch_moved=branch_moved,
        has_open_pull=has_open_pull,
        consent=False,
        allowance_s=context.settings.lease.allowance_s,
    )


def _has_moved(context: Context, tip: Tip) -> bool:
    """Tell whether the old holder has committed since its last sign of life; both times are of its own clock."""
    branch = tip.lease.branch
    if not branch:
        return False
    here = context.git.head_of(branch) if tip.where is Where.CLONE else None
    is_shared = tip.where is Where.REMOTE
    heads = {here, context.git.fetched(context.settings.git.remote, branch) if is_shared else None} - {None}
    return any(rules.has_moved(context.git.committed_at(head), tip.lease, clock.now()) for head in heads if head)


def _has_open_pull(context: Context, lease: Lease) -> bool:
    pull = context.gateway.branch_pull(lease.branch) if lease.branch else None
    return pull is not None and pull.state is PullState.OPEN


def _trouble(issue: int, unknown: Unknown) -> BadLease | LeaseUnsettled:
    reason = one_line(unknown.reason, limit=300)
    if unknown.doubt in {Doubt.UNREADABLE, Doubt.TOO_NEW}:
        return BadLease(reason, attempted=f"claiming issue #{issue}", helps="agent-sync next")
    message = f"Could not confirm the claim on issue #{issue}: {reason}"
    return LeaseUnsettled(message, attempted=f"claiming issue #{issue}", helps="run the same command again")
