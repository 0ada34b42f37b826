"""The hook commands as Claude Code runs them, as far as they need no GitHub."""

import json
import os
import random
import string
import subprocess
import time
from pathlib import Path

import pytest
from support.claims import claim
from support.command import COMMAND, EVENTS, HOOKS, fixture, run
from support.prove import PROVE

from agent_sync.task.claim.phases import Phase

GARBAGE = 100 if PROVE else 10


def garbage(seed):
    """Return one random input: bytes, broken JSON, JSON of another shape, or an object with odd fields."""
    rng = random.Random(seed)  # noqa: S311  # a seed makes a failure repeatable
    noise = "".join(rng.choices(string.printable + "ü\0\u202e", k=rng.randint(0, 300)))
    values = [None, 3, [1, 2], noise, {"a": noise}, True]
    odd = {
        key: rng.choice(values) for key in ("cwd", "session_id", "stop_hook_active", "hook_event_name", "tool_input")
    }
    text = json.dumps(rng.choice([*values, odd, odd]))
    return rng.choice(
        [rng.randbytes(rng.randint(0, 500)), text.encode(), text[: len(text) // 2].encode(), b"", text.encode() * 2]
    )


@pytest.mark.parametrize("hook", HOOKS)
@pytest.mark.parametrize("held", [None, claim(), "broken"], ids=["no claim", "coding", "broken claim"])
def test_garbage_does_no_harm(repo, hook, held):
    """Whatever is piped in: exit 0, one JSON object or nothing on stdout, the claim file untouched."""
    file = repo / ".agent-claim.json"
    if held:
        file.write_bytes(held.to_json() if held != "broken" else b'{"phase":')
    before = file.read_bytes() if held else None
    for seed in range(GARBAGE // 3 + 1):
        ran = run(hook, cwd=repo, stdin=garbage(f"{hook}{seed}"))
        assert ran.status == 0
        assert ran.stderr == ""
        assert isinstance(ran.reply, dict)
    assert before == (file.read_bytes() if held else None)


@pytest.mark.parametrize("hook", HOOKS)
def test_hundred_garbage_inputs_in_all(repo, hook):
    """At least a hundred inputs per hook go through the parser the command uses, each with the same seed as above."""
    from agent_sync.events.exchange import parse, trigger_of
    from agent_sync.hook_event import HookEvent

    assert repo
    for seed in range(100):
        assert isinstance(parse(trigger_of([hook]), garbage(f"{hook}{seed}")), HookEvent | None)


@pytest.mark.parametrize(("hook", "event"), EVENTS.items())
def test_recorded_input_without_claim_is_silent(repo, hook, event):
    """In a repository without a claim every hook is silent for what the client really sends."""
    ran = run(hook, cwd=repo, stdin=fixture(event, repo))
    assert (ran.status, ran.stdout, ran.stderr) == (0, "", "")


def test_huge_input_is_read_to_its_end(repo):
    """An input of many megabytes is drained and understood."""
    text = json.dumps({"cwd": str(repo), "last_assistant_message": "x" * 8_000_000})
    assert run("on-stop", cwd=repo, stdin=text).status == 0


def test_open_pipe_is_not_waited_for(repo):
    """A writer that sends its object and keeps the pipe open does not hold the hook."""
    with subprocess.Popen([COMMAND, "on-stop"], cwd=repo, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        process.stdin.write(b"{}\n")
        process.stdin.flush()
        assert process.wait(timeout=20) == 0


def test_broken_claim_is_reported_once_per_session(repo):
    """A claim that cannot be used is said to the human, exactly, once per session, and left as it is."""
    (repo / ".agent-claim.json").write_text('{"schema_version": 1, "issue_number": 42, "phase": "codign"}')
    first = run("on-stop", cwd=repo, stdin=fixture("Stop", repo))
    assert 'phase is "codign"; allowed: coding, ready_for_pr' in first.human
    assert run("on-stop", cwd=repo, stdin=fixture("Stop", repo)).stdout == ""


def test_wrong_settings_are_reported(repo):
    """A mistake in the settings is said and nothing is done."""
    (repo / ".agent-sync.toml").write_text("[project]\nnumber = 0\n")
    assert "project.number: Input should be greater than" in run("on-stop", cwd=repo, stdin="{}").human


@pytest.mark.parametrize(
    "source", ["SessionStart", "SessionStart.resume", "SessionStart.clear", "SessionStart.compact"]
)
def test_session_is_told_what_it_holds(repo, source):
    """Every kind of session start is told the claim held here and the next step."""
    (repo / ".agent-claim.json").write_bytes(claim().to_json())
    told = run("session-start", cwd=repo, stdin=fixture(source, repo))
    assert "holds issue #42" in told.agent
    assert "phase coding" in told.agent
    assert told.reply["hookSpecificOutput"]["hookEventName"] == "SessionStart"


def test_state_follows_the_event_into_a_worktree(repo, tmp_path):
    """An agent that entered a worktree is told of that worktree's claim, not of the project's."""
    linked = tmp_path / "linked"
    subprocess.run(["git", "worktree", "add", "-q", str(linked)], cwd=repo, check=True)
    (linked / ".agent-claim.json").write_bytes(claim(issue_number=43).to_json())
    (repo / ".agent-claim.json").write_bytes(claim().to_json())
    event = fixture("SessionStart", linked)
    assert "holds issue #43" in run("session-start", cwd=repo, stdin=event, CLAUDE_PROJECT_DIR=str(repo)).agent


def slow_git(directory):
    """Make a git that hangs with a child of its own; return its directory and where it writes the child's pid."""
    directory.mkdir()
    script = directory / "git"
    script.write_text(f"#!/bin/sh\nsleep 300 &\necho $! > {directory}/pid\nwait\n")
    script.chmod(0o755)
    return directory


def is_gone(pid):
    """Wait a moment for a killed process to be gone."""
    give_up = time.monotonic() + 10
    while time.monotonic() < give_up:
        state = subprocess.run(["ps", "-o", "state=", "-p", pid], capture_output=True, text=True, check=False).stdout
        if not state.strip() or state.startswith("Z"):
            return True
        time.sleep(0.05)
    return False


def test_watchdog_answers_before_the_deadline(repo, tmp_path):
    """At its own deadline a hook says so, exits 0, keeps the state and leaves no child behind."""
    (repo / ".agent-claim.json").write_bytes(claim(Phase.READY_FOR_PR).to_json())
    hanging = slow_git(tmp_path / "bin")
    path = f"{hanging}:{os.environ['PATH']}"
    began = time.monotonic()
    ran = run("on-stop", cwd=repo, stdin="{}", PATH=path, AGENT_SYNC_HOOKS_STOP_DEADLINE_S="1.5")
    assert time.monotonic() - began < 20
    assert (ran.status, ran.human) == (0, "agent-sync ran out of time; it will continue at the next event.")
    assert claim(Phase.READY_FOR_PR).to_json() == (repo / ".agent-claim.json").read_bytes()
    assert is_gone((hanging / "pid").read_text().strip())


def test_termination_ends_the_children(repo, tmp_path):
    """When the client gives up on a hook, what the hook started goes with it."""
    (repo / ".agent-claim.json").write_bytes(claim(Phase.READY_FOR_PR).to_json())
    hanging = slow_git(tmp_path / "bin")
    environment = dict(os.environ) | {"PATH": f"{hanging}:{os.environ['PATH']}"}
    with subprocess.Popen([COMMAND, "on-stop"], cwd=repo, stdin=subprocess.PIPE, env=environment) as process:
        process.stdin.write(b"{}")
        process.stdin.close()
        while not (hanging / "pid").exists() or not (hanging / "pid").read_text().strip():
            time.sleep(0.02)
        process.terminate()
        assert process.wait(timeout=10) == 0
    assert is_gone((hanging / "pid").read_text().strip())


def test_lost_reader_loses_no_sentence(repo):
    """What could not be printed is said at the next event."""
    (repo / ".agent-claim.json").write_bytes(claim(Phase.READY_FOR_PR, summary="").to_json())
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run([COMMAND, "on-stop"], cwd=repo, input=b"{}", stdout=full, check=False)
    assert done.returncode == 0
    assert "`summary` is empty" in run("on-prompt", cwd=repo, stdin="{}").agent


def test_input_in_pieces_is_put_together(repo):
    """A first piece that looks complete does not make the event unreadable."""
    (repo / ".agent-claim.json").write_bytes(claim().to_json())
    with subprocess.Popen(
        [COMMAND, "session-start"], cwd=repo, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        process.stdin.write(b'{"a": {}')
        process.stdin.flush()
        time.sleep(0.3)
        process.stdin.write(b', "b": 1}')
        process.stdin.close()
        assert b"holds issue #42" in process.stdout.read()


def test_wrong_settings_are_said_once_per_session(repo):
    """A mistake in the settings is said once per session and is on record."""
    (repo / ".agent-sync.toml").write_text("[project]\nnumber = 0\n")
    event = fixture("PostToolUse", repo)
    said = [run("on-stop", cwd=repo, stdin=fixture("Stop", repo)).human for _ in range(2)]
    assert [bool(text) for text in said] == [True, False]
    assert run("on-tool", cwd=repo, stdin=event).stdout == ""
    assert "project.number: Input should be" in (repo / ".git" / "agentsync" / "log.jsonl").read_text()


def test_wake_up_is_no_prompt(repo):
    """The prompt that our own wake-up makes does not use up what waits for the human's next one."""
    (repo / ".agent-claim.json").write_bytes(claim(Phase.MERGED_DETECTED, pr_number=107).to_json())
    assert run("on-prompt", cwd=repo, stdin=fixture("UserPromptSubmit.async-rewake", repo)).stdout == ""
    assert "Should I close issue #42?" in run("on-prompt", cwd=repo, stdin=fixture("UserPromptSubmit", repo)).agent


def test_help_of_a_hook_acts_on_nothing(repo):
    """Both spellings of help show the page."""
    for flag in ("-h", "--help"):
        assert "Hook:" in run("on-idle", flag, cwd=repo).stdout


def test_hook_with_a_wrong_option_is_no_usage_error(repo):
    """A hook never ends with the exit status that would block the agent."""
    assert run("on-stop", "--nonsense", cwd=repo, stdin="{}").status == 0


def test_read_only_git_directory_does_no_harm(repo):
    """Where state cannot be written the hook still answers."""
    (repo / ".agent-claim.json").write_bytes(claim().to_json())
    (repo / ".git" / "agentsync").write_text("in the way")
    assert run("on-stop", cwd=repo, stdin="{}").status == 0
