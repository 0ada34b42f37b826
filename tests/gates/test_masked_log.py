"""What gates print is kept without secrets, and what the gate keeps is the user's alone."""

import io
import itertools
import json
import os
import stat
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, strategies as st
from support.command import COMMAND
from support.gauntlet import GatedProject
from support.prove import PROVE
from support.reviewers import Reviewer

from agent_sync.gates.run.execute import execute_run
from agent_sync.gates.run.masked_log import masked_into
from agent_sync.gates.status import Status
from agent_sync.system.masking import masked
from agent_sync.system.masking_stream import LONGEST_LINE, StreamMask

TOKEN = "ghp_" + "a1B2" * 9
VALUE = "correct-horse-battery"
SECRETS = {"DEPLOY_KEY": VALUE, "GH_TOKEN": "t0p-secret-value", "DB_PASSWORD": "hunter2hunter2"}

TEXT = f"one {TOKEN} two\nAuthorization: Bearer {'x' * 30}\n{VALUE}{VALUE} ünd\npassword=opensesame\nlast {TOKEN}"


@given(cuts=st.lists(st.integers(0, len(TEXT.encode())), max_size=12))
def test_tokens_that_come_in_pieces(cuts):
    """However a text is cut into pieces, what is written is the masked text."""
    mask, whole = StreamMask((VALUE,)), TEXT.encode()
    edges = [0, *sorted(cuts), len(whole)]
    written = [mask.feed(whole[start:end]) for start, end in itertools.pairwise(edges)]
    assert b"".join([*written, mask.end()]).decode() == masked(TEXT, (VALUE,))


FILLINGS, SIZES = ("x", "x ", "/"), (LONGEST_LINE - 10, LONGEST_LINE * 2 - 30, 100_003)


@pytest.mark.parametrize(
    ("filling", "before"),
    list(itertools.product(FILLINGS, SIZES) if PROVE else zip(FILLINGS, SIZES, strict=True)),
)
def test_line_without_end(filling, before):
    """A line longer than anything is written in pieces, none of which cuts through a secret."""
    mask = StreamMask((VALUE,))
    line = (filling * before)[:before] + f" {TOKEN} {VALUE}" + (filling * before)[:before]
    pieces = [line[at : at + 65536].encode() for at in range(0, len(line), 65536)]
    written = b"".join([*(mask.feed(piece) for piece in pieces), mask.end()]).decode()
    assert written == line.replace(TOKEN, "***").replace(VALUE, "***")


def test_log_that_cannot_be_written():
    """A full disk does not hold the program up; that it was full is an error in the end."""

    def flood(full):
        with masked_into(full, ()) as pipe:
            for _ in range(100):
                pipe.write(b"x\n" * 10_000)

    with Path("/dev/full").open("wb", buffering=0) as full, pytest.raises(OSError, match="No space left"):
        flood(full)


def test_pipe_that_somebody_holds_open():
    """What holds the pipe open although its program has ended is not waited for."""
    log = io.BytesIO()
    with masked_into(log, ()) as pipe:
        left = subprocess.Popen(["sleep", "60"], stdout=pipe)
        pipe.write(b"said\n")
    left.kill()
    left.wait()
    assert log.getvalue() == b"said\n"


def everything_below(directory):
    return "\n".join(path.read_text(errors="replace") for path in directory.rglob("*") if path.is_file())


def test_nothing_kept_of_a_check_holds_a_secret(repo):
    """Tokens that a check prints, even in two pieces, are in no log and in nothing quoted from one."""
    script = f"printf ghp_; sleep 0.2; echo {TOKEN[4:]}; echo key $DEPLOY_KEY; echo $DB_PASSWORD >&2; exit 1\n"
    project = GatedProject(repo, ok="command: sh a\n")
    project.write({"src/a": script})
    result = execute_run(project.context(**SECRETS), project.root)
    assert result.status is Status.FAILED
    log = (project.root / "gauntlet_logs" / "check_src_ok.1.log").read_text()
    assert "***\nkey ***\n***\n" in log
    kept = everything_below(project.root / "gauntlet_logs") + repr(result)
    assert not any(secret in kept for secret in (TOKEN, TOKEN[4:], *SECRETS.values()))


def test_nothing_kept_of_a_review_holds_a_secret(repo, tmp_path):
    """Tokens in a reviewer's words are neither in its log, nor in its findings, nor in our copy of them."""
    claude = Reviewer(tmp_path / "reviewers", "claude")
    finding = {
        "file": "src/a",
        "line": 1,
        "issue": f"prints {TOKEN}",
        "fix": f"not {VALUE}",
        "priority": "high",
        "status": "new",
    }
    claude.answers(json.dumps({"status": "fail", "violations": [finding]}))
    config = "cli:\n  default_preference: [claude]\nentry_points:\n  - path: src\n    reviews: [quality]\n"
    project = GatedProject(repo, config)
    project.write({".gauntlet/reviews/quality.md": "Go.\n", "src/a": "1\n"})
    path = f"{claude.bin}:/usr/bin:/bin"
    result = execute_run(project.context(PATH=path, **SECRETS), project.root)
    assert result.status is Status.FAILED
    kept = everything_below(project.root / "gauntlet_logs") + everything_below(project.root / ".git" / "agentsync")
    assert "prints ***" in kept
    assert not any(secret in kept for secret in (TOKEN, VALUE))


@pytest.mark.parametrize("mask", [0o000, 0o077])
def test_what_the_gate_keeps_is_the_users_alone(repo, mask):
    """Whatever the umask, nobody else can read or write passes, stamps and copies of the gate."""
    project = GatedProject(repo, ok="command: 'true'\n")
    project.write({"src/a": "1"})
    stop = json.dumps({"cwd": str(project.root), "session_id": "s", "hook_event_name": "Stop"}).encode()
    for _ in range(3):
        command = ["sh", "-c", f'umask {mask:o}; exec "$@"', "sh", COMMAND, "gauntlet", "stop-hook"]
        subprocess.run(command, cwd=project.root, input=stop, check=True, capture_output=True)
        project.write({".gauntlet/checks/ok.yml": "command: echo\n"})
    state = project.root / ".git" / "agentsync"
    ours = [state, *(path for path in state.iterdir() if path.name != "README")]
    ours += [*(state / "passes").iterdir(), *(path for path in (state / "definitions").rglob("*"))]
    assert {"passes", "definitions", "snapshots", "gauntlet-settings"} <= {path.name for path in ours}
    assert [path for path in ours if stat.S_IMODE(path.lstat().st_mode) & 0o077] == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_pass_of_another_user_counts_for_nothing(project):
    """A pass that another user wrote is not read: the gates run."""
    project.write({"src/a": "1"})
    execute_run(project.context(), project.root)
    assert execute_run(project.context(), project.root).unchanged_since
    for path in (project.root / ".git" / "agentsync" / "passes").iterdir():
        os.chown(path, 12345, -1)
    assert not execute_run(project.context(), project.root).unchanged_since
