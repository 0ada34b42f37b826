"""Takes the work from a hook: the hook and its claim move in one push before any work begins, then the claim here."""

from dataclasses import dataclass, replace
from datetime import datetime

from agent_sync.context import Context
from agent_sync.errors import BadHook, BadInput, Conflict, HookBusy
from agent_sync.leases.identity import worktree_id
from agent_sync.leases.model import Tip
from agent_sync.leases.note import noted
from agent_sync.leases.results import Change
from agent_sync.leases.rules import heard_of_at, is_expired, parent_of_renewal, renewed
from agent_sync.system import clock
from agent_sync.task.claim.model import Claim
from agent_sync.task.claiming import Taken, Wish, finish, refuse_twins, take as take_task
from agent_sync.task.decision.tasks import Task
from agent_sync.work import identity
from agent_sync.work.branches import bring_up_to_date, has_own_commits
from agent_sync.work.holdings import WORKING, Wanted, claim_step, ending_step, holding_of, tip_of, working_claim
from agent_sync.work.hook import moves
from agent_sync.work.hook.model import Hook
from agent_sync.work.hook.names import WorkerName, claim_ref, task_id, worker_named
from agent_sync.work.hook.orders import Done, Order, Step, carry_out
from agent_sync.work.hook.sight import HookSeen, Sight, holder_text, lease_seen
from agent_sync.work.hook.states import State
from agent_sync.work.prime import RUNS, Desktop, LeaseSeen, Prime, Read, Verdict, prime


@dataclass(frozen=True)
class TakenWork:
    """What was found on the hook: the work as it stands now, the verdict, and the lease that goes with it.

    `tip` is the claim ref's commit and lease of this worktree; None where there is nothing to work on.
    """

    worker: WorkerName
    prime: Prime
    hook: Hook | None = None
    task: Task | None = None
    tip: Tip | None = None

    @property
    def runs(self) -> bool:
        """Whether there is work to do now."""
        return self.prime.verdict in RUNS


@dataclass(frozen=True)
class Begun:
    """Work that is begun: what was taken, the claim in this worktree, and what was not quite right."""

    work: TakenWork
    local: Taken | None
    notes: tuple[str, ...] = ()


def taken(context: Context, name: str) -> Done[TakenWork]:
    """Move hook and claim to this worktree in one push, and return everything a local claim needs."""
    tasks: dict[int, Task] = {}

    def decide(sight: Sight, now: datetime) -> Order[TakenWork]:
        worker = worker_named(name, sight.hooks)
        seen = sight.hooks.get(worker)
        # Whether the way is clear by now is asked of GitHub, so a hook that was blocked is judged as if it were.
        found = judged(context, sight, _unblocked(seen) if seen else None, now)
        if seen is None or seen.hook is None or seen.hook.status.issue is None:
            return Order(TakenWork(worker, _refused(found, seen, None)))
        issue = seen.hook.status.issue
        tip = tip_of(sight, issue)
        _refused(found, seen, tip)
        if tip is None or found.verdict not in RUNS:
            return Order(TakenWork(worker, found, seen.hook))
        tasks[issue] = tasks.get(issue) or context.gateway.task(issue)
        refuse_twins(context, issue, but=context.place.root)
        order = _hindered(seen, seen.hook, tasks[issue], tip, now)
        return order or _begun(context, TakenWork(worker, found, seen.hook, tasks[issue], tip), seen.sha, now)

    return carry_out(context, decide)


def take(context: Context, name: str) -> Begun:
    """Take what hangs on the hook, then claim it here; taking again what one has changes nothing."""
    done = taken(context, name)
    work = done.value
    if work.tip and done.shas:
        # The commit is known once it is written.
        work = replace(work, tip=replace(work.tip, sha=done.shas[claim_ref(work.tip.lease.issue)]))
    if not work.runs or work.hook is None or work.task is None:
        return Begun(work, None, done.sight.notes)
    identity.remember(context, work.worker)
    trouble = bring_up_to_date(context, work.hook.status.branch)
    notes = (*done.sight.notes, *([trouble] if trouble else []))
    return Begun(work, _claimed_here(context, work.task, work.hook, work.tip), notes)


def judged(context: Context, sight: Sight, seen: HookSeen | None, now: datetime) -> Prime:
    """Return what is to be done with what hangs on a hook, seen from this worktree."""
    hook = seen.hook if seen else None
    if hook is None:
        return prime(
            Read.UNREADABLE if seen else Read.MISSING, LeaseSeen.UNKNOWN, has_partial=False, desktop=Desktop.FREE
        )
    lease = lease_seen(sight, hook, worktree=worktree_id(context.place), now=now)
    has_partial = hook.handoff is not None or has_own_commits(context, hook.status.branch)
    return prime(hook.state, lease, has_partial=has_partial, desktop=_desktop(context, hook.status.issue))


def _desktop(context: Context, issue: int | None) -> Desktop:
    held = context.store.read()
    if held is None:
        return Desktop.FREE
    return Desktop.SAME if held.issue_number == issue else Desktop.OTHER


def _refused(found: Prime, seen: HookSeen | None, tip: Tip | None) -> Prime:
    """Raise a verdict that forbids taking, in words that help; return any other."""
    name = seen.name if seen else ""
    match found.verdict:
        case Verdict.REPORT_DAMAGED:
            raise BadHook(
                seen.damage if seen else "", attempted=f"taking from {name}", helps="agent-sync worker repair"
            )
        case Verdict.REPORT_ORPHANED:
            message = f"The work on the hook of {name} is orphaned: {found.reason}" + (f", {_by(tip)}." if tip else ".")
            raise Conflict(message, attempted=f"taking from {name}", helps="agent-sync worker repair")
        case Verdict.FINISH_FIRST:
            message = f"Work hangs on the hook of {name}, and {found.reason}."
            raise BadInput(message, helps="agent-sync handoff or agent-sync release, or take it in another worktree")
        case Verdict.WAIT if tip and seen and seen.hook and seen.hook.state is State.IN_PROGRESS:
            raise HookBusy(
                f"The work on the hook of {name} is in progress: {_by(tip)}.", helps="agent-sync worker list"
            )
        case _:
            return found


def _by(tip: Tip) -> str:
    return f"held by {holder_text(tip)} since {heard_of_at(tip.lease.acquired_at, clock.now()):%Y-%m-%d %H:%M} UTC"


def _begun(context: Context, work: TakenWork, sha: str, now: datetime) -> Order[TakenWork]:
    hook, task, before = work.hook, work.task, work.tip
    if hook is None or task is None or before is None:
        return Order(work)
    if hook.state is State.IN_PROGRESS:
        return _gone_on_with(context, work, before, now)
    wanted = Wanted(task.number, work.worker, hook.status.branch, before.lease.pr)
    lease = working_claim(context, wanted, before, now)
    is_resumed = work.prime.verdict is Verdict.RESUME
    moved = moves.started(hook, holding_of(lease, str(work.worker)), now, is_resumed=is_resumed)
    steps = (claim_step(task.number, lease, before), Step(work.worker.ref, sha, moved))
    return Order(replace(work, hook=moved.hook, tip=Tip("", lease, before.where)), steps)


def _gone_on_with(context: Context, work: TakenWork, before: Tip, now: datetime) -> Order[TakenWork]:
    """Leave work that is under way here as it is; a claim that has run out is renewed before others put it back."""
    if not is_expired(before.lease, now, context.settings.lease.allowance_s):
        return Order(work)
    lease = renewed(before, Change(now, phase=WORKING))
    step = Step(claim_ref(lease.issue), before.sha, lease, parent_of_renewal(before))
    return Order(replace(work, tip=Tip("", lease, before.where)), (step,))


def _hindered(seen: HookSeen, hook: Hook, task: Task, before: Tip, now: datetime) -> Order[TakenWork] | None:
    """Return what to write where the issue was closed or blocked since it was slung."""
    if hook.state is State.IN_PROGRESS:
        return None
    if not task.is_open:
        reason = f"issue #{task.number} is closed"
        moved = moves.cancelled(hook, now, reason)
        steps = (ending_step(before, now), Step(seen.name.ref, seen.sha, moved))
        return Order(TakenWork(seen.name, Prime(Verdict.WAIT, f"{reason}; the work was cancelled"), moved.hook), steps)
    known = set(hook.task.blocked_by) if hook.task else set()
    new = [number for number in task.open_blockers if task_id(number, None) not in known]
    if not new:
        return None
    reason = f"issue #{task.number} is blocked by " + ", ".join(f"#{number}" for number in new)
    verdict = Prime(Verdict.WAIT, reason)
    if hook.state is State.BLOCKED:
        return Order(TakenWork(seen.name, verdict, hook))
    moved = moves.blocked(hook, now, reason)
    return Order(TakenWork(seen.name, verdict, moved.hook), (Step(seen.name.ref, seen.sha, moved),))


def _unblocked(seen: HookSeen) -> HookSeen:
    """Return blocked work as it stood before."""
    hook = seen.hook
    if hook is None or hook.state is not State.BLOCKED:
        return seen
    before = State.HANDED_OFF if hook.handoff else State.PENDING
    return replace(seen, hook=replace(hook, status=hook.status.model_copy(update={"status": before})))


def _claimed_here(context: Context, task: Task, hook: Hook, tip: Tip | None) -> Taken | None:
    """Claim the issue in this worktree; the hook has decided whose it is, so the board's word is no objection."""
    held = context.store.read()
    if held is not None:
        held = _with_lease(context, held, tip)
        return finish(context, held) if held.is_unmirrored else None
    return take_task(
        context, replace(task, open_blockers=()), Wish(branch=hook.status.branch, take_over=True, held=tip)
    )


def _with_lease(context: Context, claim: Claim, tip: Tip | None) -> Claim:
    """Let the claim that is held here already prove the holding that was begun just now."""
    if tip is None or (claim.lease and claim.lease.nonce == tip.lease.nonce):
        return claim
    with context.store.locked() as token:
        return context.store.save(token, seen=claim, changed=claim.model_copy(update={"lease": noted(tip)}))
