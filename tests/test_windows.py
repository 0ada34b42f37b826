"""Checks what Windows, which agent-sync does not run on, gets to see."""

import subprocess
import sys

import pytest

from agent_sync import __version__

# What a Windows lacks cannot be imported, and `os.name` is what tells one.
WINDOWS = """
import os, sys
os.name = "nt"
sys.modules.update(dict.fromkeys(["fcntl", "termios", "pwd", "resource"]))
from agent_sync.__main__ import main
main()
"""
SENTENCE = f"agent-sync {__version__} does not run on Windows itself. Use it in WSL, as on Linux.\n"


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (["--version"], 1),
        (["--help"], 1),
        ([], 1),
        (["claim", "42"], 1),
        (["on-stop"], 0),
        (["statusline"], 0),
        (["gate", "stop-hook"], 0),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_windows_gets_one_sentence(arguments, status):
    """Every command says where agent-sync runs instead of failing with a traceback; a hook still exits 0."""
    command = [sys.executable, "-c", WINDOWS, *arguments]
    done = subprocess.run(command, input="{}", capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (status, "", SENTENCE)
