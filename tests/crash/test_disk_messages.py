"""A disk that is full or read-only is called that, by hooks and commands, and nothing is lost."""

import os
import subprocess

import pytest
from support.claims import claim
from support.command import HOOKS, fixture, run
from support.disks import run as mounted

from agent_sync.task.claim.phases import Phase

EVENTS = {"on-stop": "Stop", "on-tool": "PostToolUse", "on-prompt": "UserPromptSubmit", "session-start": "SessionStart"}
WORDS = ("stumbled", "unexpected", "Traceback", "OSError")


@pytest.fixture
def disk(tmp_path, mounts):
    """Mount a small disk with a clone on it that holds a claim."""
    where = tmp_path / "disk"
    mounts(where, "-t", "tmpfs", "-o", "size=2m", "tmpfs")
    root = where / "repo"
    for command in (["init", "-q", "-b", "main", str(root)], ["-C", str(root), "commit", "-qm", "x", "--allow-empty"]):
        subprocess.run(["git", *command], check=True)
    (root / ".agent-claim.json").write_bytes(claim(phase=Phase.READY_FOR_PR, summary="", branch="main").to_json())
    return root


def fill(root):
    """Leave no room on the disk."""
    with (root.parent / "filler").open("wb") as filler:
        while True:
            try:
                os.write(filler.fileno(), b"x" * 4096)
            except OSError:
                return


@pytest.mark.parametrize("hook", EVENTS)
def test_hook_says_that_the_disk_is_full(disk, hook):
    """Every hook exits 0, and whatever it could not write it says in the system's words, with the file."""
    before = (disk / ".agent-claim.json").read_bytes()
    fill(disk)
    ran = run(hook, cwd=disk, stdin=fixture(EVENTS[hook], disk))
    assert (ran.status, ran.stderr) == (0, "")
    assert not [word for word in WORDS if word in ran.stdout]
    if ran.stdout and hook != "session-start":
        assert "No space left on device" in ran.human
        assert str(disk) in ran.human
    assert (disk / ".agent-claim.json").read_bytes() == before
    assert hook == "session-start" or ran.stdout


@pytest.mark.parametrize("hook", HOOKS)
def test_hook_on_a_read_only_disk(disk, hook):
    """On a disk that cannot be written every hook exits 0, and what it says calls it that."""
    mounted("mount", "-o", "remount,ro", disk.parent)
    ran = run(hook, cwd=disk, stdin="{}")
    assert (ran.status, ran.stderr) == (0, "")
    assert not [word for word in WORDS if word in ran.stdout]


@pytest.mark.parametrize(
    "command", [["handoff", "--summary", "Fix it"], ["done"], ["start", "Try something", "-t", "bugfix"]]
)
def test_command_on_a_read_only_disk(disk, command):
    """A command that cannot write says so with the file and a way to look, and leaves everything as it was."""
    before = (disk / ".agent-claim.json").read_bytes()
    mounted("mount", "-o", "remount,ro", disk.parent)
    ran = run(*command, cwd=disk)
    assert ran.status == 1
    assert "Read-only file system" in ran.stderr
    assert not [word for word in WORDS if word in ran.stderr]
    assert (disk / ".agent-claim.json").read_bytes() == before
