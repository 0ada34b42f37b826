"""What a holder does with its lease: renew it, push code under it, give it back, finish it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import assert_never

from agent_sync.leases import rules
from agent_sync.leases.model import Lease, Mine, State, Tip
from agent_sync.leases.refs.bench import ATTEMPTS, Bench, Draft, pause
from agent_sync.leases.refs.intents import BEGINNINGS, Verb
from agent_sync.leases.refs.remote import Pushed, Verdict
from agent_sync.leases.refs.stores import Branch
from agent_sync.leases.results import BranchRefused, Change, Doubt, Lost, Outcome, Seen, Unknown, Won
from agent_sync.leases.rules import Standing


@dataclass(frozen=True)
class _Order:
    """One order to a lease: what it becomes, on which commit, and which branch goes with it."""

    mine: Mine
    verb: Verb
    lease: Callable[[Tip], Lease]
    parent: Callable[[Tip], str]
    branch: Branch = None


def renew(bench: Bench, mine: Mine, change: Change) -> Outcome:
    """Let a lease run anew."""
    return _only_lease(_carried_out(bench, _renewal(mine, change, None)))


def push_branch(bench: Bench, mine: Mine, change: Change, branch: tuple[str, str]) -> Outcome | BranchRefused:
    """Push a branch and renew the lease in one go: whoever lost the lease cannot push."""
    return _carried_out(bench, _renewal(mine, change, branch))


def end(bench: Bench, mine: Mine, change: Change, state: State) -> Outcome:
    """Give an issue back, or mark its work as done; once ended, it stays as it ended."""
    verb = Verb.FINISH if state is State.DONE else Verb.RELEASE
    order = _Order(mine, verb, lambda tip: rules.ended(tip, state, change.now), lambda tip: tip.sha)
    return _only_lease(_carried_out(bench, order))


def _renewal(mine: Mine, change: Change, branch: Branch) -> _Order:
    return _Order(mine, Verb.RENEW, lambda tip: rules.renewed(tip, change), rules.parent_of_renewal, branch)


def _only_lease(outcome: Outcome | BranchRefused) -> Outcome:
    if isinstance(outcome, BranchRefused):
        raise AssertionError("no branch was pushed")  # noqa: TRY004  # a caller cannot cause it
    return outcome


def _carried_out(bench: Bench, order: _Order) -> Outcome | BranchRefused:
    outcome = _tried(bench, order, _start(bench, order.mine), 1)
    if not isinstance(outcome, Unknown):
        bench.intents.settle(order.mine.issue)
    return outcome


def _start(bench: Bench, mine: Mine) -> Seen:
    """Return what this clone knows, unless its last order was cut off or it knows nothing of ours."""
    pending = bench.intents.pending(mine.issue)
    known = bench.store.known(mine.issue)
    is_sure = pending is None or pending.verb in BEGINNINGS
    if is_sure and isinstance(known, Tip) and rules.standing(mine, known) is Standing.HELD:
        return known
    return bench.store.look(mine.issue)


def _tried(bench: Bench, order: _Order, seen: Seen, number: int) -> Outcome | BranchRefused:
    if isinstance(seen, Unknown):
        return seen
    if seen is None or rules.standing(order.mine, seen) is not Standing.HELD:
        return _over(order, seen)
    draft = bench.draft(order.verb, order.lease(seen), old=seen.sha, parent=order.parent(seen))
    pushed = bench.swap(draft, order.branch)
    match pushed.verdict:
        case Verdict.LANDED:
            return Won(draft.tip)
        case Verdict.BRANCH_REFUSED:
            return BranchRefused(pushed.text)
        case Verdict.REJECTED | Verdict.SILENT:
            pause(number - 1)
            return _looked(bench, order, (draft, pushed), number)
        case _ as never:
            assert_never(never)


def _looked(bench: Bench, order: _Order, tried: tuple[Draft, Pushed], number: int) -> Outcome | BranchRefused:
    """Tell from the ref what came of a swap that did not clearly work, and try again where that helps."""
    draft, pushed = tried
    seen = bench.store.look(order.mine.issue)
    if not isinstance(seen, Tip) or rules.standing(order.mine, seen) is not Standing.HELD:
        return _tried(bench, order, seen, number)
    if seen.sha == draft.tip.sha:
        return Won(seen)
    if seen.sha != draft.intent.old and order.verb is Verb.RENEW and not order.branch:
        # Another process of this holder was faster, which serves as well.
        return Won(seen)
    if seen.sha == draft.intent.old and order.branch:
        return BranchRefused(pushed.text) if pushed.verdict is Verdict.REJECTED else bench.doubt(draft, pushed)
    return bench.doubt(draft, pushed) if number == ATTEMPTS else _tried(bench, order, seen, number + 1)


def _over(order: _Order, tip: Tip | None) -> Outcome:
    if tip is None:
        return Unknown(Doubt.VANISHED, f"The claim of #{order.mine.issue} is gone.")
    is_ended = rules.standing(order.mine, tip) is Standing.FINISHED
    return Won(tip) if is_ended and order.verb is not Verb.RENEW else Lost(tip)
