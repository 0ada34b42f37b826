"""What is left behind is cleaned up: refs of ended claims, rescued files, records, and everything of a clone."""

import json
from dataclasses import replace
from pathlib import Path

from support.stage import Theatre

CLAIM, RESCUE = "refs/agentsync/claims/42", "refs/agentsync/rescue/42-2"


def ran(theatre, *arguments, status=0):
    """Run a command, which must end as told."""
    played = theatre.stage.command(*arguments)
    assert played.status == status, played.stdout + played.stderr
    return played


def ours(theatre):
    """Return our refs on the local GitHub by name."""
    return {ref["name"]: ref["sha"] for ref in theatre.stage.world()["refs"] if "agentsync" in ref["name"]}


def with_variables(theatre, **variables):
    """Return the same machine with other settings."""
    return Theatre(replace(theatre.stage, environment=theatre.stage.environment | variables))


def second(theatre):
    """Return another clone of the same repository."""
    root = theatre.stage.root.with_name("second")
    theatre.git("clone", "-q", f"{theatre.stage.url}/octo/demo.git", str(root))
    return Theatre(replace(theatre.stage, root=root))


def records(theatre):
    """Return the tasks that have a record."""
    home = Path(theatre.stage.environment["HOME"])
    return sorted(path.parent.name for path in home.glob(".atlas/workspaces/*/tasks/*/hook.json"))


def test_refs_of_ended_claims_are_pruned_after_their_days(theatre):
    """Only what ended so many days ago goes, if the remote is there; a claim that is held stays, whatever its age.

    An issue claimed again begins at epoch one. The nonce decides who holds it: a holder of a pruned epoch has lost it.
    """
    ran(theatre, "claim", "42")
    file = theatre.stage.root / ".agent-claim.json"
    pruned = file.read_bytes()
    ran(theatre, "release")
    # While the remote is away records are cleaned all the same; that the refs stay is said with exit code 8.
    theatre.fault("status:503", path="/octo/demo.git/info/refs", times=9)
    played = ran(theatre, "cleanup", "--retention", "0", status=8)
    assert "the refs were left as they are" in played.stderr
    assert "issue-42 (abandoned" in played.stdout
    assert CLAIM in ours(theatre)
    theatre.stage.control("DELETE", "faults")
    ran(theatre, "claim", "43")
    assert ran(theatre, "cleanup", "--refs").stdout == "Nothing is old enough to be deleted."
    now = with_variables(theatre, AGENT_SYNC_LEASE_KEEP_ENDED_DAYS="0")
    would = json.loads(ran(now, "cleanup", "--dry-run", "--json").stdout)
    assert [one["ref"] for one in would["refs"]] == [CLAIM]
    assert set(ours(theatre)) == {CLAIM, "refs/agentsync/claims/43"}
    assert f"deleted {CLAIM} (claim of #42, released" in ran(now, "cleanup", "--refs").stdout
    assert set(ours(theatre)) == {"refs/agentsync/claims/43"}
    other = second(theatre)
    ran(other, "claim", "42")
    assert other.stage.claim()["lease"]["epoch"] == 1
    file.write_bytes(pruned)
    assert "LOST" in ran(theatre, "status").stdout


def test_rescues_are_listed_and_expire_once_no_work_needs_them(theatre):
    """Rescued files of paused work stay, with the claim whose epochs name them; afterwards both go."""
    ran(theatre, "worker", "sling", "42", "w1")
    worker = with_variables(theatre, AGENT_SYNC_WORKER="w1")
    ran(worker, "worker", "take")
    (theatre.stage.root / "half.py").write_text("half\n")
    ran(worker, "worker", "pause")
    listed = ran(theatre, "worker", "rescues").stdout
    assert "needed by paused work" in listed
    assert f"git fetch origin {RESCUE} && git restore --source={ours(theatre)[RESCUE]}" in listed
    assert ran(theatre, "cleanup", "--refs", "--retention", "0").stdout == "Nothing is old enough to be deleted."
    ran(worker, "worker", "cancel", "w1")
    (row,) = json.loads(ran(theatre, "worker", "rescues", "--json").stdout)["rescues"]
    assert (row["issue"], row["is_needed"]) == (42, False)
    keeping = with_variables(theatre, AGENT_SYNC_LEASE_KEEP_ENDED_DAYS="0")
    assert ran(keeping, "cleanup", "--refs").stdout == "Nothing is old enough to be deleted."
    ran(theatre, "cleanup", "--refs", "--retention", "0")
    assert {RESCUE, CLAIM} & set(ours(theatre)) == set()
    assert ran(theatre, "worker", "rescues").stdout == "Nothing is kept."


def test_records_are_cleaned_as_the_next_task_begins(theatre):
    """A record whose time is over goes by itself, with a line in tombstones.jsonl; a setting keeps it."""
    theatre.stage.act("add_issue", title="Third", status="Todo")
    cleaning = with_variables(theatre, AGENT_SYNC_RECORD_KEEP_ABANDONED_DAYS="0", AGENT_SYNC_RECORD_CLEAN="true")
    keeping = with_variables(cleaning, AGENT_SYNC_RECORD_CLEAN="false")
    ran(keeping, "claim", "42")
    ran(keeping, "release")
    assert records(theatre) == ["issue-42"]
    ran(keeping, "claim", "43")
    assert records(theatre) == ["issue-42", "issue-43"]
    ran(keeping, "release")
    ran(cleaning, "claim", "45")
    assert records(theatre) == ["issue-45"]


def test_purge_removes_what_it_lists_and_names_what_stays(theatre):
    """Refused while a claim is held; afterwards nothing of this clone is left, and what stays was named."""
    ran(theatre, "init", "--yes")
    ran(theatre, "worker", "sling", "42", "w1")
    ran(theatre, "worker", "take", "--worker", "w1")
    refused = ran(theatre, "uninstall", "--purge", "--yes", status=1)
    assert "Issue #42 is held in" in refused.stderr
    ran(theatre, "release")
    shown = ran(theatre, "uninstall", "--purge", "--dry-run").stdout
    root = theatre.stage.root
    for path in (root / ".forge", root / ".git/agentsync"):
        assert f"goes: {path} (" in shown
        assert path.is_dir()
    assert "goes: 2 refs of this clone below refs/agentsync/" in shown
    assert "/.atlas/workspaces/demo-" in shown
    assert "stays: refs below refs/agentsync/ on origin" in shown
    before = ours(theatre)
    ran(theatre, "uninstall", "--purge", "--yes")
    assert not (root / ".forge").exists()
    assert not (root / ".git/agentsync").exists()
    assert theatre.git("for-each-ref", "refs/agentsync") == ""
    assert records(theatre) == []
    assert "/.forge/" not in (root / ".git/info/exclude").read_text()
    assert theatre.git("status", "--porcelain") == ""
    assert ours(theatre) == before
    assert "Nothing to do" in ran(theatre, "uninstall", "--purge", "--yes").stdout
