"""The states of a work hook listed, and one of them restored: hook and claim in one push, and nothing deleted."""

import json
import signal
import time
from dataclasses import replace

import pytest
from support.clones import committed_ago, dies_at_push, long_ago
from support.stage import Theatre

BRANCH = "claude/fix-race-condition-in-cache-42"
CLAIM, HOOK = "refs/agentsync/claims/42", "refs/agentsync/hooks/main/w1"
LONG_AGO = 7800


def ran(theatre, *arguments, status=0):
    """Run a worker command, which must end as told."""
    played = theatre.stage.command("worker", *arguments)
    assert played.status == status, played.stdout + played.stderr
    return played


def bound(theatre, worker="w1", **variables):
    """Return the same machine with sessions of a worker."""
    own = {"AGENT_SYNC_WORKER": worker, **variables}
    return Theatre(replace(theatre.stage, environment=theatre.stage.environment | own))


def machine(theatre, name):
    """Return another machine with sessions of w1."""
    root, home = theatre.stage.root.with_name(name), theatre.stage.root.with_name(f"home-{name}")
    home.mkdir()
    theatre.git("clone", "-q", f"{theatre.stage.url}/octo/demo.git", str(root))
    return bound(Theatre(replace(theatre.stage, root=root)), HOME=str(home))


def refs(theatre):
    """Return the refs of the local GitHub by name."""
    return {ref["name"]: ref["sha"] for ref in theatre.stage.world()["refs"]}


def lease(theatre, issue=42):
    """Return what the claim ref of an issue says."""
    theatre.git("fetch", "-q", "origin", f"+refs/agentsync/claims/{issue}:refs/seen")
    return json.loads(theatre.git("show", "refs/seen:claim.json"))


def shown(theatre, worker="w1"):
    """Return everything on a hook."""
    return json.loads(ran(theatre, "show", worker, "--json").stdout)


def states(theatre, worker="w1"):
    """Return the states of a hook, the newest first."""
    return json.loads(ran(theatre, "history", worker, "--json").stdout)["states"]


def commit(theatre, state, worker="w1"):
    """Return the newest commit of a hook in which it was in a state."""
    return next(one["commit"] for one in states(theatre, worker) if one["state"] == state)


def rolled_back(theatre, state, *options):
    """Roll w1 back to the newest commit with a state."""
    return ran(theatre, "rollback", commit(theatre, state), "w1", *options)


@pytest.fixture
def worker(theatre):
    """Return a machine of w1, who has taken issue 42, committed, pushed, and is at work on it."""
    ran(theatre, "sling", "42", "w1")
    found = machine(theatre, "first")
    ran(found, "take")
    found.stage.commit("cache.py", "lock\n", "Lock")
    assert found.stage.command("push").status == 0
    return found


def test_history_lists_the_states_newest_first(theatre, worker):
    """Each has commit, time, state, message, branch and who made it; -n cuts the list, and that is said."""
    ran(worker, "pause", "--resume-point", "write the test")
    found = states(theatre)
    assert [(one["state"], one["message"]) for one in found] == [
        ("HANDED_OFF", "Handoff checkpoint"),
        ("IN_PROGRESS", "Start issue-42"),
        ("PENDING", "Sling issue-42 to main/w1"),
    ]
    assert found[0]["commit"] == refs(theatre)[HOOK]
    assert {one["branch"] for one in found} == {BRANCH}
    assert (found[0]["by"], found[0]["issue"], found[0]["task"]) == ("main/w1", 42, "issue-42")
    assert found[0]["at"] >= found[1]["at"] >= found[2]["at"]
    text = ran(worker, "history").stdout.splitlines()
    assert [line.split()[0] for line in text] == [one["commit"][:12] for one in found]
    assert "HANDED_OFF" in text[0]
    assert BRANCH in text[0]
    assert "by main/w1" in text[0]
    cut = ran(theatre, "history", "w1", "-n", "1")
    assert len(cut.stdout.splitlines()) == 1
    assert "2 older states are not shown" in cut.stderr
    assert "has no hook" in ran(theatre, "history", "w9", status=2).stderr
    assert "-n" in ran(theatre, "history", "w1", "-n", "0", status=2).stderr


def test_failed_work_is_rolled_back_to_its_handoff_and_resumed(theatre, worker, tmp_path):
    """A new commit restores the state, the claim waits for the worker again, in one push; nothing is deleted."""
    ran(worker, "pause", "--resume-point", "write the test")
    ran(worker, "take")
    ran(worker, "result", "--fail", "E1", "--message", "broken")
    before = refs(theatre)
    assert (lease(theatre)["state"], shown(theatre)["status"]["status"]) == ("held", "FAILED")
    traced = Theatre(replace(theatre.stage, environment=theatre.stage.environment | {"GIT_TRACE": str(tmp_path / "t")}))
    played = rolled_back(traced, "HANDED_OFF", "--reason", "the test server was down")
    assert (tmp_path / "t").read_text().count("built-in: git push") == 1
    assert "main/w1 was rolled back to" in played.stdout
    assert "issue-42 is HANDED_OFF" in played.stdout
    found, claim = shown(theatre), lease(theatre)
    assert found["status"]["status"] == "HANDED_OFF"
    assert found["status"]["reason"].endswith(": the test server was down")
    assert found["handoff"]["resume_point"] == "write the test"
    assert found["result"] is None
    assert (claim["state"], claim["mode"], claim["phase"]) == ("held", "manual", "slung to main/w1")
    assert found["status"]["nonce"] == claim["nonce"]
    theatre.git("fetch", "-q", "origin", HOOK)
    assert theatre.git("merge-base", "--is-ancestor", before[HOOK], "FETCH_HEAD") == ""
    assert refs(theatre)[f"refs/heads/{BRANCH}"] == before[f"refs/heads/{BRANCH}"]
    assert (theatre.card()["Status"], theatre.card()["Agent"]) == ("In Progress", "main/w1")
    second = machine(theatre, "second")
    taken = ran(second, "take").stdout
    assert 'Resume point: "write the test"' in taken
    assert 'The branch already has 1 commit (1 file): "Lock".' in taken
    assert ran(theatre, "repair").stdout == "Nothing is wrong."


def test_dry_run_and_refusals_write_nothing(theatre, worker):
    """What is only tried, or refused, leaves every ref as it was."""
    pending, before = commit(theatre, "PENDING"), refs(theatre)
    busy = ran(theatre, "rollback", pending, "w1", status=3).stderr
    assert "main/w1 is at work on issue-42: held by" in busy
    assert "--force" in busy
    tried = ran(theatre, "rollback", pending, "w1", "--force", "--dry-run").stdout
    assert f"would write {HOOK} and {CLAIM} in one push" in tried
    assert "issue-42 would be PENDING" in tried
    session = bound(theatre, CLAUDECODE="1")
    refused = ran(session, "rollback", pending, "w1", "--force", status=1).stderr
    assert "Only a person may roll work back" in refused
    for odd in ("0" * 40, "zz", theatre.git("rev-parse", "HEAD"), ""):
        assert "agent-sync worker history main/w1" in ran(theatre, "rollback", odd, "w1", status=2).stderr, odd
    assert "has no hook" in ran(theatre, "rollback", pending, "w9", status=2).stderr
    assert refs(theatre) == before
    ran(worker, "pause")
    theatre.stage.act("close_issue", issue=42)
    before = refs(theatre)
    closed = ran(theatre, "rollback", pending, "w1", status=1).stderr
    assert "Issue #42 is closed" in closed
    assert refs(theatre) == before
    ran(theatre, "rollback", states(theatre)[-1]["commit"][:9], "w1", "--dry-run", status=1)


def test_work_in_progress_is_restored_as_work_that_waits(theatre, worker):
    """By force it is taken from the session at it, which is fenced and keeps its files; the issue gets a comment."""
    played = rolled_back(theatre, "IN_PROGRESS", "--force", "--reason", "stuck")
    assert "issue-42 is PENDING" in played.stdout
    found = shown(theatre)
    assert (found["status"]["status"], found["attempts"][0]["outcome"]) == ("PENDING", "abandoned")
    assert "rolled back the work of main/w1" in theatre.comments()[0]
    assert "Reason: stuck" in theatre.comments()[0]
    before = refs(theatre)
    worker.stage.commit("late.py", "late\n", "Late")
    for arguments in (("push",), ("worker", "pause"), ("worker", "result"), ("handoff", "--summary", "Mine")):
        refused = worker.stage.command(*arguments)
        assert (refused.status, 'held by "main/w1"' in refused.stderr) == (3, True), refused
    assert refs(theatre) == before
    second = machine(theatre, "second")
    assert "Resumed issue-42" in ran(second, "take").stdout
    assert (second.stage.root / "cache.py").read_text() == "lock\n"


def test_former_session_in_the_same_worktree_is_fenced_too(theatre):
    """Who rolls back in the worktree of the session itself does not let it go on with the claim it had."""
    ran(theatre, "sling", "42", "w1")
    here = bound(theatre)
    ran(here, "take")
    ran(here, "pause")
    ran(here, "take")
    rolled_back(theatre, "HANDED_OFF", "--force")
    for arguments in (("worker", "result"), ("worker", "pause"), ("push",)):
        assert here.stage.command(*arguments).status == 3, arguments
    assert shown(theatre)["status"]["status"] == "HANDED_OFF"
    ran(here, "take")
    assert here.stage.command("push").status == 0


def test_expired_work_is_rolled_back_without_force(theatre):
    """A claim that has expired needs no force, and the issue gets no comment."""
    ran(theatre, "sling", "42", "w1")
    first = machine(theatre, "first")
    with long_ago(theatre, LONG_AGO):
        ran(first, "take")
        committed_ago(first, LONG_AGO + 5)
        assert first.stage.command("push").status == 0
    rolled_back(theatre, "IN_PROGRESS")
    assert (shown(theatre)["status"]["status"], theatre.comments()) == ("PENDING", [])


@pytest.mark.parametrize(
    ("state", "claim", "column"),
    [("COMPLETE", "done", "In Review"), ("CANCELLED", "released", "Todo"), ("EMPTY", "released", "Todo")],
)
def test_state_without_work_ends_the_claim(theatre, state, claim, column):
    """A terminal state or an empty hook leaves a claim that has ended, and the issue free where it is not done."""
    here = bound(theatre)
    ran(theatre, "sling", "42", "w1")
    if state == "COMPLETE":
        ran(here, "take")
        ran(here, "result", "--output", '{"patch": "good"}')
    else:
        ran(theatre, "cancel", "w1")
    if state == "EMPTY":
        ran(theatre, "clear", "w1")
    theatre.stage.act("set_field", issue=42, field="Agent", value=None)
    ran(theatre, "sling", "42", "w1")
    nonce = lease(theatre)["nonce"]
    assert f" is {state}" in rolled_back(theatre, state).stdout.replace("its hook is empty", "it is EMPTY")
    found = lease(theatre)
    assert (shown(theatre)["status"]["status"], found["state"], found["nonce"] == nonce) == (state, claim, False)
    assert theatre.card()["Status"] == column
    assert ran(theatre, "repair").stdout == "Nothing is wrong."
    assert theatre.card().get("Agent") == ("main/w1" if state == "COMPLETE" else None)


def test_other_work_that_hung_there_is_given_back(theatre):
    """A rollback to the work before frees the issue that hangs there now, in the same push."""
    ran(theatre, "sling", "42", "w1")
    pending = commit(theatre, "PENDING")
    ran(theatre, "cancel", "w1")
    ran(theatre, "sling", "43", "w1")
    played = ran(theatre, "rollback", pending, "w1")
    assert "Issue #43 can be claimed again" in played.stdout
    assert (lease(theatre)["state"], lease(theatre, 43)["state"]) == ("held", "released")
    assert (theatre.card()["Status"], theatre.card(43)["Status"], theatre.card(43).get("Agent")) == (
        "In Progress",
        "Todo",
        None,
    )
    assert "Started issue-42" in ran(bound(theatre), "take").stdout


def test_session_at_other_work_is_taken_off_it_by_force(theatre, worker):
    """The issue it was at is given back and gets the comment; the one that is restored gets none."""
    ran(worker, "result", "--fail", "E1", "--message", "down", "--recoverable")
    failed = commit(theatre, "FAILED")
    ran(theatre, "sling", "43", "w1")
    ran(worker, "take")
    assert "at work on issue-43" in ran(theatre, "rollback", failed, "w1", status=3).stderr
    pending = states(theatre)[-1]["commit"]
    ran(theatre, "rollback", pending, "w1", "--force")
    assert (len(theatre.comments()), len(theatre.comments(43))) == (0, 1)
    assert (lease(theatre)["state"], lease(theatre, 43)["state"], theatre.card(43)["Status"]) == (
        "held",
        "released",
        "Todo",
    )
    refused = worker.stage.command("push")
    assert (refused.status, "#43" in refused.stderr) == (3, True)
    ran(theatre, "rollback", failed, "w1")
    assert (shown(theatre)["status"]["status"], lease(theatre)["state"]) == ("FAILED", "released")


def test_rollback_waits_for_no_one_but_sees_who_was_faster(theatre, worker):
    """Work that a session takes while a rollback decides is seen before anything is written."""
    ran(worker, "pause")
    pending = commit(theatre, "PENDING")
    theatre.fault("delay:1", operation="Task")
    slow = theatre.popen("worker", "rollback", pending, "w1")
    while theatre.faults_left():
        assert slow.poll() is None
        time.sleep(0.02)
    ran(worker, "take")
    _, said = slow.communicate(timeout=60)
    assert (slow.returncode, "main/w1 is at work on issue-42" in said.decode()) == (3, True)
    assert shown(theatre)["status"]["status"] == "IN_PROGRESS"
    assert worker.stage.command("push").status == 0


def test_issue_that_another_holds_is_not_taken_away(theatre):
    """Another worker's or a person's claim stops a rollback with exit code 3, whatever is forced."""
    ran(theatre, "sling", "42", "w1")
    pending = commit(theatre, "PENDING")
    ran(theatre, "cancel", "w1")
    ran(theatre, "sling", "42", "w2")
    before = refs(theatre)
    assert 'held by "main/w2"' in ran(theatre, "rollback", pending, "w1", "--force", status=3).stderr
    assert refs(theatre) == before
    ran(theatre, "cancel", "w2")
    assert theatre.stage.command("claim", "42").status == 0
    before = refs(theatre)
    assert "Issue #42 is held by" in ran(theatre, "rollback", pending, "w1", "--force", status=3).stderr
    assert refs(theatre) == before


def test_branch_that_is_gone_is_said_to_be(theatre, worker):
    """The branch is only named: one that was deleted on the remote is not brought back, and that is said."""
    ran(worker, "pause")
    theatre.stage.act("delete_branch", branch=BRANCH)
    played = rolled_back(theatre, "HANDED_OFF")
    assert "already" in played.stdout
    played = rolled_back(theatre, "IN_PROGRESS")
    assert f"branch {BRANCH} is not on origin any more" in played.stderr
    assert f"refs/heads/{BRANCH}" not in refs(theatre)


def test_work_of_one_clone_is_rolled_back_while_the_remote_is_away(theatre):
    """Hooks that are kept in this clone need no remote: only the branch there cannot be looked for."""
    here = bound(theatre, AGENT_SYNC_LEASE_WHERE="clone")
    ran(here, "sling", "42", "w1")
    ran(here, "take")
    ran(here, "pause")
    address = theatre.git("remote", "get-url", "origin")
    theatre.git("config", "remote.origin.pushurl", address)
    theatre.git("config", "remote.origin.url", "http://127.0.0.1:9/octo/demo.git")
    played = ran(bound(here, AGENT_SYNC_GITHUB_REPOSITORY="octo/demo"), "rollback", commit(here, "IN_PROGRESS"), "w1")
    assert "issue-42 is PENDING" in played.stdout
    assert "holds for this clone only" in played.stderr
    assert states(here)[0]["state"] == "PENDING"


def test_unreadable_hook_can_be_rolled_back(theatre):
    """Damage stays in the history, and any readable state of it can be restored."""
    ran(theatre, "sling", "42", "w1")
    pending = commit(theatre, "PENDING")
    tree = theatre.git("rev-parse", "origin/main^{tree}")
    theatre.git("fetch", "-q", "origin", HOOK)
    spoilt = theatre.git("commit-tree", "-p", "FETCH_HEAD", "-m", "Spoil", tree)
    theatre.git("push", "-q", "origin", f"{spoilt}:{HOOK}")
    assert states(theatre)[0]["state"] == "UNREADABLE"
    assert "cannot be read" in ran(theatre, "rollback", spoilt, "w1", status=1).stderr
    ran(theatre, "rollback", pending, "w1")
    assert shown(theatre)["status"]["status"] == "PENDING"
    assert ran(theatre, "repair").stdout == "Nothing is wrong."


@pytest.mark.parametrize("moment", ["before", "after"])
def test_killed_at_its_push_it_is_simply_run_again(theatre, worker, tmp_path, moment):
    """The same command again ends in the same state, with one commit, and card and claim as they should be."""
    ran(worker, "result", "--fail", "E1", "--message", "broken")
    pending, count = commit(theatre, "PENDING"), len(states(theatre))
    theatre.stage.act("set_field", issue=42, field="Status", value="Todo")
    ran(dies_at_push(theatre, tmp_path, moment), "rollback", pending, "w1", status=-signal.SIGKILL)
    for said in ("" if moment == "before" else "already", "already"):
        played = ran(theatre, "rollback", pending, "w1")
        assert said in played.stdout
        assert (len(states(theatre)), shown(theatre)["status"]["status"]) == (count + 1, "PENDING")
        assert shown(theatre)["status"]["nonce"] == lease(theatre)["nonce"]
        assert (theatre.card()["Status"], theatre.card()["Agent"]) == ("In Progress", "main/w1")


def test_lost_answer_of_a_rollback_changes_nothing(theatre, worker):
    """A push whose answer is lost is found to have arrived."""
    ran(worker, "pause")
    theatre.fault("drop_after_apply", path="/octo/demo.git/git-receive-pack")
    assert "issue-42 is PENDING" in rolled_back(theatre, "PENDING").stdout
    assert [one["state"] for one in states(theatre)][:2] == ["PENDING", "HANDED_OFF"]
