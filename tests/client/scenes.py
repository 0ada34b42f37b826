"""Scenes that many scenarios begin with, played by the client itself."""

import subprocess
from pathlib import Path

import pytest
from claude_code import ClaudeCode, Run, kill
from scripted_model import Turn, bash, say
from support.scratch_processes import kill_all
from waiting import until

from agent_sync.demo.stage import Stage

ISSUE = 42
PULL = 45
COMMIT = "echo 'lock = 1' >> cache.py && git add cache.py && git commit --quiet --message 'Guard the cache'"
HANDOFF = "agent-sync handoff --summary - <<'AGENT_SYNC_SUMMARY'\nGuard the cache.\nAGENT_SYNC_SUMMARY"


def initialise(scenery: Stage, *options: str) -> None:
    """Run `init` and commit what it writes, as its last words say."""
    played = scenery.command("init", "--yes", *options)
    assert played.status == 0, played.stderr
    for arguments in (["add", "."], ["commit", "--quiet", "--message", "Set up agent-sync"], ["push", "--quiet"]):
        subprocess.run(["git", *arguments], cwd=scenery.root, env=scenery.environment, check=True)


def claim(client: ClaudeCode) -> Run:
    """Let a session claim the issue and end."""
    client.model.plays([bash(f"agent-sync claim {ISSUE}")], [say("Claimed.")])
    run = client.ask(f"/claim {ISSUE}")
    if client.stage.claim() is None:
        pytest.fail(f"nothing was claimed: {run.events}")
    return run


def open_pull(client: ClaudeCode) -> Run:
    """Let sessions claim, commit and hand over; the pull request is open then."""
    claim(client)
    client.model.plays([bash(COMMIT)], [bash(HANDOFF)], [say("Handed over.")])
    run = client.ask("/handoff")
    if [pull["number"] for pull in client.stage.world()["pulls"]] != [PULL]:
        pytest.fail(f"no pull request was opened: {run.events}")
    return run


def crash(client: ClaudeCode, prompt: str, *turns: Turn, last: str = "sh -c 'touch STARTED; sleep 600'") -> None:
    """Let a session play some turns, and let the machine crash while a last command of it runs."""
    started = client.home / "started"
    started.unlink(missing_ok=True)
    client.model.plays(*turns, [bash(last.replace("STARTED", str(started)))])
    process = client.start(prompt)
    try:
        until(started.exists, "the command that is interrupted")
    finally:
        kill_all(client.home)
        kill(process)


def hook_md(client: ClaudeCode) -> Path:
    """Return the file of the recovery record that is made for reading."""
    return next(client.home.glob(f".atlas/workspaces/*/tasks/issue-{ISSUE}/HOOK.md"))
