"""A hook that the plugin runs is silent where a settings file registers it as well."""

import json
import os
import subprocess
import sys

import pytest
from support.command import COMMAND, run

from agent_sync.setup.install.entries import HOOKS

PLUGIN = {"CLAUDE_PLUGIN_ROOT": "/plugins/agent-sync"}
FULL = json.dumps({"hooks": {event: [group] for event, group in HOOKS.items()}})
GUARDED = HOOKS["Stop"]["hooks"][0]["command"]


def settings(command, **more):
    return json.dumps({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": command, **more}]}]}})


def speaks(root, **environment):
    """Tell whether a stop says that the claim file is broken."""
    (root / ".agent-claim.json").write_text("broken")
    ran = run("on-stop", cwd=root, stdin="{}", CLAUDE_PROJECT_DIR=str(root), **environment)
    assert (ran.status, ran.stderr) == (0, "")
    return ".agent-claim.json" in ran.human


TEXTS = [
    (None, False),
    ("", False),
    ("{", False),
    (FULL, True),
    (settings(GUARDED), True),
    (settings("agent-sync on-stop"), True),
    (settings("/opt/bin/agent-sync on-stop"), True),
    (settings("'/opt/a b/agent-sync' on-stop"), True),
    (settings('"/opt/a b/agent-sync" on-stop'), True),
    (settings("agent-sync", args=["on-stop"]), True),
    (settings("agent-sync on-idle"), False),
    (settings("make on-stop"), False),
    (f"// an old one: {GUARDED}\n{{}}", False),
    (f"/* {GUARDED} */ {{}}", False),
    (f"// kept\n{settings(GUARDED)}", True),
    (settings(GUARDED).replace("on-stop", "\\u006fn-stop"), True),
    (json.dumps({"permissions": {"allow": ["Bash(agent-sync status*)"]}}), False),
]


def test_hook_of_the_settings_answers(repo):
    """What a settings file registers, in whatever form, is left to it; what only looks like it is not."""
    (repo / ".claude").mkdir()
    files = [repo / ".claude" / name for name in ("settings.json", "settings.local.json")]
    for text, is_silent in TEXTS:
        for file in files:
            if text is not None:
                file.write_text(text)
            assert speaks(repo, **PLUGIN) is not is_silent, (file.name, text)
            file.unlink(missing_ok=True)
        if is_silent:
            # Here the hook of the settings file answers.
            for file in files:
                file.write_text(text)
            assert speaks(repo), text
            for file in files:
                file.unlink()


def test_hook_of_the_user_answers(repo, tmp_path):
    """The user's own settings file counts, too, wherever the client keeps it."""
    (tmp_path / "settings.json").write_text(FULL)
    assert not speaks(repo, CLAUDE_CONFIG_DIR=str(tmp_path), **PLUGIN)
    assert speaks(repo, **PLUGIN)


def test_settings_count_where_the_session_was_started(repo):
    """The client reads no settings file above the directory in which it was started, so the plugin answers there."""
    (repo / ".claude").mkdir()
    (repo / ".claude" / "settings.json").write_text(FULL)
    below = repo / "below"
    below.mkdir()
    (repo / ".agent-claim.json").write_text("broken")
    assert run("on-stop", cwd=below, stdin="{}", CLAUDE_PROJECT_DIR=str(below), **PLUGIN).human
    assert run("on-stop", cwd=below, stdin="{}", CLAUDE_PROJECT_DIR=str(repo), **PLUGIN).stdout == ""


def test_local_settings_of_the_main_checkout(repo, tmp_path):
    """From a worktree the client reads the main checkout's local settings."""
    other = tmp_path / "other"
    subprocess.run(["git", "worktree", "add", "-q", str(other)], cwd=repo, check=True)
    (repo / ".claude").mkdir()
    (repo / ".claude" / "settings.local.json").write_text(FULL)
    assert not speaks(other, **PLUGIN)


@pytest.mark.parametrize("hook", ["on-idle --rewake", "session-start", "on-prompt", "on-tool", "on-end"])
def test_every_hook_is_answered_once(repo, hook):
    """Every hook is silent and leaves nothing where the settings file registers it."""
    (repo / ".claude").mkdir()
    (repo / ".claude" / "settings.json").write_text(FULL)
    (repo / ".agent-claim.json").write_text("broken")
    ran = run(*hook.split(), cwd=repo, stdin='{"session_id": "s"}', CLAUDE_PROJECT_DIR=str(repo), **PLUGIN)
    assert (ran.status, ran.stdout, ran.stderr) == (0, "", "")
    assert not (repo / ".git" / "agentsync").exists()


def test_nothing_more_is_loaded(repo):
    """To find that out costs a quiet hook no module but our own."""
    (repo / ".claude").mkdir()
    (repo / ".claude" / "settings.json").write_text(FULL)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE")} | PLUGIN
    command = [sys.executable, "-X", "importtime", COMMAND, "on-stop"]
    done = subprocess.run(command, cwd=repo, input=b"{}", env=environment, capture_output=True, check=True)
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.decode().splitlines()}
    assert "agent_sync.quiet.plugin" in loaded
    assert not loaded & {"json", "re", "dataclasses", "typing", "pathlib", "agent_sync.setup.client.levels"}
