"""What disagrees about any claim of a repository, and what may be done about it without its holder."""

from dataclasses import replace
from datetime import timedelta

import pytest
from support.claims import NOW
from support.github import CARD, pull

from agent_sync.leases.model import Holder, Lease, LeaseMode, LeaseState, Tip
from agent_sync.leases.refs.values import Where
from agent_sync.reconcile.fleet_comparison import ClaimSides, FleetRemedy, fleet_differences
from agent_sync.settings import Settings
from agent_sync.task.decision.claims_seen import ClaimedIssue
from agent_sync.task.decision.facts import PullState

AGENT = CARD.agent
BOARD = Settings().board
OPEN_PULL, MERGED = pull(45), pull(45, PullState.MERGED)
LEASE = Lease(
    issue=42,
    holder=Holder(host="h", user="u", worktree="w", agent=AGENT),
    epoch=1,
    nonce="0" * 32,
    state=LeaseState.HELD,
    acquired_at=NOW,
    renewed_at=NOW,
    ttl_s=3600.0,
    branch="claude/x-42",
)
LATER = NOW + timedelta(hours=2)


def sides(*, is_open=True, pulled=None, card=CARD, is_own=False, **lease):
    """Return a claim with its issue and card."""
    issue = ClaimedIssue(42, "t", "u", is_open=is_open, pull=pulled)
    tip = Tip("s", LEASE.model_copy(update=lease), Where.REMOTE)
    return ClaimSides(tip, issue, card, is_own=is_own)


ENDED = {"state": LeaseState.RELEASED}
DONE = {"state": LeaseState.DONE}
CASES = {
    "held": (sides(), NOW, []),
    "expired": (sides(), LATER, [FleetRemedy.FREE]),
    "expired, its PR merged": (sides(pulled=MERGED), LATER, [FleetRemedy.FREE]),
    "expired, its PR open": (sides(pulled=OPEN_PULL), LATER, [FleetRemedy.TOLD]),
    "a worker's, expired": (
        sides(holder=Holder(host="h", user="u", worktree="w", agent="main/w1")),
        LATER,
        [FleetRemedy.TOLD],
    ),
    "dated in the future": (sides(renewed_at=NOW + timedelta(days=4000)), NOW, [FleetRemedy.DATE]),
    "made by hand, dated in the future": (
        sides(renewed_at=NOW + timedelta(days=4000), mode=LeaseMode.MANUAL),
        NOW,
        [],
    ),
    "ahead by no more than clocks differ": (sides(renewed_at=NOW + timedelta(seconds=50)), NOW, []),
    "made by hand": (sides(mode=LeaseMode.MANUAL), LATER, []),
    "expired here": (sides(is_own=True), LATER, []),
    "closed under its holder": (sides(is_open=False), NOW, [FleetRemedy.TOLD]),
    "by hand, closed": (sides(is_open=False, mode=LeaseMode.MANUAL), LATER, [FleetRemedy.TOLD]),
    "card names nobody": (sides(card=replace(CARD, agent=None)), NOW, [FleetRemedy.CARD]),
    "card names another": (sides(card=replace(CARD, agent="mona-1")), NOW, [FleetRemedy.TOLD]),
    "no Agent field": (sides(card=replace(CARD, agent=None, agent_field_id=None)), NOW, []),
    "archived": (sides(card=replace(CARD, agent=None, is_archived=True)), NOW, []),
    "no card": (sides(card=None), NOW, []),
    "released, card still ours": (sides(**ENDED), NOW, [FleetRemedy.CARD]),
    "released, card free": (sides(card=replace(CARD, agent=None), **ENDED), LATER, []),
    "released, card another's": (sides(card=replace(CARD, agent="mona-1"), **ENDED), LATER, []),
    "done and closed just now": (sides(is_open=False, card=None, **DONE), NOW, []),
    "done and closed": (sides(is_open=False, card=None, **DONE), LATER, [FleetRemedy.PRUNE]),
    "done, open again": (sides(card=None, **DONE), LATER, []),
    "done, card still ours": (sides(is_open=False, **DONE), LATER, [FleetRemedy.CARD, FleetRemedy.PRUNE]),
}


@pytest.mark.parametrize(("seen", "now", "remedies"), CASES.values(), ids=CASES)
def test_what_is_done_about_a_claim(seen, now, remedies):
    """Only what has certainly ended is ended, and only a card that still names the claim is written."""
    assert [one.remedy for one in fleet_differences(seen, now, BOARD)] == remedies


def test_an_issue_that_is_gone_is_told_while_it_is_held():
    """A transferred issue frees nobody by itself; a claim that has ended on it is left alone."""
    gone = replace(sides(), issue=None)
    (told,) = fleet_differences(gone, LATER, BOARD)
    assert (told.remedy, told.helps) == (FleetRemedy.TOLD, "agent-sync release 42 --force")
    assert fleet_differences(replace(sides(**ENDED), issue=None), LATER, BOARD) == ()


@pytest.mark.parametrize(
    ("is_open", "status", "expected"),
    [
        (False, "In Review", BOARD.done),
        (True, "In Progress", BOARD.ready),
        (True, "In Review", BOARD.ready),
        (True, "Blocked", ""),
    ],
)
def test_where_a_card_belongs_after_its_claim(is_open, status, expected):
    """Done with its issue, else ready again; where a person has put it elsewhere it stays, without the name."""
    seen = sides(is_open=is_open, card=replace(CARD, status=status), **ENDED)
    (one,) = [one for one in fleet_differences(seen, NOW, BOARD) if one.change]
    assert (one.change.status, one.change.agent) == (expected, "")
