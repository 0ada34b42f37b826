"""Taking a task and giving it back, through the command line."""

import json
from dataclasses import replace

import pytest


def test_claim_takes_the_task_everywhere(theatre):
    """One command: branch, claim file, assignment, Status and Agent, in two requests."""
    played = theatre.stage.command("claim", "42")
    assert (played.status, played.requests) == (0, 2)
    claim = theatre.stage.claim()
    assert (claim["phase"], claim["issue_number"], claim["last_synced_status"]) == ("coding", 42, "In Progress")
    assert claim["branch"] == theatre.git("branch", "--show-current") == "claude/fix-race-condition-in-cache-42"
    assert theatre.issue()["assignees"] == ["octo"]
    assert theatre.card() == {"Status": "In Progress", "Priority": "P1", "Agent": claim["agent_id"]}
    assert claim["agent_id"].startswith("octo-")


@pytest.mark.parametrize(
    ("arguments", "status", "says"),
    [
        (["44"], 1, "Issue #44 is closed."),
        (["41"], 1, "Issue #41 is blocked by #40."),
        (["40"], 3, "Issue #40 is held by mona."),
        (["999"], 6, "999"),
        ([], 2, "Which issue?"),
        (["no such title"], 6, 'No open issue on the board has "no such title" in its title.'),
        (["the"], 2, "issues match: #"),
        (["-1"], 2, "No such option"),
    ],
)
def test_what_cannot_be_claimed_is_refused(theatre, arguments, status, says):
    """A refusal says why and what would help, and leaves no trace here or there."""
    before = theatre.stage.world()
    played = theatre.stage.command("claim", *arguments)
    assert (played.status, says in played.stderr) == (status, True), played.stderr
    assert "try:" in played.stderr or "Try" in played.stderr
    assert theatre.stage.claim() is None
    assert theatre.git("branch", "--show-current") == "main"
    assert before == theatre.stage.world()


def test_title_and_next(theatre):
    """Words of a title find the one issue; --next takes the best ready one."""
    assert "Claimed issue #43" in theatre.stage.command("claim", "describe the cache").stdout
    theatre.stage.command("release")
    assert "Claimed issue #42" in theatre.stage.command("claim", "--next").stdout


def test_same_claim_again_is_a_success(theatre):
    """What is held here already is told with exit code 0 and without a request, so that an agent may repeat itself."""
    theatre.stage.command("claim", "42")
    before = theatre.stage.claim()
    for again in (["42"], ["#42"], ["octo/demo#42"], ["42", "--take-over"], []):
        played = theatre.stage.command("claim", *again)
        assert (played.status, played.requests) == (0, 0), again
        assert "Issue #42 is claimed here already: branch claude/fix-race-condition-in-cache-42" in played.stdout
    values = json.loads(theatre.stage.command("claim", "42", "--json").stdout)
    assert (values["held_already"], values["claim"]["issue_number"]) == (True, 42)
    assert theatre.stage.claim() == before
    assert theatre.stage.command("claim", "--next").status == 2


def test_lost_claim_is_not_held_already(theatre):
    """A claim that is known to be lost is no success: it says who has it."""
    theatre.stage.command("claim", "42")
    lease = theatre.stage.claim()["lease"] | {"lost_to": "somebody else"}
    theatre.edit_claim(lease=lease)
    played = theatre.stage.command("claim", "42")
    assert (played.status, "is held by" in played.stderr) == (3, True)


def test_second_claim_is_refused(theatre):
    """A worktree holds one task; another worktree may hold another."""
    theatre.stage.command("claim", "42")
    refused = theatre.stage.command("claim", "43")
    assert (refused.status, "already holds issue #42" in refused.stderr) == (2, True)
    beside = theatre.stage.command("claim", "43", "--worktree", "--json")
    assert beside.status == 0
    root = json.loads(beside.stdout)["root"]
    assert root.endswith("demo-43")
    assert theatre.stage.claim()["issue_number"] == 42
    listed = theatre.stage.command("status", "--all").stdout
    assert "#42 Fix race condition in cache · is coding" in listed
    assert "#43 Describe the cache in the README · is coding" in listed


def test_own_claim_is_restored(theatre):
    """A lost claim file comes back with its name, and with the pull request it had."""
    theatre.stage.command("claim", "42")
    before = theatre.stage.claim()
    theatre.stage.commit("a.txt", "a\n", "A")
    theatre.stage.command("handoff", "--later", "--summary", "Fix it")
    theatre.hook("on-stop")
    (theatre.stage.root / ".agent-claim.json").unlink()
    restored = theatre.stage.command("claim", "42")
    assert "Restored the claim of issue #42" in restored.stdout
    after = theatre.stage.claim()
    assert (after["agent_id"], after["phase"], after["pr_number"]) == (before["agent_id"], "pr_created", 45)


def test_another_clone_of_the_same_user_is_somebody_else(theatre):
    """All agents of one person share a login: the Agent field tells them apart."""
    theatre.stage.act("set_field", issue=42, field="Agent", value="octo-1")
    played = theatre.stage.command("claim", "42")
    assert (played.status, "held by octo-1" in played.stderr) == (3, True)
    assert theatre.stage.command("claim", "42", "--take-over").status == 0


def test_not_ready_only_warns(theatre):
    """By number, an issue in another column can be taken; it is said."""
    theatre.stage.act("set_field", issue=43, field="Status", value="In Review")
    played = theatre.stage.command("claim", "43")
    assert (played.status, 'its status is "In Review", not "Todo"' in played.stderr) == (0, True)


def test_mirror_trouble_leaves_the_claim_standing(theatre):
    """When GitHub cannot be told everything the claim holds, the exit code says so, and sync mends it."""
    theatre.fault("drop_before", operation="ClaimTask")
    played = theatre.stage.command("claim", "42")
    assert (played.status, "GitHub was only partly updated" in played.stderr) == (8, True)
    assert theatre.stage.claim()["phase"] == "coding"
    assert theatre.stage.command("claim", "42").status == 0
    assert theatre.card()["Status"] == "In Progress"
    assert theatre.issue()["assignees"] == ["octo"]


def test_unfinished_claim_is_finished_by_sync(theatre):
    """What could not be told when the claim was made is told by sync, the assignment too."""
    theatre.fault("drop_before", operation="ClaimTask")
    theatre.stage.command("claim", "42")
    dry = theatre.stage.command("claim", "43", "--dry-run")
    assert (dry.status, "already holds issue #42" in dry.stderr) == (2, True)
    assert theatre.issue()["assignees"] == []
    theatre.stage.command("sync")
    assert theatre.issue()["assignees"] == ["octo"]


def test_without_a_board_nothing_is_missing(theatre):
    """A repository without a board is claimed and released without complaint; board commands say what is missing."""
    environment = {key: value for key, value in theatre.stage.environment.items() if key != "AGENT_SYNC_PROJECT_NUMBER"}
    plain = replace(theatre.stage, environment=environment)
    played = plain.command("claim", "42")
    assert (played.status, played.stderr) == (0, "")
    assert plain.hook("on-stop", event="Stop").requests == 0
    assert plain.command("release").status == 0
    for command in (["board"], ["next"], ["claim", "--next"]):
        refused = plain.command(*command)
        assert (refused.status, "No board is configured." in refused.stderr) == (1, True)


def test_same_issue_is_not_held_twice_in_one_repository(theatre):
    """Two worktrees of one clone do not hold the same issue."""
    theatre.stage.command("claim", "42")
    twin = theatre.stage.command("claim", "42", "--worktree", "--branch", "claude/other")
    assert (twin.status, "is held in" in twin.stderr) == (3, True)


def test_release_leaves_what_somebody_else_took_over(theatre):
    """A task that another agent has taken over is not taken from it by releasing the old claim."""
    theatre.stage.command("claim", "42")
    theatre.stage.act("set_field", issue=42, field="Agent", value="other-1")
    assert theatre.stage.command("release").status == 0
    assert theatre.card()["Agent"] == "other-1"
    assert theatre.card()["Status"] == "In Progress"
    assert theatre.stage.claim() is None


def test_handoff_after_every_closed_pull_request_opens_a_new_one(theatre):
    """However often a pull request was closed without merging, the next handoff opens a new one."""
    theatre.stage.command("claim", "42")
    theatre.stage.commit("a.txt", "a\n", "A")
    for number in (45, 46, 47):
        theatre.stage.command("handoff", "--later", "--summary", "Try")
        assert f"PR #{number} created" in theatre.hook("on-stop").stdout
        theatre.stage.act("close_pull", pull=number)
        theatre.hook("on-idle")


def test_second_refusal_is_said_again(theatre):
    """A pull request that is refused for the same reason as the one before is told so again after a handoff."""
    theatre.stage.command("claim", "42")
    for name in ("a.txt", "b.txt"):
        theatre.stage.commit(name, "a\n", "A")
        theatre.stage.command("handoff", "--later", "--summary", "Nothing")
        theatre.git("push", "-q", "origin", "HEAD:main")
        assert "has no commits of its own" in theatre.hook("on-stop").stdout


@pytest.mark.parametrize("options", [(), ("--later",), ("--dry-run",)])
def test_a_branch_without_commits_is_not_handed_off(theatre, options):
    """An empty branch is refused before anything is pushed or written."""
    theatre.stage.command("claim", "42")
    refused = theatre.stage.command("handoff", "--summary", "Nothing", *options)
    assert refused.status == 2
    assert "has no commits of its own" in refused.stderr
    assert theatre.stage.claim()["phase"] == "coding"
    branch = theatre.stage.claim()["branch"]
    assert theatre.git("ls-remote", "origin", f"refs/heads/{branch}") == ""


def test_dry_run_changes_nothing(theatre):
    """Every write can be tried dry."""
    before = theatre.stage.world()
    assert (
        "would check out branch claude/fix-race-condition-in-cache-42"
        in theatre.stage.command("claim", "42", "--dry-run").stdout
    )
    assert (before, theatre.stage.claim()) == (theatre.stage.world(), None)
    theatre.stage.command("claim", "42")
    theatre.stage.commit("a.txt", "a\n", "A")
    held, world = theatre.stage.claim(), theatre.stage.world()
    assert "then push claude/" in theatre.stage.command("handoff", "--summary", "x", "--dry-run").stdout
    assert "would move the card" in theatre.stage.command("release", "--dry-run").stdout
    assert "nothing to do" in theatre.stage.command("sync", "--dry-run").stdout
    assert (held, world) == (theatre.stage.claim(), theatre.stage.world())


def test_release_gives_back(theatre):
    """Released: card ready again, Agent empty, nobody assigned, file gone, branch kept."""
    theatre.stage.command("claim", "42")
    assert theatre.stage.command("release", "--reason", "not now").status == 0
    assert theatre.card() == {"Status": "Todo", "Priority": "P1"}
    assert theatre.issue()["assignees"] == []
    assert theatre.stage.claim() is None
    assert theatre.git("branch", "--show-current") == "claude/fix-race-condition-in-cache-42"


def test_release_with_an_open_pull_request_needs_force(theatre):
    """An open pull request is not left behind by accident."""
    theatre.work()
    theatre.hold(phase="ready_for_pr", summary="x")
    theatre.hook("on-stop")
    refused = theatre.stage.command("release")
    assert (refused.status, "PR #45 is open." in refused.stderr) == (1, True)
    assert theatre.stage.claim()
    assert theatre.stage.command("release", "--force").status == 0
    assert theatre.stage.claim() is None


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda t: (t.stage.root / "new.txt").write_text("x"), "uncommitted changes: new.txt"),
        (lambda t: t.git("switch", "-q", "main"), "HEAD is on branch main"),
        (lambda t: t.git("checkout", "-q", "--detach"), "HEAD is detached"),
    ],
    ids=["uncommitted", "other branch", "detached"],
)
def test_handoff_refuses(theatre, spoil, says):
    """What is not committed on the claim's branch is not handed off."""
    theatre.stage.command("claim", "42")
    theatre.stage.commit("a.txt", "a\n", "A")
    spoil(theatre)
    played = theatre.stage.command("handoff", "--summary", "x")
    assert (played.status, says in played.stderr) == (2, True)
    assert theatre.stage.claim()["phase"] == "coding"


def test_done_needs_a_merge_or_a_yes(theatre):
    """A human's done with an open pull request is refused; --yes decides, --now closes at once."""
    theatre.work()
    theatre.hold(phase="ready_for_pr", summary="x")
    theatre.hook("on-stop")
    refused = theatre.stage.command("done")
    assert (refused.status, "PR #45 is open, not merged" in refused.stderr) == (1, True)
    assert theatre.stage.claim()["phase"] == "pr_created"
    closed = theatre.stage.command("done", "--yes", "--now")
    assert "Issue #42 closed." in closed.stdout
    assert theatre.issue()["state"] == "closed"


def test_status_marks_what_disagrees(theatre):
    """Claim, branch, PR, CI, issue and card stand side by side; a lie is marked."""
    theatre.stage.command("claim", "42")
    theatre.stage.act("set_field", issue=42, field="Status", value="Todo")
    theatre.stage.act("close_issue", issue=42)
    shown = theatre.stage.command("status").stdout
    assert "✗ the claim says In Progress" in shown
    assert "✗ the issue is closed, the claim is not done" in shown
    assert shown.endswith("Next: agent-sync release")
    rows = json.loads(theatre.stage.command("status", "--json").stdout)["rows"]
    assert [row["name"] for row in rows] == ["claim", "branch", "pull request", "CI", "reviews", "issue", "card"]


def test_listings(theatre):
    """Next and board list what there is, also as JSON."""
    assert [issue["number"] for issue in json.loads(theatre.stage.command("next", "--json").stdout)] == [42, 43]
    board = theatre.stage.command("board").stdout
    assert "Todo (3)" in board
    assert "#41 Validate the configuration at start · blocked" in board
    assert len(json.loads(theatre.stage.command("board", "--json").stdout)) == 5
