"""Stands between a claim and the world: whoever has lost the lease neither pushes code nor writes to GitHub."""

from agent_sync.context import Context
from agent_sync.errors import BadConfig, Conflict, LeaseUnsettled
from agent_sync.leases.model import State
from agent_sync.leases.note import change_of, keeper_of, mine_in, noted
from agent_sync.leases.results import BranchRefused, Doubt, Lost, Seen, Unknown, Won
from agent_sync.leases.rules import Standing, standing
from agent_sync.leases.words import held_by
from agent_sync.system import clock
from agent_sync.task.claim.model import Claim
from agent_sync.task.decision import situations
from agent_sync.task.decision.actions import BranchPushed, LeaseLost, LeaseUnknown, LeftOnHook
from agent_sync.task.decision.evolve import evolve
from agent_sync.task.decision.next_step import next_step
from agent_sync.task.decision.outside_text import quoted

# What keeps a claim from being acted on.
Stop = LeaseLost | LeaseUnknown | LeftOnHook
# A hook waits for it; a remote that is slower than this is asked again at the next event.
READ_LIMIT = 20.0
# Trouble that may be over the next time; the rest stays as it is however often it is tried.
_PASSING = frozenset({Doubt.UNREACHABLE, Doubt.UNWRITTEN})


def stopped(context: Context, claim: Claim, *, is_ending: bool = False, looks_again: bool = False) -> Stop | None:
    """Return what keeps a claim from being acted on, from one look at its ref; a claim without a lease has no fence.

    One that was given back is free for others, so that only its end may still be gone through. Work that was left on
    a hook is left alone without a look, unless the caller wants to know whether somebody has taken it from there.
    """
    if claim.lease is None:
        return None
    known = known_loss(claim)
    if known and not (looks_again and claim.is_left):
        return known
    try:
        keeper = keeper_of(context, claim.lease, limit_s=READ_LIMIT)
    except BadConfig as error:
        return LeaseUnknown(error.happened, error.helps)
    return _judged(context, claim, keeper.read(claim.issue_number), is_ending=is_ending) or known


def known_loss(claim: Claim) -> LeaseLost | LeftOnHook | None:
    """Return where the work went, as far as that is known without asking anybody."""
    if claim.lease and claim.is_lost:
        return LeaseLost(claim.lease.lost_to)
    return LeftOnHook(claim.lease.left_on) if claim.lease and claim.is_left else None


def gone_to(found: LeaseLost | LeftOnHook) -> str:
    """Return where the work went, in a few words."""
    return f"held by {found.lost_to}" if isinstance(found, LeaseLost) else f"left on the hook of {found.worker}"


def must_hold(context: Context, claim: Claim, *, attempted: str) -> None:
    """Stop a command whose claim is somebody else's now, or cannot be told to be ours."""
    refuse(context, claim, stopped(context, claim), attempted=attempted)


def refuse(context: Context, claim: Claim, found: Stop | None, *, attempted: str) -> None:
    """Raise what was found, and remember a loss."""
    match found:
        case LeaseLost(lost_to):
            remember(context, claim, found)
            message = f"Issue #{claim.issue_number} is held by {lost_to}. Nothing was written; the work here stays."
            raise Conflict(
                message, attempted=attempted, helps=next_step(situations.Lost(claim.issue_number, lost_to)).command
            )
        case LeftOnHook(worker):
            left = situations.LeftOnHook(claim.issue_number, worker)
            message = f"Issue #{claim.issue_number} was left on the hook of {worker}. Nothing was written."
            raise Conflict(message, attempted=attempted, helps=next_step(left).command)
        case LeaseUnknown(reason, helps):
            message = f"Could not check whether this worktree still holds issue #{claim.issue_number}: {reason}"
            raise LeaseUnsettled(message, attempted=attempted, helps=helps)
        case None:
            return


def remember(context: Context, claim: Claim, outcome: LeaseLost | LeftOnHook | BranchPushed) -> Claim:
    """Write down what happened to the lease; return the claim as it is now."""
    changed = evolve(claim, outcome)
    if changed == claim:
        return claim
    with context.store.locked() as token:
        return context.store.save(token, seen=claim, changed=changed)


def push(context: Context, claim: Claim, branch: str, sha: str) -> BranchPushed | Stop:
    """Push the branch, with the lease in the same breath where there is one."""
    lease, remote = claim.lease, context.settings.git.remote
    if lease is None:
        context.git.push(remote, branch, sha)
        return BranchPushed(sha)
    known = known_loss(claim)
    if known:
        return known
    outcome = keeper_of(context, lease).push_branch(branch, sha, mine_in(claim, lease), change_of(claim))
    match outcome:
        case Won(tip):
            return BranchPushed(sha, noted(tip))
        case BranchRefused(reason):
            raise context.git.push_failure(reason, remote, branch)
        case Lost(tip):
            return LeaseLost(held_by(tip.lease))
        case Unknown(Doubt.VANISHED):
            return _vanished(context, claim)
        case Unknown(_, reason):
            return LeaseUnknown(quoted(reason, limit=300))


def pushed(context: Context, claim: Claim, branch: str, sha: str) -> Claim:
    """Push for a command, which says at once what stands against it; return the claim with its renewed lease."""
    outcome = push(context, claim, branch, sha)
    if isinstance(outcome, BranchPushed):
        return remember(context, claim, outcome)
    refuse(context, claim, outcome, attempted=f"pushing branch {branch}")
    raise AssertionError


def finish(context: Context, claim: Claim) -> None:
    """Mark the work as done, so that the issue can be claimed again should it be reopened."""
    if claim.lease is None or not claim.may_act:
        return
    outcome = keeper_of(context, claim.lease).finish(mine_in(claim, claim.lease), change_of(claim))
    if isinstance(outcome, Unknown):
        _put_off(context, claim, outcome, "finishing the claim")


def release(context: Context, claim: Claim) -> None:
    """Give the lease back; whoever has it meanwhile keeps it."""
    if claim.lease is None or not claim.may_act:
        return
    mine, change = mine_in(claim, claim.lease), change_of(claim)
    outcome = keeper_of(context, claim.lease).release(mine, change)
    if isinstance(outcome, Unknown):
        _put_off(context, claim, outcome, "giving the claim back")


def _put_off(context: Context, claim: Claim, doubt: Unknown, attempted: str) -> None:
    """Leave trouble that passes to the next event; a ref that is gone or unusable is not ours to mend."""
    context.log.write(clock.now(), "trouble", error=doubt.reason, issue=claim.issue_number, doubt=doubt.doubt.value)
    if doubt.doubt in _PASSING:
        message = f"The lease of issue #{claim.issue_number} could not be ended: {doubt.reason}"
        raise LeaseUnsettled(message, attempted=attempted, helps="run the same command again, or agent-sync sync")


def _judged(context: Context, claim: Claim, seen: Seen, *, is_ending: bool) -> LeaseLost | LeaseUnknown | None:
    if isinstance(seen, Unknown):
        return LeaseUnknown(quoted(seen.reason, limit=300))
    if claim.lease is None or seen is None:
        return _vanished(context, claim)
    is_lost = standing(mine_in(claim, claim.lease), seen) is Standing.LOST
    is_given_back = seen.lease.state is State.RELEASED and not is_ending
    return LeaseLost(held_by(seen.lease)) if is_lost or is_given_back else None


def _vanished(context: Context, claim: Claim) -> LeaseUnknown:
    """Return that the ref was deleted, which no second try mends, and what does."""
    where = context.settings.git.remote if claim.lease and claim.lease.where == "remote" else "this clone"
    helps = f"run `agent-sync release --force`, then `agent-sync claim {claim.issue_number}` to recreate it"
    return LeaseUnknown(f"Its claim ref is gone from {where}: {helps}.")
