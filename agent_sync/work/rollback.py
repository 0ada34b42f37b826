"""Lists the states a work hook has been in, and restores one: a new commit of the hook and its claims in one push."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from agent_sync.context import Context
from agent_sync.errors import AgentSyncError, BadHook, BadInput, BadLease, Conflict, HookBusy, Refused
from agent_sync.lazy_dataclasses import dataclass
from agent_sync.lazy_patterns import pattern
from agent_sync.leases.claim_refs import read_claim, transport_here
from agent_sync.leases.identity import holder_here
from agent_sync.leases.model import LeaseState, Tip
from agent_sync.leases.refs.compare_and_swap import RefChange
from agent_sync.leases.refs.values import Where
from agent_sync.leases.results import Unknown
from agent_sync.leases.rules import is_expired
from agent_sync.leases.words import held_by, holder_name
from agent_sync.system import git_branches
from agent_sync.task.decision.outside_text import one_line
from agent_sync.task.decision.tasks import Task
from agent_sync.task.freeing import refuse_in_session
from agent_sync.work.claims import (
    WantedClaim,
    branch_of_work,
    claim_change,
    holding_of,
    taken_away,
    tip_of,
    waiting_claim,
)
from agent_sync.work.endings.cancelling import comment_on, give_issue_back
from agent_sync.work.finishing import show_for_review
from agent_sync.work.hook.model import WorkHook
from agent_sync.work.hook.moves import after_rollback, restored_state
from agent_sync.work.hook.names import WorkerName, worker_named
from agent_sync.work.hook.orders import Order, carry_out, hook_change
from agent_sync.work.hook.reading import history, view_here
from agent_sync.work.hook.states import ACTIVE, WAITING, WorkState
from agent_sync.work.hook.view import HookCommit, HookSeen, WorkView
from agent_sync.work.hook.wording import writable
from agent_sync.work.sling import move_card

ATTEMPTED = "rolling back work"
_COMMIT = pattern(r"[0-9a-f]{4,64}")
_LONGEST_REASON = 1000


@dataclass(frozen=True)
class HookHistory:
    """The states of one hook, the newest first, and what every reader must know."""

    worker: WorkerName
    states: tuple[HookCommit, ...]
    where: Where
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class RolledBack:
    """A hook that is, or would be, in an earlier state; `commit` is where it was in it."""

    worker: WorkerName
    commit: str
    hook: WorkHook
    refs: tuple[str, ...] = ()
    # Issues whose claims ended with it.
    freed: tuple[int, ...] = ()
    # The claim of a session that was at work.
    forced: Tip | None = None
    notes: tuple[str, ...] = ()
    trouble: str = ""
    is_repeat: bool = False

    @property
    def waits(self) -> bool:
        """Whether work waits for the worker now."""
        return self.hook.state in WAITING


def hook_history(context: Context, name: str) -> HookHistory:
    """Return every state of a worker's hook that can be read back."""
    view = view_here(context)
    seen = _hook_seen(view, name, attempted="reading a hook's history")
    return HookHistory(seen.name, tuple(reversed(_states(context, seen))), view.where, view.notes)


def roll_back(  # noqa: PLR0913  # which state, of whom, and how
    context: Context, commit: str, name: str, *, reason: str = "", force: bool = False, dry_run: bool = False
) -> RolledBack:
    """Restore the state of a commit of a worker's hook as a new one, with the claims that go with it, in one push."""
    refuse_in_session(context, attempted=ATTEMPTED, what="roll work back")
    tasks: dict[int, Task] = {}

    def decide(view: WorkView, now: datetime) -> Order[RolledBack]:
        seen = _hook_seen(view, name, attempted=ATTEMPTED)
        states = _states(context, seen)
        wanted = _wanted(states, commit, seen.name)
        plan = _Plan(context, _with_claim(context, view, wanted), seen, states, wanted, now)
        plan.refuse_held()
        if plan.is_done():
            return Order(plan.repeated())
        if not force:
            plan.refuse_live()
        if plan.waits and plan.issue:
            tasks[plan.issue] = tasks.get(plan.issue) or context.gateway.task(plan.issue)
            _refuse_closed(tasks[plan.issue])
        return plan.order(reason)

    done = carry_out(context, decide, dry_run=dry_run)
    found = replace(done.value, notes=(*done.view.notes, *_missing_branch(context, done.value)))
    return found if dry_run else replace(found, trouble=_tell_github(context, found, reason))


@dataclass(frozen=True)
class _Plan:
    """What is there, and the state that is wanted back."""

    context: Context
    view: WorkView
    seen: HookSeen
    states: tuple[HookCommit, ...]
    wanted: HookCommit
    now: datetime

    @property
    def hook(self) -> WorkHook:
        """The state that is wanted back."""
        assert self.wanted.hook is not None  # noqa: S101  # one that cannot be read is refused
        return self.wanted.hook

    @property
    def issue(self) -> int | None:
        """The issue of that state."""
        return self.hook.status.issue

    @property
    def waits(self) -> bool:
        """Whether work waits for the worker in it."""
        return restored_state(self.hook) in WAITING

    @property
    def current(self) -> WorkHook | None:
        """What hangs there now, or hung there before the hook was damaged."""
        return _last_readable(self.states)

    def tip(self, issue: int | None) -> Tip | None:
        """Return the claim of an issue that is held."""
        tip = tip_of(self.view, issue) if issue else None
        return tip if tip and tip.lease.state is LeaseState.HELD else None

    def is_own(self, tip: Tip) -> bool:
        """Tell whether a claim is of this hook: one of its states went with it."""
        return tip.lease.nonce in {one.hook.status.nonce for one in self.states if one.hook}

    def refuse_held(self) -> None:
        """Stop where another worker or a person holds the issue."""
        tip = self.tip(self.issue)
        if tip and not self.is_own(tip):
            message = f"Issue #{self.issue} is held by {held_by(tip.lease)}."
            raise Conflict(message, attempted=ATTEMPTED, helps="agent-sync worker list")

    def live(self) -> Tip | None:
        """Return the claim of a session that is at work on what hangs there now."""
        now = self.current
        tip = self.tip(now.status.issue) if now and now.state is WorkState.IN_PROGRESS else None
        is_live = tip and self.is_own(tip) and not is_expired(tip.lease, self.now, self.view.allowance_s)
        return tip if is_live else None

    def refuse_live(self) -> None:
        """Stop where a session is at work."""
        tip = self.live()
        if tip:
            task = self.current.task.id if self.current and self.current.task else ""
            message = f"{self.seen.name} is at work on {task}: held by {holder_name(tip.lease)}."
            again = f"agent-sync worker rollback {self.wanted.sha[:12]} {self.seen.name} --force"
            raise HookBusy(message, attempted=ATTEMPTED, helps=f"wait, or take it away from its session: {again}")

    def is_done(self) -> bool:
        """Tell whether the hook is in that state already, restored or not, with the claim that goes with it."""
        now = self.seen.hook
        if now is None or now.state is not restored_state(self.hook):
            return False
        is_last = self.wanted.sha == self.seen.sha
        is_restored = _restored_commit(self.states[-1]) == self.wanted.sha
        tip = self.tip(now.status.issue)
        is_settled = (tip is not None and tip.lease.nonce == now.status.nonce) if self.waits else tip is None
        return (is_last or is_restored) and is_settled

    def repeated(self) -> RolledBack:
        """Return what an earlier run has done, so that GitHub can be told again."""
        is_restored = _restored_commit(self.states[-1]) == self.wanted.sha
        before = _last_readable(self.states[:-1]) if is_restored else None
        free = before.status.issue if before and before.state in ACTIVE else None
        freed = (free,) if free and self.tip(free) is None else ()
        assert self.seen.hook is not None  # noqa: S101  # it is in that state
        return RolledBack(self.seen.name, self.wanted.sha, self.seen.hook, freed=freed, is_repeat=True)

    def order(self, reason: str) -> Order[RolledBack]:
        """Return the hook in that state, and its claims as that state needs them."""
        me = holder_here(self.context.place)
        by = f"rolled back to {self.wanted.sha[:12]} by {me.user}@{me.host}"
        said = writable(one_line(f"{by}: {reason}" if reason else by, limit=_LONGEST_REASON))
        holding, claims, freed = None, list[RefChange](), list[int]()
        if self.waits and self.issue:
            before = tip_of(self.view, self.issue)
            pull = before.lease.pr if before and self.is_own(before) else None
            wish = WantedClaim(self.issue, self.seen.name, branch_of_work(self.view, self.hook), pull)
            lease = waiting_claim(self.context, wish, before, self.now)
            holding = holding_of(lease, me.user)
            claims.append(claim_change(self.issue, lease, before, said))
        for tip in self._ending():
            is_complete = tip.lease.issue == self.issue and self.hook.state is WorkState.COMPLETE
            state = LeaseState.DONE if is_complete else LeaseState.RELEASED
            claims.append(taken_away(self.context, tip, self.now, said, state))
            freed += [] if is_complete else [tip.lease.issue]
        moved = after_rollback(self.hook, holding, self.now, said)
        moved = replace(moved, message=f"{moved.message}\n\n{_RESTORES}{self.wanted.sha}")
        changes = (hook_change(self.seen.name.ref, self.seen.sha, moved, self.now), *claims)
        refs = tuple(change.ref for change in changes)
        return Order(RolledBack(self.seen.name, self.wanted.sha, moved.hook, refs, tuple(freed), self.live()), changes)

    def _ending(self) -> list[Tip]:
        """Return the claims of this hook that no work goes with afterwards."""
        now = self.current
        issues = {self.issue, now.status.issue if now else None} - ({self.issue} if self.waits else set())
        tips = [self.tip(issue) for issue in sorted(filter(None, issues))]
        return [tip for tip in tips if tip and self.is_own(tip)]


_RESTORES = "Restores: "


def _last_readable(states: Sequence[HookCommit]) -> WorkHook | None:
    return next((one.hook for one in reversed(states) if one.hook), None)


def _restored_commit(state: HookCommit) -> str:
    """Return the commit whose state a rollback has restored; empty for any other step."""
    last = state.message.rstrip().rpartition("\n")[2]
    return last.removeprefix(_RESTORES) if last.startswith(_RESTORES) else ""


def _hook_seen(view: WorkView, name: str, *, attempted: str) -> HookSeen:
    """Return a worker's hook, damaged or not; stop where there is none that could be written."""
    worker = worker_named(name, view.hooks)
    seen = view.hooks.get(worker)
    if seen is None:
        raise BadInput(f"{worker} has no hook.", attempted=attempted, helps="agent-sync worker list")
    if seen.is_blocked or seen.is_too_new:
        raise BadHook(seen.damage, attempted=attempted, helps="agent-sync worker repair")
    return seen


def _states(context: Context, seen: HookSeen) -> tuple[HookCommit, ...]:
    return history(transport_here(context), only=frozenset({seen.name}))


def _wanted(states: Sequence[HookCommit], commit: str, worker: WorkerName) -> HookCommit:
    """Return the state that a commit of a hook, or the beginning of its name, stands for."""
    helps = f"agent-sync worker history {worker}"
    found = [one for one in states if one.sha.startswith(commit)] if _COMMIT.fullmatch(commit) else []
    if len(found) != 1:
        several = "several commits" if found else "no commit"
        message = f"{one_line(commit, limit=64)!r} is {several} of the hook of {worker}."
        raise BadInput(message, attempted=ATTEMPTED, helps=helps)
    if found[0].hook is None:
        message = f"The hook of {worker} cannot be read in commit {found[0].sha[:12]}."
        raise BadHook(message, attempted=ATTEMPTED, helps=helps)
    return found[0]


def _with_claim(context: Context, view: WorkView, wanted: HookCommit) -> WorkView:
    """Return the view with the claim of the issue that is wanted back, which may be on no hook now."""
    issue = wanted.hook.status.issue if wanted.hook else None
    if issue is None or isinstance(view.claims.get(issue), Tip):
        return view
    seen = read_claim(transport_here(context), issue)
    if isinstance(seen, Unknown):
        raise BadLease(seen.reason, attempted=ATTEMPTED, helps="agent-sync worker repair")
    return replace(view, claims={**view.claims, issue: seen}) if seen else view


def _refuse_closed(task: Task) -> None:
    if not task.is_open:
        message = f"Issue #{task.number} is closed, so its work cannot continue."
        raise Refused(message, attempted=ATTEMPTED, helps=f"reopen it, then the same command: {task.url}")


def _missing_branch(context: Context, found: RolledBack) -> tuple[str, ...]:
    """Say where the branch of work that was begun is not on the remote any more."""
    hook, remote = found.hook, context.remotes.push
    branch, is_begun = hook.status.branch, bool(hook.attempts or hook.handoff)
    if not (found.waits and is_begun and branch and context.git.remote(remote)):
        return ()
    try:
        is_there = git_branches.fetch_branch(context.git, remote, branch) is not None
    except AgentSyncError as error:
        return (f"branch {branch} could not be looked for on {remote}: {error.happened}",)
    gone = f"branch {branch} is not on {remote} any more: only clones that have it can continue on its commits"
    return () if is_there else (gone,)


def _tell_github(context: Context, found: RolledBack, reason: str) -> str:
    """Let board and issue say what hook and claims say; return what was wrong."""
    issue, forced = found.hook.status.issue, found.forced.lease if found.forced else None
    said = f"rolled back the work of {found.worker}, held by {holder_name(forced)}." if forced else ""
    troubles = [
        give_issue_back(context, one, found.worker, said=said if forced and forced.issue == one else "", reason=reason)
        for one in found.freed
    ]
    try:
        if found.waits and issue:
            troubles.append(move_card(context, context.gateway.task(issue), found.worker))
        elif found.hook.state is WorkState.COMPLETE:
            troubles.append(show_for_review(context, found.worker, issue))
        if forced and forced.issue not in found.freed:
            comment_on(context, context.gateway.task(forced.issue), said, reason)
    except AgentSyncError as error:
        troubles.append(str(error))
    return "; ".join(filter(None, troubles))
