"""`agent-sync reconcile --all`: every claim of the repository, from any clone."""

import json
import time

from support.clones import CLAIM_REF, SHORT, beside, committed_ago, long_ago, ref, told, with_variables
from support.fleet import fed

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


def test_an_ended_claim_gives_its_assignment_back_with_its_card(theatre):
    """Card and assignment that stayed when a claim ended go together, so that the issue is ready again."""
    bob = beside(theatre, "bob")
    assert theatre.stage.command("claim", "42").status == 0
    theatre.stage.act("assign", issue=42, users=["octo", "mona"])
    theatre.fault("status:502", times=20, operation="ReleaseTask")
    assert bob.stage.command("release", "42", "--force").status == 0
    theatre.stage.control("DELETE", "faults")
    assert (theatre.card(42)["Status"], theatre.issue(42)["assignees"]) == ("In Progress", ["octo", "mona"])
    done = reconciled(bob)[1]
    assert done[42, "card"]["repaired"] is True
    assert (theatre.card(42)["Status"], theatre.card(42).get("Agent") or "") == ("Todo", "")
    assert theatre.issue(42)["assignees"] == ["mona"]
    assert reconciled(bob)[1] == {}
    theatre.stage.act("assign", issue=42, users=[])
    assert "#42" in bob.stage.command("next").stdout


def test_an_assignment_that_cannot_be_told_is_named(theatre):
    """An agent whose name holds no login takes no assignment along; who is assigned is said."""
    plant(theatre, lease_of("hand-made", state="released"))
    for field, value in (("Agent", "hand-made"), ("Status", "In Progress")):
        theatre.stage.act("set_field", issue=42, field=field, value=value)
    theatre.stage.act("assign", issue=42, users=["mona"])
    done = reconciled(theatre)[1][42, "card"]
    assert (done["repaired"], "still assigned to mona" in done["outcome"]) == (True, True), done
    assert (theatre.card(42)["Status"], theatre.issue(42)["assignees"]) == ("Todo", ["mona"])


def test_a_card_that_was_taken_in_hand_meanwhile_is_left(theatre):
    """What names another agent by the time of the repair is not cleared."""
    plant(theatre, lease_of("octo-1", state="released"))
    theatre.stage.act("set_field", issue=42, field="Agent", value="octo-1")
    theatre.fault("delay:2", operation="Task")
    process = theatre.popen("reconcile", "--all")
    while theatre.faults_left():
        assert process.poll() is None
        time.sleep(0.02)
    theatre.stage.act("set_field", issue=42, field="Agent", value="mona-1")
    process.communicate(timeout=60)
    assert theatre.card(42)["Agent"] == "mona-1"


def lease_of(agent, **fields):
    """Return a lease of issue 42 that an agent got a year ago."""
    then = "2025-11-01T00:00:00Z"
    holder = {"host": "h", "user": "u", "worktree": "w", "agent": agent}
    lease = {"schema_version": 1, "issue": 42, "holder": holder, "epoch": 1, "nonce": "e" * 32, "state": "held"}
    return lease | {"acquired_at": then, "renewed_at": then, "ttl_s": 60.0} | fields


def plant(theatre, lease, *parents):
    """Put a lease on the claim ref of issue 42."""
    root = theatre.stage.root
    blob = fed(root, json.dumps(lease).encode(), "hash-object", "-w", "--stdin")
    tree = fed(root, f"100644 blob {blob}\tclaim.json\n".encode(), "mktree")
    commit = theatre.git("commit-tree", *(word for one in parents for word in ("-p", one)), "-m", "x", tree)
    theatre.git("push", "-q", "origin", f"{commit}:{CLAIM_REF}")


AHEAD = "2039-01-01T00:00:00Z"


def dated_ahead(theatre, **variables):
    """Let somebody claim issue 42 in a session, and date its last renewal years ahead; return their clone."""
    holder = beside(theatre, "ann", CLAUDECODE="1", **variables)
    assert holder.stage.command("claim", "42").status == 0
    began = ref(theatre)
    plant(theatre, lease_seen(theatre) | {"renewed_at": AHEAD, "serial": 1, "prev": began, "began": began}, began)
    return holder


def lease_seen(theatre):
    """Return the lease that the claim ref of issue 42 holds."""
    theatre.git("fetch", "-q", "origin", f"+{CLAIM_REF}:refs/seen")
    return json.loads(theatre.git("show", "refs/seen:claim.json"))


def test_a_renewal_from_the_future_is_told_with_what_ends_it(theatre):
    """No look says that it expires an hour from now: each says when it is dated, and names the commands that help."""
    dated_ahead(theatre)
    dated = "its last renewal is dated 2039-01-01 00:00 UTC, in the future"
    for options in ([], ["--take-over"], ["--take-over", "--yes"]):
        refused = theatre.stage.command("claim", "42", *options)
        assert refused.status in {1, 3}, told(refused)
        assert dated in refused.stderr, (options, told(refused))
        assert "try: agent-sync reconcile --all; a person: agent-sync release 42 --force" in refused.stderr
    (task,) = (one for one in json.loads(theatre.stage.command("status", "--all", "--json").stdout)["tasks"][:1])
    assert (task["issue"], task["lane"], task["next"]) == (42, "needs_you", "agent-sync reconcile --all")
    assert dated in task["reason"]
    shown = json.loads(theatre.stage.command("explain", "42", "--json").stdout)
    assert (shown["next"], shown["upcoming"]) == ("agent-sync reconcile --all", [])
    assert dated in shown["sentence"]


def test_a_renewal_from_the_future_runs_out_for_janitors_with_fresh_clones(theatre):
    """The first run lets it run from now, for everybody; a later one frees it, though neither knows of the other."""
    dated_ahead(theatre, AGENT_SYNC_LEASE_TTL_S="1")
    planned = reconciled(beside(theatre, "first"), "--dry-run")[1]
    assert set(planned) == {(42, "date")}
    with long_ago(theatre):
        done = reconciled(beside(theatre, "second"))[1]
    assert done[42, "date"]["repaired"] is True
    assert set(reconciled(beside(theatre, "third"))[1]) == {(42, "free")}
    assert (theatre.card(42)["Status"], theatre.issue(42)["assignees"]) == ("Todo", [])


def test_a_holder_whose_clock_was_wrong_keeps_its_claim(theatre):
    """After its claim was dated anew the holder pushes, hands off and finishes as if nothing had been."""
    holder = dated_ahead(theatre)
    before = lease_seen(theatre)
    assert reconciled(theatre)[1][42, "date"]["repaired"] is True
    assert reconciled(theatre)[1] == {}
    after = lease_seen(theatre)
    assert after.pop("renewed_at") < AHEAD
    changes = {"serial": 2, "prev": after["prev"]}
    assert after == {key: value for key, value in before.items() if key != "renewed_at"} | changes
    holder.stage.commit("b.txt", "b\n", "B")
    played = holder.stage.command("push")
    assert played.status == 0, told(played)
    assert lease_seen(theatre)["serial"] == 3
    assert "LOST" not in holder.stage.command("status").stdout
    assert holder.stage.command("release").status == 0
    assert (theatre.card(42)["Status"], lease_seen(theatre)["state"]) == ("Todo", "released")
