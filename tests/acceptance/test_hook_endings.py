"""How work on a hook ends: with its claim, by a result that others can get, or because somebody cancels it."""

import json
from dataclasses import replace

import pytest
from support.stage import Theatre

HOOK, CLAIM = "refs/agentsync/hooks/main/w1", "refs/agentsync/claims/42"


@pytest.fixture
def worker(theatre):
    """Return a machine whose sessions are of worker w1, with issue 42 taken from its hook."""
    ran(theatre, "worker", "sling", "42", "w1")
    bound = Theatre(replace(theatre.stage, environment=theatre.stage.environment | {"AGENT_SYNC_WORKER": "w1"}))
    ran(bound, "worker", "take")
    return bound


def ran(theatre, *arguments, status=0):
    """Run a command, which must end as told."""
    played = theatre.stage.command(*arguments)
    assert played.status == status, played.stdout + played.stderr
    return played


def shown(theatre):
    """Return everything on the hook of w1."""
    return json.loads(ran(theatre, "worker", "show", "w1", "--json").stdout)


def refs(theatre):
    """Return the refs of the local GitHub by name."""
    return {ref["name"]: ref["sha"] for ref in theatre.stage.world()["refs"]}


def lease(theatre):
    """Return what the claim ref of issue 42 says."""
    theatre.git("fetch", "-q", "origin", f"+{CLAIM}:refs/seen")
    return json.loads(theatre.git("show", "refs/seen:claim.json"))


def pushes_of(theatre, file, *arguments):
    """Run a command and return how many pushes it has made."""
    traced = Theatre(replace(theatre.stage, environment=theatre.stage.environment | {"GIT_TRACE": str(file)}))
    ran(traced, *arguments)
    return file.read_text().count("built-in: git push")


def test_merged_and_closed_work_is_complete_by_itself(worker, tmp_path):
    """The close ends lease and hook in one push, with pull request, merge commit and receipts; the worker is free."""
    worker.stage.commit("cache.py", "lock\n", "Lock")
    ran(worker, "validate", "--label", "quick", "--", "true")
    ran(worker, "handoff", "--summary", "Fix it")
    head = worker.git("rev-parse", "HEAD")
    worker.stage.act("merge_pull", pull=45, method="squash")
    assert shown(worker)["status"]["status"] == "IN_PROGRESS"
    assert pushes_of(worker, tmp_path / "trace", "done") == 1
    found = shown(worker)
    assert (found["status"]["status"], found["verified"]) == ("COMPLETE", True)
    output = found["result"]["output"]
    assert (output["pullRequest"], output["mergeCommit"]) == (45, refs(worker)["refs/heads/main"])
    assert "rcpt-001" in output["receipts"][0]
    assert found["result"]["evidence"]["commit"] == head
    assert (lease(worker)["state"], worker.stage.claim(), worker.issue()["state"]) == ("done", None, "closed")
    assert "Complete issue-42" in worker.git("log", "--format=%s", "refs/agentsync/tracking/origin/hooks/main/w1")
    ran(worker, "worker", "sling", "43", "w1")
    assert "Started issue-43" in ran(worker, "worker", "take").stdout


def test_work_closed_without_a_merge_is_no_result(worker):
    """An issue that a person closes without a merge takes the work off the hook and says why."""
    ran(worker, "done", "--yes")
    found = shown(worker)
    assert (found["status"]["status"], found["result"]) == ("CANCELLED", None)
    assert "without a merge" in found["status"]["reason"]


def test_release_gives_claim_and_hook_back_in_one_push_or_neither(worker, tmp_path):
    """While the remote cannot be reached both stay; then one push frees claim and worker, to be slung again at once."""
    before = refs(worker)
    worker.fault("status:503", path="/octo/demo.git/git-receive-pack", times=9)
    played = worker.stage.command("release")
    assert played.status == 8, played
    assert refs(worker) == before
    assert worker.stage.claim() is not None
    worker.stage.control("DELETE", "faults")
    assert pushes_of(worker, tmp_path / "trace", "release", "--reason", "needs a decision") == 1
    status = shown(worker)["status"]
    assert (status["status"], status["reason"]) == ("CANCELLED", "given back: needs a decision")
    assert (lease(worker)["state"], worker.stage.claim()) == ("released", None)
    ran(worker, "worker", "sling", "42", "w1")


def test_result_is_refused_for_what_others_cannot_get(worker):
    """A dirty tree is named and no ref moves, here or there; a branch that the remote refuses is never COMPLETE."""
    (worker.stage.root / "half.py").write_text("half\n")
    before = refs(worker)
    played = ran(worker, "worker", "result", status=1)
    assert '"half.py"' in played.stderr
    assert refs(worker) == before
    worker.stage.commit("half.py", "whole\n", "Lock")
    worker.stage.act("push_only", patterns=["refs/agentsync/*"])
    ran(worker, "worker", "result", status=1)
    assert shown(worker)["status"]["status"] == "IN_PROGRESS"
    assert worker.stage.claim() is not None


def test_work_with_a_pull_request_ends_with_its_merge_or_by_force(worker):
    """There is one ending: a result is refused, and paused work is not given away without a person's word."""
    worker.stage.commit("cache.py", "lock\n", "Lock")
    ran(worker, "handoff", "--summary", "Fix it")
    assert "PR #45 carries this work" in ran(worker, "worker", "result", status=1).stderr
    assert shown(worker)["status"]["status"] == "IN_PROGRESS"
    ran(worker, "push")
    ran(worker, "worker", "pause")
    assert "PR #45 carries the work of main/w1" in ran(worker, "worker", "cancel", "w1", status=1).stderr
    ran(worker, "worker", "cancel", "w1", "--force")
    assert shown(worker)["status"]["status"] == "CANCELLED"


def test_result_pushes_the_commit_first_and_frees_the_worktree(worker):
    """COMPLETE names a commit that the remote has; claim and record end, and the next task may begin here.

    It is pushed all the same where a clone does not know what the remote's default branch is.
    """
    worker.stage.commit("cache.py", "lock\n", "Lock")
    head = worker.git("rev-parse", "HEAD")
    branch = worker.git("branch", "--show-current")
    (worker.stage.root / "result.json").write_text('{"output": {"patch": "cache.py"}}')
    assert "This worktree is free" in ran(worker, "worker", "result", "--file", "result.json").stdout
    assert refs(worker)[f"refs/heads/{branch}"] == head
    assert shown(worker)["result"]["evidence"]["commit"] == head
    assert (worker.stage.claim(), lease(worker)["state"]) == (None, "done")
    assert (worker.card()["Status"], worker.card()["Agent"]) == ("In Review", "main/w1")
    (worker.stage.root / "result.json").unlink()
    ran(worker, "worker", "sling", "43", "w1")
    assert "Started issue-43" in ran(worker, "worker", "take").stdout
    worker.git("remote", "set-head", "origin", "--delete")
    worker.stage.commit("queue.py", "lock\n", "Lock")
    branch, head = worker.git("branch", "--show-current"), worker.git("rev-parse", "HEAD")
    ran(worker, "worker", "result")
    assert refs(worker)[f"refs/heads/{branch}"] == head


def test_cancel_takes_work_off_that_nobody_has_begun(theatre):
    """Hook and claim end, card and issue are free again; a second cancel says that it is done.

    Another one gives nothing back that was claimed since.
    """
    ran(theatre, "worker", "sling", "42", "w1")
    assert "would take issue-42 off" in ran(theatre, "worker", "cancel", "w1", "--dry-run").stdout
    assert shown(theatre)["status"]["status"] == "PENDING"
    assert "#42 can be claimed again" in ran(theatre, "worker", "cancel", "w1", "--reason", "not needed").stdout
    status = shown(theatre)["status"]
    assert status["status"] == "CANCELLED"
    assert status["reason"].endswith(": not needed")
    assert (lease(theatre)["state"], theatre.card()["Status"]) == ("released", "Todo")
    assert not theatre.card().get("Agent")
    assert "already cancelled" in ran(theatre, "worker", "cancel", "w1").stdout
    ran(theatre, "claim", "42")
    before = theatre.stage.world()
    ran(theatre, "worker", "cancel", "w1")
    assert theatre.issue()["assignees"] == ["octo"]
    assert theatre.stage.world()["items"] == before["items"]


def test_cancel_of_work_under_way_takes_a_person_who_forces_it(worker):
    """Without --force it is refused with who is at it; a session may not force; a person may, and it is recorded.

    Freeing the claim alone would leave its hook behind: a forced release names `worker cancel`, which ends both.
    """
    root = worker.stage.root.with_name("second")
    worker.git("clone", "-q", f"{worker.stage.url}/octo/demo.git", str(root))
    released = ran(Theatre(replace(worker.stage, root=root)), "release", "42", "--force", status=1)
    assert "agent-sync worker cancel main/w1 --force" in released.stderr
    refused = ran(worker, "worker", "cancel", "w1", status=3)
    assert "main/w1 is at work on issue-42: held by" in refused.stderr
    session = Theatre(replace(worker.stage, environment=worker.stage.environment | {"CLAUDECODE": "1"}))
    assert "only a person may cancel it" in ran(session, "worker", "cancel", "w1", "--force", status=1).stderr
    assert shown(worker)["status"]["status"] == "IN_PROGRESS"
    ran(worker, "worker", "cancel", "w1", "--force", "--reason", "the machine is gone")
    found = shown(worker)["status"]
    assert found["status"] == "CANCELLED"
    assert "by force from" in found["reason"]
    assert (lease(worker)["state"], lease(worker)["epoch"]) == ("released", 3)
    assert "Reason: the machine is gone" in worker.comments()[0]
    assert "LOST" in ran(worker, "status").stdout


def test_session_cancels_what_it_has_slung_and_nothing_else(theatre):
    """The slinger's own session may take back what nobody has begun; another clone's session may not."""
    ran(theatre, "worker", "sling", "42", "w1")
    root = theatre.stage.root.with_name("second")
    theatre.git("clone", "-q", f"{theatre.stage.url}/octo/demo.git", str(root))
    agents = theatre.stage.environment | {"CLAUDECODE": "1"}
    other = Theatre(replace(theatre.stage, root=root, environment=agents))
    ran(other, "worker", "cancel", "w1", status=1)
    ran(Theatre(replace(theatre.stage, environment=agents)), "worker", "cancel", "w1")


def test_lost_answers_of_a_result_change_nothing(worker):
    """The push of the commit and that of the result may lose their answers: both are found to have arrived."""
    worker.stage.commit("cache.py", "lock\n", "Lock")
    worker.fault("drop_after_apply", path="/octo/demo.git/git-receive-pack", times=2)
    ran(worker, "worker", "result", "--output", '{"patch": "cache.py"}')
    assert (shown(worker)["status"]["status"], worker.stage.claim()) == ("COMPLETE", None)
    assert "already" in ran(worker, "worker", "result", "--output", '{"patch": "cache.py"}').stdout
