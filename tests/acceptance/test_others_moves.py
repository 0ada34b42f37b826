"""What others do to the pull request, its branch, the issue and the card: noticed by the one poll, said once."""

import json

import pytest
from support.clones import BRANCH
from support.stage import agent, human

AT_ONCE = {"AGENT_SYNC_CHECKS_BACKOFF_S": "0"}


@pytest.fixture
def opened(theatre):
    """Claim issue 42 and open PR #45 for it."""
    assert theatre.stage.command("claim", "42").status == 0
    theatre.stage.commit("cache.py", "lock = True\n", "Add a lock")
    assert theatre.stage.command("handoff", "--summary", "Fix the race").status == 0
    look(theatre)
    return theatre


def proposed(theatre, branch):
    """Let there be a branch with a commit and its pull request, held by hand; return its number."""
    import httpx

    theatre.stage.act("push_commit", branch=branch, path=f"{branch}.txt", content="lock\n")
    answer = httpx.post(
        f"{theatre.stage.url}/repos/octo/demo/pulls",
        json={"title": "Fix the race", "head": branch, "base": "main"},
        headers={"Authorization": "token as:octo"},
    )
    number = answer.raise_for_status().json()["number"]
    theatre.hold(phase="pr_created", pr_number=number, branch=branch)
    return number


@pytest.fixture
def held(theatre):
    """Hold PR #45 by hand."""
    assert proposed(theatre, BRANCH) == 45
    look(theatre)
    return theatre


def look(theatre):
    """Return what an idle look says, and the requests it made."""
    played = theatre.hook("on-idle", **AT_ONCE)
    assert played.status == 0
    return f"{agent(played)}\n{human(played)}", theatre.operations()


def situation(theatre):
    """Return the name of the situation, from what the claim remembers."""
    return json.loads(theatre.stage.command("status", "--json", "--offline").stdout)["situation"]["name"]


def done_by_mona(theatre, act, **fields):
    """Let somebody else do something."""
    theatre.stage.act(act, by="mona", **fields)


def transferred(theatre):
    """Let somebody move the issue to their fork."""
    done_by_mona(theatre, "fork")
    theatre.stage.act("transfer_issue", issue=42, to="mona/demo")


def retargeted(theatre):
    """Let somebody choose another base."""
    done_by_mona(theatre, "push_commit", branch="develop", path="d.txt", content="d\n")
    done_by_mona(theatre, "retarget_pull", pull=45, base="develop")


# Each outweighs the one before it, so that it is what the situation names.
MOVES = {
    "card moved": (
        lambda t: done_by_mona(t, "set_field", issue=42, field="Status", value="Todo"),
        'was moved to "Todo" on the board (agent-sync had put it to "In Review"). It is left there.',
        "MovedOnBoard",
    ),
    "retargeted": (retargeted, 'PR #45 goes into branch "develop" now', "Retargeted"),
    "pushed": (
        lambda t: done_by_mona(t, "push_commit", branch=BRANCH, path="m.txt", content="m\n"),
        "Somebody else has pushed to the branch of PR #45",
        "ForeignHead",
    ),
    "force-pushed": (
        lambda t: done_by_mona(t, "force_push", branch=BRANCH),
        '"mona" has force-pushed to the branch of PR #45',
        "ForeignHead",
    ),
    "reassigned": (
        lambda t: done_by_mona(t, "assign", issue=42, users=["mona"]),
        'Issue #42 is assigned to "mona" now. That is left as it is',
        "Reassigned",
    ),
    "issue closed": (
        lambda t: done_by_mona(t, "close_issue", issue=42),
        "Issue #42 was closed while PR #45 is not merged.",
        "IssueClosed",
    ),
    "issue transferred": (transferred, "Issue #42 is no longer in this repository", "IssueGone"),
}
ENDS = {
    "closed": (
        lambda t: done_by_mona(t, "close_pull", pull=45),
        "PR #45 was closed without merging. Issue #42 stays open",
        "ClosedUnmerged",
    ),
    "branch deleted": (
        lambda t: done_by_mona(t, "delete_branch", branch=BRANCH),
        f'PR #45 was closed without merging, and branch "{BRANCH}" was deleted on GitHub.',
        "BranchDeleted",
    ),
}


def seen_and_said_once(theatre, move, words, name):
    """One request finds a move, both readers hear it once, nothing is written to GitHub because of it."""
    move(theatre)
    said, asked = look(theatre)
    assert words in said
    assert asked == ["Poll"], words
    assert situation(theatre) == name
    again, asked = look(theatre)
    assert words not in again
    assert set(asked) <= {"Poll"}, words


def test_every_move_is_seen_by_the_poll_and_said_once(opened):
    """Card, base, head and issue: each move is found by one request and said once, whatever was moved before."""
    for move in MOVES.values():
        seen_and_said_once(opened, *move)


def test_what_was_closed_is_said_to_be_open_again(opened):
    """Pull request and issue: closed, seen, opened again, seen; the card and the assignment are nobody's fight."""
    done_by_mona(opened, "close_issue", issue=42)
    look(opened)
    done_by_mona(opened, "reopen_issue", issue=42)
    assert "Issue #42 is open again" in look(opened)[0]
    assert situation(opened) == "IssueReopened"
    seen_and_said_once(opened, *ENDS["closed"])
    done_by_mona(opened, "reopen_pull", pull=45)
    said = opened.stage.command("sync").stdout
    assert "PR #45 is open again" in said
    assert situation(opened) == "Reopened"
    assert "PR #45 is open again:" not in opened.stage.command("sync").stdout
    seen_and_said_once(opened, *ENDS["branch deleted"])


def test_a_pulled_or_rewritten_commit_is_not_somebody_elses(opened):
    """Once the branch here has what was pushed, nothing is said of it; nor of a PR at a commit that was amended here."""
    done_by_mona(opened, "push_commit", branch=BRANCH, path="m.txt", content="m\n")
    look(opened)
    opened.git("pull", "-q", "--ff-only", "origin", BRANCH)
    assert situation(opened) == "Watching"
    look(opened)
    assert "drift" not in opened.stage.claim()
    opened.git("commit", "-q", "--amend", "-m", "Add a better lock")
    assert "has pushed" not in look(opened)[0]
    assert situation(opened) != "ForeignHead"


def test_a_token_that_lost_the_board_still_sees_the_pull_request(opened):
    """The card is asked with the poll; where the token no longer reaches boards, the rest is asked without it."""
    played = opened.hook("on-idle", GH_TOKEN="no-project-scope", **AT_ONCE)
    assert "PR #45" in agent(played)
    assert opened.operations() == ["Poll", "Poll"]


METHODS = {
    "merge": {"method": "merge"},
    "squash": {"method": "squash"},
    "rebase": {"method": "rebase"},
    "admin, against the rules": {"method": "squash"},
    "queue": {},
}
RULES = {"admin, against the rules": {"required_reviews": 2}, "queue": {"required_reviews": 0, "merge_queue": True}}


def test_a_merge_is_known_by_its_pull_request(theatre):
    """Whatever commits a merge leaves on the base, and with the branch deleted: merged, and asked about once."""
    for number, (name, fields) in enumerate(METHODS.items(), start=45):
        branch = f"work-{number}"
        assert proposed(theatre, branch) == number
        theatre.stage.act("rules", **RULES.get(name, {}))
        if name == "queue":
            theatre.stage.act("enqueue_pull", pull=number)
        theatre.stage.act("merge_pull", pull=number, **fields)
        theatre.stage.act("delete_branch", branch=branch)
        said, asked = look(theatre)
        assert (f"PR #{number} merged! Should I close issue #42?" in said, asked) == (True, ["Poll"]), name
        assert theatre.stage.claim()["phase"] == "merged_detected", name
        assert "Should I close" not in look(theatre)[0], name


def test_an_issue_that_the_merge_closed_late_is_not_asked_about_again(held):
    """GitHub closes a moment after the merge was seen: the next session hears that, and no question."""
    held.stage.act("merge_pull", pull=45, method="squash")
    look(held)
    held.stage.act("close_issue", issue=42)
    played = held.hook("session-start", stdin='{"session_id": "s2", "source": "startup"}')
    assert "Issue #42 was closed by the merge" in played.stdout
    assert "Should I close" not in played.stdout
    held.hook("on-stop")
    assert held.stage.claim() is None
    assert held.comments() == []


def test_a_revert_is_said(held):
    """A pull request that takes the merge back is said when it is opened and when it is merged, once each."""
    held.stage.act("merge_pull", pull=45, method="squash")
    look(held)
    done_by_mona(held, "revert_pull", pull=45)
    said, asked = look(held)
    assert ("PR #46 would take the merged PR #45 back." in said, asked) == (True, ["Poll"])
    assert situation(held) == "Reverted"
    held.stage.act("merge_pull", pull=46)
    assert "PR #45 was taken back: PR #46" in look(held)[0]
    assert "taken back" not in look(held)[0]
