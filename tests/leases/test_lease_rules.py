"""The rules of leases, as tables."""

import json
from datetime import timedelta

import pytest
from support.leases import NOW

from agent_sync.errors import BadLease, LeaseTooNew
from agent_sync.leases import rules
from agent_sync.leases.model import Holder, LeaseMode, LeaseProof, LeaseState, Tip, proof_of
from agent_sync.leases.refs.values import Where
from agent_sync.leases.results import LeaseChange, LeaseRequest
from agent_sync.leases.rules import HoldingState, TakeOverObjection, parse

NONCE, OTHER = "a" * 32, "b" * 32
HOLDER = Holder(host="box", user="ann", worktree="w1")


def lease(**fields):
    request = LeaseRequest(HOLDER, NOW, 3600.0, branch="work")
    return rules.acquired_lease(7, request, NONCE, None).model_copy(update=fields)


def tip(**fields):
    return Tip("1" * 40, lease(**fields), Where.REMOTE)


def at(seconds):
    return NOW + timedelta(seconds=seconds)


@pytest.mark.parametrize(
    ("mode", "seconds", "expected"),
    [
        (LeaseMode.AUTO, 0, False),
        (LeaseMode.AUTO, 3660, False),
        (LeaseMode.AUTO, 3661, True),
        (LeaseMode.AUTO, -600, False),
        (LeaseMode.MANUAL, 10**8, False),
    ],
)
def test_expiry(mode, seconds, expected):
    """A lease expires after its time and the allowance for clocks; one made by hand never does."""
    assert rules.is_expired(lease(mode=mode), at(seconds)) is expected


@pytest.mark.parametrize(("seconds", "expected"), [(0, False), (719, False), (1080, True), (5000, True)])
def test_renewal_is_due_after_about_a_quarter(seconds, expected):
    """A renewal is due when a quarter of the time has passed, a fifth of that earlier or later."""
    held = lease()
    assert (at(seconds) >= rules.renewal_due_at(held.renewed_at, held.ttl_s, at(seconds))) is expected


def test_renewals_are_spread():
    """When exactly is the same for leases renewed together and differs from one moment to the next, over the range."""
    moments = [at(0) + timedelta(microseconds=number) for number in range(1000)]
    waits = [(rules.renewal_due_at(moment, 3600, moment) - moment).total_seconds() for moment in moments]
    assert waits == [(rules.renewal_due_at(moment, 3600, moment) - moment).total_seconds() for moment in moments]
    assert (720 <= min(waits) < 730, 1070 < max(waits) <= 1080) == (True, True)
    assert len(set(waits)) > 990


def test_another_renewal_takes_along_what_falls_due_soon():
    """A lease is taken along in the last quarter of the interval before it is due, and not earlier."""
    held = lease()
    due = rules.renewal_due_at(held.renewed_at, held.ttl_s, at(0))
    early, in_time = due - timedelta(seconds=226), due - timedelta(seconds=225)
    assert [rules.may_be_taken_along(held.renewed_at, held.ttl_s, now) for now in (early, in_time)] == [False, True]


FACTS = {"branch_moved": False, "has_open_pull": False, "consent": False}
TAKEOVERS = {
    "expired": ({}, 3700, {}, None),
    "alive": ({}, 3600, {}, TakeOverObjection.NOT_EXPIRED),
    "alive, with consent": ({}, 3600, {"consent": True}, TakeOverObjection.NOT_EXPIRED),
    "by hand": ({"mode": LeaseMode.MANUAL}, 10**7, {}, TakeOverObjection.MANUAL),
    "by hand, with consent": ({"mode": LeaseMode.MANUAL}, 10**7, {"consent": True}, TakeOverObjection.MANUAL),
    "branch moved": ({}, 3700, {"branch_moved": True}, TakeOverObjection.BRANCH_MOVED),
    "branch moved, with consent": ({}, 3700, {"branch_moved": True, "consent": True}, TakeOverObjection.BRANCH_MOVED),
    "open pull request": ({}, 3700, {"has_open_pull": True}, TakeOverObjection.OPEN_PULL),
    "open pull request, with consent": ({}, 3700, {"has_open_pull": True, "consent": True}, None),
    "released": ({"state": LeaseState.RELEASED}, 3700, {}, TakeOverObjection.ENDED),
    "done": ({"state": LeaseState.DONE}, 3700, {}, TakeOverObjection.ENDED),
}


@pytest.mark.parametrize(("fields", "seconds", "facts", "expected"), TAKEOVERS.values(), ids=TAKEOVERS.keys())
def test_objections_to_taking_over(fields, seconds, facts, expected):
    """Only an expired lease may be taken over, never one made by hand or at work, with a PR only by consent."""
    assert rules.objection_to_taking_over(lease(**fields), at(seconds), **(FACTS | facts)) is expected


STANDINGS = {
    "held": ({}, HoldingState.HELD),
    "released": ({"state": LeaseState.RELEASED}, HoldingState.FINISHED),
    "done": ({"state": LeaseState.DONE}, HoldingState.FINISHED),
    "another nonce": ({"nonce": OTHER}, HoldingState.LOST),
    "another nonce, released": ({"nonce": OTHER, "state": LeaseState.RELEASED}, HoldingState.LOST),
    "a higher epoch": ({"epoch": 2}, HoldingState.LOST),
}


@pytest.mark.parametrize(("fields", "expected"), STANDINGS.values(), ids=STANDINGS.keys())
def test_standing(fields, expected):
    """Where a holder stands follows from nonce, epoch and state alone."""
    assert rules.holding_state(LeaseProof(7, 1, NONCE), tip(**fields)) is expected


def test_standing_without_a_ref():
    """A ref that is gone leaves its holder with nothing to compare."""
    assert rules.holding_state(LeaseProof(7, 1, NONCE), None) is HoldingState.VANISHED


def test_acquiring_after_another():
    """The next holding has the next epoch, names what it follows and starts counting anew."""
    before = tip(epoch=4, serial=9, began="3" * 40, state=LeaseState.DONE)
    after = rules.acquired_lease(7, LeaseRequest(HOLDER, at(5), 60.0), OTHER, before)
    assert (after.epoch, after.prev, after.serial, after.began, after.nonce) == (5, before.sha, 0, "", OTHER)


def test_renewing():
    """A renewal changes what it was told to and keeps the rest, even what a newer program wrote."""
    before = tip(phase="coding", pr=3, later="x")
    after = rules.renewed_lease(before, LeaseChange(at(900), pr=4, session="s2"))
    assert (after.renewed_at, after.acquired_at, after.pr, after.phase) == (at(900), NOW, 4, "coding")
    assert (after.holder.session, after.serial, after.prev, proof_of(after)) == (
        "s2",
        1,
        before.sha,
        proof_of(before.lease),
    )
    assert after.model_extra == {"later": "x"}


@pytest.mark.parametrize(("seconds", "expected"), [(-30, 0), (-60, 0), (-61, -61), (-(10**8), -(10**8))])
def test_clock_set_back(seconds, expected):
    """A clock set back a little does not shorten a lease; a time that no clock may be ahead by is not kept."""
    for after in (
        rules.renewed_lease(tip(), LeaseChange(at(seconds))),
        rules.ended_lease(tip(), LeaseState.DONE, at(seconds)),
    ):
        assert after.renewed_at == at(expected)
        assert after.acquired_at == min(NOW, at(expected))


YEARS = timedelta(days=365 * 13)


def test_time_of_a_wrong_clock_counts_as_now():
    """A holder whose clock was years ahead is alive now: its lease ends one time to live from now, and is due."""
    ahead = lease(renewed_at=NOW + YEARS, acquired_at=NOW + YEARS)
    assert rules.expires_at(ahead, NOW) == at(3600)
    assert not rules.is_expired(ahead, NOW)
    assert rules.renewal_due_at(ahead.renewed_at, ahead.ttl_s, NOW) == NOW
    assert rules.renewed_lease(tip(renewed_at=NOW + YEARS), LeaseChange(NOW)).renewed_at == NOW


@pytest.mark.parametrize(
    ("committed", "renewed", "expected"),
    [(60, 0, True), (0, 60, False), (10**8, 0, False), (60, 10**8, False)],
    ids=["since", "before", "dated in the future", "renewed in the future"],
)
def test_branch_that_has_moved(committed, renewed, expected):
    """A commit since the last sign of life speaks for a holder at work; one from the future speaks for a wrong clock."""
    held = lease(renewed_at=at(renewed))
    assert rules.has_moved(at(committed).timestamp(), held, at(3600)) is expected


@pytest.mark.parametrize(
    ("committed", "now", "expected"),
    [(60, 3600, True), (60, 3720, True), (60, 3721, False), (-60, 3600, False)],
    ids=["since", "within the allowance", "as long ago as a claim lasts", "before the last renewal"],
)
def test_commit_is_a_sign_of_life_as_long_as_a_renewal(committed, now, expected):
    """A commit since the last renewal shows a holder at work for one time to live and the allowance."""
    assert rules.is_at_work(at(committed).timestamp(), lease(), at(now)) is expected


@pytest.mark.parametrize("ttl_s", [1e12, 1e308, float("inf")])
def test_time_to_live_has_a_limit(ttl_s):
    """However long a lease wants to last, it lasts thirty days at most."""
    held = rules.acquired_lease(7, LeaseRequest(HOLDER, NOW, ttl_s), NONCE, None)
    assert rules.expires_at(held, NOW) == NOW + timedelta(days=30)
    assert rules.is_expired(held, NOW + timedelta(days=61), allowance_s=ttl_s)


def test_counts_have_an_end():
    """After the last epoch none can follow, which is said; a holder's own count of changes just stays there."""
    last = tip(epoch=2**31 - 1, serial=2**31 - 1, state=LeaseState.RELEASED)
    with pytest.raises(BadLease, match="last epoch"):
        rules.acquired_lease(7, LeaseRequest(HOLDER, NOW, 60.0), NONCE, last)
    assert rules.renewed_lease(last, LeaseChange(NOW)).serial == 2**31 - 1


def test_parent_of_renewal():
    """A renewal follows the beginning of its holding, in place of the renewal before."""
    first = tip()
    second = Tip("2" * 40, rules.renewed_lease(first, LeaseChange(at(60))), Where.REMOTE)
    third = rules.renewed_lease(second, LeaseChange(at(120)))
    assert [rules.parent_of_renewal(one) for one in (first, second)] == [first.sha, first.sha]
    assert (third.began, third.prev, third.serial) == (first.sha, second.sha, 2)


def test_bytes_are_canonical():
    """A lease is one line of sorted ASCII and reads back as it was, odd characters included."""
    written = lease(phase="bloß ✓", branch="x").to_json()
    assert written.isascii()
    assert written.count(b"\n") == 1
    assert parse(written, issue=7).to_json() == written


def test_half_characters_are_replaced():
    """A half character in a name does not make a claim that nobody can read."""
    holder = Holder(host="box\ud83d", user="ann", worktree="w1")
    written = rules.acquired_lease(7, LeaseRequest(holder, NOW, 60.0), NONCE, None).to_json()
    assert parse(written, issue=7).holder.host == "box?"


BAD = {
    "epoch": {"epoch": 0},
    "nonce": {"nonce": "A" * 32},
    "longer nonce": {"nonce": "a" * 33},
    "nonce and more": {"nonce": "a" * 32 + "\n"},
    "state": {"state": "mine"},
    "time without zone": {"renewed_at": "2026-01-01T00:00:00"},
    "no time to live": {"ttl_s": 0},
    "number as text": {"issue": "7"},
    "prev": {"prev": "--upload-pack=x"},
    "epoch without end": {"epoch": 2**31},
    "serial without end": {"serial": 10**30},
    "issue without end": {"issue": 2**31},
    "pr without end": {"pr": 10**300},
    "a year after all calendars": {"renewed_at": "9999-12-31T23:59:59-23:00"},
    "a year before all computers": {"acquired_at": "0001-01-01T00:00:00+23:00"},
    "branch without end": {"branch": "x" * 1001},
    "old schema": {"schema_version": 0},
}


@pytest.mark.parametrize("fields", BAD.values(), ids=BAD.keys())
def test_what_is_not_a_lease(fields):
    """A value that cannot be is refused by name."""
    values = lease().model_dump(mode="json") | fields
    with pytest.raises(BadLease, match=next(iter(fields))):
        parse(json.dumps(values).encode(), issue=7)


def test_newer_schema_is_explained():
    """A claim of a newer program says which version it has and what helps."""
    with pytest.raises(LeaseTooNew, match="schema_version 2; this agent-sync knows 1") as error:
        parse(b'{"schema_version": 2}', issue=7)
    assert error.value.helps == "pipx upgrade agent-sync-github"
