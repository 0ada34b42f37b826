"""`agent-sync watch`: it looks after claims without a session, tells a person once, and keeps to the budget."""

import json
import signal
import subprocess
import sys
import time
from datetime import datetime
from pathlib import Path

from support.clones import CLAIM_REF, with_variables

from agent_sync.system import clock

AT_ONCE = {"AGENT_SYNC_CHECKS_BACKOFF_S": "0"}
MOST_KB = 60_000


def handed_off(theatre):
    """Claim issue 42 and hand it off, without anybody to open the pull request."""
    assert theatre.stage.command("claim", "42").status == 0
    theatre.stage.commit("work.txt", "work", "Work")
    assert theatre.stage.command("handoff", "--summary", "Fix the race", "--later").status == 0


def test_a_claim_without_a_session_is_brought_on(theatre):
    """Watch opens the pull request, notes CI, finds the merge, and asks for nothing while nothing moves."""
    watching = with_variables(theatre, **AT_ONCE)
    handed_off(watching)
    opened = json.loads(watching.stage.command("watch", "--once", "--json").stdout)
    assert (opened["tasks"][0]["situation"], opened["told"]) == ("Watching", [])
    assert [pull["number"] for pull in theatre.pulls()] == [45]
    watching.stage.act("add_check", pull=45, name="test", status="completed", conclusion="success")
    green = json.loads(watching.stage.command("watch", "--once", "--json").stdout)
    assert (green["counts"]["needs_you"], green["told"]) == (1, [42])
    assert watching.stage.claim()["checks"]["state"] == "green"
    quiet = json.loads(watching.stage.command("watch", "--once", "--json").stdout)
    assert (quiet["tasks"], quiet["told"]) == (green["tasks"], [])
    assert watching.operations() == ["Claims", "Board"]
    watching.stage.act("merge_pull", pull=45, method="merge")
    merged = json.loads(watching.stage.command("watch", "--once", "--json").stdout)
    assert (merged["tasks"][0]["next"], merged["told"]) == ("agent-sync done", [42])
    assert watching.stage.claim()["phase"] == "merged_detected"


def test_the_lease_of_an_open_pull_request_is_kept(theatre):
    """The lease of a session that left a pull request behind is renewed, and names watch, not the session."""
    session = with_variables(theatre, CLAUDECODE="1", AGENT_SYNC_LEASE_TTL_S="4")
    handed_off(session)
    assert session.stage.command("sync").status == 0
    before = lease_of(theatre)
    time.sleep(max(0.0, 1.3 - (clock.now() - datetime.fromisoformat(before["renewed_at"])).total_seconds()))
    assert theatre.stage.command("watch", "--once").status == 0
    kept = lease_of(theatre)
    assert (kept["epoch"], kept["nonce"], kept["holder"]["session"]) == (before["epoch"], before["nonce"], "watch")
    assert kept["renewed_at"] > before["renewed_at"]


def lease_of(theatre):
    """Return what the claim ref of issue 42 holds on the remote."""
    theatre.git("fetch", "-q", "origin", CLAIM_REF)
    return json.loads(theatre.git("show", "FETCH_HEAD:claim.json"))


def test_a_person_is_told_by_their_own_command(theatre, tmp_path):
    """`notify.command` gets one JSON object when a task comes to need a person; that it fails is only said."""
    heard = tmp_path / "heard"
    tells = with_variables(theatre, AGENT_SYNC_NOTIFY_COMMAND=f"tee -a {heard}")
    assert tells.stage.command("claim", "42").status == 0
    tells.stage.act("close_issue", issue=42)
    for _ in range(2):
        assert tells.stage.command("watch", "--once").status == 0
    (line,) = heard.read_text().splitlines()
    assert json.loads(line)["text"].startswith("#42 Fix race condition in cache: Issue #42 was closed")
    assert json.loads(line)["tasks"][0]["lane"] == "needs_you"
    broken = with_variables(theatre, AGENT_SYNC_NOTIFY_COMMAND="/nowhere/at-all")
    (theatre.stage.root / ".git" / "agentsync" / "fleet-told.json").unlink()
    played = broken.stage.command("watch", "--once")
    assert (played.status, "warning: notify.command failed: " in played.stderr) == (0, True)


def test_the_reserve_of_people_is_not_touched(theatre):
    """Once GitHub has said that only the reserve is left, no process of the machine asks before the next hour."""
    spent = with_variables(theatre, AGENT_SYNC_FLEET_RESERVE="5000")
    assert spent.stage.command("claim", "42").status == 0
    first = json.loads(spent.stage.command("watch", "--once", "--json").stdout)
    assert (first["paused_until"], first["look_again_s"] > 3000) == (None, True)
    played = spent.stage.command("watch", "--once", "--all")
    assert spent.operations() == []
    assert "Paused until " in played.stdout
    assert "#42 " in played.stdout


def test_the_process_that_stays_is_small(theatre):
    """A watching process prints the fleet when it changes, stays below 60 MB, and ends when it is interrupted."""
    watching = with_variables(theatre, **AT_ONCE)
    assert watching.stage.command("claim", "42").status == 0
    process = subprocess.Popen(
        [sys.executable, "-m", "agent_sync", "watch", "--json"],
        cwd=watching.stage.root,
        env=watching.stage.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout
    assert process.stderr
    assert json.loads(process.stdout.readline())["counts"]["working"] == 1
    watching.stage.act("close_issue", issue=42)
    assert json.loads(process.stdout.readline())["counts"]["needs_you"] == 1
    status = Path(f"/proc/{process.pid}/status")
    if status.exists():
        peak = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        assert int(peak.split()[1]) < MOST_KB
    process.send_signal(signal.SIGINT)
    assert process.wait(30) == 130
    process.stdout.close()
    process.stderr.close()
