"""One task, one answer: what a session, a command, HOOK.md and the status line say of it never contradict."""

import json
import signal
from pathlib import Path

import pytest
from support.clients import Client, shared_nursery
from support.clones import SHORT, long_ago, taken_over, told, with_variables
from support.stage import agent

SESSION = '{"source": "startup", "session_id": "s2"}'


def kill_a_session(theatre, *, commits: bool) -> None:
    """Let a session begin and work, and kill it before a hook could see what it did."""
    root, client = theatre.stage.root, Client(shared_nursery(), theatre.stage.root)
    for name, values in (("session-start", {"source": "startup"}), ("on-prompt", {"prompt": "Fix the race"})):
        given = json.dumps({"cwd": str(root), "session_id": "s1"} | values)
        assert client.do_there(root, theatre.stage.environment, name, stdin=given).status == 0
    if commits:
        theatre.stage.commit("more.py", "x = 1\n", "More")
    else:
        (root / "more.py").write_text("x = 1\n")
    client.crash()


def page(theatre) -> str:
    """Return what HOOK.md says of the one task on the stage."""
    (found,) = (Path(theatre.stage.environment["HOME"]) / ".atlas").glob("workspaces/*/tasks/*/HOOK.md")
    return found.read_text()


def record(theatre):
    """Return what hook.json says of the one task on the stage."""
    (found,) = (Path(theatre.stage.environment["HOME"]) / ".atlas").glob("workspaces/*/tasks/*/hook.json")
    return json.loads(found.read_text())


def following(theatre, *options: str) -> str:
    """Return the command that `agent-sync status` names."""
    lines = theatre.stage.command("status", *options).stdout.splitlines()
    return next(line.removeprefix("Next: ") for line in lines if line.startswith("Next: "))


@pytest.fixture
def claimed(theatre):
    """Claim issue 42."""
    assert theatre.stage.command("claim", "42").status == 0
    return theatre


@pytest.fixture
def opened(claimed):
    """Open PR #45 for issue 42."""
    claimed.stage.commit("cache.py", "lock = True\n", "Add a lock")
    claimed.stage.command("handoff", "--summary", "Fix the race")
    assert claimed.stage.claim()["pr_number"] == 45
    return claimed


def check(theatre, conclusion: str, name: str = "test") -> None:
    """Let CI report on the PR."""
    theatre.stage.act("add_check", pull=45, name=name, status="completed", conclusion=conclusion)


def test_a_commit_before_a_kill_is_a_checkpoint(claimed):
    """A crash is judged after the reflogs are read: what was committed before the kill is resumed from there."""
    kill_a_session(claimed, commits=True)
    said = agent(claimed.hook("session-start", stdin=SESSION))
    values = record(claimed)
    assert (values["state"], values["recovery"]["recommended_action"]) == ("recovering", "retry_step")
    assert values["recovery"]["last_checkpoint_id"] == values["checkpoints"][-1]["checkpoint_id"]
    assert values["checkpoints"][-1]["trigger"] == "git_commit"
    assert "has no checkpoint" not in page(claimed)
    assert "State: recovering" in said


def test_one_reply_gives_one_order(claimed):
    """A session that must wait for a human is not told to keep working in the same reply.

    Only what git has seen counts as progress: a checkpoint that would be due by now was never made.
    """
    kill_a_session(claimed, commits=False)
    said = agent(claimed.hook("session-start", stdin=SESSION, AGENT_SYNC_RECORD_INTERVAL_S="0.01"))
    assert (record(claimed)["state"], record(claimed)["checkpoints"]) == ("awaiting_human", [])
    assert "State: awaiting_human" in said
    assert "The step has no checkpoint and may not be safe to repeat" in said.split("READ ")[1]
    assert "goes on" not in said
    assert "Keep working" not in said
    assert following(claimed) == "agent-sync resume"
    assert "`agent-sync resume`" in page(claimed)


def test_paused_work_is_not_lost_work(theatre):
    """Work that was left on a hook is said to be there, by every view, and nobody is told that the lease is lost."""
    worker = with_variables(theatre, AGENT_SYNC_WORKER="w1")
    worker.stage.command("worker", "sling", "42", "w1")
    assert worker.stage.command("worker", "take").status == 0
    assert worker.stage.command("worker", "handoff", "--resume-point", "write the test").status == 0
    stopped = worker.hook("on-stop")
    woken = worker.hook("on-idle", "--rewake")
    status = worker.stage.command("status")
    resumed = worker.stage.command("resume")
    synced = worker.stage.command("sync")
    for played in (stopped, woken, status, resumed, synced):
        assert "no longer" not in told(played)
        assert "LOST" not in told(played)
        assert "Stop working" not in told(played)
    assert stopped.stdout == ""
    assert (woken.status, woken.stderr) == (0, "")
    assert "Next: agent-sync worker take" in status.stdout
    assert "main/w1" in status.stdout
    assert "agent-sync worker take" in resumed.stdout
    assert "Next: agent-sync worker take" in synced.stdout
    assert "agent-sync worker take" in page(worker)
    assert "agent-sync worker take" in agent(worker.hook("session-start", stdin=SESSION))
    refused = worker.stage.command("handoff", "--summary", "Mine")
    assert (refused.status, "try: agent-sync worker take" in refused.stderr) == (3, True)
    assert worker.stage.command("worker", "take").status == 0
    assert following(worker) == "agent-sync handoff"


def test_every_view_knows_of_a_lost_lease(theatre):
    """Once somebody else holds the issue, `resume` and HOOK.md say so too, and name the same way out."""
    old = with_variables(theatre, **SHORT)
    with long_ago(theatre):
        assert old.stage.command("claim", "42").status == 0
    taken_over(old)
    assert old.stage.command("push").status == 3
    resumed = old.stage.command("resume").stdout
    for text in (resumed, page(old)):
        assert "octo/" in text
        assert "agent-sync release" in text
        assert "handoff" not in text.split("What To Do Now")[-1].split("###")[1]
    assert following(old) == "agent-sync release"
    assert following(old, "--offline") == "agent-sync release"
    refused = old.stage.command("handoff", "--summary", "Mine")
    assert (refused.status, "try: agent-sync release" in refused.stderr) == (3, True)


def test_next_after_failed_ci(opened):
    """A red CI leads to a fix and a push, in the status, in the session and in what `sync` reports.

    A person who asks is told how CI and reviews stand, however short ago somebody else was.
    """
    check(opened, "failure")
    assert following(opened) == "agent-sync push"
    for _ in range(3):
        said = opened.stage.command("sync").stdout
        assert 'CI            failed, 0/1 passed: "test"' in said
        assert "Next: agent-sync push" in said
    assert following(opened, "--offline") == "agent-sync push"
    assert 'CI failed on PR #45: "test".' in agent(opened.hook("session-start", stdin=SESSION))
    assert 'CI failed on PR #45: "test".' in page(opened)
    opened.stage.act("review", pull=45, state="CHANGES_REQUESTED", by="mona")
    assert 'reviews       changes requested by "mona"' in opened.stage.command("sync").stdout


def test_next_after_a_local_commit(opened):
    """Commits that the pull request does not have are to be pushed; then there is nothing to do but to watch."""
    opened.stage.commit("cache.py", "lock = 2\n", "More")
    assert following(opened) == "agent-sync push"
    assert "lacks commits of this branch; push them: agent-sync push" in agent(
        opened.hook("session-start", stdin=SESSION)
    )
    opened.stage.command("push")
    assert following(opened) == "agent-sync status --watch"
    who_watches_is_not_told_to_watch(opened)
    an_agent_does_not_watch(opened)


def who_watches_is_not_told_to_watch(theatre):
    """Who watches already is told so, and not what comes next."""
    process = theatre.popen("status", "--watch")
    lines = iter(lambda: process.stdout.readline().decode(), "")
    last = next(line for line in lines if line.startswith(("Next:", "Watching")))
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)
    assert last == "Watching; interrupt to stop.\n"


def an_agent_does_not_watch(theatre):
    """HOOK.md names the watch to whoever reads it: in a session it looks once, because a tool call would never end."""
    process = with_variables(theatre, CLAUDECODE="1").popen("status", "--watch")
    try:
        said, _ = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 0
    assert said.decode().splitlines()[-1] == "Not watched from inside a session: hooks look while it is idle."


def test_next_without_a_board(theatre):
    """In a repository without a board the first thing to do is to set agent-sync up."""
    bare = with_variables(theatre, AGENT_SYNC_PROJECT_NUMBER="")
    assert following(bare) == "agent-sync init"
    assert following(theatre) == "agent-sync next"


def test_sync_says_why_nothing_moved(claimed):
    """A branch without commits opens no pull request: the reason is said as long as it is true."""
    claimed.git("push", "-q", "origin", "HEAD")
    claimed.edit_claim(phase="ready_for_pr", summary="Nothing")
    for _ in range(2):
        said = claimed.stage.command("sync").stdout
        assert "has no commits of its own" in said
        assert "Next: agent-sync handoff" in said
    assert "has no commits of its own" in claimed.stage.command("status").stdout
    assert following(claimed, "--offline") == "agent-sync handoff"
    claimed.stage.commit("cache.py", "lock = True\n", "Add a lock")
    assert claimed.stage.command("handoff", "--summary", "Something").status == 0
    assert claimed.stage.claim()["phase"] == "pr_created"


def test_a_terminal_has_no_turn_to_end(claimed):
    """Outside a session `handoff` opens the pull request and `done` closes the issue at once."""
    claimed.stage.commit("cache.py", "lock = True\n", "Add a lock")
    handed = claimed.stage.command("handoff", "--summary", "Fix the race")
    assert handed.status == 0, handed.stderr
    assert "PR #45 created" in handed.stdout
    assert "turn ends" not in handed.stdout
    assert claimed.stage.claim()["phase"] == "pr_created"
    claimed.stage.act("merge_pull", pull=45, method="squash")
    closed = claimed.stage.command("done")
    assert "Issue #42 closed" in closed.stdout
    assert (claimed.issue()["state"], claimed.stage.claim()) == ("closed", None)


def test_a_session_ends_its_turn_first(claimed):
    """Inside a session, or when asked to wait, both commands only set the phase; the stop does the rest."""
    claimed.stage.commit("cache.py", "lock = True\n", "Add a lock")
    file = claimed.stage.root / ".agent-claim.json"
    ways = ((claimed, "--later"), (with_variables(claimed, CLAUDECODE="1"),))
    for command, reached in ((("handoff", "--summary", "Fix the race"), "ready_for_pr"), (("done",), "done")):
        before = file.read_bytes()
        for there, *options in ways:
            file.write_bytes(before)
            assert "when this turn ends" in there.stage.command(*command, *options).stdout, options
            assert there.stage.claim()["phase"] == reached, options
            assert (len(there.pulls()), there.issue()["state"]) == (0 if reached == "ready_for_pr" else 1, "open")
        claimed.hook("on-stop")
        if reached == "ready_for_pr":
            claimed.stage.act("merge_pull", pull=45, method="squash")
    assert (claimed.stage.claim(), claimed.issue()["state"]) == (None, "closed")
