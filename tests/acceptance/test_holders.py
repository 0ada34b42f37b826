"""Who holds an issue, and how a person frees one that its holder left."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from support.clones import BRANCH, CLAIM_REF, beside, git_requests, ref, with_variables
from support.fleet import fed
from support.prove import PROVE
from support.stage import Theatre, agent

SESSION = {"CLAUDECODE": "1"}


def test_slung_work_is_not_offered(theatre):
    """Work on a worker's hook shows on the board, and `next`, `claim --next` and the session's start pass it by."""
    slung = theatre.stage.command("worker", "sling", "42", "docs/w2")
    assert (slung.status, slung.requests) == (0, 2)
    assert theatre.card() == {"Status": "In Progress", "Priority": "P1", "Agent": "docs/w2"}
    theatre.stage.act("set_field", issue=42, field="Status", value="Todo")
    theatre.stage.act("set_field", issue=42, field="Agent", value="")
    listed = theatre.stage.command("next")
    assert "#42" not in listed.stdout
    assert "Left out: 1 held by others." in listed.stdout
    assert git_requests(theatre) == ["git-upload-pack"]
    assert "#42" not in agent(theatre.stage.hook("session-start", event="SessionStart"))
    assert "Claimed issue #43" in theatre.stage.command("claim", "--next").stdout


def test_the_next_is_tried_after_a_lost_race(theatre):
    """Whoever is beaten to a task between the look and the push takes the next one that is free."""
    bob = beside(theatre, "bob")
    assert theatre.stage.command("claim", "42").status == 0
    # The board is behind, and what bob's clone knows of the claim refs is what it last saw.
    theatre.stage.act("set_field", issue=42, field="Status", value="Todo")
    theatre.stage.act("set_field", issue=42, field="Agent", value="")
    theatre.stage.act("assign", issue=42, users=[])
    theatre.fault("status:500", path="/octo/demo.git/info/refs")
    played = bob.stage.command("claim", "--next")
    assert (played.status, "Claimed issue #43" in played.stdout) == (0, True), played.stderr


def test_the_agent_field_as_a_choice_is_a_wish(theatre):
    """A planner's choice of an agent holds nothing: only a text that somebody wrote does."""
    theatre.stage.act("set_field", issue=42, field="Priority", value="P0")
    wishing = with_variables(theatre, AGENT_SYNC_BOARD_AGENT_FIELD="Priority")
    assert "#42" in wishing.stage.command("next").stdout
    assert wishing.stage.command("claim", "42").status == 0


def test_a_person_frees_a_claim(theatre):
    """`release ISSUE --force` frees what a holder left, on the board and on the issue; the holder finds it lost."""
    bob = beside(theatre, "bob")
    assert theatre.stage.command("claim", "42").status == 0
    refused = bob.stage.command("release", "42")
    assert (refused.status, "takes --force" in refused.stderr) == (2, True)
    dry = bob.stage.command("release", "42", "--force", "--dry-run")
    assert (dry.status, CLAIM_REF in dry.stdout, theatre.card()["Status"]) == (0, True, "In Progress")
    played = bob.stage.command("release", "42", "--force", "--reason", "the machine is gone")
    assert (played.status, played.requests) == (0, 4), played.stderr
    assert 'it was held by "octo/demo"' in played.stdout
    assert theatre.card() == {"Status": "Todo", "Priority": "P1"}
    assert theatre.issue()["assignees"] == []
    (comment,) = theatre.comments()
    assert comment.startswith('@octo freed this claim of `"octo/demo"')
    assert comment.endswith("Reason: the machine is gone")
    bob.git("fetch", "-q", "origin", f"+{CLAIM_REF}:refs/seen")
    history = bob.git("log", "--format=%B", "refs/seen")
    assert 'Freed by a person from "octo/demo"' in history
    assert "the machine is gone" in history
    assert "LOST" in theatre.stage.command("status").stdout
    assert bob.stage.command("claim", "42").status == 0


def left_on_github(theatre):
    """Return what GitHub shows of issue 42: its status, its agent and who is assigned."""
    card = theatre.card()
    return card.get("Status"), card.get("Agent") or "", theatre.issue()["assignees"]


FREE = ("Todo", "", [])


@pytest.mark.parametrize("knows", [False, True], ids=["first told by release", "told before"])
def test_release_finishes_what_the_end_of_its_lease_has_left(theatre, knows):
    """Where the lease has ended and the issue is free, `release` clears the card that still names this claim."""
    bob = beside(theatre, "bob")
    assert theatre.stage.command("claim", "42").status == 0
    shown = left_on_github(theatre)
    # GitHub is away when the claim is freed, so that card and assignment stay.
    theatre.fault("status:502", times=20, operation="ReleaseTask")
    assert bob.stage.command("release", "42", "--force").status == 0
    theatre.stage.control("DELETE", "faults")
    assert left_on_github(theatre) == shown
    if knows:
        theatre.stage.commit("a.txt", "a\n", "A")
        assert theatre.stage.command("push").status == 3
    played = theatre.stage.command("release")
    assert (played.status, played.stderr) == (0, "")
    assert "Issue #42 was released." in played.stdout
    assert (left_on_github(theatre), theatre.stage.claim()) == (FREE, None)
    assert bob.stage.command("claim", "42").status == 0


def test_release_clears_no_card_that_names_another(theatre):
    """Of a lease that has ended, only what still names this claim is cleared."""
    bob = beside(theatre, "bob")
    assert theatre.stage.command("claim", "42").status == 0
    assert bob.stage.command("release", "42", "--force").status == 0
    theatre.stage.act("set_field", issue=42, field="Agent", value="mona-1")
    theatre.stage.act("assign", issue=42, users=["octo"])
    before = theatre.stage.world()
    played = theatre.stage.command("release")
    assert (played.status, theatre.stage.claim()) == (0, None)
    assert theatre.stage.world() == before


def test_release_by_force_clears_what_a_deleted_claim_ref_has_left(theatre):
    """A claim ref that is gone holds nothing: by force card and assignment go back, too."""
    assert theatre.stage.command("claim", "42").status == 0
    theatre.git("push", "-q", "origin", f":{CLAIM_REF}")
    refused = theatre.stage.command("release")
    assert (refused.status, "agent-sync release --force" in refused.stderr) == (8, True), refused.stderr
    assert theatre.stage.command("release", "--force").status == 0
    assert (left_on_github(theatre), theatre.stage.claim()) == (FREE, None)
    assert beside(theatre, "bob").stage.command("claim", "42").status == 0


def test_release_says_which_branch_is_checked_out(theatre):
    """The checkout stays as it is, on the claim's branch or on another one."""
    assert theatre.stage.command("claim", "42").status == 0
    assert f"You are still on branch {BRANCH}." in theatre.stage.command("release").stdout
    assert theatre.stage.command("claim", "42").status == 0
    theatre.git("switch", "-q", "main")
    played = theatre.stage.command("release")
    assert f"Branch {BRANCH} is unchanged; you are on branch main." in played.stdout


def test_release_by_number_frees_a_claim_whose_file_is_lost(theatre):
    """What this very worktree holds is released without its claim file, and without --force."""
    assert theatre.stage.command("claim", "42").status == 0
    (theatre.stage.root / ".agent-claim.json").unlink()
    dry = theatre.stage.command("release", "42", "--dry-run")
    assert (dry.status, f"would release {CLAIM_REF}" in dry.stdout) == (0, True), dry.stderr
    assert ".agent-claim.json" not in dry.stdout
    played = theatre.stage.command("release", "42")
    assert (played.status, played.requests) == (0, 3), played.stderr
    assert "Issue #42 was released. Its lease was released for everyone who uses origin." in played.stdout
    assert left_on_github(theatre) == FREE
    assert theatre.comments() == []
    # Neither is left to be taken for a task at work.
    assert json.loads(theatre.stage.command("status", "--json").stdout)["situation"]["name"] == "Free"
    assert beside(theatre, "bob").stage.command("claim", "42").status == 0


def test_release_by_force_without_the_remote_names_what_frees_the_rest(theatre):
    """The claim file goes at once; the command it names releases lease, card and assignment later."""
    assert theatre.stage.command("claim", "42").status == 0
    theatre.fault("status:503", times=99, path="/octo/demo.git/")
    played = theatre.stage.command("release", "--force")
    assert (played.status, theatre.stage.claim()) == (0, None)
    assert "Run `agent-sync release 42` once the remote answers." in played.stderr
    theatre.stage.control("DELETE", "faults")
    assert theatre.stage.command("release", "42").status == 0
    assert left_on_github(theatre) == FREE


def claimed_by_option(theatre):
    """Claim issue 42 in a worktree that `claim` makes; return where it is."""
    return Path(json.loads(theatre.stage.command("claim", "42", "--worktree", "--json").stdout)["root"])


def claimed_inside(theatre):
    """Claim issue 42 in a worktree below the clone, made before; return where it is."""
    there = theatre.stage.root / ".worktrees" / "two"
    theatre.git("worktree", "add", "-q", "--detach", str(there))
    assert Theatre(replace(theatre.stage, root=there)).stage.command("claim", "42").status == 0
    return there


@pytest.mark.parametrize("is_pruned", [False, True], ids=["deleted by hand", "and pruned"])
@pytest.mark.parametrize("claimed", [claimed_by_option, claimed_inside])
def test_release_by_number_frees_a_claim_whose_worktree_is_gone(theatre, claimed, is_pruned):
    """The clone knows the claim as its own, and no worktree has it: its other claims stay; others need --force."""
    bob = beside(theatre, "bob")
    assert theatre.stage.command("claim", "43").status == 0
    there = claimed(theatre)
    for clone in (theatre, bob):
        refused = clone.stage.command("release", "42")
        assert (refused.status, "takes --force" in refused.stderr) == (2, True)
        assert "try: agent-sync release 42 --force" in refused.stderr
    shutil.rmtree(there)
    if is_pruned:
        theatre.git("worktree", "prune")
    assert bob.stage.command("release", "42").status == 2
    kept = theatre.stage.claim()
    played = theatre.stage.command("release", "42")
    assert played.status == 0, played.stderr
    assert (left_on_github(theatre), theatre.stage.claim()) == (FREE, kept)
    assert json.loads(theatre.stage.command("status", "--json").stdout)["situation"]["name"] == "Coding"
    assert bob.stage.command("claim", "42").status == 0


def test_a_person_takes_over_a_claim_made_by_hand_and_an_agent_does_not(theatre):
    """With a person's word also a claim that never expires changes hands, and the ref says so.

    In a session neither a claim of somebody else is freed nor one taken over that was made by hand.
    """
    bob = beside(theatre, "bob")
    assert theatre.stage.command("claim", "42").status == 0
    before = theatre.stage.world()
    for command in (["release", "42", "--force"], ["claim", "42", "--take-over", "--yes"]):
        refused = with_variables(bob, **SESSION).stage.command(*command)
        assert refused.status == 1, refused.stderr
        assert "person" in refused.stderr
    assert theatre.stage.world() == before
    refused = bob.stage.command("claim", "42", "--take-over")
    assert (refused.status, "it was claimed by hand and never expires" in refused.stderr) == (1, True)
    assert "--yes" in refused.stderr
    played = bob.stage.command("claim", "42", "--take-over", "--yes", "--json")
    assert played.status == 0, played.stderr
    assert json.loads(played.stdout)["lease"]["epoch"] == 2
    bob.git("fetch", "-q", "origin", f"+{CLAIM_REF}:refs/seen")
    assert "who claimed it by hand: a person agreed" in bob.git("log", "-1", "--format=%B", "refs/seen")
    assert theatre.card()["Agent"] == bob.stage.claim()["agent_id"]


LEFT_BEHIND = {
    "assignee": ({"Status": "Todo", "Agent": ""}, ["octo", "mona"]),
    "card": ({"Status": "In Progress", "Agent": ""}, []),
    "agent": ({"Status": "Todo", "Agent": "octo-1"}, ["octo"]),
}


@pytest.mark.parametrize("left", LEFT_BEHIND)
def test_a_person_frees_what_an_ended_claim_has_left(theatre, left):
    """Assignment, column or Agent that stayed after the claim had ended go with --force; others stay assigned."""
    fields, people = LEFT_BEHIND[left]
    bob = beside(theatre, "bob")
    assert theatre.stage.command("claim", "42").status == 0
    assert theatre.stage.command("release").status == 0
    for field, value in fields.items():
        theatre.stage.act("set_field", issue=42, field=field, value=value)
    theatre.stage.act("assign", issue=42, users=people)
    before = ref(theatre)
    played = bob.stage.command("release", "42", "--force")
    assert played.status == 0, played.stderr
    assert "Issue #42 was freed; it was last held by" in played.stdout
    assert ("It is still assigned to mona" in played.stdout) is ("mona" in people)
    assert left_on_github(theatre) == ("Todo", "", [one for one in people if one == "mona"])
    assert ref(theatre) == before
    (comment,) = theatre.comments()
    assert comment.startswith("@octo freed this issue, last held by `")
    again = bob.stage.command("release", "42", "--force")
    assert (again.status, "has no claim to free" in again.stderr) == (1, True)


def test_freeing_names_the_pull_request_that_stays_open(theatre):
    """The pull request of the former holder is not closed, and whoever frees the issue reads which one it is."""
    bob = beside(theatre, "bob")
    assert theatre.stage.command("claim", "42").status == 0
    theatre.stage.commit("a.txt", "a\n", "A")
    assert theatre.stage.command("handoff", "--summary", "Fix it").status == 0
    played = bob.stage.command("release", "42", "--force")
    assert played.status == 0, played.stderr
    assert f"PR #45 stays open: {theatre.stage.url}/octo/demo/pull/45" in played.stdout
    assert theatre.pulls()[0]["state"] == "open"


def test_what_a_holder_calls_itself_is_code_in_the_comment(theatre):
    """Neither a mention nor markup in the holder's own words takes effect on the issue, whoever frees it."""
    words = "@mona <img src=x> `x` [y](z)"
    lease = {
        "schema_version": 1,
        "issue": 42,
        "holder": {"host": words, "user": words, "worktree": "w", "agent": words},
        "epoch": 1,
        "nonce": "e" * 32,
        "state": "held",
        "acquired_at": "2026-01-01T00:00:00Z",
        "renewed_at": "2026-01-01T00:00:00Z",
        "ttl_s": 60.0,
        "branch": "@mona",
    }
    for mode, command in (("manual", ["release", "42", "--force"]), ("auto", ["reconcile", "--all"])):
        root = theatre.stage.root
        blob = fed(root, json.dumps(lease | {"mode": mode}).encode(), "hash-object", "-w", "--stdin")
        tree = fed(root, f"100644 blob {blob}\tclaim.json\n".encode(), "mktree")
        theatre.git("push", "-q", "-f", "origin", f"{theatre.git('commit-tree', '-m', 'x', tree)}:{CLAIM_REF}")
        played = theatre.stage.command(*command)
        assert played.status == 0, played.stderr
        comment = theatre.comments()[-1]
        outside = "".join(comment.split("`")[::2])
        assert "@mona" in comment
        assert "mona" not in outside, comment
        assert "<img" not in outside, comment


NOT_FREED = {
    "43": "Issue #43 has no claim to free. Nobody holds it.",
    "40": "It is assigned to mona, which is changed on GitHub",
    "42": "hangs on the work hook of",
    "words": "is not the number of an issue",
}


def test_what_cannot_be_freed_is_said(theatre):
    """An assignment alone is GitHub's, slung work is the worker's, and what nobody holds is free."""
    bob = beside(theatre, "bob")
    assert theatre.stage.command("worker", "sling", "42", "docs/w2").status == 0
    before = theatre.stage.world()
    for issue, says in NOT_FREED.items():
        refused = bob.stage.command("release", issue, "--force")
        assert (refused.status in {1, 2}, says in refused.stderr) == (True, True), (issue, refused.stderr)
        assert theatre.stage.world() == before, issue


def test_the_agent_field_alone_can_be_freed(theatre):
    """A claim that only the board knows, written there by hand, is freed there."""
    theatre.stage.act("set_field", issue=42, field="Agent", value="mona-1")
    theatre.stage.act("assign", issue=42, users=["mona"])
    played = theatre.stage.command("release", "42", "--force")
    assert played.status == 0, played.stderr
    assert (theatre.card().get("Agent"), theatre.issue()["assignees"]) == (None, [])


def test_an_issue_is_added_to_the_board(theatre):
    """A claimed issue that is not on the board gets a card, in three requests; a setting keeps it off."""
    theatre.stage.act("remove_item", issue=43)
    off = with_variables(theatre, AGENT_SYNC_PROJECT_ADD_ISSUES="false")
    played = off.stage.command("claim", "43")
    assert (played.status, "add it there by hand" in played.stderr) == (8, True)
    assert off.stage.command("release").status == 0
    assert "would add issue #43 to the board" in theatre.stage.command("claim", "43", "--dry-run").stdout
    played = theatre.stage.command("claim", "43")
    assert (played.status, played.requests) == (0, 3), played.stderr
    assert theatre.card(43)["Status"] == "In Progress"
    assert theatre.stage.claim()["item_id"].startswith("PVTI_")


def test_a_board_without_a_review_column(theatre):
    """On GitHub's own new board (Todo, In Progress, Done) nothing complains, and the card stays while in review.

    Before it is set up, the doctor does not fail, and names the setting that says so.
    """
    theatre.stage.act("rename_option", field="Status", option="In Review", to="Icebox")
    checked = json.loads(theatre.stage.command("doctor", "--json").stdout)
    found = next(check for check in checked["checks"] if check["name"] == "statuses")
    assert found["mark"] == "warn"
    assert 'board.in_review = ""' in found["fix"]
    played = theatre.stage.command("init", "--yes")
    assert played.status == 0, played.stderr
    assert 'in_review = ""' in (theatre.stage.root / ".agent-sync.toml").read_text()
    checked = theatre.stage.command("doctor")
    assert "✗ statuses" not in checked.stdout
    assert "not on the board" not in checked.stdout
    theatre.git("add", "-A")
    theatre.git("commit", "-qm", "Set up")
    theatre.git("push", "-q", "origin", "main")
    assert theatre.stage.command("claim", "42").status == 0
    theatre.stage.commit("a.txt", "a\n", "A")
    assert theatre.stage.command("handoff", "--later", "--summary", "Fix it").status == 0
    said = theatre.hook("on-stop").stdout
    assert theatre.stage.claim()["phase"] == "pr_created"
    assert "Board not updated" not in said
    assert theatre.card()["Status"] == "In Progress"
    theatre.stage.act("merge_pull", pull=theatre.stage.claim()["pr_number"])
    theatre.stage.command("sync")
    theatre.stage.command("done", "--yes")
    theatre.stage.command("sync")
    assert (theatre.issue()["state"], theatre.card()["Status"]) == ("closed", "Done")


def test_the_board_is_cheap_at_any_size(theatre):
    """`board` costs two requests at most with ten thousand cards, and one where the settings name its columns."""
    cards = 10_000 if PROVE else 1_000
    theatre.stage.act("grow_board", items=cards - 5)
    played = theatre.stage.command("board")
    assert (played.status, played.requests) == (0, 1)
    heads = [line for line in played.stdout.splitlines() if not line.startswith(" ")]
    assert heads == ["Todo (3)", "In Progress (1)", "In Review (0)", f"Done ({cards - 4})"]
    as_json = theatre.stage.command("board", "--json")
    assert (as_json.requests, len(json.loads(as_json.stdout))) == (1, 54)
    assert f"{cards - 54} more in Done" in as_json.stderr
