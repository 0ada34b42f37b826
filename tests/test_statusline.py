import json
import subprocess
import sys

import pytest
from hypothesis import given, strategies as st
from support.claims import claim
from support.command import fixture, run

from agent_sync.events.statusline import UNUSABLE, line_for, line_of
from agent_sync.task.claim.phases import Phase

CHECKS = {"sha": "a" * 40, "passed": 2, "total": 3, "state": "running"}


@pytest.mark.parametrize(
    ("phase", "fields", "line"),
    [
        (Phase.CODING, {}, "#42 · coding"),
        (Phase.CODING, {"pr_number": 45, "checks": CHECKS}, "#42 · PR #45 · coding"),
        (Phase.READY_FOR_PR, {}, "#42 · ready for PR"),
        (Phase.PR_CREATED, {"pr_number": 45}, "#42 · PR #45"),
        (Phase.PR_CREATED, {"pr_number": 45, "closed_unmerged": True}, "#42 · PR #45 · closed, not merged"),
        (Phase.CHECKS_RUNNING, {"pr_number": 45, "checks": CHECKS}, "#42 · PR #45 · checks 2/3"),
        (
            Phase.CHECKS_RUNNING,
            {"pr_number": 45, "checks": CHECKS | {"state": "failed"}},
            "#42 · PR #45 · checks 2/3 failed",
        ),
        (Phase.PR_CREATED, {"pr_number": 45, "checks": CHECKS | {"total": 0}}, "#42 · PR #45"),
        (Phase.MERGED_DETECTED, {"pr_number": 45, "checks": CHECKS}, "#42 · merged, close?"),
        (Phase.DONE, {"pr_number": 45}, "#42 · closing"),
    ],
)
def test_lines(phase, fields, line):
    """Every phase has its few words."""
    assert line_of(claim(phase, **fields).to_json()) == line


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"3", b'{"issue_number": 42}', b"\xff", b'{"phase": []}'])
def test_broken_claim_is_a_hint(content):
    """A claim that cannot be used is a short hint."""
    assert line_of(content) == UNUSABLE


@given(st.one_of(st.binary(max_size=40), st.recursive(st.none() | st.text(), st.lists).map(json.dumps)))
def test_no_input_makes_it_stumble(raw):
    """Whatever the client sends, there is a line or none."""
    assert isinstance(line_for(raw.encode() if isinstance(raw, str) else raw), str)


@pytest.mark.parametrize("name", ["statusLine", "statusLine.at-start", "statusLine.worktree"])
def test_recorded_input(repo, tmp_path, name):
    """The session's directory decides which claim is shown, wherever the command is started."""
    values = json.loads(fixture(name, repo))
    values["workspace"] |= {"current_dir": str(repo), "project_dir": str(repo)}
    (repo / ".agent-claim.json").write_bytes(claim().to_json())
    ran = run("statusline", cwd=tmp_path, stdin=json.dumps(values))
    assert (ran.status, ran.stdout, ran.stderr) == (0, "#42 · coding\n", "")


@pytest.mark.parametrize("stdin", ["", "{", "[]", '{"cwd": 3, "workspace": []}', '{"cwd": "\\ud800"}'])
def test_odd_input_is_no_trouble(repo, stdin):
    """Without a claim nothing is printed, whatever comes in; with one it is found from the process's directory."""
    ran = run("statusline", cwd=repo, stdin=stdin, LC_ALL="C", PYTHONIOENCODING="ascii")
    assert (ran.status, ran.stdout, ran.stderr) == (0, "", "")


def test_claim_that_is_no_plain_file(repo, tmp_path):
    """A link or a directory in the claim's place is a hint; outside of repositories there is nothing."""
    (repo / ".agent-claim.json").symlink_to(tmp_path / "x")
    assert run("statusline", cwd=repo).stdout == UNUSABLE + "\n"
    (repo / ".agent-claim.json").unlink()
    (repo / ".agent-claim.json").mkdir()
    assert run("statusline", cwd=repo).stdout == UNUSABLE + "\n"
    assert run("statusline", cwd=tmp_path).stdout == ""


def test_it_loads_little():
    """The status line does without the command line, the models and the client libraries."""
    code = (
        "import sys; sys.argv[1:] = ['statusline']; from agent_sync.__main__ import main; main(); print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], input="{}", capture_output=True, text=True, check=True)
    assert {"click", "pydantic", "httpx", "subprocess", "agent_sync.cli"}.isdisjoint(done.stdout.split())
