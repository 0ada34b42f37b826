"""Compares every claim of a repository with its issue, its pull request and its card, pure."""

from collections.abc import Iterator
from datetime import datetime
from enum import StrEnum

from agent_sync.lazy_dataclasses import dataclass
from agent_sync.leases.model import Lease, LeaseState, Tip
from agent_sync.leases.results import Unreadable
from agent_sync.leases.rules import (
    ALLOWANCE_S,
    TakeOverObjection,
    heard_of_at,
    is_dated_ahead,
    objection_to_taking_over,
    span,
)
from agent_sync.leases.words import dated_ahead, held_by, holder_name, moment, way_out
from agent_sync.settings.tables import BoardSettings
from agent_sync.task.decision.actions import CardChange
from agent_sync.task.decision.claims_seen import ClaimedIssue
from agent_sync.task.decision.facts import Card, PullState
from agent_sync.task.decision.outside_text import one_line, quoted


class FleetRemedy(StrEnum):
    """What is done about a claim; the first writes nothing."""

    TOLD = "told"
    FREE = "free"
    DATE = "date"
    CARD = "card"
    PRUNE = "prune"


FLEET_DOES = {
    FleetRemedy.TOLD: "not agent-sync's to change",
    FleetRemedy.FREE: "free it, with a comment on the issue",
    FleetRemedy.DATE: "let it run from now",
    FleetRemedy.CARD: "update the card",
    FleetRemedy.PRUNE: "delete its claim ref",
}


@dataclass(frozen=True)
class ClaimSides:
    """One claim ref, and what GitHub says of its issue; `issue` is None where there is no such issue any more."""

    tip: Tip
    issue: ClaimedIssue | None
    card: Card | None = None
    # Whether it is this very worktree's.
    is_own: bool = False


@dataclass(frozen=True)
class FleetDifference:
    """What differs about one claim, in one line; `tip` is None where its ref cannot be read."""

    issue: int
    tip: Tip | None
    says: str
    remedy: FleetRemedy
    helps: str = ""
    change: CardChange | None = None

    @property
    def is_ours(self) -> bool:
        """Whether agent-sync repairs it."""
        return self.remedy is not FleetRemedy.TOLD


def unreadable_difference(one: Unreadable) -> FleetDifference:
    """Return that a claim ref cannot be read, which keeps its issue from everybody, and what helps."""
    says = f"its claim ref cannot be used: {one_line(one.unknown.reason, limit=300)}"
    return FleetDifference(one.issue, None, says, FleetRemedy.TOLD, way_out(one.issue, one.unknown.doubt))


def fleet_differences(
    seen: ClaimSides, now: datetime, board: BoardSettings, *, allowance_s: float = ALLOWANCE_S
) -> tuple[FleetDifference, ...]:
    """Return what disagrees about one claim."""
    if seen.issue is None:
        said = "its issue was transferred or deleted"
        return (_found(seen.tip, said, FleetRemedy.TOLD, _forced(seen.tip)),) if _is_held(seen.tip) else ()
    if _is_held(seen.tip):
        return tuple(_held(seen, seen.issue, now, allowance_s))
    return tuple(_ended(seen, seen.issue, now, board))


def _found(
    tip: Tip, says: str, remedy: FleetRemedy, helps: str = "", change: CardChange | None = None
) -> FleetDifference:
    return FleetDifference(tip.lease.issue, tip, says, remedy, helps, change)


def _is_held(tip: Tip) -> bool:
    return tip.lease.state is LeaseState.HELD


def _forced(tip: Tip) -> str:
    return f"agent-sync release {tip.lease.issue} --force"


def _held(seen: ClaimSides, issue: ClaimedIssue, now: datetime, allowance_s: float) -> Iterator[FleetDifference]:
    tip, lease = seen.tip, seen.tip.lease
    is_open = issue.pull is not None and issue.pull.state is PullState.OPEN
    found = objection_to_taking_over(
        lease, now, branch_moved=False, has_open_pull=is_open, consent=False, allowance_s=allowance_s
    )
    if found is None and "/" in lease.holder.agent:
        # Work that hangs on a hook is put back there, not given away.
        said = f"the claim of worker {quoted(lease.holder.agent, limit=60)} has expired"
        yield _found(tip, said, FleetRemedy.TOLD, "agent-sync worker repair")
        return
    if found is None and not seen.is_own:
        yield _found(tip, f"it has expired: {held_by(lease)}", FleetRemedy.FREE)
        return
    if is_dated_ahead(lease, now):
        yield _found(tip, f"{dated_ahead(lease)}: it is held by {holder_name(lease)}", FleetRemedy.DATE)
    if found is TakeOverObjection.OPEN_PULL:
        said = f"it has expired, and its PR #{issue.pull.number if issue.pull else 0} is open: a human must agree"
        yield _found(tip, said, FleetRemedy.TOLD, f"agent-sync claim {lease.issue} --take-over")
    if not issue.is_open:
        yield _found(tip, f"the issue is closed, and held by {held_by(lease)}", FleetRemedy.TOLD, _forced(tip))
    yield from _held_card(seen, lease)


def _held_card(seen: ClaimSides, lease: Lease) -> Iterator[FleetDifference]:
    """Yield what is wrong with the Agent field; where the card is, is the holder's and a person's business."""
    card, agent = seen.card, lease.holder.agent
    if card is None or card.is_archived or card.agent_field_id is None or not agent or card.agent == agent:
        return
    if card.agent:
        said = f"its card names {quoted(card.agent, limit=60)}, and it is held by {quoted(agent, limit=60)}"
        yield _found(seen.tip, said, FleetRemedy.TOLD, f"agent-sync explain {lease.issue}")
    else:
        said = f"its card names nobody, and it is held by {quoted(agent, limit=60)}"
        yield _found(seen.tip, said, FleetRemedy.CARD, change=CardChange(card, "", agent))


def _ended(seen: ClaimSides, issue: ClaimedIssue, now: datetime, board: BoardSettings) -> Iterator[FleetDifference]:
    tip, lease, card = seen.tip, seen.tip.lease, seen.card
    if card and not card.is_archived and card.agent and card.agent == lease.holder.agent:
        # The card still names this claim, so nobody has taken it in hand since.
        said = f"its card names {quoted(card.agent, limit=60)}, who {lease.state} it"
        yield _found(tip, said, FleetRemedy.CARD, change=CardChange(card, _status(issue, card, board), ""))
    ended = heard_of_at(lease.renewed_at, now)
    if not issue.is_open and now > ended + span(lease.ttl_s):
        # As long as its last holder may still have to clean up, the ref stays.
        said = f"the issue is closed, and its claim ended at {moment(ended)}"
        yield _found(tip, said, FleetRemedy.PRUNE)


def _status(issue: ClaimedIssue, card: Card, board: BoardSettings) -> str:
    """Return where a card belongs whose claim has ended; one that somebody has put elsewhere stays."""
    if not issue.is_open:
        return board.done
    is_ours = (card.status or "").casefold() in {board.in_progress.casefold(), board.in_review.casefold()}
    return board.ready if is_ours else ""
