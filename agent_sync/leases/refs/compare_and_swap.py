"""The one engine that changes refs: look, decide, swap all at once, and decide again from what is there then."""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Generic, TypeVar

from agent_sync.errors import GitFailed
from agent_sync.lazy_dataclasses import dataclass
from agent_sync.leases.refs.values import BranchHead, NewCommit, Pushed, PushResult, RefTransport, RefUpdate
from agent_sync.system.git_refusals import is_object_missing

PAUSE_S = 0.1
_SETTLED = frozenset({PushResult.LANDED, PushResult.BRANCH_REFUSED})
_PRUNED = "git gc may have removed an object that was to be pushed: run the same command again, else git fsck"
SeenT = TypeVar("SeenT")
PlannedT = TypeVar("PlannedT")
AnswerT = TypeVar("AnswerT")


@dataclass(frozen=True)
class RefChange:
    """One ref and what it becomes: a commit to be written, or the sha of one that is written already."""

    ref: str
    old: str
    content: NewCommit | str


@dataclass(frozen=True)
class SwapPlan(Generic[PlannedT]):
    """What is to be written, all or nothing, and what is true then."""

    value: PlannedT
    changes: tuple[RefChange, ...]
    branch: BranchHead | None = None


@dataclass(frozen=True)
class Tried(Generic[PlannedT]):
    """A plan whose swap did not clearly work: which attempt it was, and how it ended."""

    plan: SwapPlan[PlannedT]
    updates: tuple[RefUpdate, ...]
    pushed: Pushed
    number: int
    # Whether this swap, or one before it, may have been sent.
    was_sent: bool


@dataclass(frozen=True)
class Swapped(Generic[PlannedT]):
    """A plan whose refs have moved; its branch may still have been refused."""

    value: PlannedT
    updates: tuple[RefUpdate, ...]
    pushed: Pushed


class RefOrder(Generic[SeenT, PlannedT, AnswerT]):
    """One order: what it looks at, and what it decides from that; `decide` writes nothing, and ends the order."""

    def first_look(self, transport: RefTransport) -> SeenT:
        """Return what the first decision is made from."""
        return self.look(transport)

    def look(self, transport: RefTransport) -> SeenT:
        """Read the refs."""
        raise NotImplementedError

    def look_after(self, transport: RefTransport, tried: Tried[PlannedT]) -> SeenT:  # noqa: ARG002
        """Read the refs after a swap that did not clearly work."""
        return self.look(transport)

    def decide(self, seen: SeenT, tried: Tried[PlannedT] | None) -> SwapPlan[PlannedT] | AnswerT:
        """Return what to swap, or the answer if there is nothing to swap."""
        raise NotImplementedError

    def before_swap(self, plan: SwapPlan[PlannedT], updates: Sequence[RefUpdate]) -> None:
        """Write down what is about to be swapped."""

    def after_failure(self, transport: RefTransport, tried: Tried[PlannedT]) -> RefTransport:  # noqa: ARG002
        """Return where to look and swap next."""
        return transport


def compare_and_swap(transport: RefTransport, order: RefOrder[SeenT, PlannedT, AnswerT]) -> Swapped[PlannedT] | AnswerT:
    """Carry out an order; whoever loses a race decides again from what is there then."""
    seen, tried = _looked(transport, order.first_look), None
    while True:
        plan = order.decide(seen, tried)
        if not isinstance(plan, SwapPlan):
            return plan
        updates, pushed = _swap_written(transport, order, plan)
        if pushed.result in _SETTLED:
            return Swapped(plan.value, updates, pushed)
        tried = failed_try(plan, updates, pushed, tried)
        transport = order.after_failure(transport, tried)
        # Others, and a server in trouble, get a moment before the next attempt.
        time.sleep(PAUSE_S * (tried.number - 1))
        seen = _looked(transport, partial(order.look_after, tried=tried))


def _looked(transport: RefTransport, look: Callable[[RefTransport], SeenT]) -> SeenT:
    """Look, and once more where `git gc` has removed what was just fetched."""
    try:
        return look(transport)
    except GitFailed as error:
        if not is_object_missing(str(error)):
            raise
        return look(transport)


def _swap_written(
    transport: RefTransport, order: RefOrder[SeenT, PlannedT, AnswerT], plan: SwapPlan[PlannedT]
) -> tuple[tuple[RefUpdate, ...], Pushed]:
    """Write the commits of a plan and swap them in."""
    updates = written_updates(transport, order, plan)
    pushed = transport.swap(updates, plan.branch)
    if is_pruned(pushed):
        # Written again they are the same commits, and a swap checks what it replaces.
        updates = written_updates(transport, order, plan)
        pushed = transport.swap(updates, plan.branch)
    return updates, replace(pushed, text=f"{_PRUNED} ({pushed.text})") if is_pruned(pushed) else pushed


def is_pruned(pushed: Pushed) -> bool:
    """Tell whether a swap has failed because `git gc --prune=now` removed a commit that no ref had yet."""
    return pushed.result not in _SETTLED and is_object_missing(pushed.text)


def written_updates(
    transport: RefTransport, order: RefOrder[SeenT, PlannedT, AnswerT], plan: SwapPlan[PlannedT]
) -> tuple[RefUpdate, ...]:
    """Write the commits of a plan and then what is meant by them, so that only the swap is left."""
    updates = tuple(_update(transport, change) for change in plan.changes)
    order.before_swap(plan, updates)
    return updates


def _update(transport: RefTransport, change: RefChange) -> RefUpdate:
    content = change.content
    return RefUpdate(change.ref, change.old, content if isinstance(content, str) else transport.write(content))


def failed_try(
    plan: SwapPlan[PlannedT], updates: tuple[RefUpdate, ...], pushed: Pushed, before: Tried[PlannedT] | None
) -> Tried[PlannedT]:
    """Return a swap that did not clearly work, and which attempt it was."""
    was_sent = pushed.was_sent or (before is not None and before.was_sent)
    return Tried(plan, updates, pushed, before.number + 1 if before else 1, was_sent)
