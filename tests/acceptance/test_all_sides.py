"""The task is looked at from all sides: what people did beside the tool is seen, said, and followed."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from support.stage import agent

AT_ONCE = {"AGENT_SYNC_CHECKS_BACKOFF_S": "0"}
START = json.dumps({"hook_event_name": "SessionStart", "session_id": "s", "source": "startup"})


@pytest.fixture
def pushed(theatre):
    """Claim issue 42, commit and push, without a handoff."""
    assert theatre.stage.command("claim", "42").status == 0
    theatre.stage.commit("cache.py", "lock = True\n", "Add a lock")
    assert theatre.stage.command("push").status == 0
    return theatre


@pytest.fixture
def opened(theatre):
    """Claim issue 42 and open PR #45 for it."""
    assert theatre.stage.command("claim", "42").status == 0
    theatre.stage.commit("cache.py", "lock = True\n", "Add a lock")
    assert theatre.stage.command("handoff").status == 0
    return theatre


def opened_by_hand(theatre):
    """Open a pull request of the claim's branch on GitHub itself."""
    import httpx

    answer = httpx.post(
        f"{theatre.stage.url}/repos/octo/demo/pulls",
        json={"title": "Fix the race", "head": theatre.stage.claim()["branch"], "base": "main"},
        headers={"Authorization": "token as:octo"},
    )
    return answer.raise_for_status().json()["number"]


def test_an_open_pull_of_the_branch_is_seen_while_coding(pushed):
    """Status, sync, explain, reconcile and a session's start name it and the command that adopts it."""
    number = opened_by_hand(pushed)
    found = f"PR #{number} of this branch is open; adopt it with `agent-sync handoff`."
    status = pushed.stage.command("status").stdout
    assert found in status
    assert f"#{number} open" in status
    for words in ("pull request  none", "Keep working"):
        assert words not in status
    for command in ("sync", "explain"):
        assert found in pushed.stage.command(command).stdout, command
    assert f"PR #{number} of this branch is open" in pushed.stage.command("reconcile", "--dry-run").stdout
    assert "Adopt it with `agent-sync handoff`" in agent(pushed.hook("session-start", stdin=START))
    assert pushed.stage.command("handoff").status == 0
    assert pushed.stage.claim()["pr_number"] == number


def test_a_merged_pull_of_the_branch_is_seen_while_coding(pushed):
    """Status says it, sync records it and asks; hooks while coding ask nothing."""
    number = opened_by_hand(pushed)
    pushed.stage.act("merge_pull", pull=number)
    for hook in ("on-stop", "on-idle"):
        pushed.hook(hook)
        assert pushed.operations() == [], hook
    assert f"PR #{number} of this branch is merged" in pushed.stage.command("status").stdout
    assert f"PR #{number} merged!" in pushed.stage.command("sync").stdout
    assert pushed.stage.claim()["phase"] == "merged_detected"
    assert pushed.stage.command("done").status == 0
    assert pushed.issue()["state"] == "closed"


def test_a_session_that_begins_asks_about_a_merged_pull_of_its_branch(pushed):
    """The question comes at the start, once the branch was pushed."""
    number = opened_by_hand(pushed)
    pushed.stage.act("merge_pull", pull=number)
    assert f"PR #{number} merged! Should I close issue #42?" in agent(pushed.hook("session-start", stdin=START))


def test_a_session_that_begins_asks_no_more_where_nothing_was_pushed(theatre):
    """A branch that is only here has no pull request."""
    assert theatre.stage.command("claim", "42").status == 0
    theatre.hook("session-start", stdin=START)
    assert "BranchPull" not in theatre.operations()


def test_a_fix_that_was_not_pushed_is_said_by_hooks(opened):
    """After red CI a stop and an idle look name the push, not another commit."""
    opened.stage.act("add_check", pull=45, name="test", conclusion="failure")
    assert "Commit a fix, then run: agent-sync push" in agent(opened.hook("on-idle", **AT_ONCE))
    opened.stage.commit("fix.py", "fix\n", "Fix it")
    lacks = "PR #45 lacks commits of this branch; push them: agent-sync push"
    assert lacks in agent(opened.hook("on-stop"))
    assert agent(opened.hook("on-stop")) == ""
    said = agent(opened.hook("on-idle", **AT_ONCE))
    assert lacks in said
    assert "Commit a fix" not in said


def test_push_says_when_there_is_nothing_to_push_and_which_branch_it_pushes(pushed):
    """A second push says so; on another branch the pushed one is named."""
    assert "Everything is already pushed" in pushed.stage.command("push").stdout
    branch = pushed.stage.claim()["branch"]
    pushed.git("switch", "-q", "main")
    assert f"{branch} is the claim's branch: git switch {branch}" in pushed.stage.command("push").stdout
    pushed.git("switch", "-q", "--detach")
    assert "HEAD is detached" in pushed.stage.command("push").stdout


def test_handoff_opens_no_pull_for_an_issue_that_is_not_wanted(pushed):
    """An issue that was closed or given to others is asked about; `--anyway` goes on."""
    pushed.stage.act("close_issue", issue=42, by="mona")
    refused = pushed.stage.command("handoff")
    assert refused.status == 8
    assert "No PR opened for issue #42: the issue was closed. `agent-sync handoff --anyway` opens one" in refused.stdout
    assert pushed.pulls() == []
    inside = pushed.hook("handoff", CLAUDECODE="1")
    assert inside.status == 0
    assert "Ask the human" in agent(pushed.hook("on-stop"))
    assert pushed.pulls() == []
    pushed.stage.act("reopen_issue", issue=42, by="mona")
    pushed.stage.act("assign", issue=42, users=["mona"], by="mona")
    assert 'the issue is assigned to "mona" now' in pushed.stage.command("handoff").stdout
    assert pushed.stage.command("handoff", "--anyway").status == 0
    assert len(pushed.pulls()) == 1
    assert pushed.stage.command("release").status == 1
    assert pushed.stage.command("release", "--force").status == 0


def test_a_pull_that_was_opened_again_is_noticed_by_the_running_session(opened):
    """A closed pull request is looked at every half hour; its merge is not missed."""
    opened.stage.act("close_pull", pull=45)
    assert "was closed without merging" in agent(opened.hook("on-idle", **AT_ONCE))
    opened.stage.act("reopen_pull", pull=45)
    opened.stage.act("merge_pull", pull=45)
    opened.hook("on-idle", **AT_ONCE)
    assert opened.operations() == []
    earlier = datetime.now(UTC) - timedelta(minutes=31)
    opened.edit_claim(last_check_poll=earlier.isoformat())
    assert "PR #45 merged!" in agent(opened.hook("on-idle", **AT_ONCE))


def test_a_closed_pull_that_stays_closed_is_said_once(opened):
    """The later looks are silent."""
    opened.stage.act("close_pull", pull=45)
    opened.hook("on-idle", **AT_ONCE)
    opened.edit_claim(last_check_poll=(datetime.now(UTC) - timedelta(minutes=31)).isoformat())
    again = opened.hook("on-idle", **AT_ONCE)
    assert len(opened.operations()) == 1
    assert again.stdout == ""
    opened.hook("on-idle", **AT_ONCE)
    assert opened.operations() == []


def test_a_renamed_column_is_followed_once_the_setting_names_it(pushed):
    """Sync says it each time, doctor names the new column, reconcile points there; then the card follows."""
    pushed.stage.act("rename_option", field="Status", option="In Review", to="Reviewing")
    assert 'The board has no status "In Review"' in pushed.stage.command("handoff").stdout
    for _ in range(2):
        assert 'The board has no status "In Review"' in pushed.stage.command("sync").stdout
    assert 'The board has no status "In Review"' in pushed.stage.command("reconcile").stdout
    assert 'agent-sync config set board.in_review "Reviewing"' in pushed.stage.command("doctor").stdout
    assert pushed.stage.command("config", "set", "board.in_review", "Reviewing").status == 0
    assert pushed.stage.command("sync").status == 0
    assert pushed.card()["Status"] == "Reviewing"
    assert pushed.stage.claim()["status"] == "Reviewing"
    assert "everything agrees" in pushed.stage.command("reconcile").stdout


def test_a_card_follows_a_setting_that_changed_after_it_was_written(opened):
    """The column is renamed while CI runs."""
    opened.stage.act("rename_option", field="Status", option="In Review", to="Reviewing", reissue_ids=True)
    assert opened.stage.command("config", "set", "board.in_review", "Reviewing").status == 0
    opened.hook("on-stop")
    assert opened.card()["Status"] == "Reviewing"


def test_text_knows_its_reader(theatre):
    """At a terminal nothing speaks of slash commands, a session or another human; in a session it may."""
    said = [theatre.stage.command(*command.split()).stdout for command in ("claim 42", "status", "sync", "explain")]
    theatre.stage.commit("cache.py", "lock = True\n", "Add a lock")
    said += [theatre.stage.command(command).stdout for command in ("handoff", "status", "sync")]
    theatre.stage.act("add_check", pull=45, name="test", conclusion="success")
    said.append(theatre.stage.command("sync").stdout)
    theatre.stage.act("merge_pull", pull=45)
    said += [theatre.stage.command(command).stdout for command in ("status", "sync", "explain")]
    for words in ("/done", "/handoff", "ask the human", "session is idle", "Keep working", "a human"):
        assert not [text for text in said if words in text], words
    assert "/done" in theatre.hook("sync", CLAUDECODE="1").stdout


def test_wrong_state_is_no_wrong_argument(theatre):
    """Exit code 2 is for arguments alone."""
    assert theatre.stage.command("push").status == 1
    assert theatre.stage.command("push", "--nothing").status == 2
    assert theatre.stage.command("claim", "42").status == 0
    assert theatre.stage.command("claim", "43").status == 1
    (theatre.stage.root / "dirty.txt").write_text("x\n")
    assert theatre.stage.command("handoff").status == 1
    assert theatre.stage.command("handoff", "--summary", "").status == 2


def test_an_empty_commit_is_not_handed_off(theatre):
    """It would be a pull request without changes."""
    assert theatre.stage.command("claim", "42").status == 0
    theatre.git("commit", "-q", "--allow-empty", "-m", "Nothing")
    refused = theatre.stage.command("handoff")
    assert refused.status == 1
    assert "change nothing compared with origin/main" in refused.stderr


def test_a_claim_says_what_comes_along(theatre):
    """Uncommitted changes are named, not lost."""
    (theatre.stage.root / "half.txt").write_text("x\n")
    assert "uncommitted changes came along" in theatre.stage.command("claim", "42").stderr


def test_a_session_that_holds_an_issue_is_offered_no_other(theatre):
    """The board is counted, and what could be claimed is left out."""
    assert "Ready to claim" in agent(theatre.hook("session-start", stdin=START))
    assert theatre.stage.command("claim", "42").status == 0
    held = agent(theatre.hook("session-start", stdin=START))
    assert "Board " in held
    assert "Ready to claim" not in held


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("list", "Did you mean agent-sync board, or agent-sync next?"),
        ("ls", "agent-sync next"),
        ("pr", "agent-sync handoff"),
        ("version", "agent-sync --version"),
        ("undo", "agent-sync release"),
        ("config get nothing", "'nothing' is not a setting."),
        ("config set checks.backoff_s -5", "checks.backoff_s"),
        ("gate init", "There is no terminal to ask on"),
    ],
)
def test_ordinary_mistakes_get_a_kind_answer(theatre, typed, words):
    """The words of other tools, a negative value, no terminal."""
    played = theatre.stage.command(*typed.split())
    assert played.status in {1, 2}
    assert words in played.stderr
    assert "notify.green" not in played.stderr
    assert "No such option" not in played.stderr


def test_a_broken_claim_file_names_the_way_out_once(theatre):
    """Moving it away and claiming again restores the claim."""
    assert theatre.stage.command("claim", "42").status == 0
    (theatre.stage.root / ".agent-claim.json").write_text("{")
    said = theatre.stage.command("status").stderr
    assert said.count("mv .agent-claim.json .agent-claim.json.bad, then `agent-sync claim ISSUE`") == 1
    (theatre.stage.root / ".agent-claim.json").rename(theatre.stage.root / ".agent-claim.json.bad")
    assert "Restored the claim" in theatre.stage.command("claim", "42").stdout


def test_a_closed_issue_with_an_open_pull_is_given_back_by_the_suggested_command(opened):
    """`Next:` is no circle."""
    opened.stage.act("close_issue", issue=42, by="mona")
    assert "Next: agent-sync release --force" in opened.stage.command("status").stdout
    assert opened.stage.command("release", "--force").status == 0
