"""`agent-sync reconcile`: explains every difference, repairs what is ours, leaves what a person chose."""

import json

import pytest
from support.clones import with_variables


@pytest.fixture
def opened(theatre):
    """Claim issue 42, open PR #45 and look at it once."""
    assert theatre.stage.command("claim", "42").status == 0
    theatre.stage.commit("cache.py", "lock = True\n", "Add a lock")
    assert theatre.stage.command("handoff", "--summary", "Fix the race").status == 0
    assert theatre.stage.command("reconcile").status == 0
    return theatre


def reconciled(theatre, *options):
    """Return the differences by side."""
    played = theatre.stage.command("reconcile", "--json", *options)
    assert played.status == 0, played.stderr
    return {one["side"]: one for one in json.loads(played.stdout)["differences"]}


def test_ours_is_repaired_and_a_persons_move_is_left(opened):
    """An empty Agent field and red CI are ours to write down; a moved card and assignment are not.

    Directly after a repair everything agrees, and nothing is written again.
    """
    before = opened.stage.claim()
    assert reconciled(opened) == {}
    assert "everything agrees" in opened.stage.command("reconcile").stdout
    assert not [name for name in opened.operations() if name in {"MoveCard", "ClaimTask", "CloseTask"}]
    assert opened.stage.claim()["checks"] == before["checks"]
    opened.stage.act("set_field", issue=42, field="Agent", value="")
    opened.stage.act("add_check", pull=45, name="test", status="completed", conclusion="failure")
    planned = reconciled(opened, "--dry-run")
    assert {side: one["remedy"] for side, one in planned.items()} == {"CI": "sync", "card": "card"}
    assert not opened.card().get("Agent")
    done = reconciled(opened)
    assert [one["repaired"] for one in done.values()] == [True, True]
    assert opened.card()["Agent"] == opened.stage.claim()["agent_id"]
    assert opened.stage.claim()["checks"]["state"] == "failed"
    opened.stage.act("set_field", issue=42, field="Status", value="Todo", by="mona")
    opened.stage.act("assign", issue=42, users=["mona"], by="mona")
    for _ in range(2):
        left = reconciled(opened)
        assert {side: (one["remedy"], one["repaired"]) for side, one in left.items()} == {
            "issue": ("left", False),
            "card": ("left", False),
        }
    assert (opened.card()["Status"], opened.issue()["assignees"]) == ("Todo", ["mona"])


def test_a_merge_that_nobody_saw_is_repaired(opened):
    """The phase follows the pull request, others see it in the lease, and the question still waits to be said."""
    opened.stage.act("merge_pull", pull=45, method="squash")
    played = opened.stage.command("reconcile")
    assert "PR #45 is merged, and the claim does not know it — repaired" in played.stdout
    assert opened.stage.claim()["phase"] == "merged_detected"
    assert reconciled(opened, "--dry-run") == {}
    assert "Should I close issue #42?" in opened.hook("on-prompt").stdout


def test_a_lost_record_is_begun_again(theatre):
    """Without its recovery record a claim is compared, and the record begun again; no claim is no error."""
    played = theatre.stage.command("reconcile")
    assert (played.status, "nothing to compare" in played.stdout) == (0, True)
    home = theatre.stage.root.parent / "atlas"
    there = with_variables(theatre, ATLAS_HOME=str(home))
    assert there.stage.command("claim", "42").status == 0
    elsewhere = with_variables(theatre, ATLAS_HOME=str(home.with_name("atlas-new")))
    found = json.loads(elsewhere.stage.command("reconcile", "--json", "--dry-run").stdout)["differences"]
    assert [(one["side"], one["remedy"]) for one in found] == [("record", "record")]
    assert reconciled(elsewhere)["record"]["repaired"] is True
    assert reconciled(elsewhere) == {}
