"""Errors that nobody thought of."""

import os
import stat
import subprocess
import sys

import pytest

from agent_sync import __version__

SECRET = "ghp_" + "a1B2" * 9
# A slip in the table of commands, with a secret in what the interpreter says of it.
BROKEN = f"""
import sys
from agent_sync.cli import app
app.COMMANDS["log"] = ("agent_sync.no_such_{SECRET}", "")
sys.argv = ["agent-sync", "log", "--token", "{SECRET}"]
app.run()
"""


@pytest.mark.parametrize("umask", [0o000, 0o022], ids=oct)
def test_report_is_private_and_masked(tmp_path, umask):
    """The exit code is 70; the report names command, versions and platform, holds no token, and is the user's alone."""
    done = subprocess.run(
        [sys.executable, "-c", BROKEN],
        env=os.environ | {"TMPDIR": str(tmp_path), "DEPLOY_TOKEN": "0123456789abcdef-value"},
        capture_output=True,
        text=True,
        umask=umask,
        check=False,
    )
    (report,) = tmp_path.glob("agent-sync-*.md")
    text = report.read_text()
    assert done.returncode == 70
    assert "failed unexpectedly" in done.stderr
    assert str(report) in done.stderr
    assert SECRET not in done.stderr + text
    assert stat.S_IMODE(report.stat().st_mode) == 0o600
    assert "command: agent-sync log" in text
    assert f"agent-sync {__version__}" in text
    assert sys.platform in text
    assert "Traceback" in text
