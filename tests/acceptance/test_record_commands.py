"""The recovery record by command: a task from start to end, crashes, receipts, and what is refused."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support.gauntlet import GatedProject
from support.recorded import RUNNER

TASK = "fix-null-pointer-in-config"
START = ("start", "fix null pointer in config", "--template", "bugfix")


def files_of(directory: Path) -> dict[str, bytes]:
    """Return every byte of a task."""
    return {str(file.relative_to(directory)): file.read_bytes() for file in directory.rglob("*") if file.is_file()}


def put_back(directory: Path, files: dict[str, bytes]) -> None:
    """Give a task exactly these bytes again."""
    for name in files_of(directory).keys() - files.keys():
        (directory / name).unlink()
    for name, content in files.items():
        (directory / name).write_bytes(content)


def triggers(tasks, task_id: str = TASK) -> list[str]:
    """Return what made the checkpoints of a task."""
    return [checkpoint["trigger"] for checkpoint in tasks.record(task_id)["checkpoints"]]


def statuses(tasks, task_id: str = TASK) -> list[str]:
    """Return how far each step has come."""
    return [step["status"] for step in tasks.record(task_id)["steps"]]


def commit(tasks, name: str) -> None:
    """Commit a file, as the agent would."""
    (tasks.root / name).write_text(name)
    tasks.git("add", name)
    tasks.git("commit", "-q", "-m", f"Add {name}")


def test_start_has_a_default_template(tasks):
    """Without a template a task is a bugfix; one that is not there is refused with those that are."""
    begun = json.loads(tasks.do("start", "fix it", "--json").stdout)
    assert (begun["template"], begun["steps"][0]) == ("bugfix", "analyze")
    tasks.do("abandon", "--reason", "no")
    assert "bugfix" in tasks.do("start", "fix it", "--template", "nonsense").stderr


def test_normal_task_flow_with_auto_checkpoints(tasks, tmp_path):
    """From start to completed, every kind of checkpoint is made by what happens, and every step is done once."""
    tasks.git("init", "-q", "--bare", str(tmp_path / "remote.git"))
    tasks.git("remote", "add", "origin", str(tmp_path / "remote.git"))
    began = tasks.do(*START)
    assert began.stdout.splitlines()[0] == f"Task: {TASK}"
    assert "Hook State: step_pending (analyze, attempt 1)" in began.stdout
    tasks.do("step", "start", "--prompt", "Find the cause")
    tasks.do("step", "done")
    tasks.do("validate", "--label", "plan", "--", "true")
    tasks.do("step", "start")
    commit(tasks, "parser.py")
    tasks.do("checkpoint", "--auto")
    tasks.do("checkpoint", "--auto", AGENT_SYNC_RECORD_INTERVAL_S="0.001")
    tasks.git("push", "-q", "origin", "main")
    tasks.do("checkpoint", "--trigger", "pr_created", "PR #45 is open")
    shown = tasks.do("status").stdout
    assert "Hook State: step_running (implement, attempt 1)" in shown
    assert re.search(r"^Last Checkpoint: ckpt-[0-9a-f]{8} \(\d+ s ago\)$", shown, re.MULTILINE)
    for _ in range(4):
        assert tasks.do("validate", "--", "true").status == 0
    last = tasks.do("validate", "--", "true")
    assert "Hook State: completed" in last.stdout
    made = triggers(tasks)
    assert made[:4] == ["step_complete", "validation", "step_complete", "git_commit"]
    assert {"interval", "git_push", "pr_created"} < set(made)
    assert made[-2:] == ["validation", "step_complete"]
    assert set(statuses(tasks)) == {"completed"}
    assert "there is nothing to do" in (tasks.directory(TASK) / "HOOK.md").read_text()
    assert (tasks.do("hook", "status").status, tasks.do("resume").status) == (6, 6)


def test_crash_recovery_with_checkpoints(tasks):
    """After a kill the next session is told, goes on from the last checkpoint, and repeats and skips nothing."""
    client = tasks.client()
    client.do(*START)
    for step in ("analyze", "plan"):
        client.do("step", "start")
        client.do("step", "done")
        assert step in client.do("hook", "checkpoints").stdout
    client.do("step", "start")
    commit(tasks, "parser.py")
    client.do("checkpoint", "--auto")
    client.do("checkpoint", "--auto", AGENT_SYNC_RECORD_INTERVAL_S="0.001")
    assert triggers(tasks) == ["step_complete", "step_complete", "git_commit", "interval"]
    before = tasks.record(TASK)
    client.crash()
    event = {"hook_event_name": "SessionStart", "source": "startup", "session_id": "new", "cwd": str(tasks.root)}
    told = tasks.do("session-start", stdin=json.dumps(event))
    line = f"[ATLAS RECOVERY] Task '{TASK}' in progress. State: recovering, Step: \"implement\" (3/7). READ "
    assert line + str(tasks.directory(TASK) / "HOOK.md") in told.agent
    record = tasks.record(TASK)
    last = before["checkpoints"][-1]["checkpoint_id"]
    assert record["recovery"]["crash_type"] == "signal"
    assert record["recovery"]["recommended_action"] == "retry_step"
    assert record["recovery"]["last_checkpoint_id"] == last
    page = (tasks.directory(TASK) / "HOOK.md").read_text()
    assert f"### ✅ RESUME: Continue the `implement` step from checkpoint `{last}`" in page
    written = files_of(tasks.directory(TASK))
    again = tasks.do("hook", "recover")
    assert (again.status, files_of(tasks.directory(TASK))) == (0, written)
    assert f"Last Checkpoint: {last}" in again.stdout
    resumed = tasks.do("resume")
    assert "### ✅ RESUME: Continue the `implement` step" in resumed.stdout
    after = tasks.record(TASK)
    assert (after["state"], after["current_step"]["attempt"]) == ("step_running", 1)
    assert after["steps"] == before["steps"]


def test_receipt_verification(tasks):
    """A receipt is shown with what its checks found, line by line; a failed command is told from an invalid receipt."""
    tasks.do(*START)
    tasks.do("validate", "--", "echo", "all fine")
    tasks.do("validate", "--", "echo broken; exit 3")
    verified = tasks.do("hook", "verify-receipt", "rcpt-001")
    assert (verified.status, verified.stdout.splitlines()) == (
        0,
        [
            "Receipt: rcpt-001",
            "Step: analyze",
            "Command: echo 'all fine'",
            "Exit Code: 0",
            "Key Path: m/44'/236'/0'/0'/0'",
            "Signature: VALID ✓",
            "",
            "This receipt was signed by your ATLAS installation.",
            "The validation command ran and completed successfully.",
        ],
    )
    failed = tasks.do("hook", "verify-receipt", "rcpt-002")
    assert (failed.status, failed.stdout.splitlines()[-1]) == (
        1,
        "The validation command ran and failed with exit code 3.",
    )
    assert tasks.do("hook", "verify-receipt", "rcpt-003").status == 6
    assert tasks.do("hook", "verify-receipt", "../rcpt-001").status == 6
    tasks.do("abandon")
    assert tasks.do("hook", "verify-receipt", "rcpt-001").status == 0
    assert tasks.do("hook", "verify-receipt", "rcpt-001", "--task", "nobody").status == 2


def flipped(name: str, *path: str | int, to: object):
    """Return what changes one value in a JSON file of a task."""

    def flip(directory: Path) -> None:
        file = directory / name
        values = json.loads(file.read_text())
        inner = values
        for key in path[:-1]:
            inner = inner[key]
        inner[path[-1]] = to
        file.write_text(json.dumps(values))

    return flip


def rewritten(name: str):
    """Return what changes the bytes of a file of a task."""
    return lambda directory: (directory / name).write_text("something else")


OUTSIDE = "changed outside agent-sync"
TAMPERING = {
    "exit code": (flipped("hook.json", "receipts", 0, "exit_code", to=1), 5, OUTSIDE),
    "command": (flipped("hook.json", "receipts", 0, "command", to="make test"), 5, OUTSIDE),
    "signature": (flipped("hook.json", "receipts", 0, "signature", to="0" * 128), 5, OUTSIDE),
    "signature removed": (flipped("hook.json", "receipts", 0, "signature", to=""), 5, OUTSIDE),
    "event of the receipt": (
        flipped("hook.json", "history", 4, "details", "digest", to="0" * 64),
        5,
        "broken at event 4",
    ),
    "event before it": (flipped("hook.json", "history", 1, "trigger", to="abandon"), 5, "broken at event 1"),
    "event after it": (flipped("hook.json", "history", 5, "step_name", to="plan"), 0, "broken at event 5"),
    "copy of the receipt": (flipped("artifacts/rcpt-001.json", "exit_code", to=1), 5, "intact"),
    "copy that is no receipt": (rewritten("artifacts/rcpt-001.json"), 5, "intact"),
    "output": (rewritten("artifacts/rcpt-001.stdout"), 5, "intact"),
    "another field": (flipped("hook.json", "description", to="something else"), 0, OUTSIDE),
}


def test_tampering_is_told(tasks):
    """Whatever is changed by hand, the receipt or the record says so, and looking does not cover it up."""
    tasks.do(*START)
    tasks.do("validate", "--", "true")
    assert tasks.record(TASK)["history"][4]["trigger"] == "receipt"
    directory = tasks.directory(TASK)
    intact = files_of(directory)
    for what, (tamper, status, integrity) in TAMPERING.items():
        put_back(directory, intact)
        tamper(directory)
        changed = files_of(directory)
        assert changed != intact, what
        assert (what, tasks.do("hook", "verify-receipt", "rcpt-001").status) == (what, status)
        shown = tasks.do("hook", "status")
        assert f"Integrity: {integrity}" in shown.stdout.splitlines(), what
        assert (what, shown.status) == (what, 0 if integrity == "intact" else 5)
        assert files_of(directory) == changed, what


def test_record_that_cannot_be_read_is_not_none(tasks):
    """Where no generation can be used, looking says so with its own exit code, and every byte is kept."""
    tasks.do(*START)
    for name in ("hook.json", "hook.json.prev"):
        (tasks.directory(TASK) / name).write_text("{")
    shown = tasks.do("hook", "status")
    assert (shown.status, "error[bad-record]" in shown.stderr) == (5, True)
    assert "cannot be read" in tasks.do("status").stdout
    recovered = tasks.do("hook", "recover")
    assert (recovered.status, "error[no-record]" in recovered.stderr) == (6, True)
    aside = Path(recovered.stdout.strip().rpartition(" ")[2].removesuffix("."))
    assert (aside / "hook.json").read_text() == "{"
    assert tasks.do(*START).status == 0


def test_home_of_records_can_be_moved(tasks, tmp_path):
    """ATLAS_HOME holds everything: records and keys; the user's own home gets nothing."""
    home = tmp_path / "elsewhere"
    began = tasks.do(*START, ATLAS_HOME=str(home))
    assert f"Record: {home}/workspaces/" in began.stdout
    assert sorted(path.name for path in home.iterdir()) == ["index.json", "index.lock", "keys", "workspaces"]
    assert not tasks.home.exists()
    assert tasks.do("hook", "status").status == 6


def test_home_that_cannot_be_written(tasks, tmp_path):
    """A record that cannot be written is an error of the command that is about it, and a warning of any other."""
    (tmp_path / "file").write_text("")
    home = str(tmp_path / "file" / "atlas")
    refused = tasks.do(*START, ATLAS_HOME=home)
    assert (refused.status, "error[record-unavailable]" in refused.stderr) == (1, True)
    tasks.hold()
    other = tasks.do("hook", "install", ATLAS_HOME=home)
    assert other.status == 0
    assert "warning: the recovery record could not be written" in other.stderr
    assert (tasks.root / ".git" / "hooks" / "post-commit").exists()
    auto = tasks.do("checkpoint", "--auto", ATLAS_HOME=home)
    assert (auto.status, auto.stdout, auto.stderr) == (0, "", "")


def test_cleanup_deletes_what_it_listed(tasks):
    """In all three ways to end, a dry run lists exactly what is then deleted; a task at work is never touched."""
    (tasks.root / ".agent-sync.toml").write_text('[templates.quick]\nsteps = ["only"]\n')
    for name, ending in {"completed": ("done",), "failed": ("fail",)}.items():
        tasks.do("start", name, "--template", "quick", AGENT_SYNC_RECORD_MAX_ATTEMPTS="1")
        tasks.do("step", "start")
        assert f"Hook State: {name}" in tasks.do("step", *ending).stdout
    tasks.do("start", "abandoned", "--template", "quick")
    tasks.do("abandon")
    tasks.do("start", "at work", "--template", "quick")
    assert json.loads(tasks.do("cleanup", "--hooks", "--json").stdout)["deleted"] == []
    listed = json.loads(tasks.do("cleanup", "--hooks", "--retention", "0", "--dry-run", "--json").stdout)["deleted"]
    assert sorted(one["state"] for one in listed) == ["abandoned", "completed", "failed"]
    assert all((Path(one["path"]) / "hook.json").exists() for one in listed)
    deleted = json.loads(tasks.do("cleanup", "--hooks", "--retention", "0", "--json").stdout)["deleted"]
    assert deleted == listed
    left = [file.parent.name for file in (tasks.home / "workspaces").glob("*/tasks/*/hook.json")]
    assert left == ["at-work"]
    stones = next((tasks.home / "workspaces").glob("*/tombstones.jsonl")).read_text().splitlines()
    assert sorted(json.loads(line)["state"] for line in stones) == ["abandoned", "completed", "failed"]
    assert tasks.do("cleanup", "--hooks", "--retention", "soon").status == 2
    assert tasks.do("cleanup").status == 0


def test_workspaces_are_listed_and_destroyed(tasks):
    """A workspace is destroyed after a yes, and not while somebody is at work on it."""
    client = tasks.client()
    client.do(*START)
    found = json.loads(tasks.do("workspace", "list", "--json").stdout)
    assert [(one["is_here"], one["tasks"]) for one in found] == [(True, [{"task_id": TASK, "state": "step_pending"}])]
    name = found[0]["name"]
    assert tasks.do("workspace", "destroy", name).status == 2
    assert "is working on" in tasks.do("workspace", "destroy", name, "--yes").stderr
    assert tasks.record(TASK)["state"] == "step_pending"
    client.crash()
    assert "Deleted 1 record of" in tasks.do("workspace", "destroy", name, "--yes").stdout
    assert tasks.do("hook", "status").status == 6
    assert tasks.do("workspace", "destroy", "nowhere-123456", "--yes").status == 2


NO_RECORD = [
    ("step", "start"),
    ("validate", "--", "true"),
    ("checkpoint", "text"),
    ("approve",),
    ("abandon",),
    ("resume",),
    ("hook", "status"),
    ("hook", "checkpoints"),
    ("hook", "export"),
    ("hook", "recover"),
    ("hook", "regenerate"),
]


def test_without_a_task_there_is_a_way_to_begin(tasks):
    """Every command about a task says that there is none and how to begin one; git hooks stay silent."""
    for arguments in NO_RECORD:
        said = tasks.do(*arguments)
        assert (arguments, said.status) == (arguments, 6)
        assert "error[no-record]" in said.stderr
        assert "agent-sync start" in said.stderr
    auto = tasks.do("checkpoint", "--trigger", "git_commit", "--auto", "Commit: x")
    assert (auto.status, auto.stdout, auto.stderr) == (0, "", "")
    assert not tasks.home.exists()


# Each with what happens before it, after those above.
REFUSED = {
    "a second task": ((), ("start", "other", "--template", "bugfix"), "agent-sync resume, or agent-sync abandon"),
    "done before it began": ((), ("step", "done"), "agent-sync step start"),
    "nobody asked": ((), ("approve",), "agent-sync step start"),
    "taken up while it goes on": ((), ("resume", "--reopen", TASK), "agent-sync resume"),
    "begun twice": (("step", "start"), ("step", "start"), "agent-sync validate -- CMD"),
    "done without its validation": (("step", "output", "x"), ("step", "done"), "agent-sync validate"),
    "work while a human is waited for": (("validate", "--", "false"), ("step", "start"), "agent-sync approve"),
}


def test_what_makes_no_sense_is_refused(tasks):
    """A move that the state does not allow changes nothing and names the command that helps."""
    tasks.do(*START)
    for what, (before, arguments, helps) in REFUSED.items():
        if before:
            tasks.do(*before)
        history = tasks.record(TASK)["history"]
        refused = tasks.do(*arguments)
        assert (what, refused.status, "error[illegal-move]" in refused.stderr) == (what, 1, True)
        assert helps in refused.stderr, what
        assert tasks.record(TASK)["history"] == history, what


USAGE = {
    "unknown template": (("start", "x", "--template", "magic"), "bugfix, claim-to-close, feature"),
    "the claim's template": (("start", "x", "--template", "claim-to-close"), "agent-sync claim"),
    "no description": (("start", "  ", "--template", "bugfix"), "needs a description"),
    "unknown trigger": (("checkpoint", "--trigger", "mood", "x"), "git_commit"),
}


def test_usage(tasks):
    """What is typed wrong is told with what there is, and nothing is begun."""
    for what, (arguments, says) in USAGE.items():
        said = tasks.do(*arguments)
        assert (what, said.status, says in said.stderr) == (what, 2, True)
        assert not tasks.home.exists(), what


def test_people_decide(tasks):
    """Inside an agent's session a decision needs the word that a human has decided."""
    tasks.do(*START)
    tasks.do("validate", "--", "false")
    for command in ("approve", "reject"):
        refused = tasks.do(command, CLAUDECODE="1")
        assert (refused.status, "error[humans-only]" in refused.stderr) == (1, True)
    assert tasks.record(TASK)["state"] == "awaiting_human"
    assert tasks.do("reject", "--yes", "--reason", "once more", CLAUDECODE="1").status == 0
    assert tasks.record(TASK)["current_step"]["step_name"] == "analyze"


def test_claim_leads_its_record(tasks):
    """In the record of a claim steps are not moved by hand, and giving it back is what ends it."""
    tasks.hold("merged_detected", pr_number=45)
    for arguments, helps in {
        ("step", "done"): "try: agent-sync done",
        ("approve",): "try: agent-sync done",
        ("reject",): "try: agent-sync done",
        ("abandon",): "agent-sync release",
        START: "another worktree",
        ("resume", "--reopen", "issue-42"): "agent-sync resume",
    }.items():
        refused = tasks.do(*arguments)
        assert (arguments, refused.status) == (arguments, 1)
        assert helps in refused.stderr
    assert tasks.record("issue-42")["state"] == "awaiting_human"
    shown = json.loads(tasks.do("status", "--offline", "--json").stdout)
    assert shown["record"]["waiting_for"] == "a human decides whether the issue is closed"


def test_reopened_task_goes_on_in_a_new_record(tasks):
    """What was done stays done in the new record; the old one keeps every byte."""
    tasks.do(*START)
    tasks.do("validate", "--", "true")
    tasks.do("abandon", "--reason", "later")
    old = files_of(tasks.directory(TASK))
    again = tasks.do("resume", "--reopen", TASK)
    assert (again.status, f"Task: {TASK}-2" in again.stdout) == (0, True)
    record = tasks.record(f"{TASK}-2")
    assert (record["resumed_from"], record["state"], record["task_index"]) == (TASK, "step_pending", 1)
    assert statuses(tasks, f"{TASK}-2") == ["completed"] + ["pending"] * 6
    assert record["current_step"]["step_name"] == "plan"
    assert files_of(tasks.directory(TASK)) == old
    tasks.do("step", "start")
    tasks.do("step", "done")
    assert statuses(tasks, f"{TASK}-2")[:3] == ["completed", "completed", "pending"]


VALIDATIONS = {
    "a line for the shell": (("--", "echo one && echo two >&2"), 0, 0, "step_pending"),
    "a program with arguments": (("--", "test", "1", "=", "2"), 1, 1, "awaiting_human"),
    "too slow": (("--timeout", "1s", "--", "sleep", "30"), 1, 124, "awaiting_human"),
    "no such program": (("--", "no-such-program", "x"), 1, 127, "step_running"),
    "validating within a validation": (("--", "agent-sync validate -- true"), 1, 8, "awaiting_human"),
}


def test_validations(tasks):
    """Every run has a receipt, passed or failed, and the step goes on as it ended."""
    tasks.do(*START)
    directory = tasks.directory(TASK)
    begun = files_of(directory)
    for what, (arguments, status, code, state) in VALIDATIONS.items():
        put_back(directory, begun)
        ran = tasks.do("validate", *arguments)
        record = tasks.record(TASK)
        found = (what, ran.status, [one["exit_code"] for one in record["receipts"]], record["state"])
        assert found == (what, status, [code], state)
        assert "Receipt: rcpt-001" in ran.stdout, what
        artifacts = sorted(path.name for path in (directory / "artifacts").iterdir())
        assert artifacts == ["rcpt-001.json", "rcpt-001.stderr", "rcpt-001.stdout"], what


def test_output_is_shown_and_kept(tasks):
    """What the command writes is shown as it is, on both streams, and kept under the receipt's name."""
    tasks.do(*START)
    ran = tasks.do("validate", "--", "echo one; echo two >&2")
    assert (ran.stdout.splitlines()[0], ran.stderr) == ("one", "two\n")
    kept = tasks.directory(TASK) / "artifacts"
    assert ((kept / "rcpt-001.stdout").read_text(), (kept / "rcpt-001.stderr").read_text()) == ("one\n", "two\n")


def test_interrupted_validation_proves_nothing(tasks):
    """Ctrl-C leaves no receipt and the state of a validation that has begun; the next one takes its place."""
    tasks.do(*START)
    ran = tasks.do("validate", "--", f"kill -INT {RUNNER}; sleep 30")
    assert (ran.status, tasks.record(TASK)["receipts"], tasks.record(TASK)["state"]) == (130, [], "step_validating")
    assert tasks.do("validate", "--", "true").status == 0
    assert [one["exit_code"] for one in tasks.record(TASK)["receipts"]] == [0]


@pytest.mark.parametrize("signal_name", ["TERM", "KILL"])
def test_killed_validation_leaves_nothing_running(tasks, tmp_path, signal_name):
    """However hard `validate` is killed, its command does not outlive it."""
    tasks.do(*START)
    pid = tmp_path / "pid"
    tasks.do("validate", "--", f"echo $$ > {pid}; kill -{signal_name} {RUNNER}; exec sleep 300")
    give_up = time.monotonic() + 30
    while Path(f"/proc/{pid.read_text().strip()}/exe").exists() and time.monotonic() < give_up:
        time.sleep(0.05)
    assert not Path(f"/proc/{pid.read_text().strip()}/exe").exists()


def test_validation_without_a_command_runs_the_gates(tasks):
    """The gates are the validation where there are any; where not, the command has to be named."""
    tasks.do(*START)
    assert tasks.do("validate").status == 2
    config = "entry_points:\n  - path: .\n    checks: [ok]\n"
    project = GatedProject(tasks.root, config, ok="command: test ! -e BROKEN\n")
    project.write({"work.py": "x = 1\n"})
    passed = tasks.do("validate")
    assert (passed.status, "Receipt: rcpt-001" in passed.stdout) == (0, True)
    assert tasks.record(TASK)["current_step"]["step_name"] == "plan"
    project.write({"BROKEN": ""})
    assert tasks.do("validate").status == 1
    assert tasks.record(TASK)["state"] == "awaiting_human"


def test_export_holds_everything(tasks):
    """An export has the record, its whole history and what verification found; HOOK.md is made anew on demand."""
    tasks.do(*START)
    tasks.do("validate", "--", "true")
    exported = json.loads(tasks.do("hook", "export", "--format", "json").stdout)
    assert exported["record"] == tasks.record(TASK)
    assert (exported["receipts"], exported["integrity"]) == ({"rcpt-001": "VALID ✓"}, "intact")
    page = tasks.directory(TASK) / "HOOK.md"
    before = page.read_bytes()
    page.write_text("gone")
    assert "was regenerated" in tasks.do("hook", "regenerate").stdout
    assert page.read_bytes() == before
    listed = json.loads(tasks.do("hook", "checkpoints", "--json").stdout)
    assert [one["trigger"] for one in listed] == ["validation", "step_complete"]


def test_git_wakes_the_record(tasks):
    """With the git hook installed a commit is on record without any command; taken out, nothing of it is left."""
    assert tasks.do("hook", "install").status == 0
    tasks.do(*START)
    tasks.do("step", "start")
    commit(tasks, "parser.py")
    for _ in range(100):
        if triggers(tasks):
            break
        subprocess.run(["sleep", "0.1"], check=True)
    assert triggers(tasks) == ["git_commit"]
    checks = {one["name"]: one["mark"] for one in json.loads(tasks.do("doctor", "--json").stdout)["checks"]}
    assert [checks[name] for name in ("record home", "record key", "record", "git hook")] == ["ok"] * 4
    assert tasks.do("hook", "uninstall").status == 0
    assert not (tasks.root / ".git" / "hooks" / "post-commit").exists()


def test_validation_of_a_task_that_ended_meanwhile(tasks):
    """What ran for a task that is over makes no receipt, least of all one of the task that was begun since."""
    tasks.do(*START)
    done = tasks.do("validate", "--", "agent-sync abandon && agent-sync start other --template bugfix")
    assert (done.status, f"Task {TASK} has ended while the command ran" in done.stderr) == (6, True)
    assert (tasks.record("other")["receipts"], tasks.record("other")["state"]) == ([], "step_pending")


def test_commit_has_one_checkpoint_id_in_every_view(tasks):
    """From its first sight a commit has the id that it is recorded under, in every list, page and export."""
    tasks.do("start", "Fix null pointer in config", "--template", "bugfix")
    assert tasks.do("step", "start").status == 0
    tasks.git("commit", "-q", "--allow-empty", "-m", "Add nil check")
    seen = [json.loads(tasks.do("record", "status", "--json").stdout)["last_checkpoint"] for _ in range(2)]
    listed = json.loads(tasks.do("record", "checkpoints", "--json").stdout)
    exported = json.loads(tasks.do("record", "export").stdout)["record"]["checkpoints"]
    ids = {one["checkpoint_id"] for one in (*seen, *listed, *exported)}
    assert len(ids) == 1
    (name,) = ids
    assert name in tasks.do("record", "checkpoints").stdout
    assert "Commit: Add nil check" in tasks.do("record", "show").stdout
    tasks.do("step", "output", "found it")
    assert [one["checkpoint_id"] for one in tasks.record("fix-null-pointer-in-config")["checkpoints"]] == [name]


def test_looking_makes_no_periodic_checkpoint(tasks):
    """A look at the record shows no checkpoint of the interval, which only a write makes."""
    tasks.do("start", "Fix null pointer in config", "--template", "bugfix")
    assert tasks.do("step", "start").status == 0
    time.sleep(1.1)
    for words in ("status", "checkpoints", "show"):
        seen = tasks.do("record", words, AGENT_SYNC_RECORD_INTERVAL_S="1")
        assert (seen.status, "Periodic checkpoint" in seen.stdout) == (0, False)


def test_output_of_a_killed_validation_is_kept(tasks):
    """What a validation had printed when everything was killed is on disk, its last line included."""
    tasks.do("start", "Fix null pointer in config", "--template", "bugfix")
    tasks.do("step", "start")
    line = "seq 1 4000; echo LASTLINE; sleep 60"
    with subprocess.Popen(
        [sys.executable, "-m", "agent_sync", "validate", "--", line],
        cwd=tasks.root,
        stdout=subprocess.PIPE,
        start_new_session=True,
    ) as running:
        while b"LASTLINE" not in running.stdout.readline():
            pass
        os.killpg(running.pid, signal.SIGKILL)
    kept = tasks.directory("fix-null-pointer-in-config") / "artifacts" / "validating.stdout"
    assert kept.read_text().endswith("4000\nLASTLINE\n")


def test_validation_without_its_key_changes_nothing(tasks):
    """Where the key is lost nothing is run and the step goes on; `doctor` names the same command."""
    tasks.do("start", "Fix null pointer in config", "--template", "bugfix")
    tasks.do("step", "start")
    key = tasks.home / "keys" / "master.key"
    key.unlink()
    refused = tasks.do("validate", "--", "touch ran")
    advice = f"cp -p {key}.bak {key}"
    assert (refused.status, advice in refused.stderr) == (6, True), refused.stderr
    assert not (tasks.root / "ran").exists()
    assert tasks.record("fix-null-pointer-in-config")["state"] == "step_running"
    checks = {one["name"]: one for one in json.loads(tasks.do("doctor", "--json").stdout)["checks"]}
    assert (checks["record key"]["mark"], checks["record key"]["fix"]) == ("fail", advice)
    assert not key.exists()
