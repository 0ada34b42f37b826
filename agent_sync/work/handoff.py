"""Leaves the work for the next session: written, pushed with the branch and verified before the session may end."""

from dataclasses import replace
from datetime import datetime
from pathlib import Path

from agent_sync.context import Context
from agent_sync.errors import AgentSyncError, Conflict, GitFailed
from agent_sync.lazy_dataclasses import dataclass
from agent_sync.leases.claim_refs import transport_here
from agent_sync.leases.fence import remember
from agent_sync.leases.model import LeaseMode, Tip
from agent_sync.leases.refs.api_transport import ApiTransport
from agent_sync.leases.refs.compare_and_swap import RefChange
from agent_sync.leases.refs.values import BranchHead, NewCommit
from agent_sync.system.git_history import commit_of, links_in
from agent_sync.system.git_tree import tree_of, tree_of_files
from agent_sync.task.claim.model import following
from agent_sync.task.decision.actions import LeftOnHook
from agent_sync.work.branches import last_shared, work_branch
from agent_sync.work.claims import HeldWork, held_work, holding_of, renewal_change
from agent_sync.work.hook import moves
from agent_sync.work.hook.model import Handoff, WorkHook
from agent_sync.work.hook.names import WorkerName, rescue_ref
from agent_sync.work.hook.orders import Order, carry_out, hook_change
from agent_sync.work.hook.reading import view_here
from agent_sync.work.hook.states import WorkState
from agent_sync.work.hook.view import WorkView
from agent_sync.work.hook.wording import understood, writable
from agent_sync.worktree import CLAIM_NAME

WAITS = "handed off"
MOST_FILES = 200
# As a pattern, because git refuses to be told of a path by name that is ignored anyway.
_CLAIM_FILES = f":(exclude,top,glob){CLAIM_NAME[:-1]}[{CLAIM_NAME[-1]}]*"
STAY = "Do not end the session: the handoff is not saved yet."


@dataclass(frozen=True)
class HandoffNote:
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


def hand_off(context: Context, name: str, note: HandoffNote) -> HandedOver:
    """Leave the work on the hook; a failure says that the session must not end, unless the work is not its own."""
    try:
        return _hand_off(context, name, note)
    except Conflict:
        raise
    except AgentSyncError as error:
        error.happened = f"{error.happened.rstrip()} {STAY}"
        raise


def _hand_off(context: Context, name: str, note: HandoffNote) -> HandedOver:
    def decide(view: WorkView, now: datetime) -> Order[HandedOver]:
        held = held_work(context, view, name, attempted="handing off")
        issue = held.tip.lease.issue
        draft = _draft(context, held, note, now)
        drawn, before = draft.handoff, held.hook.handoff
        if before and held.hook.state is WorkState.HANDED_OFF and _is_same(context, before, drawn):
            return Order(HandedOver(held.name, issue, before, view.notes, is_repeat=True))
        renewal = renewal_change(held.tip, now, mode=LeaseMode.MANUAL, phase=WAITS)
        holding = replace(holding_of(held.tip.lease, str(held.name)), branch=drawn.branch)
        moved = moves.after_handoff(held.hook, drawn, holding)
        hook = hook_change(held.name.ref, held.sha, moved, now)
        notes = (*view.notes, *_not_kept(context, drawn))
        return Order(HandedOver(held.name, issue, drawn, notes), (renewal, hook, *draft.rescue), draft.branch)

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


@dataclass(frozen=True)
class _Draft:
    """The handoff, the change that keeps what is not committed, and the branch to push."""

    handoff: Handoff
    rescue: tuple[RefChange, ...]
    branch: BranchHead | None


def _draft(context: Context, held: HeldWork, note: HandoffNote, now: datetime) -> _Draft:
    branch = work_branch(context, held.hook, attempted="handing off")
    head = context.git.head_of(branch) or ""
    changed = context.git.changes()
    rescue = _rescue(context, held.hook, held.tip, now) if changed else None
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
            rescue_ref=rescue.ref if rescue else "",
            rescue_sha=str(rescue.content) if rescue else "",
            at=now,
            by=str(held.name),
            count=following(before.count) if before else 1,
        )
    return _Draft(handoff, (rescue,) if rescue else (), BranchHead(branch, head) if head else None)


def _rescue(context: Context, hook: WorkHook, tip: Tip, now: datetime) -> RefChange:
    """Keep what is not committed under a name of this holding; an earlier rescue of it stays as a parent."""
    issue = tip.lease.issue
    ref = rescue_ref(issue, tip.lease.epoch)
    before = _kept_at(context, ref)
    tree = tree_of_files(context.git, Path(context.place.git_dir) / "index", but=_CLAIM_FILES)
    transport = transport_here(context)
    # A child of HEAD and of the rescue before; where git may not push it, of the last commit that GitHub has.
    head = commit_of(context.git, "HEAD")
    start = last_shared(context, hook.status.branch) if isinstance(transport, ApiTransport) else head
    parents = tuple(filter(None, [start, before]))
    commit = NewCommit(f"Rescue of #{issue}: not committed yet\n", parents=parents, when=int(now.timestamp()))
    return RefChange(ref, before, transport.keep(tree, commit))


def _kept_at(context: Context, ref: str) -> str:
    """Return what is kept under a name already: of this holding, or of one whose claim ref was deleted since."""
    transport = transport_here(context)
    transport.fetch([ref])
    return next((found.sha for found in transport.known(ref) if found.name == ref), "")


def _not_kept(context: Context, handoff: Handoff) -> tuple[str, ...]:
    links = links_in(context.git, handoff.rescue_sha) if handoff.rescue_sha else frozenset()
    paths = (path for path in (one.rstrip("/") for one in handoff.files) if path in links)
    return tuple(
        f"{path} is a repository of its own: its contents were not saved. Commit and push it there." for path in paths
    )


def _is_same(context: Context, before: Handoff, now: Handoff) -> bool:
    """Tell whether nothing has changed since a handoff, in what is said, committed and not committed."""
    varying = {"at", "count", "rescue_ref", "rescue_sha"}
    if before.model_dump(exclude=varying) != now.model_dump(exclude=varying):
        return False
    trees = {tree_of(context.git, one.rescue_sha) for one in (before, now) if one.dirty}
    return len(trees) <= 1


def _verify(context: Context, handed: HandedOver, sha: str) -> None:
    """Read the hook back: only what is seen there counts."""
    view = view_here(context)
    seen = view.hooks.get(handed.worker)
    if view.trouble or seen is None or seen.sha != sha:
        raise GitFailed("The handoff was pushed and cannot be read back.", helps="agent-sync worker pause")
