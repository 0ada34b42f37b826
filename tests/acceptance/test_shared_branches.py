"""A task's branch is never the default, base or somebody else's branch, whoever names it."""

import json
import subprocess
import time
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from support.clones import beside
from support.stage import human

SESSION = {"CLAUDECODE": "1"}
LEASE = {
    "schema_version": 1,
    "issue": 43,
    "holder": {"host": "h", "user": "u", "worktree": "w", "agent": "mona-1"},
    "epoch": 1,
    "nonce": "e" * 32,
    "state": "held",
    "mode": "auto",
    "ttl_s": 1.0,
}


def fed(theatre, content, *arguments):
    """Run git in the clone with something to read."""
    done = subprocess.run(
        ["git", *arguments],
        cwd=theatre.stage.root,
        env=theatre.stage.environment,
        input=content.encode(),
        capture_output=True,
        check=True,
    )
    return done.stdout.decode().strip()


def plant_claim(theatre, branch):
    """Push an expired claim of #43 that names a branch."""
    now = datetime.now(UTC).isoformat()
    lease = LEASE | {"branch": branch, "acquired_at": now, "renewed_at": now}
    blob = fed(theatre, json.dumps(lease), "hash-object", "-w", "--stdin")
    tree = fed(theatre, f"100644 blob {blob}\tclaim.json\n", "mktree")
    sha = theatre.git("commit-tree", tree, "-m", "x")
    theatre.git("push", "-q", "origin", f"{sha}:refs/agentsync/claims/43")
    time.sleep(1.1)


def plant_hook(theatre, branch):
    """Sling #43 to a worker, then let its status name another branch."""
    assert theatre.hook("worker", "sling", "43", "main/w1").status == 0
    name = next(line.split("\t")[1] for line in theatre.git("ls-remote", "origin").splitlines() if "w1" in line)
    theatre.git("fetch", "-q", "origin", f"{name}:refs/planted")
    status = json.loads(theatre.git("show", "refs/planted:status.json")) | {"branch": branch}
    blob = fed(theatre, json.dumps(status), "hash-object", "-w", "--stdin")
    rows = theatre.git("ls-tree", "refs/planted").splitlines()
    kept = [row for row in rows if not row.endswith("\tstatus.json")]
    tree = fed(theatre, "\n".join([*kept, f"100644 blob {blob}\tstatus.json"]) + "\n", "mktree")
    sha = theatre.git("commit-tree", tree, "-p", "refs/planted", "-m", "x")
    theatre.git("push", "-q", "origin", f"{sha}:{name}")


def heads(theatre):
    """Return the remote's branches and where they are."""
    return {row["name"]: row["sha"] for row in theatre.stage.world()["refs"] if row["name"].startswith("refs/heads/")}


PLANTED = {
    "claim": (plant_claim, ["claim", "43", "--take-over"]),
    "hook": (plant_hook, ["worker", "take", "--worker", "main/w1"]),
}


@pytest.mark.parametrize("kind", PLANTED)
def test_a_ref_cannot_name_the_default_branch(theatre, kind):
    """Neither an agent nor a person takes it, and nothing is written."""
    plant, command = PLANTED[kind]
    plant(theatre, "main")
    before = heads(theatre)
    victim = beside(theatre, "victim", AGENT_SYNC_LEASE_ALLOWANCE_S="0")
    for variables in (SESSION, {}):
        played = victim.hook(*command, *(["--yes"] if not variables else []), **variables)
        assert played.status == 1, played
        assert 'Branch "main" is the default branch' in played.stderr
        assert victim.stage.claim() is None
    assert heads(theatre) == before


@pytest.mark.parametrize("kind", PLANTED)
def test_a_ref_that_names_somebody_elses_branch_needs_a_person(theatre, kind):
    """A branch that is on the remote and not named after the issue is refused in a session; a person may agree."""
    # A commit of its own, made long before the claim.
    old = {"GIT_COMMITTER_DATE": "2026-01-01T00:00:00Z", "GIT_AUTHOR_DATE": "2026-01-01T00:00:00Z"}
    dated = replace(theatre, stage=replace(theatre.stage, environment=theatre.stage.environment | old))
    sha = dated.git("commit-tree", "HEAD^{tree}", "-p", "HEAD", "-m", "Live")
    theatre.git("push", "-q", "origin", f"{sha}:refs/heads/production")
    plant, command = PLANTED[kind]
    plant(theatre, "production")
    victim = beside(theatre, "victim", AGENT_SYNC_LEASE_ALLOWANCE_S="0")
    for options, variables in (([], SESSION), (["--yes"], SESSION), (["--yes"], {"CODEX_THREAD_ID": "t"}), ([], {})):
        played = victim.hook(*command, *options, **variables)
        assert played.status == 1, played
        assert 'Branch "production" is on origin already and not named after issue #43' in played.stderr
        assert victim.stage.claim() is None
    agreed = victim.hook(*command, "--yes")
    assert agreed.status == 0, agreed
    assert victim.stage.claim()["branch"] == "production"


def test_the_default_and_the_base_branch_cannot_be_claimed(theatre):
    """The option is refused before anything is written, and so is pr.base."""
    theatre.git("push", "-q", "origin", "HEAD:refs/heads/develop")
    for branch, base in (("main", ""), ("develop", "develop"), ("main", "develop")):
        variables = {"AGENT_SYNC_PR_BASE": base} if base else {}
        played = theatre.hook("claim", "42", "--branch", branch, **variables)
        assert (played.status, f'Branch "{branch}" is the' in played.stderr) == (1, True), played
        assert theatre.stage.claim() is None
        assert "refs/agentsync/claims/42" not in {row["name"] for row in theatre.stage.world()["refs"]}
        assert theatre.hook("claim", "42", "--branch", branch, "--dry-run", **variables).status == 1


@pytest.mark.parametrize("command", [["push"], ["handoff", "--summary", "x"], ["sync"], ["worker", "result"]])
def test_no_command_pushes_the_default_branch(theatre, command):
    """A claim file that was edited by hand names it in vain."""
    if command[0] == "worker":
        theatre.hook("worker", "sling", "42", "main/w1")
        assert theatre.hook("worker", "take", "--worker", "main/w1").status == 0
    else:
        theatre.hook("claim", "42")
    before = heads(theatre)
    theatre.git("switch", "-q", "main")
    theatre.stage.commit("work.txt", "work\n", "Work")
    theatre.edit_claim(branch="main", summary="x", phase="ready_for_pr" if command == ["sync"] else "coding")
    options = ["--worker", "main/w1", "--output", "{}"] if command[0] == "worker" else []
    played = theatre.hook(*command, *options)
    assert 'Branch "main" is the default branch' in played.stdout + played.stderr, played
    assert heads(theatre)["refs/heads/main"] == before["refs/heads/main"]


def test_no_hook_pushes_the_default_branch(theatre):
    """The stop says so to the human, and pushes nothing."""
    theatre.hook("claim", "42")
    before = heads(theatre)
    theatre.git("switch", "-q", "main")
    theatre.stage.commit("work.txt", "work\n", "Work")
    theatre.edit_claim(branch="main", phase="ready_for_pr", summary="x")
    assert 'Branch "main" is the default branch' in human(theatre.hook("on-stop"))
    assert heads(theatre)["refs/heads/main"] == before["refs/heads/main"]


def test_worker_show_makes_hidden_characters_visible(theatre):
    """What turns the direction of text around in a hook is shown as an escape."""
    title = "Fix \u202ethis"
    theatre.stage.act("add_issue", title=title, status="Todo")
    assert theatre.hook("worker", "sling", "45", "main/w1").status == 0
    assert title in json.loads(theatre.hook("worker", "show", "main/w1", "--json").stdout)["task"]["input"].values()
    shown = theatre.hook("worker", "show", "main/w1").stdout
    assert "\u202e" not in shown
