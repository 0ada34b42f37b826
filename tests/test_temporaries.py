"""What killed writers leave is swept by the next one; what anybody else named so is not touched."""

import os
import subprocess
import sys
import time

import pytest
from support.claims import claim
from support.command import fixture, run

from agent_sync.system import files

STATE = ".git/agentsync/"
# Every file that hooks and commands write, as a killed writer leaves it: swept by whoever writes that file next.
REWRITTEN = (".agent-claim.json", STATE + "claim.base.json", STATE + "outbox.json", STATE + "quiet.on-stop")
# Those whose name comes once only are swept a while later, with the directory.
ONCE = (
    STATE + "passes/0123.json",
    STATE + "gauntlet-passed",
    STATE + "spool.on-prompt",
    STATE + "looks.json",
    STATE + "record",
)
NOT_OURS = (".agent-claim.json.backup.tmp", ".agent-claim.json.1.tmp", STATE + "outbox.json.tmp")


@pytest.fixture
def dead():
    """Return the number of a process that has ended."""
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
    return process.pid


def test_next_write_sweeps(tmp_path, dead):
    """A write takes away what a dead writer of the same file left; a living writer's and other files stay."""
    names = {f"file.{dead}.tmp": False, f"file.{os.getppid()}.tmp": True, "file.tmp": True, f"other.{dead}.tmp": True}
    for name in names:
        (tmp_path / name).write_text("half")
    files.write_atomic(tmp_path / "file", b"whole")
    assert {name: (tmp_path / name).exists() for name in names} == names


def test_planted_links_do_not_stop_a_write(tmp_path):
    """A link in the place of the temporary is replaced, and nothing is written through it."""
    (tmp_path / f"file.{os.getpid()}.tmp").symlink_to(tmp_path / "precious")
    files.write_atomic(tmp_path / "file", b"whole")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_hooks_and_commands_leave_no_litter(repo, dead):
    """Whatever file a killed run was writing, the next runs sweep it, and only that."""
    (repo / STATE / "passes").mkdir(parents=True)
    held = claim(phase="done", pr_number=None)
    (repo / ".agent-claim.json").write_bytes(held.to_json())
    (repo / STATE / "claim.base.json").write_bytes(held.to_json())
    for name in (*REWRITTEN, *ONCE):
        left = repo / f"{name}.{dead}.tmp"
        left.write_text("half")
        past = time.time() - 300
        os.utime(left, (past, past))
    for name in NOT_OURS:
        (repo / name).write_text("mine")
    run("on-stop", cwd=repo, stdin=fixture("Stop", repo))
    files.delete(repo / ".agent-claim.json")
    files.state_directory(repo / STATE / "passes")
    assert {str(path.relative_to(repo)) for path in repo.rglob("*.tmp")} == set(NOT_OURS)
