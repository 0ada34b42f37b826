"""`doctor` as people run it, on good and bad set-ups."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from support.claims import claim
from support.command import COMMAND, run

from agent_sync import __version__
from agent_sync.emulator.server import running

PATH = f"{Path(COMMAND).parent}:{os.environ['PATH']}"
# Whether git may push is not asked.
UNASKED = {"AGENT_SYNC_LEASE_WHERE": "clone"}


@pytest.fixture(scope="module")
def server():
    with running() as server:
        yield server


@pytest.fixture
def clone(repo, server, monkeypatch):
    """Set a repository up whose remote is the local GitHub."""
    monkeypatch.setenv("AGENT_SYNC_GITHUB_URL", server.url)
    monkeypatch.setenv("PATH", PATH)
    subprocess.run(["git", "remote", "add", "origin", f"{server.url}/octo/demo.git"], cwd=repo, check=True)
    run("init", "--yes", cwd=repo)
    return repo


@pytest.fixture
def local(clone, server):
    """Have GitHub answer nobody for now: what is checked is on this machine."""
    server.control.faults.add({"fault": "primary_limit", "times": 100})
    yield clone
    server.control.faults.clear()


@pytest.fixture
def stand_in(tmp_path):
    """Return a PATH on which something answers as this version does: where the command itself is not what is tried."""
    folder = tmp_path / "stand-in"
    folder.mkdir()
    (folder / "agent-sync").write_text(f"#!/bin/sh\necho agent-sync, version {__version__}\n")
    (folder / "agent-sync").chmod(0o755)
    return f"{folder}:{os.environ['PATH']}"


def doctor(root, **environment):
    """Return the exit status and every check by name."""
    ran = run("doctor", "--json", cwd=root, **environment)
    assert ran.stderr == ""
    values = json.loads(ran.stdout)
    assert values["ok"] == (ran.status == 0)
    return ran.status, {check["name"]: check for check in values["checks"]}


def test_everything_is_fine_and_claim_refs_are_not_touched(clone, server):
    """After `init` every check passes, in words for people too.

    Whether git may push is asked without pushing anything, and the line names the command that tries it.
    """
    status, checks = doctor(clone)
    assert (status, {check["mark"] for check in checks.values()}) == (0, {"ok"})
    assert checks["claim refs"]["says"].startswith("git may push to origin; `agent-sync doctor --live` tries")
    assert "refs/agentsync" not in json.dumps(server.world.repository("octo", "demo").git.refs())
    shown = run("doctor", cwd=clone, **UNASKED)
    assert shown.status == 0
    assert "✓ ok    board            Demo board" in shown.stdout
    assert "The claim holds for this clone only: the settings say so." in shown.stdout


def test_bare_repository_gets_advice(repo):
    """Before `init` the lines say what is missing and the command that mends it."""
    shown = run("doctor", cwd=repo, PATH=PATH)
    assert shown.status == 1
    assert "✗ FAIL  hooks            not registered: SessionStart" in shown.stdout
    assert "fix: agent-sync init" in shown.stdout
    assert "✗ FAIL  repository" in shown.stdout


def test_offline_is_one_line(clone):
    """Without the network everything about GitHub is one line and nothing fails."""
    status, checks = doctor(clone, AGENT_SYNC_GITHUB_URL="http://127.0.0.1:1", AGENT_SYNC_GITHUB_TIMEOUT_S="2")
    assert (status, checks["github"]["mark"]) == (0, "skip")
    assert {"token", "board", "scopes", "clock"}.isdisjoint(checks)


WRONG = [
    ({"GH_TOKEN": "bad-token"}, "token", "does not accept the token"),
    ({"GH_TOKEN": "no-project-scope"}, "scopes", "missing: project"),
    ({"AGENT_SYNC_PROJECT_NUMBER": "9"}, "board", "there is no board 9"),
    ({"AGENT_SYNC_BOARD_STATUS_FIELD": "Stage"}, "status field", "the board has: Status, Priority"),
    ({"AGENT_SYNC_GIT_REMOTE": "upstream"}, "repository", "Git knows no remote 'upstream'"),
    ({"AGENT_SYNC_PROJECT_NUMBR": "1"}, "settings", "Did you mean AGENT_SYNC_PROJECT_NUMBER"),
]


def test_what_is_wrong_is_found(clone, stand_in):
    """Each mistake fails its own check, with a way out, and the token is never shown."""
    for environment, name, says in WRONG:
        status, checks = doctor(clone, PATH=stand_in, **UNASKED, **environment)
        assert (status, checks[name]["mark"]) == (1, "fail"), environment
        assert says in checks[name]["says"]
        assert checks[name]["fix"], environment
        assert "bad-token" not in json.dumps(checks)


def test_status_that_the_board_lacks_is_a_warning_and_the_token_is_not_shown(clone, stand_in):
    """A board without a column for reviews works: the line names what it has, and doctor does not fail.

    Where the token came from is said; what it is, is not.
    """
    environment = {"AGENT_SYNC_BOARD_IN_REVIEW": "Reviewing", "GH_TOKEN": "ghp_secretsecret"}
    status, checks = doctor(clone, PATH=stand_in, **UNASKED, **environment)
    assert (status, checks["statuses"]["mark"]) == (0, "warn")
    assert "it has: Todo, In Progress, In Review, Done" in checks["statuses"]["says"]
    assert checks["statuses"]["fix"]
    assert checks["token"]["says"] == "classic token of octo, from GH_TOKEN"
    assert "secretsecret" not in json.dumps(checks)


def test_board_that_is_not_configured_is_offered(clone, stand_in):
    """Without a number the boards there are listed."""
    (clone / ".agent-sync.toml").write_text("")
    status, checks = doctor(clone, PATH=stand_in, **UNASKED)
    assert (status, checks["board"]["mark"]) == (0, "warn")
    assert "1 (Demo board)" in checks["board"]["says"]


def test_command_that_hooks_do_not_find(local, tmp_path):
    """Hooks that would find no agent-sync, or another one, are told apart from working ones."""
    status, checks = doctor(local, PATH="/usr/bin:/bin", **UNASKED)
    assert (status, checks["command"]["mark"], checks["hook effect"]["mark"]) == (1, "fail", "skip")
    other = tmp_path / "bin"
    other.mkdir()
    (other / "agent-sync").write_text("#!/bin/sh\necho agent-sync, version 0.0.1\nexit 3\n")
    (other / "agent-sync").chmod(0o755)
    _, checks = doctor(local, PATH=f"{other}:{PATH}", **UNASKED)
    assert "is 0.0.1; this is" in checks["command"]["says"]
    assert "exits 3" in checks["hook effect"]["says"]


def test_effect_touches_nothing(clone):
    """Trying the hook neither acts on a claim nor writes anything."""
    file = clone / ".agent-claim.json"
    file.write_bytes(claim(phase="done").to_json())
    before = {path: path.stat().st_mtime_ns for path in clone.rglob("*") if path.is_file()}
    # The remote is not tried here: its scratch commits are objects in the clone.
    _, checks = doctor(clone, **UNASKED)
    assert checks["claim file"]["says"] == "issue #42, phase done"
    assert {path: path.stat().st_mtime_ns for path in clone.rglob("*") if path.is_file()} == before


def test_claim_and_ignore_lines(local, stand_in):
    """A claim that is broken, or that git has or would commit, is found."""
    (local / ".agent-claim.json").write_text("{")
    _, checks = doctor(local, PATH=stand_in, **UNASKED)
    assert "is not valid JSON" in checks["claim file"]["says"]
    subprocess.run(["git", "add", "-f", ".agent-claim.json"], cwd=local, check=True)
    status, checks = doctor(local, PATH=stand_in, **UNASKED)
    assert status == 1
    assert "git tracks it" in checks["claim file"]["says"]
    assert "git rm .agent-claim.json" in checks["ignored"]["fix"]


def test_hooks_of_the_user_count(local, stand_in, own_home):
    """A second form of a hook in the user's own settings runs beside the project's."""
    (own_home / ".claude").mkdir()
    entry = {"type": "command", "command": "agent-sync on-stop", "timeout": 30000}
    (own_home / ".claude/settings.json").write_text(json.dumps({"hooks": {"Stop": [{"hooks": [entry]}]}}))
    _, checks = doctor(local, PATH=stand_in, **UNASKED)
    assert "in .claude/settings.json, ~/.claude/settings.json" in checks["hooks once"]["says"]
    assert "looks like milliseconds" in checks["timeouts"]["says"]


def test_worktree_that_is_gone(local, stand_in, tmp_path):
    """A worktree whose directory was deleted is named with the command that forgets it."""
    subprocess.run(["git", "worktree", "add", "-q", str(tmp_path / "two")], cwd=local, check=True)
    subprocess.run(["rm", "-r", str(tmp_path / "two")], check=True)
    _, checks = doctor(local, PATH=stand_in, **UNASKED)
    assert (checks["worktrees"]["mark"], checks["worktrees"]["fix"]) == ("warn", "git worktree prune")


def test_old_git_is_named(local, tmp_path):
    """A git that is too old, or none, fails with what to install."""
    for text in ("#!/bin/sh\necho git version 2.20.1\n", None):
        folder = tmp_path / ("old" if text else "none")
        folder.mkdir()
        (folder / "agent-sync").symlink_to(COMMAND)
        if text:
            (folder / "git").write_text(text)
            (folder / "git").chmod(0o755)
        _, checks = doctor(local, PATH=str(folder), **UNASKED)
        assert (checks["git"]["mark"], checks["git"]["fix"]) == ("fail", "install git 2.36 or newer")


def test_outside_of_a_repository(tmp_path):
    """Outside of a repository there is nothing to check."""
    assert run("doctor", cwd=tmp_path).status == 1


def test_fix_repairs_the_set_up(local, stand_in, server):
    """`doctor --fix` writes missing hooks, pages and ignore lines again, says so, and then finds nothing wrong."""
    settings, ignored = local / ".claude" / "settings.json", local / ".gitignore"
    before = settings.read_bytes(), ignored.read_bytes()
    values = json.loads(settings.read_text())
    values["hooks"]["Stop"][0]["hooks"][0]["timeout"] = 30000
    del values["hooks"]["SessionStart"]
    settings.write_text(json.dumps(values, indent=2) + "\n")
    ignored.unlink()
    (local / ".claude" / "commands" / "task.md").unlink()
    assert doctor(local, PATH=stand_in, **UNASKED)[0] == 1
    server.control.faults.clear()
    shown = run("doctor", "--fix", cwd=local)
    assert shown.stdout.splitlines()[:3] == [
        "changed .claude/settings.json",
        "created .gitignore",
        "created .claude/commands/task.md",
    ]
    assert (shown.status, json.loads(settings.read_text())) == (0, json.loads(before[0]))
    assert ignored.read_bytes() == before[1]
    again = json.loads(run("doctor", "--fix", "--json", cwd=local, PATH=stand_in, **UNASKED).stdout)
    assert (again["ok"], again["fixed"]) == (True, [])


def test_fix_leaves_hooks_where_they_are(repo, own_home):
    """Hooks that the user's own settings register are not written into the project as well."""
    run("init", "--yes", cwd=repo)
    (own_home / ".claude").mkdir()
    (repo / ".claude" / "settings.json").rename(own_home / ".claude" / "settings.json")
    for page in (repo / ".claude" / "commands").iterdir():
        page.unlink()
    run("doctor", "--fix", cwd=repo)
    assert "hooks" not in json.loads((repo / ".claude" / "settings.json").read_text())
    assert not list((repo / ".claude" / "commands").iterdir())


def test_fix_leaves_decisions_to_people(repo):
    """Without a settings file none is made up, a broken file is left alone, and an agent's session is refused."""
    assert run("doctor", "--fix", cwd=repo, CLAUDECODE="1").stderr.startswith("error[humans-only]")
    assert not (repo / ".claude").exists()
    assert "created .claude/settings.json" in run("doctor", "--fix", cwd=repo).stdout
    assert not (repo / ".agent-sync.toml").exists()
    (repo / ".claude" / "settings.json").write_text("{")
    broken = run("doctor", "--fix", cwd=repo)
    assert "note: nothing was fixed: .claude/settings.json is not JSON" in broken.stderr
    assert (repo / ".claude" / "settings.json").read_text() == "{"
