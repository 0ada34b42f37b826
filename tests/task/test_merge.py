from datetime import timedelta

import pytest
from hypothesis import given, strategies as st
from support.claims import NOW, claim

from agent_sync.task.claim.model import parse
from agent_sync.task.claim.phases import Phase
from agent_sync.task.claim.store import merged_claim

BASE = {"phase": Phase.CHECKS_RUNNING, "pr_number": 107, "status": "In Review", "last_synced_status": "In Review"}


@pytest.mark.parametrize(
    ("theirs", "ours", "expected"),
    [
        pytest.param(
            {"summary": "x"},
            {"phase": Phase.MERGED_DETECTED},
            {"summary": "x", "phase": Phase.MERGED_DETECTED},
            id="different fields: both",
        ),
        pytest.param(
            {"phase": Phase.DONE},
            {"phase": Phase.MERGED_DETECTED},
            {"phase": Phase.DONE},
            id="phase written by hand wins",
        ),
        pytest.param({"pr_number": None}, {}, {"pr_number": 107}, id="pr_number does not go back to null"),
        pytest.param({"pr_number": 9}, {}, {"pr_number": 9}, id="pr_number corrected by hand"),
        pytest.param(
            {"last_synced_status": "Todo"},
            {},
            {"last_synced_status": "In Review"},
            id="synced status cannot be invented",
        ),
        pytest.param({"last_synced_status": None}, {}, {"last_synced_status": None}, id="synced status can be reset"),
        pytest.param(
            {"last_synced_status": None},
            {"last_synced_status": "Done"},
            {"last_synced_status": "Done"},
            id="a new sync beats a reset",
        ),
        pytest.param(
            {"last_check_poll": None},
            {"last_check_poll": NOW},
            {"last_check_poll": NOW},
            id="a new poll beats an old file",
        ),
        pytest.param({"note": "mine"}, {"phase": Phase.MERGED_DETECTED}, {"note": "mine"}, id="unknown field added"),
    ],
)
def test_both_sides_are_kept(theirs, ours, expected):
    """Each row: what the editor wrote, what the hook wrote, what must stand in the end."""
    base = claim(**BASE)
    result = merged_claim(base=base, theirs=claim(**BASE | theirs), ours=claim(**BASE | ours))
    dumped = result.model_dump()
    assert expected == {key: dumped[key] for key in expected}


def test_unknown_field_can_be_taken_out():
    """A foreign field that its owner deleted does not come back as null."""
    base = claim(**BASE, note="x")
    assert "note" not in merged_claim(base=base, theirs=claim(**BASE), ours=base).model_dump()


FIELDS = st.fixed_dictionaries(
    {},
    optional={
        "phase": st.sampled_from(Phase),
        "summary": st.sampled_from(["a", "b"]),
        "status": st.sampled_from(["Todo", "Done"]),
        "pr_number": st.sampled_from([None, 1, 2]),
        "last_synced_status": st.sampled_from([None, "Todo", "Done"]),
        "extra": st.integers(),
    },
)


@given(FIELDS, FIELDS)
def test_one_sided_changes_always_stand(start, change):
    """A hook's change stands whole when nobody else wrote; an editor's phase, texts and own fields always do."""
    base, changed = claim(**start), claim(**start | change)
    assert changed == merged_claim(base=base, theirs=base, ours=changed)
    theirs = merged_claim(base=base, theirs=changed, ours=base)
    assert (changed.phase, changed.summary, changed.status) == (theirs.phase, theirs.summary, theirs.status)
    assert theirs.pr_number == (changed.pr_number or base.pr_number)


LEASE = {"where": "remote", "epoch": 1, "nonce": "a" * 32, "sha": "1", "renewed_at": NOW, "ttl_s": 3600.0}
LATER = LEASE | {"sha": "2", "renewed_at": NOW + timedelta(minutes=15)}


@pytest.mark.parametrize(
    ("base", "theirs", "ours", "expected"),
    [
        pytest.param(LEASE, LATER, LEASE, LATER, id="a renewal in the background is kept"),
        pytest.param(LEASE, LEASE, LATER, LATER, id="so is our own"),
        pytest.param(LEASE, None, LEASE, LEASE, id="an editor cannot take it out"),
        pytest.param(LEASE, LEASE | {"nonce": "b" * 32}, LEASE, LEASE, id="nor put another in"),
        pytest.param(LEASE, LEASE | {"lost_to": "x"}, LATER, LEASE | {"lost_to": "x"}, id="a loss beats a renewal"),
        pytest.param(None, LEASE, None, LEASE, id="one that was not there before"),
    ],
)
def test_lease_is_kept_by_agent_sync_alone(base, theirs, ours, expected):
    """The later word on one holding stands, and what an editor makes of it does not."""
    result = merged_claim(base=claim(lease=base), theirs=claim(lease=theirs), ours=claim(lease=ours))
    assert result == claim(lease=expected)


def test_lease_survives_the_file():
    """A lease is written and read back the same; a claim without one does not speak of it."""
    held = claim(lease=LEASE)
    assert parse(held.to_json(), file="x") == held
    assert b"lease" not in claim().to_json()
