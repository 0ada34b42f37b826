"""Carries out orders to hooks and claims: look, decide, write all at once, and decide again if others were faster."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Generic, TypeVar

from agent_sync.context import Context
from agent_sync.errors import BadHook, GitFailed
from agent_sync.lazy_dataclasses import dataclass
from agent_sync.leases.acquire import refs_refused
from agent_sync.leases.claim_refs import connection, remember_refusal, transport_here, transport_of
from agent_sync.leases.refs.api_transport import ApiTransport, api_of
from agent_sync.leases.refs.compare_and_swap import RefChange, RefOrder, Swapped, SwapPlan, Tried, compare_and_swap
from agent_sync.leases.refs.probe import refuses_all_refs
from agent_sync.leases.refs.transports import RemoteTransport
from agent_sync.leases.refs.values import BranchHead, NewCommit, PushResult, RefTransport, RefUpdate, Where
from agent_sync.leases.words import blocked_text
from agent_sync.system import clock
from agent_sync.work.hook.layout import readable_files
from agent_sync.work.hook.moves import Moved
from agent_sync.work.hook.reading import look
from agent_sync.work.hook.view import WorkView

ATTEMPTS = 5
# A second refusal is seldom a lost race: after it, and only then, it is asked whether another ref is in the way.
_BLOCKED_LOOK = 2
T = TypeVar("T")


@dataclass(frozen=True)
class Order(Generic[T]):
    """What is to be written, all or nothing, and what is true then; without changes it is true already."""

    value: T
    changes: tuple[RefChange, ...] = ()
    branch: BranchHead | None = None


@dataclass(frozen=True)
class Done(Generic[T]):
    """What came of an order: its value, what was seen before, and the commits that were written by ref."""

    value: T
    view: WorkView
    shas: dict[str, str]


Decide = Callable[[WorkView, datetime], Order[T]]


def hook_change(ref: str, old: str, moved: Moved, now: datetime) -> RefChange:
    """Return the change of a hook's ref that a move makes; stop before anything is written that others cannot read."""
    files, parents = readable_files(moved.hook), (old,) if old else ()
    return RefChange(ref, old, NewCommit(f"{moved.message}\n", files, parents, int(now.timestamp())))


def carry_out(
    context: Context,
    decide: Decide[T],
    *,
    issue: int | None = None,
    dry_run: bool = False,
    where: Where | None = None,
) -> Done[T]:
    """Decide from what is there and write it; whoever loses a race decides again from what is there then.

    `where` is where a claim is kept that was made earlier; a new one goes where new ones go.
    """
    transport = transport_of(context, where) if where else transport_here(context)
    found = compare_and_swap(transport, _WorkOrder(context, decide, issue, dry_run))
    match found:
        case Swapped(done, updates, pushed) if pushed.result is PushResult.LANDED:
            return replace(done, shas={update.ref: update.new for update in updates})
        case Swapped(_, _, pushed):
            raise _not_written(pushed.text)
        case _:
            return found


@dataclass(frozen=True)
class _WorkOrder(RefOrder[WorkView, Done[T], Done[T]]):
    """One order to the hooks and claims of a repository."""

    context: Context
    choose: Decide[T]
    issue: int | None
    dry_run: bool

    def look(self, transport: RefTransport) -> WorkView:
        """Fetch all hooks, and one claim or all."""
        return look(transport, self.context.settings.lease.allowance_s, issue=self.issue)

    def decide(self, seen: WorkView, tried: Tried[Done[T]] | None) -> SwapPlan[Done[T]] | Done[T]:
        """Return what to swap; what is there already after an answer that was lost is done."""
        _refuse_stale(seen, is_doubtful=tried is not None)
        if tried and tried.pushed.result is PushResult.SILENT and _is_in(seen, tried):
            return replace(tried.plan.value, shas={update.ref: update.new for update in tried.updates})
        # A branch that was refused twice is not a matter of who was faster.
        if tried and (tried.number == ATTEMPTS or (tried.plan.branch and tried.number > 1)):
            raise _not_written(tried.pushed.text)
        order = self.choose(seen, clock.now())
        done = Done(order.value, seen, {})
        if self.dry_run or not order.changes:
            return done
        return SwapPlan(done, order.changes, self._branch(seen, order.branch) if order.branch else None)

    def after_failure(self, transport: RefTransport, tried: Tried[Done[T]]) -> RefTransport:
        """Go on through GitHub's interface where git may push no ref; this clone alone needs the user's word."""
        if tried.number == _BLOCKED_LOOK and tried.pushed.result is PushResult.REJECTED:
            _refuse_blocked(transport, tried.updates)
        is_rejected = tried.number == 1 and tried.pushed.result is PushResult.REJECTED
        if not is_rejected or not refuses_all_refs(transport, tried.pushed, tried.updates[0].new):
            return transport
        connect = connection(self.context)
        if connect and isinstance(transport, RemoteTransport) and not isinstance(transport, ApiTransport):
            remember_refusal(self.context.place, transport.url, clock.now())
            return api_of(transport, connect)
        otherwise = 'or set lease.where = "clone" to keep the work in this clone only'
        remote, attempted = self.context.remotes.base, "writing to the work hooks"
        raise refs_refused(remote, tried.pushed.text, attempted=attempted, otherwise=otherwise)

    def _branch(self, seen: WorkView, branch: BranchHead) -> BranchHead | None:
        """Return the branch to push; a clone without a remote leaves it here."""
        has_remote = seen.where is Where.REMOTE or self.context.git.remote(self.context.remotes.push)
        return branch if has_remote else None


def _refuse_blocked(transport: RefTransport, updates: Sequence[RefUpdate]) -> None:
    above = next(filter(None, (transport.above(update.ref) for update in updates if not update.old)), "")
    if above:
        attempted, helps = "writing to the work hooks", "remove that ref, then the same command"
        raise BadHook(blocked_text(transport, above), attempted=attempted, helps=helps)


def _refuse_stale(view: WorkView, *, is_doubtful: bool) -> None:
    if view.trouble:
        known = "it is unknown whether the change was written" if is_doubtful else "nothing was written"
        message = f"The remote cannot be reached, so {known}: {view.trouble}."
        raise GitFailed(message, attempted="reading the work hooks", helps="agent-sync doctor")


def _is_in(view: WorkView, tried: Tried[Done[T]]) -> bool:
    """Tell whether a change whose answer was lost is there all the same; only reading the refs can tell."""
    return all(view.shas.get(update.ref) == update.new for update in tried.updates[:2])


def _not_written(text: str) -> GitFailed:
    return GitFailed(
        f"It could not be written: {text or 'other writers were faster on every attempt'}.",
        helps="agent-sync worker list, then the same command",
    )
