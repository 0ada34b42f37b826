"""Stands between a claim and the world: whoever has lost the lease neither pushes code nor writes to GitHub."""

import os
import time
from collections.abc import Iterable

from agent_sync.context import Context
from agent_sync.errors import AgentSyncError, BadConfig, Conflict, GitDenied, LeaseUnsettled
from agent_sync.gateway.transport.remotes import refuse_shared_branch
from agent_sync.leases.claim_refs import claims_address, push_address, read_claim, transport_of
from agent_sync.leases.identity import known_worktree_id
from agent_sync.leases.keeper import LeaseKeeper
from agent_sync.leases.model import Lease, LeaseProof, LeaseState, Tip
from agent_sync.leases.refs.values import Where
from agent_sync.leases.results import BranchRefused, ClaimSeen, Doubt, LeaseChange, NotHeld, Unknown, Won
from agent_sync.leases.rules import RENEWALS_PER_TTL, SLUNG, HoldingState, holding_state
from agent_sync.leases.words import held_by, is_this_machine, way_out
from agent_sync.system import clock, git_branches
from agent_sync.system.git import NETWORK_LIMIT
from agent_sync.system.git_refusals import is_sign_in_trouble, push_failure, sign_in_error, sign_in_help
from agent_sync.task.claim.model import Claim, LeaseNote
from agent_sync.task.decision import situations
from agent_sync.task.decision.actions import BranchPushed, LeaseLost, LeaseUnknown, LeftOnHook
from agent_sync.task.decision.evolve import evolve
from agent_sync.task.decision.next_step import next_step
from agent_sync.task.decision.notice import Notice
from agent_sync.task.decision.outside_text import quoted
from agent_sync.worktree import Place, worktree

# What keeps a claim from being acted on.
LeaseStop = LeaseLost | LeaseUnknown | LeftOnHook
# A hook waits for it; a remote that is slower than this is asked again at the next event.
READ_LIMIT = 20.0
# After so long between a look and what depends on it, a process may have slept, and its lease be taken over.
HELD_UP_S = 5.0
# What git tells a pre-push hook of each ref: the local one and its commit, the remote one and its commit.
_PRE_PUSH_FIELDS = 4
# Trouble that may be over the next time; the rest stays as it is however often it is tried.
_PASSING = frozenset({Doubt.UNREACHABLE, Doubt.UNWRITTEN})


def lease_note(tip: Tip) -> LeaseNote:
    """Return what a claim remembers of the lease it has."""
    lease = tip.lease
    return LeaseNote(
        where=tip.where.value,
        epoch=lease.epoch,
        nonce=lease.nonce,
        sha=tip.sha,
        renewed_at=lease.renewed_at,
        ttl_s=lease.ttl_s,
        mode=lease.mode.value,
    )


def proof_in(claim: Claim, lease: LeaseNote) -> LeaseProof:
    """Return what proves that a claim's lease is its own."""
    return LeaseProof(claim.issue_number, lease.epoch, lease.nonce)


def change_of(claim: Claim, *, session: str = "") -> LeaseChange:
    """Return what a renewal tells others of the claim as it is now."""
    return LeaseChange(
        clock.now(),
        branch=claim.branch or None,
        pr=claim.pr_number,
        phase=claim.phase.value,
        session=session or None,
    )


def keeper_of(context: Context, lease: LeaseNote, *, limit_s: float = NETWORK_LIMIT) -> LeaseKeeper:
    """Return whoever keeps a lease that was got earlier."""
    return LeaseKeeper(transport_of(context, Where(lease.where), limit_s=limit_s), context.place)


def worker_of(claim: Claim) -> str:
    """Return the worker on whose hook the task hangs, as `pool/worker`; empty for any other claim."""
    return claim.agent_id if claim.lease and "/" in claim.agent_id else ""


def lease_stop(context: Context, claim: Claim, *, looks_again: bool = False) -> LeaseStop | None:
    """Return what keeps a claim from being acted on, from one look at its ref; a claim without a lease has no fence.

    Work that was left on a hook is left alone without a look, unless the caller wants to know whether somebody has
    taken it from there.
    """
    if claim.lease is None:
        return None
    known = known_loss(claim)
    if known and not (looks_again and claim.is_left):
        return known
    try:
        seen = _look(context, claim, claim.lease)
    except BadConfig as error:
        return LeaseUnknown(error.happened, error.helps)
    return _judge(context, claim, seen) or known


def _look(context: Context, claim: Claim, lease: LeaseNote) -> ClaimSeen:
    """Read a claim's ref; what was seen before the process slept does not count."""
    transport = transport_of(context, Where(lease.where), limit_s=READ_LIMIT)
    began = time.monotonic()
    seen = read_claim(transport, claim.issue_number)
    return read_claim(transport, claim.issue_number) if is_held_up(claim, began) else seen


def is_held_up(claim: Claim, since: float) -> bool:
    """Tell whether so much time has passed since a look, by the monotonic clock, that the lease may be lost by now."""
    return claim.lease is not None and time.monotonic() - since > min(HELD_UP_S, claim.lease.ttl_s / RENEWALS_PER_TTL)


def lease_now(context: Context, claim: Claim) -> Tip | Unknown | LeaseStop | None:
    """Return what a claim's ref holds now; where it cannot be read, what is known of a loss, or why it cannot."""
    if claim.lease is None:
        return None
    if claim.is_left:
        return known_loss(claim)
    try:
        seen = _look(context, claim, claim.lease)
    except BadConfig as error:
        return known_loss(claim) or LeaseUnknown(error.happened, error.helps)
    return seen if isinstance(seen, Tip) else known_loss(claim) or seen or Unknown(Doubt.VANISHED, "The ref is gone.")


def is_left_behind(context: Context, lease: Lease) -> bool:
    """Tell whether this clone got a lease that no claim file of its worktrees stands for: file or worktree is gone."""
    name = lease.holder.agent
    # The name of a worker is the same on every machine, and a copy of a clone remembers what the clone did.
    is_remembered = bool(name) and "/" not in name and context.memory.agent_of(lease.issue) == name
    is_ours = is_remembered or lease.holder.worktree == known_worktree_id(context.place)
    if not is_ours or lease.phase.startswith(SLUNG) or not is_this_machine(lease.holder):
        return False
    try:
        held = [context.store_at(place).read() for place in _places(context)]
    except AgentSyncError:
        # One of them cannot be read, and may be the one.
        return False
    return not any(claim and claim.lease and claim.lease.nonce == lease.nonce for claim in held)


def home_of(context: Context, lease: Lease) -> str:
    """Return the worktree of this clone that got a lease; empty where it is gone."""
    return next((one.root for one in _places(context) if known_worktree_id(one) == lease.holder.worktree), "")


def _places(context: Context) -> list[Place]:
    """Return the worktrees of this clone whose directories are there."""
    found = {root: worktree(root) for root in git_branches.worktrees(context.git)}
    return [place for root, place in found.items() if place and place.root == os.path.realpath(root)]


def known_loss(claim: Claim) -> LeaseLost | LeftOnHook | None:
    """Return where the work went, as far as that is known without asking anybody."""
    if claim.lease and claim.is_lost:
        return LeaseLost(claim.lease.lost_to)
    return LeftOnHook(claim.lease.left_on) if claim.lease and claim.is_left else None


def whereabouts(found: LeaseLost | LeftOnHook) -> str:
    """Return where the work went, in a few words."""
    return f"held by {found.lost_to}" if isinstance(found, LeaseLost) else f"left on the hook of {found.worker}"


def must_hold(context: Context, claim: Claim, *, attempted: str) -> None:
    """Stop a command whose claim is somebody else's now, or not certainly ours."""
    refuse(context, claim, lease_stop(context, claim), attempted=attempted)


def refuse(context: Context, claim: Claim, found: LeaseStop | None, *, attempted: str) -> None:
    """Raise what was found, and remember a loss."""
    match found:
        case LeaseLost(lost_to):
            remember(context, claim, found)
            message = f"Issue #{claim.issue_number} is held by {lost_to}. Nothing was written; the work here stays."
            raise Conflict(
                message, attempted=attempted, helps=next_step(situations.Lost(claim.issue_number, lost_to)).command
            )
        case LeftOnHook(worker):
            left = situations.OnHook(claim.issue_number, worker)
            message = f"Issue #{claim.issue_number} was left on the hook of {worker}. Nothing was written."
            raise Conflict(message, attempted=attempted, helps=next_step(left).command)
        case LeaseUnknown(reason, helps):
            message = f"Could not check whether this worktree still holds issue #{claim.issue_number}: {reason}"
            kind = GitDenied if is_sign_in_trouble(reason) else LeaseUnsettled
            raise kind(message, attempted=attempted, helps=helps)
        case None:
            return


def remember(context: Context, claim: Claim, outcome: LeaseLost | LeftOnHook | BranchPushed) -> Claim:
    """Write down what happened to the lease; return the claim as it is now."""
    changed = evolve(claim, outcome)
    if changed == claim:
        return claim
    with context.store.locked() as token:
        return context.store.save(token, seen=claim, changed=changed)


def push(context: Context, claim: Claim, branch: str, sha: str) -> BranchPushed | LeaseStop:
    """Push the branch, with the lease in the same breath where there is one; from then on it has an upstream."""
    refuse_shared_push(context, branch)
    outcome = _push(context, claim, branch, sha)
    if isinstance(outcome, BranchPushed):
        git_branches.set_upstream(context.git, context.remotes.push, branch)
        _tell_of_move(context)
    return outcome


def _tell_of_move(context: Context) -> None:
    """Say once that the remote's address is out of date, and the command that corrects it."""
    there = context.git.memory.moved_to
    if there:
        text = f"The repository has a new address. Correct it: git remote set-url {context.remotes.push} {there}"
        context.outbox.add([Notice(f"moved:{there}", text)])


def refuse_shared_push(context: Context, branch: str) -> None:
    """Stop before the default or the base branch is pushed as a task's, whatever the claim file says."""
    helps = "git switch -c NAME, and write that name as `branch` into .agent-claim.json"
    refuse_shared_branch(context, branch, attempted=f"pushing branch {branch}", helps=helps)


def _push(context: Context, claim: Claim, branch: str, sha: str) -> BranchPushed | LeaseStop:
    lease, remote = claim.lease, context.remotes.push
    if lease is None:
        git_branches.push(context.git, remote, branch, sha)
        return BranchPushed(sha)
    known = known_loss(claim)
    if known:
        return known
    outcome = keeper_of(context, lease).push_branch(branch, sha, proof_in(claim, lease), change_of(claim))
    match outcome:
        case Won(tip):
            return BranchPushed(sha, lease_note(tip))
        case BranchRefused(reason):
            raise push_failure(reason, remote=remote, address=push_address(context), branch=branch)
        case NotHeld(tip):
            return LeaseLost(held_by(tip.lease))
        case Unknown(_, reason) if is_sign_in_trouble(reason):
            raise push_failure(reason, remote=remote, address=push_address(context), branch=branch)
        case Unknown():
            return doubt_of(context, claim, outcome)


def push_or_refuse(context: Context, claim: Claim, branch: str, sha: str) -> Claim:
    """Push for a command, which says at once what stands against it; return the claim with its renewed lease."""
    outcome = push(context, claim, branch, sha)
    if isinstance(outcome, BranchPushed):
        return remember(context, claim, outcome)
    refuse(context, claim, outcome, attempted=f"pushing branch {branch}")
    raise AssertionError


def push_refusal(context: Context, lines: Iterable[str], *, remote: str) -> str | None:
    """Return why git must not push what its pre-push hook was told of; only a lease that is certainly lost counts."""
    claim = context.store.read()
    if claim is None or claim.lease is None or remote != context.remotes.push:
        return None
    if f"refs/heads/{claim.branch}" not in pushed_refs(lines):
        return None
    found = lease_stop(context, claim)
    if not isinstance(found, LeaseLost | LeftOnHook):
        return None
    remember(context, claim, found)
    return (
        f"branch {claim.branch} was not pushed: issue #{claim.issue_number} is {whereabouts(found)}. "
        "The commits stay here; see `agent-sync status`."
    )


def pushed_refs(lines: Iterable[str]) -> frozenset[str]:
    """Return the remote refs that a pre-push hook's input speaks of."""
    parts = (line.split() for line in lines)
    return frozenset(words[2] for words in parts if len(words) == _PRE_PUSH_FIELDS)


def finish(context: Context, claim: Claim) -> None:
    """Mark the work as done, so that the issue can be claimed again should it be reopened."""
    if claim.lease is None or not claim.may_act:
        return
    outcome = keeper_of(context, claim.lease).finish(proof_in(claim, claim.lease), change_of(claim))
    if isinstance(outcome, Unknown):
        _put_off(context, claim, outcome, "finishing the claim")


def release(context: Context, claim: Claim) -> Tip | None:
    """Release the lease; return what the ref holds instead if the lease is another's by now."""
    if claim.lease is None or not claim.may_act:
        return None
    mine, change = proof_in(claim, claim.lease), change_of(claim)
    outcome = keeper_of(context, claim.lease).release(mine, change)
    if isinstance(outcome, Unknown):
        _put_off(context, claim, outcome, "giving the claim back")
    return outcome.tip if isinstance(outcome, NotHeld) else None


def _put_off(context: Context, claim: Claim, doubt: Unknown, attempted: str) -> None:
    """Leave trouble that passes to the next event; a ref that is gone or unusable is not ours to mend."""
    context.log.write(clock.now(), "trouble", error=doubt.reason, issue=claim.issue_number, doubt=doubt.doubt.value)
    if is_sign_in_trouble(doubt.reason):
        address = claims_address(context)
        raise sign_in_error(doubt.reason, remote=context.remotes.base, address=address, attempted=attempted)
    if doubt.doubt in _PASSING:
        message = f"The lease of issue #{claim.issue_number} could not be ended: {doubt.reason}"
        raise LeaseUnsettled(message, attempted=attempted, helps="run the same command again, or agent-sync sync")


def _judge(context: Context, claim: Claim, seen: ClaimSeen) -> LeaseLost | LeaseUnknown | None:
    if isinstance(seen, Unknown):
        return doubt_of(context, claim, seen)
    if claim.lease is None or seen is None:
        return _ref_gone(context, claim)
    is_lost = holding_state(proof_in(claim, claim.lease), seen) is HoldingState.LOST
    # What was released is free for others: only `release` still goes through with its end.
    is_released = seen.lease.state is LeaseState.RELEASED
    return LeaseLost(held_by(seen.lease)) if is_lost or is_released else None


def doubt_of(context: Context, claim: Claim, unknown: Unknown) -> LeaseUnknown:
    """Return why a claim cannot be acted on whose ref cannot be read or written, and what helps."""
    if unknown.doubt is Doubt.VANISHED:
        return _ref_gone(context, claim)
    reason, helps = quoted(unknown.reason, limit=300), way_out(claim.issue_number, unknown.doubt)
    if is_sign_in_trouble(unknown.reason):
        helps = sign_in_help(claims_address(context), unknown.reason)
    return LeaseUnknown(reason, helps) if helps else LeaseUnknown(reason)


def _ref_gone(context: Context, claim: Claim) -> LeaseUnknown:
    """Return that the ref was deleted, which no second try mends, and what does."""
    where = context.remotes.base if claim.lease and claim.lease.where == "remote" else "this clone"
    helps = f"run `agent-sync release --force`, then `agent-sync claim {claim.issue_number}` to recreate it"
    return LeaseUnknown(f"Its claim ref is gone from {where}: {helps}.", "agent-sync release --force")
