"""What happens in an interactive session: wake-ups, the screen, the end of a session."""

import os
import shutil
import signal

import pytest
from scenes import COMMIT, HANDOFF, PULL, claim, open_pull
from scripted_model import bash, say
from support.prove import PROVE
from support.scratch_processes import HAS_PROC, processes_of
from waiting import until

pytestmark = [
    pytest.mark.skipif(not PROVE, reason="interactive sessions take time; `make client` plays them"),
    pytest.mark.skipif(shutil.which("tmux") is None, reason="interactive sessions need tmux"),
    pytest.mark.skipif(not HAS_PROC, reason="watchers are found in /proc"),
]
FAILED = {"name": "unit-tests", "status": "completed", "conclusion": "failure"}
PASSED = {"name": "unit-tests", "status": "completed", "conclusion": "success"}
CALLED_A_CRASH = ("awaiting_human", "recovering", "A human must act first")


def watchers(client):
    """Return the background processes that watch for this clone."""
    return processes_of(client.home, "agent-sync", "on-idle")


def requests_reach(client, count):
    """Wait until the model was asked so many times."""
    model = client.model
    until(lambda: len(model.turns) >= count, f"request {count}", lambda: f"{len(model.turns)} requests")
    return model.turns[count - 1]


def goes_idle(client, terminal):
    """Play one turn in the terminal and wait until the session is watched while it is idle."""
    client.model.plays([say("Nothing to do.")])
    terminal.enter("continue please")
    terminal.wait_for("Nothing to do.")
    until(lambda: watchers(client), "the watcher", lambda: terminal.screen)
    return len(client.model.turns)


def test_failed_check_wakes_the_model(client):
    """Idle session: a failed check wakes the model with the check's name."""
    open_pull(client)
    with client.terminal() as terminal:
        count = goes_idle(client, terminal)
        client.stage.act("add_check", pull=PULL, **FAILED)
        told = requests_reach(client, count + 1).text
    assert 'CI: 1 FAILED — "unit-tests"' in told


def test_failed_check_is_told_with_the_next_step(client):
    """Idle session: a failed check is told to the human, and how to publish a fix to the model."""
    open_pull(client)
    with client.terminal() as terminal:
        count = goes_idle(client, terminal)
        client.model.plays([say("I see.")])
        client.stage.act("add_check", pull=PULL, **FAILED)
        told = requests_reach(client, count + 1).text.rpartition("unit-tests")[2]
        terminal.wait_for("I see.")
        assert "agent-sync push" in told
        assert terminal.shows("unit-tests")


def test_failed_check_comes_with_its_log(client):
    """Idle session: a failed check wakes the model with the failing step and the end of its log."""
    open_pull(client)
    log = "".join(f"line {number}\n" for number in range(100)) + "E   assert 1 == 2\n"
    steps = [{"name": "Run tests", "conclusion": "failure", "log": log}]
    with client.terminal() as terminal:
        count = goes_idle(client, terminal)
        client.stage.act("add_check", pull=PULL, **FAILED, steps=steps)
        told = requests_reach(client, count + 1).text.rpartition("1 FAILED")[2]
    assert 'step "Run tests"' in told
    assert "| line 99\n| E   assert 1 == 2\n" in told
    assert "| line 30\n" not in told
    assert "agent-sync push" in told


def test_review_thread_wakes_the_model(client):
    """Idle session: a review thread wakes the model with file, line, text and how to answer."""
    open_pull(client)
    thread = {"path": "cache.py", "line": 1, "body": "Use a read-write lock."}
    with client.terminal() as terminal:
        count = goes_idle(client, terminal)
        client.model.plays([say("I see.")])
        client.stage.act("review", pull=PULL, state="comment", by="mona", threads=[thread])
        told = requests_reach(client, count + 1).text.rpartition('"mona" on PR')[2]
        terminal.wait_for("I see.")
        assert '"cache.py" line 1' in told
        assert "| Use a read-write lock." in told
        assert "agent-sync review reply" in told
        assert terminal.shows("Use a read-write lock.")


def test_merge_is_asked_of_the_human(client):
    """Idle session: a merge is told to the human, and the model is told who decides."""
    open_pull(client)
    with client.terminal() as terminal:
        count = goes_idle(client, terminal)
        client.model.plays([say("I see.")])
        client.stage.act("merge_pull", pull=PULL, method="squash")
        told = requests_reach(client, count + 1).text
        terminal.wait_for("I see.")
        assert f"PR #{PULL} merged" in told
        assert "/done" in told.rpartition(f"PR #{PULL} merged")[2]
        assert terminal.shows(f"PR #{PULL} merged")


def test_draft_is_kept(client):
    """Idle session: what the human has typed stays when the model is woken."""
    open_pull(client)
    with client.terminal() as terminal:
        count = goes_idle(client, terminal)
        terminal.type("half a sentence")
        client.model.plays([say("I see.")])
        client.stage.act("add_check", pull=PULL, **FAILED)
        requests_reach(client, count + 1)
        terminal.wait_for("I see.")
        assert "half a sentence" in terminal.screen


def test_one_watcher(client):
    """Idle session: one watcher however many turns, and none after a kill."""
    open_pull(client)
    with client.terminal() as terminal:
        goes_idle(client, terminal)
        client.model.plays([say("Still nothing.")])
        terminal.enter("and now?")
        terminal.wait_for("Still nothing.")
        until(lambda: len(watchers(client)) == 1, "one watcher", lambda: str(watchers(client)))
        os.kill(terminal.pid, signal.SIGKILL)
        until(lambda: not watchers(client), "the end of the watcher")


def test_status_line(client):
    """Status line: the claim and its pull request are on the screen."""
    claim(client)
    with client.terminal() as terminal:
        terminal.wait_for("#42 · coding")
        client.model.plays([bash(COMMIT)], [bash(HANDOFF)], [say("Handed over.")])
        terminal.enter("/handoff")
        terminal.wait_for(f"PR #{PULL} created")
        terminal.wait_for(f"#42 · PR #{PULL}")


def leave(client, terminal):
    """Leave the client as people do."""
    terminal.enter("/exit")
    until(lambda: terminal.has_ended, "the client's end", lambda: terminal.screen)
    until(lambda: not watchers(client), "the end of the watcher")


def test_exit_is_no_crash(client):
    """/exit and --continue: the next session goes on, no human is needed."""
    claim(client)
    with client.terminal() as terminal:
        client.model.plays([bash(COMMIT)], [say("Committed.")])
        terminal.enter("do the work")
        terminal.wait_for("Committed.")
        leave(client, terminal)
    client.model.plays([say("I go on.")])
    told = client.ask("continue please", "--continue").requests[0].briefing
    assert "holds issue #42" in told
    assert [word for word in CALLED_A_CRASH if word in told] == []


def test_closed_terminal_is_no_crash(client):
    """Terminal closed while the session is idle: the next session goes on, no human is needed."""
    claim(client)
    with client.terminal() as terminal:
        client.model.plays([bash("echo 'lock = 1' >> cache.py")], [say("Half done.")])
        terminal.enter("do the work")
        terminal.wait_for("Half done.")
    until(lambda: not processes_of(client.home, "claude"), "the client's end")
    client.model.plays([say("I go on.")])
    told = client.ask("continue please").requests[0].briefing
    assert "cache.py" in told
    assert [word for word in CALLED_A_CRASH if word in told] == []


def test_exit_ends_the_watcher(client):
    """/exit: the watcher ends with the session."""
    open_pull(client)
    with client.terminal() as terminal:
        goes_idle(client, terminal)
        leave(client, terminal)


def test_clear(client):
    """/clear: the new session is told what it holds."""
    claim(client)
    with client.terminal() as terminal:
        client.model.plays([say("Before.")])
        terminal.enter("hello")
        terminal.wait_for("Before.")
        terminal.enter("/clear")
        until(lambda: "Before." not in terminal.screen, "a clear screen", lambda: terminal.screen)
        client.model.plays([say("After.")])
        count = len(client.model.turns)
        terminal.enter("hello again")
        request = requests_reach(client, count + 1)
        terminal.wait_for("After.")
    assert "holds issue #42" in request.text
    assert "Before." not in request.text


def test_morning_screen(client):
    """Merged overnight: the human reads it before they have typed anything."""
    open_pull(client)
    client.stage.act("merge_pull", pull=PULL, method="squash")
    with client.terminal() as terminal:
        assert terminal.shows(f"PR #{PULL} merged")


def test_cost_of_a_task(client, theatre):
    """Claim to close in one session with one failed check: at most three turns more than were typed."""
    with client.terminal() as terminal:
        client.model.plays([bash("agent-sync claim 42")], [say("Claimed.")])
        terminal.enter("/claim 42")
        terminal.wait_for("Claimed.")
        client.model.plays([bash(COMMIT)], [bash(HANDOFF)], [say("Handed over.")])
        terminal.enter("/handoff")
        terminal.wait_for("Handed over.")
        until(lambda: watchers(client), "the watcher")
        count = len(client.model.turns)
        client.model.plays([bash(COMMIT)], [say("Mended.")])
        client.stage.act("add_check", pull=PULL, **FAILED)
        requests_reach(client, count + 2)
        terminal.wait_for("Mended.")
        client.model.plays([bash(HANDOFF)], [say("Handed over again.")])
        terminal.enter("/handoff")
        terminal.wait_for("Handed over again.")
        until(lambda: watchers(client), "the watcher")
        count = len(client.model.turns)
        client.model.plays([say("It is merged.")])
        client.stage.act("add_check", pull=PULL, **PASSED)
        client.stage.act("merge_pull", pull=PULL, method="squash")
        requests_reach(client, count + 1)
        terminal.wait_for("It is merged.")
        client.model.plays([say("It will be closed.")])
        terminal.enter("/done")
        until(lambda: theatre.issue()["state"] == "closed", "the closed issue", lambda: terminal.screen)
        terminal.wait_for("Issue #42 closed")
        client.model.plays([say("You are welcome.")])
        terminal.enter("thank you")
        terminal.wait_for("You are welcome.")
    typed, mended, told = 2 + 3 + 2 + 1 + 1, 1, 3
    assert len(client.model.turns) <= typed + mended + told
