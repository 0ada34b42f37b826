"""Taking a task and giving it back, through the command line."""

import json
from dataclasses import replace

from support.clones import with_variables


def test_claim_takes_the_task_everywhere_and_release_gives_it_back(theatre):
    """Branch, claim file, assignment, Status and Agent, in two requests; every write can be tried dry."""
    before = theatre.stage.world()
    dry = theatre.stage.command("claim", "42", "--dry-run").stdout
    assert "would check out branch claude/fix-race-condition-in-cache-42" in dry
    assert (before, theatre.stage.claim()) == (theatre.stage.world(), None)
    played = theatre.stage.command("claim", "42")
    assert (played.status, played.requests) == (0, 2)
    claim = theatre.stage.claim()
    assert (claim["phase"], claim["issue_number"], claim["last_synced_status"]) == ("coding", 42, "In Progress")
    assert claim["branch"] == theatre.git("branch", "--show-current") == "claude/fix-race-condition-in-cache-42"
    assert theatre.issue()["assignees"] == ["octo"]
    assert theatre.card() == {"Status": "In Progress", "Priority": "P1", "Agent": claim["agent_id"]}
    assert claim["agent_id"].startswith("octo-")
    theatre.stage.commit("a.txt", "a\n", "A")
    world = theatre.stage.world()
    assert "then push claude/" in theatre.stage.command("handoff", "--summary", "x", "--dry-run").stdout
    assert "would move the card" in theatre.stage.command("release", "--dry-run").stdout
    assert "nothing to do" in theatre.stage.command("sync", "--dry-run").stdout
    assert (claim, world) == (theatre.stage.claim(), theatre.stage.world())
    # Released: card ready again, Agent empty, nobody assigned, file gone, branch kept.
    assert theatre.stage.command("release", "--reason", "not now").status == 0
    assert theatre.card() == {"Status": "Todo", "Priority": "P1"}
    assert theatre.issue()["assignees"] == []
    assert theatre.stage.claim() is None
    assert theatre.git("branch", "--show-current") == "claude/fix-race-condition-in-cache-42"


REFUSALS = [
    (["44"], 1, "Issue #44 is closed."),
    (["41"], 1, "Issue #41 is blocked by #40."),
    (["40"], 3, "Issue #40 is held by mona."),
    (["999"], 6, "999"),
    ([], 2, "Which issue?"),
    (["no such title"], 6, 'No open issue on the board has "no such title" in its title.'),
    (["the"], 2, "issues match: #"),
    (["-1"], 2, "No such option"),
]


def test_what_cannot_be_claimed_is_refused(theatre):
    """A refusal says why and what would help, and leaves no trace here or there."""
    before = theatre.stage.world()
    for arguments, status, says in REFUSALS:
        played = theatre.stage.command("claim", *arguments)
        assert (played.status, says in played.stderr) == (status, True), played.stderr
        assert "try:" in played.stderr or "Try" in played.stderr, arguments
        assert theatre.stage.claim() is None, arguments
        assert theatre.git("branch", "--show-current") == "main", arguments
        assert before == theatre.stage.world(), arguments
    # All agents of one person share a login: the Agent field tells another clone of theirs apart.
    theatre.stage.act("set_field", issue=42, field="Agent", value="octo-1")
    played = theatre.stage.command("claim", "42")
    assert (played.status, "held by octo-1" in played.stderr) == (3, True)
    assert theatre.stage.command("claim", "42", "--take-over").status == 0


def test_best_ready_issue_and_words_of_a_title_are_claimed(theatre):
    """--next takes the best ready issue, words of a title find the one; in another column it is taken with a warning."""
    assert "Claimed issue #42" in theatre.stage.command("claim", "--next").stdout
    # A task that another agent has taken over is not taken from it by releasing the old claim.
    theatre.stage.act("set_field", issue=42, field="Agent", value="other-1")
    assert theatre.stage.command("release").status == 0
    assert theatre.card()["Agent"] == "other-1"
    assert theatre.card()["Status"] == "In Progress"
    assert theatre.stage.claim() is None
    assert "Claimed issue #43" in theatre.stage.command("claim", "describe the cache").stdout
    theatre.stage.command("release")
    theatre.stage.act("set_field", issue=43, field="Status", value="In Review")
    played = theatre.stage.command("claim", "43")
    assert (played.status, 'its status is "In Review", not "Todo"' in played.stderr) == (0, True)


def test_same_claim_again_is_a_success(theatre):
    """What is held here already is told with exit code 0 and without a request, so that an agent may repeat itself.

    A claim that is known to be lost is no success: it says who has it.
    """
    theatre.stage.command("claim", "42")
    before = theatre.stage.claim()
    for again in (["42"], ["#42"], ["octo/demo#42"], ["42", "--take-over"], []):
        played = theatre.stage.command("claim", *again)
        assert (played.status, played.requests) == (0, 0), again
        assert "Issue #42 is claimed here already: branch claude/fix-race-condition-in-cache-42" in played.stdout
    values = json.loads(theatre.stage.command("claim", "42", "--json").stdout)
    assert (values["held_already"], values["claim"]["issue_number"]) == (True, 42)
    assert theatre.stage.claim() == before
    assert theatre.stage.command("claim", "--next").status == 1
    theatre.edit_claim(lease=before["lease"] | {"lost_to": "somebody else"})
    played = theatre.stage.command("claim", "42")
    assert (played.status, "is held by" in played.stderr) == (3, True)


def test_second_claim_is_refused(theatre):
    """A worktree holds one task, and no two of a clone the same; another worktree may hold another."""
    theatre.stage.command("claim", "42")
    refused = theatre.stage.command("claim", "43")
    assert (refused.status, "already holds issue #42" in refused.stderr) == (1, True)
    twin = theatre.stage.command("claim", "42", "--worktree", "--branch", "claude/other")
    assert (twin.status, "is held in" in twin.stderr) == (3, True)
    beside = theatre.stage.command("claim", "43", "--worktree", "--json")
    assert beside.status == 0
    root = json.loads(beside.stdout)["root"]
    assert root.endswith("demo-43")
    assert theatre.stage.claim()["issue_number"] == 42
    listed = theatre.stage.command("status", "--all").stdout
    assert "#42 Fix race condition in cache · is coding" in listed
    assert "#43 Describe the cache in the README · is coding" in listed


def test_own_claim_is_restored_and_every_closed_pull_request_is_replaced(theatre):
    """A lost claim file comes back with its name and pull request; after each one closed unmerged a new one is opened."""
    theatre.stage.command("claim", "42")
    before = theatre.stage.claim()
    theatre.stage.commit("a.txt", "a\n", "A")
    for number in (45, 46, 47):
        theatre.stage.command("handoff", "--later", "--summary", "Try")
        assert f"PR #{number} created" in theatre.hook("on-stop").stdout
        if number == 45:
            (theatre.stage.root / ".agent-claim.json").unlink()
            assert "Restored the claim of issue #42" in theatre.stage.command("claim", "42").stdout
            after = theatre.stage.claim()
            assert (after["agent_id"], after["phase"], after["pr_number"]) == (before["agent_id"], "pr_created", 45)
        if number < 47:
            theatre.stage.act("close_pull", pull=number)
            theatre.hook("on-idle")


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
    assert (dry.status, "already holds issue #42" in dry.stderr) == (1, True)
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


def test_second_refusal_is_said_again(theatre):
    """A pull request that is refused for the same reason as the one before is told so again after a handoff."""
    theatre.stage.command("claim", "42")
    for name in ("a.txt", "b.txt"):
        theatre.stage.commit(name, "a\n", "A")
        theatre.stage.command("handoff", "--later", "--summary", "Nothing")
        theatre.git("push", "-q", "origin", "HEAD:main")
        assert "has no commits of its own" in theatre.hook("on-stop").stdout


def test_handoff_refuses_what_is_not_committed_on_the_branch_of_the_claim(theatre):
    """An empty branch, uncommitted files and another checkout are refused before anything is pushed or written."""
    theatre.stage.command("claim", "42")
    branch = theatre.stage.claim()["branch"]
    for options in ((), ("--later",), ("--dry-run",)):
        refused = theatre.stage.command("handoff", "--summary", "Nothing", *options)
        assert refused.status == 1, options
        assert "has no commits of its own" in refused.stderr, options
        assert theatre.stage.claim()["phase"] == "coding", options
    assert theatre.git("ls-remote", "origin", f"refs/heads/{branch}") == ""
    theatre.stage.commit("a.txt", "a\n", "A")
    new = theatre.stage.root / "new.txt"
    for spoil, says in (
        (lambda: new.write_text("x"), "uncommitted changes: new.txt"),
        (lambda: (new.unlink(), theatre.git("switch", "-q", "main")), "HEAD is on branch main"),
        (lambda: theatre.git("checkout", "-q", "--detach", branch), "HEAD is detached"),
    ):
        spoil()
        played = theatre.stage.command("handoff", "--summary", "x")
        assert (played.status, says in played.stderr) == (1, True), played.stderr
        assert theatre.stage.claim()["phase"] == "coding"


def test_open_pull_request_is_left_by_force_and_ended_by_a_yes_only(theatre):
    """Release and a human's done are refused while it is open; --force leaves it behind, --yes --now closes at once."""
    theatre.work()
    theatre.hold(phase="ready_for_pr", summary="x")
    theatre.hook("on-stop")
    refused = theatre.stage.command("release")
    assert (refused.status, "PR #45 is open." in refused.stderr) == (1, True)
    refused = theatre.stage.command("done")
    assert (refused.status, "PR #45 is open, not merged" in refused.stderr) == (1, True)
    held = theatre.stage.claim()
    assert held["phase"] == "pr_created"
    assert theatre.stage.command("release", "--force").status == 0
    assert theatre.stage.claim() is None
    theatre.hold(**held)
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


def test_number_that_is_no_issue_is_said_in_plain_words(theatre):
    """A pull request is called one; a number that leads to nothing is said with the repository."""
    theatre.work()
    theatre.hold(phase="ready_for_pr", summary="Work")
    assert theatre.stage.command("sync").status == 0
    (theatre.stage.root / ".agent-claim.json").unlink()
    number = str(theatre.pulls()[0]["number"])
    pull, none = theatre.stage.command("claim", number), theatre.stage.command("claim", "9999")
    assert (pull.status, f"#{number} is a pull request, not an issue" in pull.stderr) == (6, True), pull.stderr
    assert (none.status, "There is no issue #9999 in octo/demo" in none.stderr) == (6, True), none.stderr


def test_two_causes_are_two_lines_and_one_step(theatre):
    """A token that may only read is told what was refused, line by line, and the one command that shows why."""
    played = with_variables(theatre, GH_TOKEN="read-only").stage.command("claim", "42")
    lines = played.stderr.splitlines()
    assert len([line for line in lines if "partly updated:" in line]) == 2, played.stderr
    assert ([line for line in lines if "try:" in line.lower()]) == ["  try: agent-sync doctor --live"], played.stderr


def test_wrong_board_and_wrong_host_are_not_answered_in_a_circle(theatre):
    """The commands that list and set the number of a board; and no sign-in to what is no GitHub."""
    shown = with_variables(theatre, AGENT_SYNC_PROJECT_NUMBER="99").stage.command("board")
    step = shown.stderr.partition("try:")[2]
    assert ("config set project.number" in step, "agent-sync board" in step) == (True, False), shown.stderr
    theatre.git("remote", "set-url", "origin", "https://gitlab.com/acme/api.git")
    away = with_variables(theatre, AGENT_SYNC_GITHUB_URL="").stage.command("next")
    assert ("not a GitHub" in away.stderr, "gh auth login" in away.stderr) == (True, False), away.stderr
