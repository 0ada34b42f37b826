"""Connections by ssh that break: git dies in the same way before and after the server has acted."""

import sys

import pytest
from support.leases import CLAIMS, git

from agent_sync.leases.refs.git_pushes import push
from agent_sync.leases.refs.git_refs import write_commit
from agent_sync.leases.refs.values import NewCommit, PushResult, RefUpdate

REF = f"{CLAIMS}7"
# Passes on what the server advertises, up to the first flush, and swallows its answer.
DEAF = """
import os
def whole(count):
    found = b""
    while len(found) < count and (more := os.read(0, count - len(found))):
        found += more
    return found
while (size := whole(4)) and int(size, 16):
    os.write(1, size + whole(int(size, 16) - 4))
os.write(1, size)
while os.read(0, 65536):
    pass
"""


@pytest.mark.parametrize(
    ("ssh", "was_sent"),
    [("exit 255", False), ('shift; eval "$1" | {python} {deaf}', True)],
    ids=["never connected", "cut off after the server acted"],
)
def test_broken_connection_tells_whether_anything_was_sent(bare, tmp_path, ssh, was_sent):
    """Only where nothing has left is it certain that nothing arrives."""
    (tmp_path / "deaf.py").write_text(DEAF)
    script = tmp_path / "ssh"
    script.write_text("#!/bin/sh\n" + ssh.format(python=sys.executable, deaf=tmp_path / "deaf.py") + "\n")
    script.chmod(0o755)
    git_of = bare.worker("ann").git
    for name, value in (("core.sshCommand", str(script)), ("ssh.variant", "simple")):
        git_of.ask("config", name, value)
    pushed = push(git_of, f"ssh://host{bare.shared}", [RefUpdate(REF, "", write_commit(git_of, NewCommit("first")))])
    assert (pushed.result, pushed.was_sent) == (PushResult.SILENT, was_sent)
    assert git(bare.shared, "for-each-ref", "--format=%(refname)", CLAIMS) == (REF if was_sent else "")
