"""Two processes at the same moment on one claim."""

import json
import shutil
import signal
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path

import pytest
from support.clients import Client, shared_nursery
from support.clones import beside
from support.stage import Theatre, quick

PAIRS = [
    (("on-stop",), ("on-stop",)),
    (("on-stop",), ("on-idle",)),
    (("on-stop",), ("sync",)),
]
WATCHING = (("on-idle", "--rewake"), ("on-stop",))


def together(theatre, *commands):
    """Start all commands at once, each as a process of its own, and wait for them."""
    stage, given = theatre.stage, json.dumps({"cwd": str(theatre.stage.root), "session_id": "s"})

    def play(client, command):
        return client.do_there(stage.root, stage.environment, *command, stdin=given).status

    with ExitStack() as stack, ThreadPoolExecutor(len(commands)) as pool:
        clients = [stack.enter_context(closing(Client(shared_nursery(), stage.root))) for _ in commands]
        return list(pool.map(play, clients, commands))


def wait_until(is_so, process):
    """Wait for what a process does that goes on meanwhile."""
    while not is_so():
        assert process.poll() is None
        time.sleep(0.02)


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: " with ".join(" ".join(command) for command in pair))
def test_one_opens_the_pull_request_and_one_closes(theatre, pair):
    """Whoever comes first opens the pull request, or closes; the other steps back.

    After the close there is one comment and no trace of the file.
    """
    opens_once(theatre, pair)
    theatre.stage.act("merge_pull", pull=45, method="merge")
    theatre.hold(phase="done", pr_number=45)
    together(theatre, *pair)
    assert len(theatre.comments()) == 1
    assert theatre.issue()["state"] == "closed"
    assert theatre.stage.claim() is None


def test_a_watcher_and_a_stop_open_one_pull_request(theatre):
    """Whoever comes first opens it, also where the other goes on to watch."""
    opens_once(theatre, WATCHING)


def opens_once(theatre, pair):
    """Let a pair of commands open the pull request."""
    theatre.work()
    theatre.hold(phase="ready_for_pr", summary="x")
    theatre.stage.act(
        "add_check", sha=theatre.git("rev-parse", "HEAD"), name="t", status="completed", conclusion="failure"
    )
    together(theatre, *pair)
    assert [pull["number"] for pull in theatre.pulls()] == [45]
    assert theatre.stage.claim()["pr_number"] == 45


def test_one_watcher_is_enough(theatre):
    """A second idle event does not start a second watcher."""
    ready(theatre)
    first = started(theatre, "on-idle", "--rewake")
    wait_until(lambda: theatre.stage.claim().get("last_check_poll"), first)
    assert together(theatre, ("on-idle", "--rewake")) == [0]
    theatre.edit_claim(last_check_poll=None)
    wait_until(lambda: theatre.stage.claim().get("last_check_poll"), first)
    wait_until(lambda: is_at_rest(first), first)
    quickly(theatre).hook("on-idle", AGENT_SYNC_CHECKS_BACKOFF_S="0")
    assert theatre.operations() == []
    first.terminate()
    assert first.wait(timeout=20) == 0
    first.stdout.close()
    first.stderr.close()


def is_at_rest(process):
    """Tell whether a watcher sleeps until its next look: then it ends in peace when it is told to."""
    if sys.platform != "linux":
        time.sleep(1)
        return True
    of_process = Path(f"/proc/{process.pid}")
    if b"asleep.py" not in (of_process / "cmdline").read_bytes():
        return False
    caught = next(line for line in (of_process / "status").read_text().splitlines() if line.startswith("SigCgt"))
    return bool(int(caught.split()[1], 16) >> (signal.SIGTERM - 1) & 1)


def quickly(theatre):
    """Return the same clone with commands that load nothing: those that only prepare."""
    return Theatre(quick(theatre.stage))


def ready(theatre):
    """Open a pull request."""
    theatre.work()
    theatre.hold(phase="ready_for_pr", summary="x")
    quickly(theatre).hook("on-stop")


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
    wait_until(lambda: not theatre.faults_left(), slow)
    assert quickly(theatre).stage.command("done", "--later").status == 0
    ended(slow)
    assert theatre.stage.claim()["phase"] == "done"


def test_release_waits_for_a_hook_that_acts(theatre):
    """A task is not given back under the hands of a hook that opens its pull request."""
    theatre.work()
    theatre.hold(phase="ready_for_pr", summary="x")
    theatre.fault("delay:2", operation="OpenPull")
    slow = started(theatre, "on-stop")
    wait_until(lambda: not theatre.faults_left(), slow)
    refused = quickly(theatre).stage.command("release")
    ended(slow)
    assert (refused.status, "PR #45 is open." in refused.stderr) == (1, True)
    assert theatre.stage.claim()["pr_number"] == 45


@pytest.mark.parametrize(
    "request_",
    [{"operation": "Task"}, {"operation": "ReleaseTask"}, {"path": "/octo/demo.git/git-receive-pack"}],
    ids=["before its look", "before the card", "before the lease"],
)
def test_release_leaves_alone_what_another_has_taken_over_meanwhile(theatre, request_):
    """Whenever the take-over comes, the new holder keeps lease, card and assignment, and `release` says who it is."""
    successor = beside(quickly(theatre), "bob")
    assert theatre.stage.command("claim", "42").status == 0
    theatre.fault("delay:3", **request_)
    slow = started(theatre, "release")
    wait_until(lambda: not theatre.faults_left(), slow)
    played = successor.stage.command("claim", "42", "--take-over", "--yes")
    assert played.status == 0, played.stderr
    held = successor.stage.claim()
    said = slow.stdout.read().decode()
    assert ended(slow) == 0
    assert 'Issue #42 is held by "octo/bob" now; only the claim file here was deleted.' in said
    assert "released" not in said
    assert theatre.stage.claim() is None
    assert (theatre.card()["Status"], theatre.card()["Agent"]) == ("In Progress", held["agent_id"])
    assert theatre.issue()["assignees"] == ["octo"]
    assert "LOST" not in successor.stage.command("status").stdout


def test_watcher_leaves_when_its_session_is_gone(theatre):
    """A watcher whose reader is gone makes room for the next session's, which then wakes."""
    ready(theatre)
    orphan = started(theatre, "on-idle", "--rewake")
    wait_until(lambda: theatre.stage.claim().get("last_check_poll"), orphan)
    orphan.stderr.close()
    orphan.wait(timeout=30)
    orphan.stdout.close()
    theatre.stage.act("merge_pull", pull=45, method="merge")
    theatre.edit_claim(last_check_poll=None)
    woken = quickly(theatre).hook("on-idle", "--rewake")
    assert (woken.status, "PR #45 merged!" in woken.stderr) == (2, True)


TAKE = ("worker", "take", "--worker", "w1")


def slung(theatre):
    """Hang issue 42 on the hook of w1."""
    assert quickly(theatre).stage.command("worker", "sling", "42", "w1").status == 0


def taken_once(theatre):
    """Claim file, claim ref and work hook are of one holding, which was begun once."""
    rows = quickly(theatre).stage.command("ledger", "--format", "jsonl").stdout
    assert [event["event"] for event in json.loads(rows)["events"]] == ["Sling issue-42 to main/w1", "Start issue-42"]
    hook = json.loads(quickly(theatre).stage.command("worker", "show", "w1", "--json").stdout)
    claim = theatre.stage.claim()
    theatre.git("fetch", "-q", "origin", "+refs/agentsync/claims/42:refs/seen")
    lease = json.loads(theatre.git("show", "refs/seen:claim.json"))
    assert {hook["status"]["nonce"], claim["lease"]["nonce"], lease["nonce"]} == {lease["nonce"]}
    assert (claim["issue_number"], claim["branch"]) == (42, theatre.git("branch", "--show-current"))
    assert (theatre.card()["Status"], theatre.issue()["assignees"]) == ("In Progress", ["octo"])
    assert "is_unmirrored" not in claim or not claim["is_unmirrored"]


def slow_to_switch(theatre, folder):
    """Return the same clone with a git that lets the first switch of branches wait for two seconds."""
    mark, shim = folder / "wait", folder / "git"
    mark.touch()
    shim.write_text(
        f'#!/bin/sh\ncase " $* " in *" switch "*) if rm {mark} 2>/dev/null; then sleep 2; fi ;; esac\n'
        f'exec {shutil.which("git")} "$@"\n'
    )
    shim.chmod(0o755)
    path = f"{folder}:{theatre.stage.environment['PATH']}"
    return Theatre(replace(theatre.stage, environment=theatre.stage.environment | {"PATH": path}))


def test_two_takes_at_once_begin_the_work_once(theatre, tmp_path):
    """The second waits for the first and finds the work here: both end well, and no branch is made twice."""
    slung(theatre)
    assert together(slow_to_switch(theatre, tmp_path), TAKE, TAKE) == [0, 0]
    assert not (tmp_path / "wait").exists()
    taken_once(theatre)


def test_stop_beside_a_take_steps_back(theatre):
    """A stop while work is being taken asks GitHub nothing of the claim that is only half made."""
    slung(theatre)
    theatre.fault("delay:2", operation="ClaimTask")
    slow = started(theatre, *TAKE)
    wait_until(lambda: not theatre.faults_left(), slow)
    quickly(theatre).hook("on-stop")
    assert [name for name in theatre.operations() if name != "ClaimTask"] == []
    assert theatre.operations().count("ClaimTask") <= 1
    assert ended(slow) == 0
    taken_once(theatre)
