import pytest
from hypothesis import given, strategies as st
from support.claims import NOW, claim

from agent_sync.claim.merge import merged
from agent_sync.claim.phases import Phase

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
    result = merged(base=base, theirs=claim(**BASE | theirs), ours=claim(**BASE | ours))
    assert expected == {key: getattr(result, key) for key in expected}


def test_unknown_field_can_be_taken_out():
    """A foreign field that its owner deleted does not come back as null."""
    base = claim(**BASE, note="x")
    assert "note" not in merged(base=base, theirs=claim(**BASE), ours=base).model_dump()


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
    assert changed == merged(base=base, theirs=base, ours=changed)
    theirs = merged(base=base, theirs=changed, ours=base)
    assert (changed.phase, changed.summary, changed.status) == (theirs.phase, theirs.summary, theirs.status)
    assert theirs.pr_number == (changed.pr_number or base.pr_number)
