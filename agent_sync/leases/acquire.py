"""Gets the lease of an issue: first come, first served, everywhere where the remote is shared."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from agent_sync.clients import agent_here
from agent_sync.context import Context
from agent_sync.errors import BadLease, Conflict, GitFailed, LeaseTooNew, LeaseUnsettled, Refused
from agent_sync.gateway.transport.remotes import base_remote
from agent_sync.lazy_dataclasses import dataclass
from agent_sync.leases import rules
from agent_sync.leases.claim_refs import (
    claims_address,
    first_seen_at,
    known_claim,
    read_claim,
    transport_here,
    transport_of,
)
from agent_sync.leases.identity import Home, holder_at
from agent_sync.leases.intents import Verb
from agent_sync.leases.keeper import LeaseKeeper
from agent_sync.leases.model import Lease, LeaseMode, LeaseState, Tip, proof_of
from agent_sync.leases.orders import Race
from agent_sync.leases.refs.api_transport import ApiTransport
from agent_sync.leases.refs.transports import CloneTransport, RemoteTransport
from agent_sync.leases.refs.values import RefTransport, Where
from agent_sync.leases.results import Doubt, LeaseChange, LeaseOutcome, LeaseRequest, NotHeld, Unknown, Won
from agent_sync.leases.words import held_by, holder_name, redating, way_out
from agent_sync.system import clock, git_branches
from agent_sync.system.git import refuse_odd_branch
from agent_sync.system.git_refusals import is_sign_in_trouble, is_unreachable, push_rule, rule_help, sign_in_error
from agent_sync.task.decision.facts import PullState
from agent_sync.task.decision.outside_text import one_line


@dataclass(frozen=True)
class LeaseWish:
    """Who wants which issue, and how much it may cost another holder."""

    issue: int
    branch: str
    agent: str
    # The worktree that will hold it, which may still have to be made.
    home: Home
    take_over: bool = False
    # The user's word that a claim which only this clone sees will do.
    local: bool = False
    agrees: Callable[[str], bool] = lambda _question: False
    # Whether a lease was left by a worktree of this clone that is gone, or was never made.
    is_left: Callable[[Lease], bool] = lambda _lease: False
    # Raises what is wrong with the branch of a lease that is taken over.
    check_branch: Callable[[Lease], None] = lambda _lease: None
    race: Race = Race.FOR_THIS


@dataclass(frozen=True)
class AcquiredLease:
    """A lease that was got; `reason` says why for this clone only."""

    tip: Tip
    reason: str = ""
    # The worktree had it already.
    is_own: bool = False
    # Another process began to get it, so it is not for this one to give it up.
    was_begun: bool = False
    is_taken_over: bool = False
    # Whose it was, where it was taken over just now.
    former: Lease | None = None


def mode_here(environment: Mapping[str, str]) -> LeaseMode:
    """Return whether a claim made now expires: an agent's hooks renew it, a person at a terminal does not."""
    return LeaseMode.AUTO if agent_here(environment) else LeaseMode.MANUAL


def acquire(context: Context, wish: LeaseWish) -> AcquiredLease:
    """Get the lease, or raise who has it; nothing else is written before."""
    refuse_odd_branch(wish.branch)
    keeper = _keeper(context, wish, _transport_wished(context, wish))
    begun = keeper.begun(wish.issue)
    request = _request(context, wish, branch=wish.branch)
    outcome = keeper.acquire(wish.issue, request, wish.race)
    if isinstance(outcome, Unknown) and outcome.refused and not isinstance(keeper.transport, ApiTransport):
        # What git may not push may still go through GitHub's interface, to the very same ref.
        keeper = _keeper(context, wish, transport_here(context))
        outcome = keeper.acquire(wish.issue, request, wish.race)
    reason = _reason_for_clone(context, wish, outcome) if keeper.where is Where.REMOTE else ""
    if reason:
        _refuse_known(context, keeper.transport, wish)
        keeper = _keeper(context, wish, CloneTransport(context.git, context.remotes.push, reason))
        outcome = keeper.acquire(wish.issue, request)
    match outcome:
        case Won(tip):
            ours = begun if begun and rules.is_mine(tip.lease, begun.nonce) else None
            is_taken = ours is not None and ours.verb is Verb.TAKE_OVER
            return AcquiredLease(tip, keeper.transport.reason, was_begun=ours is not None, is_taken_over=is_taken)
        case NotHeld(tip) if _is_own(context, wish, tip):
            return AcquiredLease(tip, keeper.transport.reason, is_own=True)
        case NotHeld(tip) if wish.is_left(tip.lease):
            return _take_over(context, keeper, wish, tip)
        case NotHeld(tip) if wish.take_over:
            _refuse_taking_over(context, wish, tip)
            return _take_over(context, keeper, wish, tip)
        case NotHeld(tip):
            raise conflict(tip.lease)
        case Unknown(Doubt.RACED):
            raise Conflict(f"Another agent was faster at issue #{wish.issue}.", helps="agent-sync next")
        case Unknown():
            raise unsettled(wish.issue, outcome)


def confirm(context: Context, tip: Tip) -> None:
    """Forget how a lease was got, now that the claim file says so."""
    _keeper_of(context, tip).confirm(proof_of(tip.lease))


def give_up(context: Context, tip: Tip) -> None:
    """Give a lease back that was won for nothing; where that fails, the same claim made again finds it its own."""
    keeper = LeaseKeeper(transport_of(context, tip.where), context.place, tip.lease.holder.worktree)
    keeper.release(proof_of(tip.lease), LeaseChange(clock.now()))


def holder_known(context: Context, issue: int) -> Lease | None:
    """Return the lease by which somebody holds an issue, for a refusal that can then say more; one look."""
    seen = read_claim(transport_here(context), issue)
    return seen.lease if isinstance(seen, Tip) and seen.lease.state is LeaseState.HELD else None


def conflict(lease: Lease) -> Conflict:
    """Return that somebody else holds an issue, and who."""
    message = f"Issue #{lease.issue} is held by {held_by(lease)}."
    helps = redating(lease.issue) if rules.is_dated_ahead(lease, clock.now()) else "agent-sync next"
    return Conflict(message, attempted=f"claiming issue #{lease.issue}", helps=helps)


def _keeper(context: Context, wish: LeaseWish, transport: RefTransport) -> LeaseKeeper:
    return LeaseKeeper(transport, context.place, wish.home.id)


def _keeper_of(context: Context, tip: Tip) -> LeaseKeeper:
    return LeaseKeeper(transport_of(context, tip.where), context.place)


def _request(context: Context, wish: LeaseWish, *, branch: str) -> LeaseRequest:
    holder = holder_at(wish.home, agent=wish.agent)
    ttl = context.settings.lease.ttl_s
    mode = mode_here(context.environment)
    return LeaseRequest(holder, clock.now(), ttl, mode, branch=branch, phase="coding", is_new_agent=True)


def _transport_wished(context: Context, wish: LeaseWish) -> RefTransport:
    """Return where the claim goes: this clone by the user's word, unless somebody was last seen to hold the issue."""
    if not wish.local:
        return transport_here(context)
    remote = base_remote(context)
    if remote:
        _refuse_known(context, RemoteTransport(context.git, remote), wish)
    return CloneTransport(context.git, context.remotes.push, "--local was given")


def _reason_for_clone(context: Context, wish: LeaseWish, outcome: LeaseOutcome) -> str:
    """Return why a claim can only be kept in this clone: nobody answered, and no push can have arrived.

    A remote that answered and will not take the claim is an error that says so: two machines must not take the same
    issue because git was not signed in.
    """
    if not isinstance(outcome, Unknown):
        return ""
    remote = context.remotes.base
    if outcome.doubt in {Doubt.UNREACHABLE, Doubt.UNWRITTEN} and not outcome.is_sent and is_unreachable(outcome.reason):
        return f"{remote} cannot be reached"
    address = claims_address(context)
    attempted, otherwise = (
        f"claiming issue #{wish.issue}",
        f"or agent-sync claim {wish.issue} --local for this clone only",
    )
    if is_sign_in_trouble(outcome.reason):
        raise sign_in_error(outcome.reason, remote=remote, address=address, attempted=attempted, otherwise=otherwise)
    if outcome.refused:
        raise refs_refused(remote, outcome.reason, attempted=attempted, otherwise=otherwise)
    return ""


def refs_refused(remote: str, said: str, *, attempted: str, otherwise: str) -> Refused:
    """Return that a remote takes no refs of ours, by which rule, and what can be done instead."""
    rule = push_rule(said)
    by = f", by {rule.value}" if rule else ""
    message = f"{remote} takes no claim refs{by}: {one_line(said, limit=900)}"
    helps = f"{rule_help(rule) if rule else 'allow refs/agentsync/* on the server'}; {otherwise}"
    return Refused(message, attempted=attempted, helps=helps)


def _refuse_known(context: Context, transport: RefTransport, wish: LeaseWish) -> None:
    """Stop before an issue is claimed for this clone only that somebody held when the remote was last seen."""
    known = known_claim(transport, wish.issue)
    if isinstance(known, Tip) and known.lease.state is LeaseState.HELD and not _is_own(context, wish, known):
        raise conflict(known.lease)


def _is_own(context: Context, wish: LeaseWish, tip: Tip) -> bool:
    """Tell whether the worktree that asks has the lease already, without its claim file."""
    if tip.lease.phase.startswith(rules.SLUNG):
        # Got here for somebody else: a worker, who takes it from its hook.
        return False
    # What was last written is about the worktree that is here.
    written = context.store.last_written() if wish.home.root == context.place.root else None
    is_written = bool(written and written.lease and rules.is_mine(tip.lease, written.lease.nonce))
    return is_written or tip.lease.holder.worktree == wish.home.id


def _take_over(context: Context, keeper: LeaseKeeper, wish: LeaseWish, tip: Tip) -> AcquiredLease:
    former, reason = tip.lease, keeper.transport.reason
    wish.check_branch(former)
    _fetch_work(context, tip)
    by_hand = ", who claimed it by hand: a person agreed" if former.mode is LeaseMode.MANUAL else ""
    note = f"Taken over from {holder_name(former)}{by_hand if wish.take_over else ', whose worktree is gone'}"
    request = replace(_request(context, wish, branch=former.branch or wish.branch), note=note, pr=former.pr)
    outcome = keeper.take_over(tip, request)
    match outcome:
        case Won(won):
            return AcquiredLease(won, reason, is_taken_over=True, former=former)
        case NotHeld(other) if _is_own(context, wish, other):
            # The push of a run of ours that was killed has arrived only now.
            return AcquiredLease(other, reason, was_begun=True, is_taken_over=True, former=former)
        case NotHeld(other):
            raise conflict(other.lease)
        case Unknown():
            raise unsettled(wish.issue, outcome)


def _fetch_work(context: Context, tip: Tip) -> None:
    """Bring the former holder's branch here before its lease is taken: the work goes on where it was left."""
    remote, branch = context.remotes.push, tip.lease.branch
    if not branch or tip.where is not Where.REMOTE:
        return
    trouble = git_branches.fetch_heads(context.git, remote, f"{branch}*")
    if trouble:
        message = f"Branch {branch} could not be fetched from {remote}: {trouble}"
        raise GitFailed(message, attempted=f"taking issue #{tip.lease.issue} over", helps="run the same command again")


def _refuse_taking_over(context: Context, wish: LeaseWish, tip: Tip) -> None:
    """Look at what could speak against it, and ask a human last."""
    lease, found = tip.lease, take_over_objection(context, tip)
    if found in _askable(context) and wish.agrees(f"Issue #{wish.issue}: {found}. Take it over?"):
        return
    if found:
        message = f"Issue #{wish.issue} cannot be taken over: {found}. It is held by {held_by(lease)}."
        is_manual = found is rules.TakeOverObjection.MANUAL
        helps = "a person in a terminal may add --yes" if is_manual else "agent-sync status --all"
        helps = redating(wish.issue) if rules.is_dated_ahead(lease, clock.now()) else helps
        raise Refused(message, attempted=f"taking issue #{wish.issue} over", helps=helps)


def take_over_objection(context: Context, tip: Tip) -> rules.TakeOverObjection | None:
    """Return what speaks against taking a claim from its holder, what costs nothing first."""
    lease = _as_heard_of(context, tip)
    found = _objection(context, lease)
    if found:
        return found
    moved, is_open = _has_moved(context, tip), _has_open_pull(context, lease)
    return _objection(context, lease, branch_moved=moved, has_open_pull=is_open)


def _askable(context: Context) -> frozenset[rules.TakeOverObjection]:
    """Return what a human may overrule; that a person has left a claim made by hand, no session of an agent may say."""
    is_session = mode_here(context.environment) is LeaseMode.AUTO
    manual = frozenset() if is_session else frozenset({rules.TakeOverObjection.MANUAL})
    return frozenset({rules.TakeOverObjection.OPEN_PULL}) | manual


def _as_heard_of(context: Context, tip: Tip) -> Lease:
    """Return a lease as its holder was last heard of; one that a wrong clock has dated runs from our first look."""
    now = clock.now()
    if not rules.is_ahead(tip.lease.renewed_at, now):
        return tip.lease
    return tip.lease.model_copy(update={"renewed_at": first_seen_at(context.place, tip, now)})


def _objection(
    context: Context, lease: Lease, *, branch_moved: bool = False, has_open_pull: bool = False
) -> rules.TakeOverObjection | None:
    return rules.objection_to_taking_over(
        lease,
        clock.now(),
        branch_moved=branch_moved,
        has_open_pull=has_open_pull,
        consent=False,
        allowance_s=context.settings.lease.allowance_s,
    )


def _has_moved(context: Context, tip: Tip) -> bool:
    """Tell whether the old holder's commits show that it is at work; both times are of its own clock."""
    branch = tip.lease.branch
    if not branch:
        return False
    here = context.git.head_of(branch) if tip.where is Where.CLONE else None
    is_shared = tip.where is Where.REMOTE
    there = git_branches.fetch_branch(context.git, context.remotes.push, branch) if is_shared else None
    moments = (git_branches.committed_at(context.git, head) for head in {here, there} if head)
    allowance_s = context.settings.lease.allowance_s
    return any(rules.is_at_work(moment, tip.lease, clock.now(), allowance_s) for moment in moments)


def _has_open_pull(context: Context, lease: Lease) -> bool:
    pull = context.gateway.branch_pull(lease.branch) if lease.branch else None
    return pull is not None and pull.state is PullState.OPEN


def unsettled(issue: int, unknown: Unknown, *, attempted: str = "") -> BadLease | LeaseUnsettled:
    """Return that the holder of an issue is unknown, and why."""
    reason, attempted = one_line(unknown.reason, limit=300), attempted or f"claiming issue #{issue}"
    if helps := way_out(issue, unknown.doubt):
        error = LeaseTooNew if unknown.doubt is Doubt.TOO_NEW else BadLease
        return error(reason, attempted=attempted, helps=helps)
    message = f"Could not confirm the claim on issue #{issue}: {reason}"
    return LeaseUnsettled(message, attempted=attempted, helps="run the same command again")
