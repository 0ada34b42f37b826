"""A secret that somebody types, prints or keeps in a variable is neither published nor stored."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from support.stage import Theatre

TOKEN = "ghp_" + "a1B2" * 9
VALUE = "only-the-variable-knows-42"


@pytest.fixture
def secretive(theatre):
    """Let a variable of the session hold a secret that has no shape."""
    own = theatre.stage.environment | {"DEPLOY_TOKEN": VALUE}
    return Theatre(replace(theatre.stage, environment=own))


def stored(theatre: Theatre) -> dict[str, str]:
    """Return every file of ours, in the clone and in the home, that holds a secret."""
    roots = (theatre.stage.root / ".git" / "agentsync", Path(theatre.stage.environment["HOME"]))
    paths = [path for root in roots for path in root.rglob("*") if path.is_file()]
    paths.append(theatre.stage.root / ".agent-claim.json")
    texts = {str(path): path.read_bytes().decode("latin-1") for path in paths if path.exists()}
    return {path: text for path, text in texts.items() if TOKEN in text or VALUE in text}


def test_summary_with_a_token_is_masked_before_it_is_kept(secretive):
    """`handoff` says that it masked the summary; claim file, pull request, log and record hold no secret."""
    scenery = secretive.stage
    assert scenery.command("claim", "42").status == 0
    scenery.commit("fix.txt", "fix\n", "Fix")
    played = scenery.command("handoff", "--summary", f"Fix {TOKEN}\n\nWith {VALUE} and password=hunter22")
    assert played.status == 0, played.stderr
    assert "masked" in played.stderr
    assert TOKEN not in played.stdout + played.stderr
    assert scenery.claim()["summary"] == "Fix ***\n\nWith *** and password=***"
    scenery.hook("on-stop", event="Stop")
    (pull,) = secretive.pulls()
    assert pull["title"] == "Fix ***"
    assert "With *** and password=***" in pull["body"]
    assert TOKEN not in pull["body"]
    assert VALUE not in pull["body"]
    assert stored(secretive) == {}


def test_hand_written_summary_is_published_masked(secretive):
    """What the agent wrote into the claim file itself is masked where it leaves for GitHub."""
    secretive.work()
    secretive.hold(phase="ready_for_pr", summary=f"Use {TOKEN} with {VALUE}")
    secretive.hook("on-stop")
    (pull,) = secretive.pulls()
    assert pull["title"] == "Use *** with ***"
    assert TOKEN not in json.dumps(secretive.stage.world())
    assert VALUE not in json.dumps(secretive.stage.world())


def test_record_holds_no_secret(secretive):
    """Prompts, answers, step output, checkpoints, reasons and what a validation prints are stored masked."""
    scenery = secretive.stage
    both = f"{TOKEN} and {VALUE}"
    assert scenery.command("start", f"Rotate {both}", "-t", "bugfix").status == 0
    scenery.command("step", "start")
    scenery.command("step", "output", f"printed {both}")
    scenery.command("checkpoint", f"after {both}")
    secretive.hook("on-prompt", stdin=json.dumps({"cwd": str(scenery.root), "prompt": f"use {both}"}))
    secretive.hook("on-stop", stdin=json.dumps({"cwd": str(scenery.root), "last_assistant_message": f"used {both}"}))
    seen = scenery.command("validate", "--", "sh", "-c", f"echo out {both}; echo err {both} >&2")
    # The person who runs it sees what the command printed.
    assert f"out {both}" in seen.stdout
    assert scenery.command("hook", "verify-receipt", "rcpt-001").status == 0
    scenery.command("abandon", "--reason", f"because of {both}", "--yes")
    assert stored(secretive) == {}
    kept = list(Path(scenery.environment["HOME"]).rglob("rcpt-001.std*"))
    assert {path.suffix: path.read_text() for path in kept} == {
        ".stdout": "out *** and ***\n",
        ".stderr": "err *** and ***\n",
    }


def test_worker_results_hold_no_secret(secretive):
    """What a worker hands on, gives as its result and files as issues is published without the secrets in it."""
    scenery, both = secretive.stage, f"{TOKEN} and {VALUE}"
    scenery.command("worker", "sling", "42", "w1")
    assert scenery.command("worker", "take", "--worker", "w1").status == 0
    scenery.commit("cache.py", "lock\n", "Lock")
    scenery.command("worker", "handoff", "--resume-point", f"rotate {both}")
    assert scenery.command("worker", "take").status == 0
    done = {"output": {"patch": both}, "discoveredTasks": [{"title": f"Rotate {TOKEN}", "body": f"It is {VALUE}"}]}
    given = scenery.command("worker", "result", "--file", "-", "--open-issues", stdin=json.dumps(done))
    assert "Filed: #45" in given.stdout, given
    filed = next(issue for issue in scenery.world()["issues"] if issue["number"] == 45)
    assert filed["title"] == "Rotate ***"
    assert TOKEN not in json.dumps(scenery.world())
    assert VALUE not in json.dumps(scenery.world())
    secretive.git("fetch", "-q", "origin", "+refs/agentsync/*:refs/seen/*")
    kept = secretive.git("log", "-p", "-m", "--glob=refs/seen/*")
    assert "rotate ***" in kept
    assert TOKEN not in kept
    assert VALUE not in kept
