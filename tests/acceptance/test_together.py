"""Two processes at the same moment on one claim."""

import contextlib
import json

import pytest

PAIRS = [
    (("on-stop",), ("on-stop",)),
    (("on-stop",), ("on-idle",)),
    (("on-stop",), ("sync",)),
    (("on-idle", "--rewake"), ("on-stop",)),
]


def together(theatre, *commands):
    """Start all commands at once and wait for them."""
    started = [theatre.popen(*command) for command in commands]
    for process in started:
        process.stdin.write(json.dumps({"cwd": str(theatre.stage.root), "session_id": "s"}).encode())
        process.stdin.close()
    for process in started:
        process.wait(timeout=60)
        for stream in (process.stdout, process.stderr):
            with contextlib.closing(stream):
                stream.read()
    return [process.returncode for process in started]


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: " with ".join(" ".join(command) for command in pair))
def test_one_opens_the_pull_request(theatre, pair):
    """Whoever comes first opens the pull request; the other steps back."""
    theatre.work()
    theatre.hold(phase="ready_for_pr", summary="x")
    theatre.stage.act(
        "add_check", sha=theatre.git("rev-parse", "HEAD"), name="t", status="completed", conclusion="failure"
    )
    together(theatre, *pair)
    assert [pull["number"] for pull in theatre.pulls()] == [45]
    assert theatre.stage.claim()["pr_number"] == 45


@pytest.mark.parametrize("pair", PAIRS[:3], ids=lambda pair: " with ".join(" ".join(command) for command in pair))
def test_one_closes(theatre, pair):
    """Whoever comes first closes; there is one comment and no trace of the file."""
    theatre.work()
    theatre.hold(phase="ready_for_pr", summary="x")
    theatre.hook("on-stop")
    theatre.stage.act("merge_pull", pull=45, method="merge")
    theatre.hold(phase="done", pr_number=45)
    together(theatre, *pair)
    assert len(theatre.comments()) == 1
    assert theatre.issue()["state"] == "closed"
    assert theatre.stage.claim() is None


def test_one_watcher_is_enough(theatre):
    """A second idle event does not start a second watcher."""
    theatre.work()
    theatre.hold(phase="ready_for_pr", summary="x")
    theatre.hook("on-stop")
    first = theatre.popen("on-idle", "--rewake")
    first.stdin.write(b"{}")
    first.stdin.close()
    while not theatre.stage.claim().get("last_check_poll"):
        assert first.poll() is None
    assert together(theatre, ("on-idle", "--rewake")) == [0]
    theatre.edit_claim(last_check_poll=None)
    while not theatre.stage.claim().get("last_check_poll"):
        assert first.poll() is None
    theatre.hook("on-idle", AGENT_SYNC_CHECKS_BACKOFF_S="0")
    assert theatre.operations() == []
    first.terminate()
    assert first.wait(timeout=20) == 0
    first.stdout.close()
    first.stderr.close()


def ready(theatre):
    """Open a pull request."""
    theatre.work()
    theatre.hold(phase="ready_for_pr", summary="x")
    theatre.hook("on-stop")


def started(theatre, *arguments):
    """Start a command and give it its input."""
    process = theatre.popen(*arguments)
    process.stdin.write(json.dumps({"cwd": str(theatre.stage.root)}).encode())
    process.stdin.close()
    return process


def ended(process):
    """Wait for a command."""
    process.wait(timeout=60)
    process.stdout.close()
    process.stderr.close()
    return process.returncode


def test_consent_given_during_a_slow_look_stands(theatre):
    """A human's yes is not overwritten by a look that was under way."""
    ready(theatre)
    theatre.stage.act("merge_pull", pull=45, method="merge")
    theatre.fault("delay:2", operation="Poll")
    slow = started(theatre, "on-idle")
    while not (theatre.stage.root / ".git/agentsync/actor.lock").exists():
        assert slow.poll() is None
    assert theatre.stage.command("done", "--later").status == 0
    ended(slow)
    assert theatre.stage.claim()["phase"] == "done"


def test_release_waits_for_a_hook_that_acts(theatre):
    """A task is not given back under the hands of a hook that opens its pull request."""
    theatre.work()
    theatre.hold(phase="ready_for_pr", summary="x")
    theatre.fault("delay:2", operation="OpenPull")
    slow = started(theatre, "on-stop")
    while "Lookup" not in theatre.operations():
        assert slow.poll() is None
    refused = theatre.stage.command("release")
    ended(slow)
    assert (refused.status, "PR #45 is open." in refused.stderr) == (1, True)
    assert theatre.stage.claim()["pr_number"] == 45


def test_watcher_leaves_when_its_session_is_gone(theatre):
    """A watcher whose reader is gone makes room for the next session's, which then wakes."""
    ready(theatre)
    orphan = started(theatre, "on-idle", "--rewake")
    while not theatre.stage.claim().get("last_check_poll"):
        assert orphan.poll() is None
    orphan.stderr.close()
    orphan.wait(timeout=30)
    orphan.stdout.close()
    theatre.stage.act("merge_pull", pull=45, method="merge")
    theatre.edit_claim(last_check_poll=None)
    woken = theatre.hook("on-idle", "--rewake")
    assert (woken.status, "PR #45 merged!" in woken.stderr) == (2, True)
