"""The effects: performs one action and returns what happened."""

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, assert_never

from agent_sync.context import Context
from agent_sync.errors import MissingScope, NotFound, Refused
from agent_sync.system import clock
from agent_sync.task.claim.model import Claim
from agent_sync.task.decision.actions import (
    Action,
    AdoptPull,
    CardChange,
    CardMoved,
    CardRefused,
    ClaimDeleted,
    CloseTask,
    DeleteClaim,
    MoveCard,
    OpenPull,
    Outcome,
    PullAdopted,
    PullOpened,
    PullRefused,
    PushBranch,
    RecordOutcome,
    Said,
    Say,
    TaskClosed,
)
from agent_sync.task.decision.facts import Pull
from agent_sync.task.decision.feedback.feedback_actions import JobsRerun, RequestReview, RerunJobs, ReviewRequested
from agent_sync.task.decision.pull_orders import NO_EXTRAS, PullExtras

if TYPE_CHECKING:
    from agent_sync.gateway.port import Gateway

# What others see of a task: before each of these the lease is proven.
_FENCED = OpenPull | AdoptPull | MoveCard | CloseTask | RerunJobs | RequestReview
# How GitHub says that it does not know the branch's newest commit yet, and how long that usually takes.
_PUSH_UNSEEN = "Head sha can't be blank"
PUSH_SEEN_S = 2.0


def act_with_lease(action: Action, context: Context, claim: Claim) -> Outcome:
    """Perform `action` unless it is for others to see and the lease does not hold; then return that instead."""
    if isinstance(action, _FENCED):
        from agent_sync.leases.fence import lease_stop

        stop = lease_stop(context, claim)
        if stop:
            return stop
    return act(action, context, claim)


def act(action: Action, context: Context, claim: Claim) -> Outcome:
    """Perform `action` for `claim`; an error means that it did not happen, or that a later look must tell."""
    match action:
        case PushBranch(branch, sha):
            from agent_sync.leases import fence

            return fence.push(context, claim, branch, sha)
        case OpenPull():
            return _open_pull(context.gateway, action)
        case AdoptPull():
            return _adopt_pull(context.gateway, action)
        case MoveCard(change):
            trouble = _move_card(context.gateway, change)
            return CardRefused(change.status, trouble, clock.now()) if trouble else CardMoved(change.status)
        case CloseTask():
            trouble = context.gateway.close_task(action)
            return TaskClosed(action.trouble or trouble, action.stays_open)
        case DeleteClaim(landed):
            _finish_lease(context, claim, action)
            # The store deletes the file when this outcome is saved, after everything else is on record.
            return ClaimDeleted(landed)
        case RerunJobs(pull, urls, names, pattern):
            trouble = _refusal(lambda: context.gateway.rerun_failed_jobs(urls))
            return JobsRerun(pull, names, pattern, trouble)
        case RequestReview(pull, reviews):
            trouble = _refusal(lambda: context.gateway.request_review(pull, reviews))
            ids = tuple(review.remark.id for review in reviews)
            return ReviewRequested(pull, tuple(review.remark.author for review in reviews), ids, trouble)
        case RecordOutcome(outcome):
            return outcome
        case Say(notice):
            return Said(notice)
        case _:
            assert_never(action)


def _finish_lease(context: Context, claim: Claim, order: DeleteClaim) -> None:
    """Mark the work as done; what hangs on a worker's hook is complete in the same push."""
    from agent_sync.leases import fence

    if not fence.worker_of(claim):
        fence.finish(context, claim)
        return
    from agent_sync.work.endings.with_claim import finish_with_hook

    finish_with_hook(context, claim, order)


def _open_pull(gateway: "Gateway", order: OpenPull) -> PullOpened | PullRefused:
    try:
        pull, trouble = _opened(gateway, order)
    except Refused as refusal:
        return PullRefused(refusal.happened)
    return PullOpened(
        pull, order.status, order.trouble or trouble, clock.now(), _add_extras(gateway, pull, order.extras)
    )


def _opened(gateway: "Gateway", order: OpenPull) -> tuple[Pull, str]:
    """Open the pull request, once more where GitHub had not noticed the push that came just before."""
    try:
        return gateway.open_pull(order)
    except Refused as refusal:
        if _PUSH_UNSEEN not in refusal.happened:
            raise
    time.sleep(PUSH_SEEN_S)
    return gateway.open_pull(order)


def _adopt_pull(gateway: "Gateway", order: AdoptPull) -> PullAdopted:
    pull, update = order.pull, order.update
    notes: tuple[str, ...] = ()
    if update is None or update.is_empty:
        trouble = _move_card(gateway, order.change)
    else:
        notes, trouble = gateway.update_pull(pull, update, order.change)
    notes += _add_extras(gateway, pull, order.extras)
    return PullAdopted(pull, order.status, order.trouble or trouble, clock.now(), notes, update)


def _add_extras(gateway: "Gateway", pull: Pull, extras: PullExtras) -> tuple[str, ...]:
    return () if extras == NO_EXTRAS else gateway.add_extras(pull, extras)


def _move_card(gateway: "Gateway", change: CardChange | None) -> str:
    """Move the card; trouble with the board is returned, never raised: it must not hold the task."""
    return _refusal(lambda: gateway.move_card(change)) if change else ""


def _refusal(order: Callable[[], None]) -> str:
    """Give an order and return why it was refused, if it was."""
    try:
        order()
    except (MissingScope, NotFound, Refused) as error:
        return str(error)
    return ""
