"""Leaves the work for the next session: written, pushed with the branch and verified before the session may end."""

from dataclasses import dataclass, replace
from datetime import datetime

from agent_sync.context import Context
from agent_sync.errors import AgentSyncError, BadInput, GitFailed
from agent_sync.leases.fence import remember
from agent_sync.leases.model import Mode, Tip
from agent_sync.leases.refs.stores import Branch
from agent_sync.system import clock
from agent_sync.system.bounds import following
from agent_sync.task.decision.actions import LeftOnHook
from agent_sync.work.held import HeldWork, held_work
from agent_sync.work.holdings import holding_of, renewal_step
from agent_sync.work.hook import moves
from agent_sync.work.hook.model import Handoff, Hook
from agent_sync.work.hook.names import WorkerName, rescue_ref
from agent_sync.work.hook.orders import Order, Step, carry_out
from agent_sync.work.hook.reading import look
from agent_sync.work.hook.shelf import shelf_for
from agent_sync.work.hook.sight import Sight
from agent_sync.work.hook.states import State
from agent_sync.work.hook.wording import understood, writable
from agent_sync.work.rescue import not_kept, rescue_commit

WAITS = "handed off"
MOST_FILES = 200
STAY = "Do not end the session: the handoff is not saved yet."


@dataclass(frozen=True)
class Note:
    """What the next session is told."""

    reason: str = "context_limit"
    resume_point: str = ""
    summary: str = ""
    next_steps: tuple[str, ...] = ()


@dataclass(frozen=True)
class HandedOver:
    """The handoff that is safe now, and what every reader must know."""

    worker: WorkerName
    issue: int
    handoff: Handoff
    notes: tuple[str, ...] = ()
    is_repeat: bool = False


def hand_off(context: Context, name: str, note: Note) -> HandedOver:
    """Leave the work on the hook; any failure says that the session must not end."""
    try:
        return _handed_off(context, name, note)
    except AgentSyncError as error:
        error.happened = f"{error.happened.rstrip()} {STAY}"
        raise


def _handed_off(context: Context, name: str, note: Note) -> HandedOver:
    def decide(sight: Sight, now: datetime) -> Order[HandedOver]:
        held = held_work(context, sight, name, attempted="handing off")
        issue = held.tip.lease.issue
        drawn, steps, branch = _drawn(context, held, note, now)
        if held.hook.handoff and held.hook.state is State.HANDED_OFF and _is_same(context, held.hook.handoff, drawn):
            return Order(HandedOver(held.name, issue, held.hook.handoff, sight.notes, is_repeat=True))
        renewal = renewal_step(held.tip, now, mode=Mode.MANUAL, phase=WAITS)
        holding = replace(holding_of(held.tip.lease, str(held.name)), branch=drawn.branch)
        moved = moves.handed_off(held.hook, drawn, holding)
        hook_step = Step(held.name.ref, held.sha, moved)
        notes = (*sight.notes, *_not_kept(context, drawn))
        return Order(HandedOver(held.name, issue, drawn, notes), (renewal, hook_step, *steps), branch)

    done = carry_out(context, decide)
    if done.shas:
        _verify(context, done.value, done.shas[done.value.worker.ref])
    _let_go(context, done.value)
    return done.value


def _let_go(context: Context, handed: HandedOver) -> None:
    """Let the claim here rest: whoever takes the work next, the sessions of this worktree leave it alone until then."""
    claim = context.store.read()
    if claim and claim.lease and claim.may_act and claim.issue_number == handed.issue:
        remember(context, claim, LeftOnHook(str(handed.worker)))


def _drawn(context: Context, held: HeldWork, note: Note, now: datetime) -> tuple[Handoff, tuple[Step, ...], Branch]:
    """Return the handoff, the step that keeps what is not committed, and the branch to push."""
    branch = _branch(context, held.hook)
    head = context.git.head_of(branch) or ""
    changed = context.git.changes()
    ref, sha, steps = _rescued(context, held.hook, held.tip, now) if changed else ("", "", ())
    before = held.hook.handoff
    with understood("The handoff", helps="agent-sync worker pause --help"):
        handoff = Handoff(
            reason=writable(note.reason),
            resume_point=writable(note.resume_point),
            summary=writable(note.summary),
            next_steps=tuple(map(writable, note.next_steps)),
            files=tuple(map(writable, changed[:MOST_FILES])),
            branch=branch,
            head_sha=head,
            dirty=bool(changed),
            rescue_ref=ref,
            rescue_sha=sha,
            at=now,
            by=str(held.name),
            count=following(before.count) if before else 1,
        )
    return handoff, steps, (branch, head) if head else None


def _branch(context: Context, hook: Hook) -> str:
    """Return the branch the work is on; stop where another is checked out, which would be pushed in its place."""
    claim = context.store.read()
    is_claimed = claim is not None and claim.issue_number == hook.status.issue
    branch, current = (claim.branch if claim and is_claimed else "") or hook.status.branch, context.git.current_branch()
    if current != branch:
        message = f"HEAD is on {f'branch {current}' if current else 'no branch'}, the work's branch is {branch}."
        raise BadInput(message, attempted="handing off", helps=f"git switch {branch}")
    return branch


def _rescued(context: Context, hook: Hook, tip: Tip, now: datetime) -> tuple[str, str, tuple[Step, ...]]:
    """Keep what is not committed under a name of this holding; an earlier rescue of it stays as a parent."""
    issue = tip.lease.issue
    ref = rescue_ref(issue, tip.lease.epoch)
    before = hook.handoff.rescue_sha if hook.handoff and hook.handoff.rescue_ref == ref else ""
    sha = rescue_commit(context, issue=issue, before=before, when=int(now.timestamp()))
    return ref, sha, (Step(ref, before, sha),)


def _not_kept(context: Context, handoff: Handoff) -> tuple[str, ...]:
    paths = not_kept(context, handoff.rescue_sha, handoff.files) if handoff.rescue_sha else ()
    return tuple(
        f"{path} is a repository of its own: its contents were not saved. Commit and push it there." for path in paths
    )


def _is_same(context: Context, before: Handoff, now: Handoff) -> bool:
    """Tell whether nothing has changed since a handoff, in what is said, committed and not committed."""
    varying = {"at", "count", "rescue_ref", "rescue_sha"}
    if before.model_dump(exclude=varying) != now.model_dump(exclude=varying):
        return False
    trees = {context.git.ask("rev-parse", f"{one.rescue_sha}^{{tree}}").stdout for one in (before, now) if one.dirty}
    return len(trees) <= 1


def _verify(context: Context, handed: HandedOver, sha: str) -> None:
    """Read the hook back: only what is seen there counts."""
    sight = look(shelf_for(context, clock.now()))
    seen = sight.hooks.get(handed.worker)
    if sight.trouble or seen is None or seen.sha != sha:
        raise GitFailed("The handoff was pushed and cannot be read back.", helps="agent-sync worker pause")
