"""The effects: performs one action and returns what happened."""

from typing import assert_never

from agent_sync.context import Context
from agent_sync.errors import MissingScope, NotFound, Refused
from agent_sync.gateway.port import Gateway
from agent_sync.leases import fence
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
    Record,
    Said,
    Say,
    TaskClosed,
)


def act(action: Action, context: Context, claim: Claim) -> Outcome:
    """Perform `action` for `claim`; an error means that it did not happen, or that a later look must tell."""
    match action:
        case PushBranch(branch, sha):
            return fence.push(context, claim, branch, sha)
        case OpenPull():
            return _opened(context.gateway, action)
        case AdoptPull(pull, status, change, trouble):
            return PullAdopted(pull, status, trouble or _moved(context.gateway, change))
        case MoveCard(change):
            trouble = _moved(context.gateway, change)
            return CardRefused(change.status, trouble) if trouble else CardMoved(change.status)
        case CloseTask():
            trouble = context.gateway.close_task(action)
            return TaskClosed(action.trouble or trouble)
        case DeleteClaim():
            fence.finish(context, claim)
            # The store deletes the file when this outcome is saved, after everything else is on record.
            return ClaimDeleted()
        case Record(outcome):
            return outcome
        case Say(notice):
            return Said(notice)
        case _:
            assert_never(action)


def _opened(gateway: Gateway, order: OpenPull) -> PullOpened | PullRefused:
    try:
        pull, trouble = gateway.open_pull(order)
    except Refused as refusal:
        return PullRefused(refusal.happened)
    return PullOpened(pull, order.status, order.trouble or trouble)


def _moved(gateway: Gateway, change: CardChange | None) -> str:
    """Move the card; trouble with the board is returned, never raised: it must not hold the task."""
    if change is None:
        return ""
    try:
        gateway.move_card(change)
    except (MissingScope, NotFound, Refused) as error:
        return str(error)
    return ""
