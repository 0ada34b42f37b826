"""Completion in shells: the scripts, and what they get for an answer."""

import os
import shutil
import subprocess
import sys

import pytest
from support.command import COMMAND, run


def completed(words, cwd):
    """Return what the script of bash gets for a line."""
    line, count = " ".join(["agent-sync", *words]), str(len(words))
    ran = run(cwd=cwd, COMP_WORDS=line, COMP_CWORD=count, _AGENT_SYNC_COMPLETE="bash_complete")
    return [item.partition(",")[2] for item in ran.stdout.splitlines()]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["cla"], ["claim"]),
        (["comp"], ["completion"]),
        (["worker", "pa"], ["pause"]),
        (["gate", "st"], ["status", "stop-hook"]),
        (["gauntlet", "st"], ["status", "stop-hook"]),
        (["claim", "--n"], ["--next"]),
        (["record", "export", "--f"], ["--format"]),
        (["completion", "z"], ["zsh"]),
    ],
)
def test_lazily_loaded_commands_complete(tmp_path, words, expected):
    """Names of commands come from the table, those below a group and options from the command that is loaded."""
    assert completed(words, tmp_path) == expected


def test_names_load_no_command(tmp_path):
    """To complete the first word no command is loaded."""
    environment = os.environ | {
        "COMP_WORDS": "agent-sync c",
        "COMP_CWORD": "1",
        "_AGENT_SYNC_COMPLETE": "bash_complete",
    }
    command = [sys.executable, "-X", "importtime", COMMAND]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[0] == "plain,claim"
    assert "agent_sync.cli.task" not in done.stderr


@pytest.mark.parametrize(
    ("shell", "word"), [("bash", "complete -o"), ("zsh", "#compdef agent-sync"), ("fish", "complete ")]
)
def test_script_is_printed(tmp_path, shell, word):
    """Each shell gets its script; one that is there takes it."""
    ran = run("completion", shell, cwd=tmp_path)
    assert (ran.status, word in ran.stdout, "_AGENT_SYNC_COMPLETE" in ran.stdout) == (0, True, True)
    if shutil.which(shell):
        subprocess.run([shell, "-n"], input=ran.stdout, text=True, check=True)


def test_unknown_shell_is_refused(tmp_path):
    """Another shell is a usage error that names the three."""
    ran = run("completion", "tcsh", cwd=tmp_path)
    assert (ran.status, "'bash', 'zsh', 'fish'" in ran.stderr) == (2, True)
