"""A branch that brings a repository of its own as plain files: git never talks to it, whatever names it."""

import json
import shutil
import subprocess
import sys

import pytest
from support.clones import beside, told, with_variables
from support.leases import git
from support.prove import PROVE
from support.stage import Theatre, human

BRANCH = "claude/planted"
NONCE = "e" * 32
LONG_AGO = "2026-01-01T00:00:00Z"
LEASE = {
    "schema_version": 1,
    "issue": 43,
    "holder": {"host": "h", "user": "u", "worktree": "w"},
    "epoch": 1,
    "nonce": NONCE,
    "state": "held",
    "acquired_at": LONG_AGO,
    "renewed_at": LONG_AGO,
    "ttl_s": 3600.0,
}
NOTE = {"where": "remote", "epoch": 1, "nonce": NONCE, "renewed_at": LONG_AGO, "ttl_s": 3600.0, "mode": "auto"}
CLAIM = {
    "schema_version": 1,
    "item_id": "",
    "issue_number": 43,
    "branch": BRANCH,
    "agent_id": "octo-1",
    "phase": "coding",
    "summary": "",
    "status": "In Progress",
    "pr_number": None,
    "last_check_poll": None,
    "last_synced_status": "In Progress",
    "lease": NOTE,
}


def planted(theatre, name, files, *, commits_claim):
    """Push a branch that holds a bare repository in the folder `name`, with a hook and a claim, and these files."""
    root = theatre.stage.root
    theatre.git("switch", "-q", "-c", BRANCH)
    bare = root / name
    git(root, "init", "-q", "--bare", "-b", "main", str(bare))
    blob = git(bare, "hash-object", "-w", "--stdin", stdin=json.dumps(LEASE))
    tree = git(bare, "mktree", stdin=f"100644 blob {blob}\tclaim.json\n")
    git(bare, "update-ref", "refs/agentsync/claims/43", git(bare, "commit-tree", "-m", "x", tree))
    for hook in ("pre-receive", "update", "post-receive", "post-update", "reference-transaction"):
        path = bare / "hooks" / hook
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\ntouch {marker(theatre)}\n")
        path.chmod(0o755)
    for path, text in files.items():
        (root / path).write_text(text)
    if commits_claim:
        (root / ".agent-claim.json").write_text(json.dumps(CLAIM))
        theatre.git("add", "-f", ".agent-claim.json")
    theatre.git("add", "-f", name, *files)
    theatre.git("commit", "-q", "-m", "Plant")
    theatre.git("push", "-q", "origin", BRANCH)


def marker(theatre):
    """Return the file that exists once a planted hook has run."""
    return theatre.stage.root.parent / "ran"


def victim_of(theatre, **variables):
    """Clone anew and switch to the planted branch, as a reviewer would."""
    victim = beside(theatre, "victim", CLAUDECODE="1", **variables)
    victim.git("switch", "-q", BRANCH)
    return victim


def renew(theatre):
    """Run to its end what a hook starts in the background."""
    command = [sys.executable, "-P", "-m", "agent_sync.events.parts.renewal_process", str(theatre.stage.root), "s"]
    subprocess.run(command, cwd="/", env=theatre.stage.environment, check=True)


def as_if_made_here(theatre: Theatre, **fields: object) -> None:
    """Leave the claim and its copy in the git directory, as a command of this clone would have."""
    content = json.dumps(CLAIM | fields)
    (theatre.stage.root / ".agent-claim.json").write_text(content)
    state = theatre.stage.root / ".git" / "agentsync"
    state.mkdir(exist_ok=True)
    (state / "claim.base.json").write_text(content)


def test_planted_remote_and_claim_run_nothing(theatre):
    """Clone, switch, one tool: a branch whose settings and claim file name its own folder gets nothing executed."""
    files = {".agent-sync.toml": '[git]\nremote = "vendor"\n'}
    planted(theatre, "vendor", files, commits_claim=True)
    victim = victim_of(theatre)
    for hook in ("on-tool", "on-stop"):
        victim.hook(hook, stdin='{"session_id": "s"}')
        renew(victim)
    assert not marker(theatre).exists()


def test_renewal_needs_a_lease_that_this_clone_made(theatre):
    """A claim file with somebody else's lease starts no renewal, and a renewal started all the same sends nothing."""
    planted(theatre, "vendor", {}, commits_claim=False)
    victim = victim_of(theatre, AGENT_SYNC_GIT_REMOTE="vendor")
    (victim.stage.root / ".agent-claim.json").write_text(json.dumps(CLAIM))
    played = victim.hook("on-tool", stdin='{"session_id": "s"}')
    assert (played.status, played.stdout) == (0, "")
    assert not (victim.stage.root / ".git" / "agentsync" / "renewal.tried").exists()
    renew(victim)
    assert not marker(theatre).exists()


COMMANDS = [
    ["push"],
    ["handoff", "--summary", "x"],
    ["sync"],
    ["status"],
    ["status", "--all"],
    ["doctor"],
    ["worker", "list"],
    ["worker", "sling", "42", "w1"],
    ["worker", "take", "--worker", "w1"],
    ["worker", "repair"],
    ["ledger"],
    ["done", "--yes", "--now"],
    ["release"],
    ["release", "--force"],
]
CLAIMS = [["claim", "42"], ["claim", "43", "--take-over", "--yes"]]
# The long sweep plays every command in both folders with a renewal behind it. Here one folder meets them all and the
# other one of each kind, and a renewal follows what leaves the claim as it was, takes it away or makes one.
OF_EACH_KIND = [["push"], ["status", "--all"], ["worker", "sling", "42", "w1"], *CLAIMS]
RENEWED = [["push"], ["release", "--force"], *CLAIMS]


@pytest.mark.parametrize("folder", ["vendor", "origin"])
def test_name_of_a_folder_is_no_remote(theatre, folder):
    """No command takes a folder of the work tree for a remote, though a user's variable or a removed remote names it."""
    planted(theatre, folder, {}, commits_claim=False)
    victim = victim_of(theatre)
    if folder == "origin":
        victim.git("remote", "rename", "origin", "upstream")
    victim = with_variables(victim, AGENT_SYNC_GIT_REMOTE=folder)
    for command in (*COMMANDS, *CLAIMS) if PROVE or folder == "vendor" else OF_EACH_KIND:
        if command in COMMANDS:
            as_if_made_here(victim)
        played = victim.stage.command(*command)
        if PROVE or command in RENEWED:
            renew(victim)
        assert not marker(theatre).exists(), command
        assert "error[unexpected]" not in told(played), told(played)
    assert victim.git("for-each-ref", "refs/agentsync/tracking") == ""


def test_hooks_say_that_there_is_no_such_remote(theatre):
    """Where a claim must be proven on a remote that is none, nothing is written and the human is told what helps."""
    planted(theatre, "vendor", {}, commits_claim=False)
    victim = victim_of(theatre, AGENT_SYNC_GIT_REMOTE="vendor", AGENT_SYNC_WORKER="w1")
    world = victim.stage.world()
    for hook in ("on-stop", "on-idle", "session-start"):
        # Each begins with nothing noted, as the first hook of a session that came to a fresh clone.
        shutil.rmtree(victim.stage.root / ".git" / "agentsync", ignore_errors=True)
        as_if_made_here(victim, status="In Review")
        said = human(victim.hook(hook, stdin=json.dumps({"session_id": hook})))
        assert (world, marker(theatre).exists()) == (victim.stage.world(), False), hook
        assert "no remote 'vendor'" in said or hook == "on-idle", said


def test_commands_say_that_there_is_no_such_remote(theatre):
    """A push and a look say which remote is missing, and how it is added."""
    victim = beside(theatre, "victim", AGENT_SYNC_GIT_REMOTE="vendor")
    for command in (["status", "--all"], ["worker", "list"], ["ledger"]):
        played = victim.stage.command(*command)
        assert played.status == 1, told(played)
        assert "error[bad-config]: This clone has no remote 'vendor' (it has 'origin')" in played.stderr
        assert "git remote add vendor URL" in played.stderr
    as_if_made_here(victim)
    victim.git("switch", "-q", "-c", BRANCH)
    played = victim.stage.command("push")
    assert "error[bad-config]: This clone has no remote 'vendor'" in played.stderr
    assert "This clone has no remote 'vendor'" in victim.stage.command("status").stdout
    assert "git remote add vendor URL" in victim.stage.command("doctor").stdout


def test_remote_without_an_address_is_none(theatre):
    """Settings of a remote that has no address do not make its name one: git would take it for a folder."""
    planted(theatre, "vendor", {}, commits_claim=False)
    victim = victim_of(theatre, AGENT_SYNC_GIT_REMOTE="vendor")
    victim.git("config", "remote.vendor.prune", "true")
    as_if_made_here(victim)
    played = victim.stage.command("push")
    renew(victim)
    assert "error[bad-config]: This clone has no remote 'vendor'" in played.stderr
    assert not marker(theatre).exists()


def test_clone_without_any_remote_keeps_its_claims(theatre):
    """Where there is no remote at all, claims are kept in the clone, even beside a folder called origin."""
    planted(theatre, "origin", {}, commits_claim=False)
    victim = victim_of(theatre)
    victim.git("remote", "remove", "origin")
    played = victim.stage.command("status", "--all")
    assert "Only what this clone knows: there is no remote origin." in played.stdout, told(played)
    assert not marker(theatre).exists()
