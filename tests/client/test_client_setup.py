"""What the client makes of the files `init` writes and `uninstall` takes away."""

import json
from dataclasses import replace

from scenes import HANDOFF, claim, hook_md, open_pull
from scripted_model import bash, call, say

NOT_ALLOWED = ("requires approval", "requested permissions", "was blocked", "denied")


def test_set_up_is_accepted(client):
    """Set-up: every entry is accepted, every hook runs."""
    client.model.plays([bash("echo hello")], [say("Hello.")])
    run = client.ask("hello")
    assert (run.status, run.result) == (0, "Hello.")
    complaints = [line for line in run.debug.splitlines() if "entry ignored" in line or "Invalid settings" in line]
    assert complaints == []
    for event in ("SessionStart", "UserPromptSubmit", "PostToolUse", "Stop"):
        assert [hook["exit_code"] for hook in run.hooks(event)] == [0], event
    assert {"claim", "handoff", "done", "task"} <= set(run.commands)
    assert '#42 ["P1"] "Fix race condition in cache"' in run.requests[0].text


def test_quiet_without_a_claim(client):
    """No claim: a turn costs nothing more, and nobody is told anything."""
    client.model.plays([say("Hello.")])
    run = client.ask("hello")
    assert (len(run.requests), run.shown) == (1, "")
    assert [hook["stdout"] for hook in run.hooks("UserPromptSubmit") + run.hooks("Stop")] == ["", ""]


def test_own_status_command_stays(client):
    """/status is the client's own."""
    client.model.plays([say("The model was asked.")])
    run = client.ask("/status")
    assert run.requests == []


def test_missing_agent_sync_is_no_trouble(client):
    """Without agent-sync: hooks are silent."""
    client.model.plays([say("Hello.")])
    run = replace(client, has_agent_sync=False).ask("hello")
    assert run.result == "Hello."
    assert [(hook["exit_code"], hook["output"]) for hook in run.hooks("SessionStart") + run.hooks("Stop")] == [
        (0, "")
    ] * 2
    assert "hook additional context" not in run.requests[0].text


def test_record_can_be_read(client):
    """Rules: the record can be read without asking, its key cannot."""
    claim(client)
    path, key = hook_md(client), client.home / ".atlas" / "keys" / "master.key"
    client.model.plays([call("Read", file_path=str(path))], [bash(f"cat {path}")], [call("Read", file_path=str(key))])
    run = client.ask("continue please", allowed=())
    assert run.requests[-1].text.count("Current State:") == 2
    assert [denied.startswith("Read") and "master.key" in denied for denied in run.denials] in ([], [True])
    assert "denied by your permission settings" in run.requests[-1].text


PRINTED = (
    "agent-sync push",
    "agent-sync resume",
    "agent-sync record status",
    "agent-sync record show",
    "agent-sync gate run",
    "agent-sync review list",
    "agent-sync review reply 3f9a1c 'Renamed.'",
    "agent-sync review resolve 3f9a1c",
    "agent-sync explain",
    "agent-sync validate",
)


def test_printed_commands_are_allowed(client):
    """Rules: what the texts tell an agent to run needs no approval."""
    claim(client)
    client.model.plays(*([bash(command)] for command in PRINTED), [say("Done.")])
    run = client.ask("go through the commands", allowed=())
    assert run.denials == []


def test_needed_commands_are_allowed(client):
    """Rules: claim, hand-off and looking need no approval."""
    commands = ("agent-sync claim 42", "agent-sync status", "agent-sync next", "agent-sync hook status", HANDOFF)
    client.model.plays(*([bash(command)] for command in commands), [say("Done.")])
    run = client.ask("go through the commands", allowed=())
    assert run.denials == []


def test_closing_stays_with_the_human(client):
    """Rules: the model cannot close, release, run anything by validate, or read the key."""
    open_pull(client)
    commands = ("agent-sync done", "agent-sync done --yes --now", "agent-sync release", "agent-sync validate -- true")
    assert client.stage.command("validate", "--", "true").status == 0
    key = client.home / ".atlas" / "keys" / "master.key"
    assert key.exists()
    refused = [bash(command) for command in commands] + [call("Skill", skill="done"), call("Read", file_path=str(key))]
    client.model.plays(*([one] for one in refused), [say("Done.")])
    run = client.ask("close it", allowed=())
    bash_denials = [json.loads(one.partition(" ")[2])["command"] for one in run.denials if one.startswith("Bash")]
    assert bash_denials == list(commands)
    assert "disable-model-invocation" in run.requests[-1].text
    assert "denied by your permission settings" in run.requests[-1].text
    assert client.stage.claim()["phase"] == "pr_created"


def test_uninstall_leaves_no_trace(bare_client, theatre):
    """Uninstall: the files are as before, the client runs on."""
    own = theatre.stage.root / ".claude" / "settings.json"
    own.parent.mkdir()
    own.write_text('{\r\n\t"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}\r\n}\r\n')
    before = theatre.git("status", "--porcelain", "--ignored"), own.read_bytes()
    assert theatre.stage.command("init", "--yes").status == 0
    claim(bare_client)
    assert theatre.stage.command("uninstall", "--yes").status == 0
    assert (theatre.git("status", "--porcelain", "--ignored", ":!.agent-claim.json"), own.read_bytes()) == before
    bare_client.model.plays([say("Hello.")])
    run = bare_client.ask("hello")
    assert run.result == "Hello."
    responses = [one["hook_event"] for one in run.events if one.get("subtype") == "hook_response"]
    assert responses == ["Stop"]
