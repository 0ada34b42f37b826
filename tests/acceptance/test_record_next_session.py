"""What the next session is told, and what survives its first prompt: through real hook processes."""

import json
import shlex
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Self

import pytest
from support import clients, sessions
from support.command import Ran
from support.stage import agent, human

ASKED = "Use a read-write lock, never a spin lock"
LONGEST = 1200


class Client:
    """A session whose commands load nothing; leaving it kills the client."""

    def __init__(self, theatre, session_id: str = "s1", **variables: str) -> None:
        self._root, self._environment = theatre.stage.root, theatre.stage.environment | variables
        self._client = clients.Client(clients.shared_nursery(), self._root)
        self.session_id, self.pid = session_id, self._client.pid

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.crash()

    def do(self, *arguments: str, stdin: str = "") -> Ran:
        """Run a command to its end."""
        return self._client.do_there(self._root, self._environment, *arguments, stdin=stdin)

    def hook(self, name: str, **values: str) -> Ran:
        """Run a hook with an input that has all that Claude Code gives, so that it may be answered quietly."""
        given = {"session_id": self.session_id, "cwd": str(self._root)} | values
        return self.do(name, stdin=json.dumps(given))


@pytest.fixture
def claimed(theatre):
    """Claim issue 42."""
    assert theatre.stage.command("claim", "42").status == 0
    return theatre


def record_of(theatre):
    """Return what hook.json of the one task says."""
    (file,) = Path(theatre.stage.environment["HOME"]).glob(".atlas/workspaces/*/tasks/*/hook.json")
    return json.loads(file.read_text())


def page_of(theatre):
    """Return HOOK.md of the one task."""
    (file,) = Path(theatre.stage.environment["HOME"]).glob(".atlas/workspaces/*/tasks/*/HOOK.md")
    return file.read_text()


def started(client):
    """Start a session; return what the agent is told."""
    return agent(client.hook("session-start", source="startup"))


def test_essential_is_told_and_survives_the_prompt(claimed):
    """After a crash the text itself has what was asked, reached and left open; the first prompt erases none of it.

    Only the owner's own session can end in peace. A commit of the new session takes the task up; then its own words are
    what was asked for last.
    """
    with Client(claimed) as client:
        client.hook("on-prompt", prompt=ASKED)
        claimed.stage.commit("cache.py", "lock = True\n", "Guard the cache")
        (claimed.stage.root / "half.py").write_text("x = 1\n")
    with Client(claimed, "s9") as client:
        client.hook("on-end", reason="other")
    with Client(claimed, "s2") as client:
        told = started(client)
        client.hook("on-prompt", prompt="continue please")
        client.hook("on-prompt", prompt="and be quick")
        page = page_of(claimed)
        claimed.stage.commit("cache.py", "lock = 2\n", "Count")
        client.hook("on-tool")
        assert record_of(claimed)["state"] == "step_running"
        client.hook("on-prompt", prompt="now the docs")
    assert told.startswith("[ATLAS RECOVERY] Task 'issue-42' in progress. State: recovering, Step: ")
    for word in (ASKED, "Commit: Guard the cache", "half.py", "claude/fix-race", "Advice: retry_step"):
        assert word in told
    assert len(told) <= LONGEST
    assert "## Current State: `recovering`" in page
    assert f"**Last Asked For:** `{ASKED}`" in page
    assert "**Asked In This Session:** `continue please`" in page
    assert "- `half.py` (modified, uncommitted)" in page
    assert "Continue: `Fix race condition in cache`; done so far: `Commit: Guard the cache`" in page
    assert record_of(claimed)["current_step"]["prompt"] == "now the docs"


def test_ordinary_end_is_no_crash(claimed):
    """SessionEnd marks the owner as gone in peace, at once and without the network; the next session continues."""
    with Client(claimed) as client:
        client.hook("on-prompt", prompt=ASKED)
        (claimed.stage.root / "half.py").write_text("x = 1\n")
        claimed.fault("delay:30", times=9)
        began = time.monotonic()
        answer = client.hook("on-end", reason="prompt_input_exit")
        took = time.monotonic() - began
    assert (answer.status, answer.stdout, answer.stderr) == (0, "", "")
    assert took < 5  # generous: the interpreter starts on a busy machine
    claimed.stage.control("DELETE", "faults")
    with Client(claimed, "s2") as client:
        told = started(client)
        client.hook("on-prompt", prompt="continue please")
    assert "State: step_running" in told
    assert ASKED in told
    assert "half.py" in told
    values = record_of(claimed)
    assert values["recovery"] is None
    assert "session_ended" in [event["trigger"] for event in values["history"]]
    assert (values["owner"]["session_id"], values["owner"]["has_left"]) == ("s2", False)
    assert values["current_step"]["prompt"] == ASKED


def test_prompt_that_leads_to_a_claim_is_kept(theatre):
    """What was asked for before there was a record is in it once there is."""
    with Client(theatre, CLAUDECODE="1") as client:
        for _ in range(3):
            client.hook("on-prompt", prompt=f"Take issue 42. {ASKED}")
        assert client.do("claim", "42").status == 0
    assert ASKED in record_of(theatre)["current_step"]["prompt"]


def test_prompt_without_a_claim_is_forgotten(theatre):
    """Nothing that was asked outlives its session, unless it led to a claim."""
    spool = theatre.stage.root / ".git" / "agentsync" / "spool.on-prompt"
    with Client(theatre) as client:
        client.hook("on-prompt", prompt="a private matter")
        assert spool.stat().st_mode & 0o777 == 0o600
        client.hook("on-end", reason="other")
        assert not spool.exists()
        client.hook("on-prompt", prompt="a private matter")
        assert client.do("claim", "42").status == 0
    assert record_of(theatre)["current_step"]["prompt"] == ""


@pytest.mark.parametrize(("act", "words"), [("merge_pull", "is merged"), ("close_pull", "closed without merging")])
def test_ended_pull_request_is_said_and_stays(claimed, act, words):
    """Whatever way the session ended, the next one is told not to resume, and its prompt does not change that."""
    claimed.stage.commit("cache.py", "lock = True\n", "Guard the cache")
    assert claimed.stage.command("handoff", "--summary", "Fix the race").status == 0
    with Client(claimed) as client:
        client.hook("on-prompt", prompt=ASKED)
        client.hook("on-end", reason="other")
    claimed.stage.act(act, pull=45)
    with Client(claimed, "s2") as client:
        told = started(client)
        client.hook("on-prompt", prompt="continue please")
    page = page_of(claimed)
    for text in (told, page):
        assert words in text
    assert "RESUME: Continue" not in page
    assert "## Current State: `awaiting_human`" in page


def test_github_is_asked_again_before_a_crash_is_resumed(claimed):
    """GitHub was away when the crash was noted: whoever resumes learns then that the issue was closed meanwhile."""
    with Client(claimed) as client:
        client.hook("on-prompt", prompt=ASKED)
        claimed.stage.commit("cache.py", "lock = True\n", "Guard the cache")
    claimed.stage.act("close_issue", issue=42)
    claimed.fault("status:502", times=99, path="/api/graphql")
    with Client(claimed, "s2") as client:
        assert "State: recovering" in started(client)
        claimed.stage.control("DELETE", "faults")
        client.hook("on-prompt", prompt="continue please")
        resumed = client.do("resume")
    assert "Do not resume: issue #42 is closed." in resumed.stdout
    assert "## Current State: `awaiting_human`" in page_of(claimed)


def test_second_live_session_is_warned(claimed):
    """Two sessions in one worktree: the second one and its human are told.

    Both are killed: with a clean tree and no commit nothing can be repeated, so the next one needs no human.
    """
    with Client(claimed) as first, Client(claimed, "s2") as second:
        first.hook("on-prompt", prompt=ASKED)
        played = second.hook("session-start", source="startup")
    assert f"another session (process {first.pid})" in agent(played)
    assert "another session" in human(played)
    with Client(claimed, "s3") as client:
        told = started(client)
    assert "State: recovering" in told
    assert "A human must act" not in told


# A client of the kind Claude Code is, whose only event is the start of a session.
STARTING = """
import subprocess, sys
given = '{"session_id": "s1", "source": "startup"}'
sys.stdout.write(subprocess.run(["sh", "-c", sys.argv[1]], input=given, text=True, capture_output=True).stdout)
"""


def test_shell_in_which_the_issue_was_claimed_is_no_other_session(theatre):
    """`claim` typed in a shell, then the client started there or in another terminal: nobody is warned."""
    command = f"{shlex.quote(sys.executable)} -m agent_sync"
    start = shlex.join([sys.executable, "-c", STARTING, f"{command} session-start"])
    shells = [
        subprocess.Popen(
            ["bash"],
            cwd=theatre.stage.root,
            env=theatre.stage.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    with shells[0], shells[1]:
        typed(shells[0], f"{command} claim 42")
        assert record_of(theatre)["owner"]["pid"] == shells[0].pid
        for shell in shells:
            told = typed(shell, start)
            assert "this worktree holds issue #42" in told
            assert "another session" not in told, shells.index(shell)
        for shell in shells:
            shell.stdin.close()


def typed(shell, line):
    """Type a line into a shell that lives on; return what it prints."""
    shell.stdin.write(f"{line}\necho; echo done\n")
    shell.stdin.flush()
    return "".join(iter(shell.stdout.readline, "done\n"))


def test_validation_that_outlives_its_client_is_waited_for(claimed):
    """The client died, its validation did not: nothing has crashed, and what comes of it counts."""
    command = "until test -e .git/may-end; do sleep 0.1; done"
    with sessions.Client(claimed) as client:
        client.hook("on-prompt", prompt=ASKED)
        begun = "until grep -qs step_validating $HOME/.atlas/workspaces/*/tasks/*/hook.json; do sleep 0.1; done"
        client.line(f'agent-sync validate -- "{command}" >/dev/null 2>&1 </dev/null & {begun}')
        assert record_of(claimed)["owner"]["pid"] == client.pid
    with Client(claimed, "s2") as client:
        told = started(client)
        assert "State: step_validating" in told
        assert "Its validation still runs: wait for it" in told
        (claimed.stage.root / ".git" / "may-end").touch()
        wait_for(lambda: record_of(claimed)["state"] == "step_running")
    values = record_of(claimed)
    assert values["recovery"] is None
    assert [(one["command"], one["exit_code"]) for one in values["receipts"]] == [(command, 0)]
    assert values["owner"]["pid"] != 1


def wait_for(is_so):
    """Wait until something is so."""
    end = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.1)


def test_writers_at_once_keep_their_order(claimed):
    """Time is taken under the lock: of many who write at once none seems to come from the past, so no interval is due."""
    with ExitStack() as stack, ThreadPoolExecutor(12) as pool:
        writers = [stack.enter_context(Client(claimed)) for _ in range(12)]
        ran = list(pool.map(lambda writer, number: writer.do("checkpoint", f"note {number}"), writers, range(12)))
    assert {one.status for one in ran} == {0}
    made = record_of(claimed)["checkpoints"]
    assert {point["trigger"] for point in made} == {"manual"}
    times = [point["created_at"] for point in made]
    assert times == sorted(times)


def test_each_step_has_its_own_request(theatre):
    """What one step was asked for is not said of the next; after a rejection the coming attempt is shown."""
    run = theatre.stage.command
    assert run("start", "fix it", "--template", "bugfix").status == 0
    assert run("step", "start", "--prompt", "Read the loader first").status == 0
    assert "**Last Asked For:** `Read the loader first`" in page_of(theatre)
    assert run("step", "done").status == 0
    assert run("step", "start").status == 0
    assert "Read the loader first" not in page_of(theatre)
    assert f"**Branch:** `{theatre.git('branch', '--show-current')}`" in page_of(theatre)
    assert run("validate", "--", "false").status == 1
    assert run("reject").status == 0
    assert "step_pending (plan, attempt 2)" in run("record", "status").stdout


def test_validate_again_runs_what_was_recorded(claimed):
    """The form that HOOK.md prints runs the whole command again, and signs nothing else.

    A command that somebody wrote into the record is not run; the edit is an event and stays visible.
    """
    assert claimed.stage.command("validate", "--", "true && false").status == 1
    again = claimed.stage.command("validate")
    assert (again.status, "Running again: true && false" in again.stdout) == (1, True)
    assert [receipt["command"] for receipt in record_of(claimed)["receipts"]] == ["true && false"] * 2
    (file,) = Path(claimed.stage.environment["HOME"]).glob(".atlas/workspaces/*/tasks/*/hook.json")
    file.write_text(file.read_text().replace('"description": "Fix', '"description": "Mix'))
    assert claimed.stage.command("record", "status").status == 5
    assert claimed.stage.command("record", "show").status == 5
    assert claimed.stage.command("validate").status == 1
    assert claimed.stage.command("checkpoint", "later").status == 0
    shown = claimed.stage.command("record", "status")
    assert (shown.status, "changed outside agent-sync (event" in shown.stdout) == (5, True)
    assert "changed outside agent-sync" in page_of(claimed)


def test_reading_shows_what_git_says_now(claimed):
    """`record status` and `record show` know of a commit that no hook has seen, and write nothing."""
    before = record_of(claimed)
    claimed.stage.commit("cache.py", "lock = True\n", "Guard the cache")
    assert "Commit: Guard the cache" in claimed.stage.command("record", "status").stdout
    assert "Commit: Guard the cache" in claimed.stage.command("record", "show").stdout
    assert record_of(claimed) == before


def test_receipts_are_verified_anywhere(claimed, tmp_path):
    """An exported receipt is checked with the public key alone, on a machine with another key or none."""
    assert claimed.stage.command("validate", "--", "true").status == 0
    exported = claimed.stage.command("record", "export", "--format", "dsse").stdout
    file, forged = tmp_path / "receipts.jsonl", tmp_path / "forged.jsonl"
    file.write_text(exported)
    key = record_of(claimed)["receipts"][0]["account_key"]
    verify = ("record", "verify", str(file))
    home = {"HOME": str(tmp_path)}
    known = claimed.hook(*verify, "--key", key, **home)
    assert (known.status, "VALID ✓" in known.stdout) == (0, True), known.stderr
    assert claimed.hook(*verify, **home).status == 0
    assert claimed.hook(*verify, "--key", "0" * 64, **home).status == 5
    envelope = json.loads(exported)
    other = "A" if envelope["payload"][40] != "A" else "B"
    forged.write_text(json.dumps(envelope | {"payload": envelope["payload"][:40] + other + envelope["payload"][41:]}))
    assert claimed.hook("record", "verify", str(forged), **home).status == 5
    assert claimed.hook("record", "verify", "no-such.json", **home).status == 6
    assert not list(tmp_path.glob(".atlas/keys/*"))
