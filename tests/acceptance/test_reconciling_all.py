"""`agent-sync reconcile --all`: every claim of the repository, from any clone."""

import json

from support.clones import CLAIM_REF, SHORT, beside, committed_ago, long_ago, ref, with_variables

HERE = {"AGENT_SYNC_LEASE_ALLOWANCE_S": "0"}


def reconciled(theatre, *options):
    """Return what was found, by issue and remedy."""
    played = with_variables(theatre, **HERE).stage.command("reconcile", "--all", "--json", *options)
    assert played.status == 0, played.stderr
    values = json.loads(played.stdout)
    return values, {(one["issue"], one["remedy"]): one for one in values["differences"]}


def test_expired_claims_are_freed_and_no_others(theatre):
    """A session's claim that ran out is freed with a comment; one made by hand and one with an open PR stay."""
    number = 45
    theatre.stage.act("add_issue", title="Third", status="Todo")
    bob, carol, dave = beside(theatre, "bob", **SHORT), beside(theatre, "carol"), beside(theatre, "dave", **SHORT)
    with long_ago(theatre):
        for clone, issue in ((bob, 42), (carol, 43), (dave, number)):
            assert clone.stage.command("claim", str(issue)).status == 0
        committed_ago(dave, 2)
        assert with_variables(dave, CLAUDECODE="").stage.command("handoff", "--summary", "Third").status == 0
    before = theatre.stage.world()
    values, planned = reconciled(theatre, "--dry-run")
    assert set(planned) == {(42, "free"), (number, "told")}
    assert (theatre.stage.world()["refs"], values["claims"], values["requests"]) == (before["refs"], 3, 2)
    found = reconciled(theatre)[1]
    assert found[42, "free"]["repaired"] is True
    assert theatre.issue(42)["assignees"] == []
    assert (theatre.card(42)["Status"], theatre.card(42).get("Agent") or "") == ("Todo", "")
    assert "agent-sync freed this claim, which has expired" in theatre.comments(42)[0]
    assert theatre.card(43)["Agent"]
    assert set(reconciled(theatre)[1]) == {(number, "told")}
    assert len(theatre.comments(42)) == 1
    # The former holder finds its claim lost, and writes nothing more.
    assert bob.stage.command("push").status == 3


def test_what_ended_is_tidied_up(theatre):
    """The ref of a closed claim is deleted after a while, and a card that still names it is made true."""
    short = with_variables(theatre, AGENT_SYNC_LEASE_TTL_S="1", **HERE)
    with long_ago(theatre):
        assert short.stage.command("claim", "42").status == 0
        agent = short.stage.claim()["agent_id"]
        assert short.stage.command("release").status == 0
    theatre.stage.act("set_field", issue=42, field="Agent", value=agent)
    theatre.stage.act("close_issue", issue=42)
    assert ref(theatre)
    assert set(reconciled(theatre, "--dry-run")[1]) == {(42, "card"), (42, "prune")}
    done = reconciled(theatre)[1]
    assert all(one["repaired"] for one in done.values())
    assert (theatre.card(42)["Status"], theatre.card(42).get("Agent") or "") == ("Done", "")
    assert ref(theatre, CLAIM_REF) is None
    assert reconciled(theatre)[1] == {}
