"""Takes the work from a hook: the hook and its claim move in one push before any work begins, then the claim here."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from agent_sync.context import Context
from agent_sync.errors import AgentSyncError, BadHook, Conflict, GitFailed, HookBusy, Refused, WrongState
from agent_sync.lazy_dataclasses import dataclass
from agent_sync.leases.claim_refs import claim_ref
from agent_sync.leases.fence import lease_note
from agent_sync.leases.identity import worktree_id
from agent_sync.leases.model import Tip
from agent_sync.leases.refs.values import Where
from agent_sync.leases.results import LeaseChange
from agent_sync.leases.rules import (
    TakeOverObjection,
    heard_of_at,
    is_expired,
    objection_to_taking_over,
    renewed_lease,
)
from agent_sync.leases.words import holder_name
from agent_sync.system import clock
from agent_sync.task.branching import NamedBranch, bring_up_to_date, refuse_named_branch
from agent_sync.task.claim.model import Claim
from agent_sync.task.claim.phases import Phase
from agent_sync.task.claiming import Taken, Wish, finish, refuse_twins, take as take_task
from agent_sync.task.decision.facts import PullState
from agent_sync.task.decision.tasks import Task
from agent_sync.work import identity
from agent_sync.work.branches import BranchWork, fetch_work, is_branch_at_work, work_on
from agent_sync.work.claims import (
    WORKING,
    WantedClaim,
    branch_of_work,
    claim_change,
    ending_change,
    holding_of,
    renewal_change,
    tip_of,
    working_claim,
)
from agent_sync.work.findings import Repair, findings
from agent_sync.work.hook import moves
from agent_sync.work.hook.model import WorkHook
from agent_sync.work.hook.names import WorkerName, foreign_task_id, task_id, worker_named
from agent_sync.work.hook.orders import Done, Order, carry_out, hook_change
from agent_sync.work.hook.states import ACTIVE, WorkState
from agent_sync.work.hook.view import HookSeen, WorkView, holder_text, lease_seen
from agent_sync.work.rescue import note_work, restore_of
from agent_sync.work.take_decision import (
    RUNS,
    HookUnread,
    LeaseSeen,
    TakeDecision,
    TakeVerdict,
    WorktreeHolds,
    take_decision,
)

FINISH_FIRST = "agent-sync handoff or agent-sync release, or take it in another worktree"


@dataclass(frozen=True)
class TakenWork:
    """What was found on the hook: the work as it stands now, the verdict, and the lease that goes with it.

    `tip` is the claim ref's commit and lease of this worktree; None where there is nothing to work on.
    """

    worker: WorkerName
    decision: TakeDecision
    hook: WorkHook | None = None
    task: Task | None = None
    tip: Tip | None = None
    on_branch: BranchWork = BranchWork()
    notes: tuple[str, ...] = ()

    @property
    def runs(self) -> bool:
        """Whether there is work to do now."""
        return self.decision.verdict in RUNS


@dataclass(frozen=True)
class Begun:
    """Work that is begun: what was taken, the claim in this worktree, and what was not quite right."""

    work: TakenWork
    local: Taken | None
    notes: tuple[str, ...] = ()
    # What is typed to have back what was not committed at the handoff.
    restore: str = ""


def take_hook(context: Context, name: str, agrees: Callable[[str], bool] = lambda _question: False) -> Done[TakenWork]:
    """Move hook and claim to this worktree in one push, and return everything a local claim needs."""
    tasks: dict[int, Task] = {}
    # The branch by its name, and why it could not be fetched.
    fetched: dict[str, str] = {}

    def decide(view: WorkView, now: datetime) -> Order[TakenWork]:
        worker = worker_named(name, view.hooks)
        seen = view.hooks.get(worker)
        branch = branch_of(view, seen)
        if branch and branch not in fetched:
            fetched[branch] = fetch_work(context, branch)
        on_branch = work_on(context, branch) if branch else BranchWork()
        # Whether the way is clear by now is asked of GitHub, so a hook that was blocked is judged as if it were.
        found = take_decision_here(context, view, _as_if_unblocked(seen) if seen else None, on_branch, now)
        if seen is None or seen.hook is None or seen.hook.status.issue is None:
            return Order(TakenWork(worker, _refuse_verdict(found, seen, None)))
        issue = seen.hook.status.issue
        tip = tip_of(view, issue)
        _refuse_verdict(found, seen, tip)
        if tip is None or found.verdict not in RUNS:
            return Order(TakenWork(worker, found, seen.hook))
        if found.is_take_over:
            _refuse_unfetched(tip, branch, fetched.get(branch, ""))
            _refuse_take_over(context, view, seen, tip, now)
        tasks[issue] = tasks.get(issue) or context.gateway.task(issue)
        refuse_twins(context, issue, but=context.place.root)
        helps = f"a person may take it off: agent-sync worker cancel {worker} --force"
        since = seen.hook.task.assigned if seen.hook.task else tip.lease.acquired_at
        refuse_named_branch(context, tasks[issue], NamedBranch(seen.hook.status.branch, since, helps), agrees)
        order = _hindrance(seen, seen.hook, tasks[issue], tip, now, is_take_over=found.is_take_over)
        if order:
            return order
        return _start(context, TakenWork(worker, found, seen.hook, tasks[issue], tip, on_branch), seen.sha, now)

    done = carry_out(context, decide)
    return replace(done, value=replace(done.value, notes=_fetch_notes(context, fetched)))


def _fetch_notes(context: Context, fetched: dict[str, str]) -> tuple[str, ...]:
    return tuple(
        f"branch {branch} could not be fetched from {context.remotes.push}: {trouble}"
        for branch, trouble in fetched.items()
        if trouble
    )


def take(context: Context, name: str, agrees: Callable[[str], bool] = lambda _question: False) -> Begun:
    """Take what hangs on the hook, then claim it here; taking again what one has changes nothing."""
    done = take_hook(context, name, agrees)
    work, notes = done.value, (*done.view.notes, *done.value.notes)
    if work.tip and done.shas:
        # The commit is known once it is written.
        work = replace(work, tip=replace(work.tip, sha=done.shas[claim_ref(work.tip.lease.issue)]))
    if not work.runs or work.hook is None or work.task is None:
        return Begun(work, None, notes)
    identity.remember(context, work.worker)
    trouble = bring_up_to_date(context, work.on_branch.name)
    local = _claim_here(context, work.task, work)
    note_work(context, work.worker, work.hook, done.view.where, on_branch=work.on_branch.text)
    restore = restore_of(work.hook.handoff, context, done.view.where)
    return Begun(work, local, (*notes, *([trouble] if trouble else [])), restore)


def branch_of(view: WorkView, seen: HookSeen | None) -> str:
    """Return the branch of work that hangs on a hook and has not ended."""
    return branch_of_work(view, seen.hook) if seen and seen.hook and seen.hook.state in ACTIVE else ""


def take_decision_here(
    context: Context, view: WorkView, seen: HookSeen | None, on_branch: BranchWork, now: datetime
) -> TakeDecision:
    """Return what is to be done with what hangs on a hook, seen from this worktree."""
    hook = seen.hook if seen else None
    if hook is None:
        return take_decision(
            HookUnread.UNREADABLE if seen else HookUnread.MISSING,
            LeaseSeen.UNKNOWN,
            has_partial=False,
            worktree=WorktreeHolds.FREE,
        )
    lease = lease_seen(view, hook, worktree=worktree_id(context.place), now=now)
    has_partial = hook.handoff is not None or on_branch.commits > 0
    return take_decision(
        hook.state, lease, has_partial=has_partial, worktree=_worktree_holds(context, hook.status.issue)
    )


def take_over_objection(
    context: Context, view: WorkView, seen: HookSeen, tip: Tip, now: datetime
) -> tuple[str, str] | None:
    """Return what speaks against taking expired work over, and what helps; its branch was fetched before."""
    for one in findings(view, now):
        if one.worker == seen.name and one.repair is Repair.GIVE_UP:
            return one.reason, "agent-sync worker repair --apply"
    lease, branch = tip.lease, tip.lease.branch
    pull = context.gateway.branch_pull(branch) if branch else None
    found = objection_to_taking_over(
        lease,
        now,
        branch_moved=is_branch_at_work(context, tip, now),
        has_open_pull=pull is not None and pull.state is PullState.OPEN,
        consent=False,
        allowance_s=context.settings.lease.allowance_s,
    )
    if found is None:
        return None
    if found is TakeOverObjection.OPEN_PULL:
        return found, f"a human may put it back: agent-sync worker rollback {seen.sha[:12]} {seen.name}"
    is_moved = found is TakeOverObjection.BRANCH_MOVED
    return found, f"git log {context.remotes.push}/{branch}" if is_moved else "agent-sync worker list"


def _refuse_unfetched(tip: Tip, branch: str, trouble: str) -> None:
    """Stop where it is unknown what the former holder has pushed: it would be begun again beside it."""
    if trouble and tip.where is Where.REMOTE:
        message = f"Branch {branch} could not be fetched, so nothing was taken: {trouble}"
        raise GitFailed(message, attempted="taking expired work over", helps="run the same command again")


def _refuse_take_over(context: Context, view: WorkView, seen: HookSeen, tip: Tip, now: datetime) -> None:
    objection = take_over_objection(context, view, seen, tip, now)
    if objection:
        reason, helps = objection
        message = f"The work on the hook of {seen.name} cannot be taken over: {reason}. It was {_by(tip)}."
        raise Refused(message, attempted=f"taking from {seen.name}", helps=helps)


def _worktree_holds(context: Context, issue: int | None) -> WorktreeHolds:
    held = context.store.read()
    if held is None:
        return WorktreeHolds.FREE
    return WorktreeHolds.SAME if held.issue_number == issue else WorktreeHolds.OTHER


def _refuse_verdict(found: TakeDecision, seen: HookSeen | None, tip: Tip | None) -> TakeDecision:
    """Raise a verdict that forbids taking, in words that help; return any other."""
    name = seen.name if seen else ""
    match found.verdict:
        case TakeVerdict.REPORT_DAMAGED:
            raise BadHook(
                seen.damage if seen else "", attempted=f"taking from {name}", helps="agent-sync worker repair"
            )
        case TakeVerdict.REPORT_ORPHANED:
            message = f"The work on the hook of {name} is orphaned: {found.reason}" + (f", {_by(tip)}." if tip else ".")
            raise Conflict(message, attempted=f"taking from {name}", helps="agent-sync worker repair")
        case TakeVerdict.FINISH_FIRST:
            message = f"Work hangs on the hook of {name}, and {found.reason}."
            raise WrongState(message, helps=FINISH_FIRST)
        case TakeVerdict.WAIT if tip and seen and seen.hook and seen.hook.state is WorkState.IN_PROGRESS:
            raise HookBusy(
                f"The work on the hook of {name} is in progress: {_by(tip)}.", helps="agent-sync worker list"
            )
        case _:
            return found


def _by(tip: Tip) -> str:
    return f"held by {holder_text(tip)} since {heard_of_at(tip.lease.acquired_at, clock.now()):%Y-%m-%d %H:%M} UTC"


def _start(context: Context, work: TakenWork, sha: str, now: datetime) -> Order[TakenWork]:
    hook, task, before = work.hook, work.task, work.tip
    if hook is None or task is None or before is None:
        return Order(work)
    is_take_over = work.decision.is_take_over
    if hook.state is WorkState.IN_PROGRESS and not is_take_over:
        return _continue(context, work, before, now)
    wanted = WantedClaim(task.number, work.worker, work.on_branch.name, before.lease.pr)
    lease = working_claim(context, wanted, before, now)
    is_resumed = work.decision.verdict is TakeVerdict.RESUME
    moved = moves.after_start(hook, holding_of(lease, str(work.worker)), now, is_resumed=is_resumed)
    note = f"Taken over from {holder_name(before.lease)}: the claim had expired" if is_take_over else ""
    changes = (claim_change(task.number, lease, before, note), hook_change(work.worker.ref, sha, moved, now))
    return Order(replace(work, hook=moved.hook, tip=Tip("", lease, before.where)), changes)


def _continue(context: Context, work: TakenWork, before: Tip, now: datetime) -> Order[TakenWork]:
    """Leave work that is under way here as it is; a claim that has run out is renewed before others put it back."""
    if not is_expired(before.lease, now, context.settings.lease.allowance_s):
        return Order(work)
    lease = renewed_lease(before, LeaseChange(now, phase=WORKING))
    return Order(replace(work, tip=Tip("", lease, before.where)), (renewal_change(before, now, phase=WORKING),))


def _hindrance(  # noqa: PLR0913  # what is there, and how it would be taken
    seen: HookSeen, hook: WorkHook, task: Task, before: Tip, now: datetime, *, is_take_over: bool
) -> Order[TakenWork] | None:
    """Return what to write where the issue was closed or blocked since it was slung."""
    if hook.state is WorkState.IN_PROGRESS and not is_take_over:
        return None
    if not task.is_open:
        reason = f"issue #{task.number} is closed"
        moved = moves.after_cancel(hook, now, reason)
        changes = (ending_change(before, now), hook_change(seen.name.ref, seen.sha, moved, now))
        return Order(
            TakenWork(seen.name, TakeDecision(TakeVerdict.WAIT, f"{reason}; the work was cancelled"), moved.hook),
            changes,
        )
    if hook.state is WorkState.IN_PROGRESS:
        # What blocks it now did not keep its former holder from it.
        return None
    known = set(hook.task.blocked_by) if hook.task else set()
    new = [number for number in task.open_blockers if task_id(number, None) not in known]
    foreign = [name for name in task.foreign_blockers if foreign_task_id(name) not in known]
    if not (new or foreign):
        return None
    reason = f"issue #{task.number} is blocked by " + ", ".join([*(f"#{number}" for number in new), *foreign])
    verdict = TakeDecision(TakeVerdict.WAIT, reason)
    if hook.state is WorkState.BLOCKED:
        return Order(TakenWork(seen.name, verdict, hook))
    moved = moves.after_block(hook, now, reason)
    return Order(TakenWork(seen.name, verdict, moved.hook), (hook_change(seen.name.ref, seen.sha, moved, now),))


def _as_if_unblocked(seen: HookSeen) -> HookSeen:
    """Return blocked work as it stood before."""
    hook = seen.hook
    if hook is None or hook.state is not WorkState.BLOCKED:
        return seen
    before = WorkState.HANDED_OFF if hook.handoff else WorkState.PENDING
    return replace(seen, hook=replace(hook, status=hook.status.model_copy(update={"status": before})))


def _claim_here(context: Context, task: Task, work: TakenWork) -> Taken | None:
    """Claim the issue in this worktree; the hook has decided whose it is, so the board's word is no objection."""
    held = context.store.read()
    if held is not None:
        held = _with_lease(context, held, work.tip)
        return finish(context, held) if held.is_unmirrored else None
    wish = Wish(branch=work.on_branch.name, take_over=True, held=work.tip)
    taken = take_task(context, task.without_blockers(), wish)
    return _with_pull(context, taken) if work.decision.verdict is TakeVerdict.RESUME else taken


def _with_pull(context: Context, taken: Taken) -> Taken:
    """Let a fresh claim go on with the pull request of its branch, if that has one; the board follows."""
    claim = taken.claim
    try:
        pull = context.gateway.branch_pull(claim.branch)
    except AgentSyncError:
        # `handoff` finds it later.
        return taken
    if pull is None or pull.state is PullState.CLOSED:
        return taken
    changes = {"phase": Phase.PR_CREATED, "pr_number": pull.number, "status": context.settings.board.in_review}
    with context.store.locked() as token:
        changed = context.store.save(token, seen=claim, changed=claim.model_copy(update=changes))
    return replace(taken, claim=changed)


def _with_lease(context: Context, claim: Claim, tip: Tip | None) -> Claim:
    """Let the claim that is held here already prove the holding that was begun just now."""
    if tip is None or (claim.lease and claim.lease.nonce == tip.lease.nonce):
        return claim
    with context.store.locked() as token:
        return context.store.save(token, seen=claim, changed=claim.model_copy(update={"lease": lease_note(tip)}))
