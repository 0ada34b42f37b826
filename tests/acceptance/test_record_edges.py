"""Every edge of the recovery record's machine, reached by commands and hooks alone."""

import fcntl
import json
from collections.abc import Callable

import pytest
from support.gauntlet import GatedProject
from support.recorded import RUNNER, Tasks

from agent_sync.record.machine.machine import EDGES
from agent_sync.record.machine.states import Move, State

INIT, PENDING, RUNNING = State.INITIALIZING, State.STEP_PENDING, State.STEP_RUNNING
VALIDATING, WAITING, RECOVERING = State.STEP_VALIDATING, State.AWAITING_HUMAN, State.RECOVERING


def step_by_step(tasks: Tasks) -> None:
    """A task by hand, in which two clients take turns: each takes the task over from the other."""
    one = tasks.client()
    one.do("start", "by hand", "--template", "bugfix")
    tasks.do("checkpoint", "before the step")
    one.do("step", "start")
    tasks.do("checkpoint", "in the step")
    one.do("step", "fail")
    one.do("step", "start")
    one.do("step", "done")
    one.do("step", "start")
    one.do("step", "output", "a plan")
    tasks.do("checkpoint", "before its validation")
    one.do("step", "fail", "--reason", "not this plan")
    one.do("validate", "--", "true")
    one.do("validate", "--", "false")
    tasks.do("checkpoint", "while a human is waited for")
    tasks.do("validate", "--", "true")
    tasks.do("reject")
    tasks.do("validate", "--", "false")
    tasks.do("approve")
    # The step is given up while its validation runs: the receipt comes after that.
    tasks.do("validate", "--", "agent-sync step fail")
    tasks.do("validate", "--", "agent-sync step fail; agent-sync step start")
    tasks.do("abandon")


def beginnings(tasks: Tasks) -> None:
    """Tasks whose start is killed half-way, or cannot be finished, or is given up early."""
    for name in ("given up", "gone on with"):
        _killed_in_start(tasks, name)
        if name == "given up":
            tasks.do("abandon")
    other = tasks.client()
    other.do("checkpoint", "found half-way")
    other.do("validate", "--", "true")
    other.crash()
    tasks.do("resume")
    tasks.do("abandon")
    tasks.do("start", "never begun", "--template", "bugfix")
    tasks.do("abandon")
    tasks.do("start", "never validated", "--template", "bugfix")
    tasks.do("step", "start")
    tasks.do("step", "output", "something")
    tasks.do("abandon")
    (tasks.home / "keys" / "master.key").chmod(0o644)
    tasks.do("start", "without a key", "--template", "bugfix")


def _killed_in_start(tasks: Tasks, name: str) -> None:
    """Kill a start while it waits for its turn at the key."""
    directory = tasks.home / "keys"
    directory.mkdir(parents=True, exist_ok=True, mode=0o700)
    for file in directory.iterdir():
        file.unlink()
    client = tasks.client()
    with (directory / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        client.begin("start", name, "--template", "bugfix")
        tasks.wait_for(name.replace(" ", "-"), INIT)
        client.crash()


def crashes(tasks: Tasks) -> None:
    """One task whose client crashes again and again, each time at another place."""
    clients = [tasks.client() for _ in range(7)]
    clients[0].do("start", "crashing", "--template", "bugfix")
    clients[0].crash()
    clients[1].do("resume")
    clients[1].crash()
    clients[2].do("hook", "recover")
    clients[2].do("checkpoint", "while recovering")
    clients[2].do("resume")
    clients[2].do("checkpoint", "half-way")
    clients[2].crash()
    clients[3].do("resume")
    clients[3].do("step", "output", "done")
    clients[3].crash()
    clients[4].do("hook", "recover")
    clients[4].do("validate", "--", "true")
    clients[4].do("resume")
    clients[4].crash()
    # What was proven before the second crash is not asked for again.
    clients[5].do("resume")
    clients[5].do("step", "done")
    clients[5].do("step", "start")
    clients[5].crash()
    # The step `implement` may not simply be repeated.
    tasks.do("hook", "recover")
    prompt = {"hook_event_name": "UserPromptSubmit", "session_id": "s", "cwd": str(tasks.root), "prompt": "Go on."}
    clients[6].do("hook", "status")
    tasks.do("on-prompt", stdin=json.dumps(prompt))
    clients[6].do("checkpoint", "going on")
    clients[6].crash()
    tasks.do("hook", "recover")
    tasks.do("abandon")


def following_a_claim(tasks: Tasks) -> None:
    """A claim written by hand goes forth and back, and its record with it; its gates fail too often."""
    config = "max_retries: 0\nentry_points:\n  - path: .\n    checks: [ok]\n"
    project = GatedProject(tasks.root, config, ok="command: test ! -e BROKEN\n")
    (tasks.root / ".git" / "info" / "exclude").write_text(".agent-claim.json*\ngauntlet_logs\n")
    look = ("checkpoint", "--auto")
    tasks.hold()
    tasks.do("validate", "--", "true")
    tasks.hold("pr_created", pr_number=45)
    tasks.do(*look)
    tasks.hold("coding")
    tasks.do(*look)
    tasks.hold("merged_detected", pr_number=45)
    tasks.do(*look)
    tasks.hold("coding")
    tasks.do(*look)
    tasks.hold("ready_for_pr")
    tasks.do(*look)
    assert tasks.do("validate", "--", f"kill -INT {RUNNER}; sleep 10").status == 130
    tasks.hold("coding")
    tasks.do(*look)
    tasks.hold("ready_for_pr")
    tasks.do(*look)
    project.write({"BROKEN": "x\n"})
    tasks.do("gauntlet", "run")
    tasks.hold("coding")
    tasks.do("reject")
    tasks.hold("merged_detected", pr_number=45)
    tasks.do(*look)
    (tasks.root / ".agent-claim.json").unlink()
    tasks.do("abandon")


PLAYS: dict[str, Callable[[Tasks], None]] = {
    play.__name__: play for play in (step_by_step, beginnings, crashes, following_a_claim)
}
# Which play goes along which edge: the move, and the state it begins in.
ROWS: dict[tuple[Move, State], str] = {
    (Move.SETUP_COMPLETE, INIT): "step_by_step",
    (Move.SETUP_FAILED, INIT): "beginnings",
    (Move.START_STEP, PENDING): "step_by_step",
    (Move.STEP_OUTPUT, RUNNING): "step_by_step",
    (Move.CONTINUE_STEP, VALIDATING): "following_a_claim",
    (Move.STEP_COMPLETE, RUNNING): "step_by_step",
    (Move.STEP_FAILED, RUNNING): "step_by_step",
    (Move.STEP_FAILED, VALIDATING): "step_by_step",
    (Move.VALIDATE_PASS, VALIDATING): "step_by_step",
    (Move.VALIDATE_FAIL, VALIDATING): "step_by_step",
    (Move.HUMAN_APPROVE, WAITING): "step_by_step",
    (Move.HUMAN_REJECT, WAITING): "step_by_step",
    (Move.HUMAN_RESUME, WAITING): "crashes",
    (Move.REWORK, PENDING): "following_a_claim",
    (Move.REWORK, WAITING): "following_a_claim",
    (Move.REWORK, RECOVERING): "crashes",
    (Move.REWORK, RUNNING): "following_a_claim",
    (Move.REWORK, VALIDATING): "following_a_claim",
    (Move.CHECKPOINT, INIT): "beginnings",
    (Move.CHECKPOINT, PENDING): "step_by_step",
    (Move.CHECKPOINT, RUNNING): "step_by_step",
    (Move.CHECKPOINT, VALIDATING): "step_by_step",
    (Move.CHECKPOINT, WAITING): "step_by_step",
    (Move.CHECKPOINT, RECOVERING): "crashes",
    (Move.RECEIPT, INIT): "beginnings",
    (Move.RECEIPT, PENDING): "step_by_step",
    (Move.RECEIPT, RUNNING): "step_by_step",
    (Move.RECEIPT, VALIDATING): "step_by_step",
    (Move.RECEIPT, WAITING): "step_by_step",
    (Move.RECEIPT, RECOVERING): "crashes",
    (Move.OWNER, INIT): "beginnings",
    (Move.OWNER, PENDING): "step_by_step",
    (Move.OWNER, RUNNING): "step_by_step",
    (Move.OWNER, VALIDATING): "step_by_step",
    (Move.OWNER, WAITING): "step_by_step",
    (Move.OWNER, RECOVERING): "crashes",
    (Move.CRASH_DETECTED, INIT): "beginnings",
    (Move.CRASH_DETECTED, PENDING): "crashes",
    (Move.CRASH_DETECTED, RUNNING): "crashes",
    (Move.CRASH_DETECTED, VALIDATING): "crashes",
    (Move.RETRY_STEP, RECOVERING): "crashes",
    (Move.SKIP_STEP, RECOVERING): "crashes",
    (Move.RETRY_VALIDATION, RECOVERING): "crashes",
    (Move.RESUME_CHECKPOINT, RECOVERING): "crashes",
    (Move.MANUAL_REQUIRED, RECOVERING): "crashes",
    (Move.MANUAL_REQUIRED, RUNNING): "following_a_claim",
    (Move.MANUAL_REQUIRED, VALIDATING): "following_a_claim",
    (Move.ABANDON, INIT): "beginnings",
    (Move.ABANDON, PENDING): "beginnings",
    (Move.ABANDON, RUNNING): "step_by_step",
    (Move.ABANDON, VALIDATING): "beginnings",
    (Move.ABANDON, WAITING): "following_a_claim",
    (Move.ABANDON, RECOVERING): "crashes",
}


def test_every_edge_has_a_row():
    """No edge of the machine is left to unit tests."""
    assert set(ROWS) == {(move, state) for move, edges in EDGES.items() for state in edges}


@pytest.mark.parametrize("name", PLAYS)
def test_edges_are_reached_by_commands(tasks, name):
    """Each play goes along all edges that its rows name, and every history it leaves is intact."""
    PLAYS[name](tasks)
    assert {edge for edge, play in ROWS.items() if play == name} - tasks.edges() == set()
