import os
import subprocess

import pytest

from agent_sync.setup.install import entries


@pytest.mark.parametrize(
    ("handler", "hook"),
    [
        ({"command": entries.command("on-stop")}, "on-stop"),
        ({"command": entries.command("on-idle --rewake")}, "on-idle"),
        ({"command": "agent-sync session-start"}, "session-start"),
        ({"command": "/home/x/.venv/bin/agent-sync on-tool"}, "on-tool"),
        ({"command": '"/home/a b/bin/agent-sync" on-prompt'}, "on-prompt"),
        ({"command": "agent-sync on-stop || true"}, "on-stop"),
        ({"command": "cd x && agent-sync on-stop 2>/dev/null"}, "on-stop"),
        ({"command": "agent-sync", "args": ["on-stop"]}, "on-stop"),
        ({"command": "agent-sync.sh on-stop"}, None),
        ({"command": "my-agent-sync on-stop"}, None),
        ({"command": "agent-sync on-stopping"}, None),
        ({"command": "agent-sync status"}, None),
        ({"command": "echo agent-sync"}, None),
        ({"command": 3}, None),
        ({"type": "prompt"}, None),
        ("agent-sync on-stop", None),
    ],
)
def test_our_handlers_are_recognised(handler, hook):
    """Every form our command ever had is ours; what only sounds like it is not."""
    assert entries.hook_of(handler) == hook


def test_status_line_is_recognised():
    """Our status line is told from others."""
    assert entries.is_our_status_line(entries.STATUS_LINE)
    assert not entries.is_our_status_line({"type": "command", "command": "agent-sync status"})
    assert not entries.is_our_status_line(None)


def test_nothing_that_closes_is_allowed():
    """No rule lets an agent consent, force, give a task back or run a round that could close."""
    commands = [rule.removeprefix("Bash(").removesuffix(")") for rule in entries.ALLOWED]
    others = [rule for rule in entries.ALLOWED if not rule.startswith("Bash(agent-sync ")]
    assert others == ["Read(~/.atlas/workspaces/**)"]
    for word in ("done", "release", "sync", "on-stop", "init", "uninstall", "gh", "trust", "validate -- "):
        assert not any(command.startswith(f"agent-sync {word}") for command in commands)
        assert "agent-sync *" not in commands


def shell(arguments, path, stdin="{}"):
    environment = os.environ | {"PATH": str(path)}
    line = ["/bin/sh", "-c", entries.command(arguments)]
    return subprocess.run(line, input=stdin, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("arguments", ["on-stop", "on-idle --rewake", "statusline"])
def test_nothing_happens_without_agent_sync(arguments, tmp_path):
    """A contributor who has not installed agent-sync notices nothing."""
    done = shell(arguments, tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_agent_sync_gets_everything(tmp_path):
    """Where it is installed it gets its arguments and the input, and its exit status is the hook's."""
    script = tmp_path / "agent-sync"
    script.write_text('#!/bin/sh\necho "$@"\n/bin/cat\necho oh >&2\nexit 2\n')
    script.chmod(0o755)
    done = shell("on-idle --rewake", tmp_path, stdin='{"a": 1}')
    assert (done.returncode, done.stdout, done.stderr) == (2, 'on-idle --rewake\n{"a": 1}', "oh\n")
