"""Every edge of the recovery record's machine, reached by commands and hooks alone."""

import fcntl
import json
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from support.gauntlet import GatedProject
from support.recorded import RUNNER, Tasks

from agent_sync.record.machine.machine import EDGES
from agent_sync.record.machine.states import RecordMove, RecordState

INIT, PENDING, RUNNING = RecordState.INITIALIZING, RecordState.STEP_PENDING, RecordState.STEP_RUNNING
VALIDATING, WAITING, RECOVERING = RecordState.STEP_VALIDATING, RecordState.AWAITING_HUMAN, RecordState.RECOVERING


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
    _validated_during(tasks, lambda: one.do("step", "fail"))
    _validated_during(tasks, lambda: (one.do("step", "fail"), one.do("step", "start")))
    tasks.do("abandon")


def _validated_during(tasks: Tasks, meanwhile: Callable[[], object]) -> None:
    """Do something to the step while its validation runs: the receipt comes after that."""
    begun, end = tasks.root.with_name("begun"), tasks.root.with_name("end")
    for pipe in (begun, end):
        os.mkfifo(pipe)
    with ThreadPoolExecutor() as beside:
        validated = beside.submit(tasks.do, "validate", "--", f"echo > {begun}; read end < {end}")
        begun.read_text()
        meanwhile()
        end.write_text("now\n")
        assert validated.result(timeout=30).status == 0
    for pipe in (begun, end):
        pipe.unlink()


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
    clients = [tasks.client() for _ in range(8)]
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
    clients[4].do("resume")
    clients[4].crash()
    # A validation that passes shows that the step is done, whether the task was resumed first or not.
    clients[5].do("hook", "recover")
    clients[5].do("validate", "--", "true")
    clients[5].do("step", "start")
    clients[5].do("step", "done")
    clients[5].do("step", "start")
    (tasks.root / "half-done").write_text("x\n")
    clients[5].crash()
    # The step `implement` may not simply be repeated.
    tasks.do("hook", "recover")
    prompt = {"hook_event_name": "UserPromptSubmit", "session_id": "s", "cwd": str(tasks.root), "prompt": "Go on."}
    clients[6].do("hook", "status")
    # Whoever begins a session was not asked yet; their second prompt is an answer.
    tasks.do("on-prompt", stdin=json.dumps(prompt))
    tasks.do("on-prompt", stdin=json.dumps(prompt))
    clients[6].do("checkpoint", "going on")
    clients[6].crash()
    tasks.do("hook", "recover")
    # The next one crashes before it gets anywhere.
    clients[7].do("on-prompt", stdin=json.dumps(prompt | {"session_id": "t"}))
    clients[7].crash()
    tasks.do("hook", "recover")
    tasks.do("abandon")


def accidents(tasks: Tasks) -> None:
    """In every state the session ends, somebody edits the record, and its file is damaged."""
    _killed_in_start(tasks, "not begun")
    tasks.do("hook", "status")
    _accidents(tasks, "not-begun")
    tasks.do("abandon")
    one = tasks.client()
    one.do("start", "unlucky", "--template", "bugfix")
    for moves in ((), ("step", "start"), ("step", "output", "done"), ("validate", "--", "false")):
        one.do(*(moves or ("hook", "status")))
        _accidents(tasks, "unlucky")
    tasks.do("reject")
    one.do("step", "start")
    one.crash()
    tasks.do("hook", "recover")
    _accidents(tasks, "unlucky")


def _accidents(tasks: Tasks, task_id: str) -> None:
    end = {"hook_event_name": "SessionEnd", "session_id": "s", "cwd": str(tasks.root), "reason": "other"}
    tasks.do("on-end", stdin=json.dumps(end))
    tasks.do("hook", "recover")
    file = tasks.directory(task_id) / "hook.json"
    file.write_text(file.read_text().replace('"description": "', '"description": "really '))
    tasks.do("hook", "recover")
    file.write_text("{")
    tasks.do("hook", "recover")


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
    tasks.do("gauntlet", "stop-hook", stdin="{}")
    tasks.hold("coding")
    tasks.do("reject")
    tasks.hold("merged_detected", pr_number=45)
    tasks.do(*look)
    (tasks.root / ".agent-claim.json").unlink()
    tasks.do("abandon")


PLAYS: dict[str, Callable[[Tasks], None]] = {
    play.__name__: play for play in (step_by_step, beginnings, crashes, accidents, following_a_claim)
}
# Which play goes along which edge: the move, and the state it begins in.
ROWS: dict[tuple[RecordMove, RecordState], str] = {
    (RecordMove.SETUP_COMPLETE, INIT): "step_by_step",
    (RecordMove.SETUP_FAILED, INIT): "beginnings",
    (RecordMove.START_STEP, PENDING): "step_by_step",
    (RecordMove.STEP_OUTPUT, RUNNING): "step_by_step",
    (RecordMove.CONTINUE_STEP, VALIDATING): "following_a_claim",
    (RecordMove.STEP_COMPLETE, RUNNING): "step_by_step",
    (RecordMove.STEP_FAILED, RUNNING): "step_by_step",
    (RecordMove.STEP_FAILED, VALIDATING): "step_by_step",
    (RecordMove.VALIDATE_PASS, VALIDATING): "step_by_step",
    (RecordMove.VALIDATE_FAIL, VALIDATING): "step_by_step",
    (RecordMove.HUMAN_APPROVE, WAITING): "step_by_step",
    (RecordMove.HUMAN_REJECT, WAITING): "step_by_step",
    (RecordMove.HUMAN_RESUME, WAITING): "crashes",
    (RecordMove.REWORK, PENDING): "following_a_claim",
    (RecordMove.REWORK, WAITING): "following_a_claim",
    (RecordMove.REWORK, RECOVERING): "crashes",
    (RecordMove.REWORK, RUNNING): "following_a_claim",
    (RecordMove.REWORK, VALIDATING): "following_a_claim",
    (RecordMove.CHECKPOINT, INIT): "beginnings",
    (RecordMove.CHECKPOINT, PENDING): "step_by_step",
    (RecordMove.CHECKPOINT, RUNNING): "step_by_step",
    (RecordMove.CHECKPOINT, VALIDATING): "step_by_step",
    (RecordMove.CHECKPOINT, WAITING): "step_by_step",
    (RecordMove.CHECKPOINT, RECOVERING): "crashes",
    (RecordMove.RECEIPT, INIT): "beginnings",
    (RecordMove.RECEIPT, PENDING): "step_by_step",
    (RecordMove.RECEIPT, RUNNING): "step_by_step",
    (RecordMove.RECEIPT, VALIDATING): "step_by_step",
    (RecordMove.RECEIPT, WAITING): "step_by_step",
    (RecordMove.RECEIPT, RECOVERING): "crashes",
    (RecordMove.OWNER, INIT): "beginnings",
    (RecordMove.OWNER, PENDING): "step_by_step",
    (RecordMove.OWNER, RUNNING): "step_by_step",
    (RecordMove.OWNER, VALIDATING): "step_by_step",
    (RecordMove.OWNER, WAITING): "step_by_step",
    (RecordMove.OWNER, RECOVERING): "crashes",
    (RecordMove.CRASH_DETECTED, INIT): "beginnings",
    (RecordMove.CRASH_DETECTED, PENDING): "crashes",
    (RecordMove.CRASH_DETECTED, RUNNING): "crashes",
    (RecordMove.CRASH_DETECTED, VALIDATING): "crashes",
    (RecordMove.CRASH_DETECTED, RECOVERING): "crashes",
    **{
        (move, state): "accidents"
        for move in (RecordMove.SESSION_ENDED, RecordMove.CHANGED_OUTSIDE, RecordMove.RESTORED)
        for state in (INIT, PENDING, RUNNING, VALIDATING, WAITING, RECOVERING)
    },
    (RecordMove.RETRY_STEP, RECOVERING): "crashes",
    (RecordMove.SKIP_STEP, RECOVERING): "crashes",
    (RecordMove.RETRY_VALIDATION, RECOVERING): "crashes",
    (RecordMove.RESUME_CHECKPOINT, RECOVERING): "crashes",
    (RecordMove.MANUAL_REQUIRED, RECOVERING): "crashes",
    (RecordMove.MANUAL_REQUIRED, RUNNING): "following_a_claim",
    (RecordMove.MANUAL_REQUIRED, VALIDATING): "following_a_claim",
    (RecordMove.ABANDON, INIT): "beginnings",
    (RecordMove.ABANDON, PENDING): "beginnings",
    (RecordMove.ABANDON, RUNNING): "step_by_step",
    (RecordMove.ABANDON, VALIDATING): "beginnings",
    (RecordMove.ABANDON, WAITING): "following_a_claim",
    (RecordMove.ABANDON, RECOVERING): "crashes",
}


def test_every_edge_has_a_row():
    """No edge of the machine is left to unit tests."""
    assert set(ROWS) == {(move, state) for move, edges in EDGES.items() for state in edges}


@pytest.mark.parametrize("name", PLAYS)
def test_edges_are_reached_by_commands(tasks, name):
    """Each play goes along all edges that its rows name, and every history it leaves is intact."""
    PLAYS[name](tasks)
    assert {edge for edge, play in ROWS.items() if play == name} - tasks.edges() == set()
