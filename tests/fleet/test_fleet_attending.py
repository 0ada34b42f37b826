"""Which claims nobody looks after, and what is due for them."""

from datetime import timedelta

import pytest
from support.claims import NOW, claim
from support.fleet_views import fleet, here, lease
from support.github import pull
from support.situations import GREEN_CHECKS, opened, withheld

from agent_sync.fleet.attending import is_kept_by_neighbours, is_renewal_due, is_step_due, unattended
from agent_sync.fleet.seen import HeldTask, Session
from agent_sync.leases.model import LeaseMode
from agent_sync.task.claim.model import LeaseNote
from agent_sync.task.claim.phases import Phase, WithheldBy
from agent_sync.task.decision.facts import PullState
from agent_sync.task.decision.feedback.checks import CheckRun
from agent_sync.task.decision.feedback.reviews import Wake

GREEN = pull(45, checks=(CheckRun("a", "SUCCESS"), CheckRun("b", "SUCCESS")))
KNOWN = opened(checks=GREEN_CHECKS)


def note(**fields):
    """Return what a claim remembers of a lease."""
    return LeaseNote(where="remote", epoch=1, nonce="0" * 32, renewed_at=NOW, ttl_s=60, **fields)


@pytest.mark.parametrize("session", [Session.ENDED, Session.UNKNOWN])
def test_a_claim_without_a_live_session_is_looked_after(session):
    """Claims of terminals, of other agents and of ended sessions have nobody else."""
    held = HeldTask(42, here=here(session=session))
    assert unattended(fleet(held)) == (held,)


@pytest.mark.parametrize(
    "held",
    [
        HeldTask(42, here=here(session=Session.ALIVE)),
        HeldTask(42, lease()),
        HeldTask(42, here=here(claim=claim(lease=note(lost_to="ann")), session=Session.ENDED)),
        HeldTask(42, here=here(claim=None, session=Session.ENDED)),
    ],
    ids=["a live session", "another machine", "lost", "no claim"],
)
def test_other_claims_are_left_alone(held):
    """Whoever lives acts for itself, and nobody acts for a claim that is not this machine's."""
    assert unattended(fleet(held)) == ()


def test_a_claim_whose_lease_is_another_ones_is_left_alone():
    """A claim file whose lease was taken over must not act, whatever it says."""
    mine = note().model_copy(update={"nonce": "f" * 32})
    assert unattended(fleet(HeldTask(42, lease(), here(claim=claim(lease=mine), session=Session.ENDED)))) == ()


@pytest.mark.parametrize(
    ("known", "found", "is_due"),
    [
        (claim(), None, False),
        (claim(Phase.READY_FOR_PR), None, True),
        (claim(Phase.READY_FOR_PR, withheld=withheld(WithheldBy.GATE, "Lint failed.")), None, False),
        (claim(Phase.READY_FOR_PR, withheld=withheld(WithheldBy.GITHUB, "Down.")), None, True),
        (claim(Phase.DONE, pr_number=45), None, True),
        (claim(Phase.DONE, pr_number=45, withheld=withheld(WithheldBy.UNMERGED, "Open.")), None, False),
        (claim(Phase.MERGED_DETECTED, pr_number=45), pull(45, PullState.MERGED), False),
        (claim(status="In Review"), None, True),
        (claim(status="In Review", refused_status="In Review"), None, False),
        (KNOWN, GREEN, False),
        (opened(), GREEN, True),
        (KNOWN, pull(45, checks=(CheckRun("a", "FAILURE"), CheckRun("b", "SUCCESS"))), True),
        (KNOWN, pull(45, checks=GREEN.checks, changes_requested_by=("mona",)), True),
        (KNOWN, pull(45, PullState.MERGED), True),
        (KNOWN, pull(45, PullState.CLOSED), True),
        (opened(closed_unmerged=True), pull(45, PullState.CLOSED), False),
        (opened(closed_unmerged=True), pull(45), True),
    ],
)
def test_only_what_has_moved_costs_a_request(known, found, is_due):
    """A task is brought on where the world has moved or a step was left undone, and left alone otherwise."""
    assert is_step_due(known, found, wake=Wake.WRITERS, remote="origin") is is_due


@pytest.mark.parametrize(
    ("phase", "minutes", "mode", "is_due"),
    [
        (Phase.PR_CREATED, 20, LeaseMode.AUTO, True),
        (Phase.PR_CREATED, 5, LeaseMode.AUTO, False),
        (Phase.PR_CREATED, 20, LeaseMode.MANUAL, False),
        # Nobody codes on it: it runs out, and somebody else can have it.
        (Phase.CODING, 20, LeaseMode.AUTO, False),
    ],
)
def test_a_lease_is_kept_while_others_are_waited_for(phase, minutes, mode, is_due):
    """The lease of a task that waits for CI or people is renewed in time."""
    held = HeldTask(42, lease(minutes_ago=minutes, mode=mode), here(claim=claim(phase, pr_number=45)))
    assert is_renewal_due(held, NOW) is is_due


AUTO = {"lease": note(mode="auto")}
AGO = {minutes: NOW + timedelta(hours=3, minutes=-minutes) for minutes in (1, 59, 61, 179, 181)}
KEPT = {
    "a live session at work": ({"session": Session.ALIVE, "last_sign": AGO[59]}, {}, None, True),
    "a live session that nobody uses": ({"session": Session.ALIVE, "last_sign": AGO[61]}, {}, None, False),
    "a live session without any sign": ({"session": Session.ALIVE}, {}, None, False),
    "a session that ended": ({"session": Session.ENDED, "last_sign": AGO[1]}, {}, None, False),
    "nobody knows": ({"session": Session.UNKNOWN, "last_sign": AGO[1]}, {}, None, False),
    "asked for since": ({}, {}, AGO[179], True),
    "asked for before": ({}, {}, AGO[181], False),
    "a waiting pull request": ({"session": Session.ENDED}, {"phase": Phase.CHECKS_RUNNING, "pr_number": 45}, None, True),
    "a closed pull request": (
        {}, {"phase": Phase.PR_CREATED, "pr_number": 45, "closed_unmerged": True}, None, False
    ),
    "no pull request was opened": ({}, {"phase": Phase.READY_FOR_PR}, None, False),
    "claimed by hand": ({"session": Session.ALIVE, "last_sign": AGO[1]}, {"lease": note(mode="manual")}, None, False),
    "lost": ({"session": Session.ALIVE, "last_sign": AGO[1]}, {"lease": note(mode="auto", lost_to="x")}, None, False),
}  # fmt: skip


@pytest.mark.parametrize(("seen", "fields", "asked_at", "is_kept"), KEPT.values(), ids=KEPT)
def test_neighbours_keep_only_what_its_own_rules_would(seen, fields, asked_at, is_kept):
    """A neighbour's renewal takes along what is worked on, was asked for or waits; what was left runs out."""
    found = here(claim=claim(**AUTO | fields), **seen)
    assert is_kept_by_neighbours(found, NOW + timedelta(hours=3), asked_at=asked_at, quiet_s=3600) is is_kept
