"""What git would answer without a process: the same as git itself, and only as long as it is true."""

import os
import subprocess
import time
from pathlib import Path

import pytest
from support.step_costs import with_counting_git

from agent_sync.leases.refs.git_refs import write_commit
from agent_sync.leases.refs.values import NewCommit
from agent_sync.system import git_history
from agent_sync.system.git import Git
from agent_sync.system.processes import Processes


def sh(root, *command):
    return subprocess.run(["git", *command], cwd=root, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def counted(repo, tmp_path):
    """Set up a git whose processes are counted."""
    calls = tmp_path / "calls"
    calls.touch()
    path = f"{with_counting_git(tmp_path / 'counting')}:{os.environ['PATH']}"
    return Git(str(repo), Processes(), {**os.environ, "PATH": path, "GIT_CALLS_FILE": str(calls)}), calls


def _settle(repo):
    past = time.time() - 10
    for name in ("config", "index"):
        if (repo / ".git" / name).exists():
            os.utime(repo / ".git" / name, (past, past))


STATES = {
    "loose": [],
    "packed": [["pack-refs", "--all"]],
    "packed and then moved": [["pack-refs", "--all"], ["commit", "-q", "--allow-empty", "-m", "More"]],
    "detached": [["checkout", "-q", "--detach"]],
    "before the first commit": [["checkout", "-q", "--orphan", "fresh"]],
    "a remote with a default": [
        ["update-ref", "refs/remotes/origin/main", "HEAD"],
        ["symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main"],
        ["update-ref", "refs/remotes/upstream/main", "HEAD"],
    ],
    "a remote that is packed": [["update-ref", "refs/remotes/origin/main", "HEAD"], ["pack-refs", "--all"]],
    "a ref store that is not known": "reftable",
}


@pytest.mark.parametrize("state", STATES)
def test_refs_are_what_git_says_they_are(repo, counted, state):
    """Branches, remotes' branches, HEAD and the newest change are as git tells them, however they are stored."""
    git, _ = counted
    if STATES[state] == "reftable":
        (repo / ".git" / "reftable").mkdir()
    else:
        for command in STATES[state]:
            sh(repo, *command)
    names = ("HEAD", "refs/heads/main", "refs/heads/none", "refs/remotes/origin/main", "refs/remotes/origin/HEAD")
    asked = [git.ask("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}").stdout.strip() for name in names]
    assert [git.commit_at(name) or "" for name in names] == asked
    branch = git.ask("symbolic-ref", "--quiet", "--short", "HEAD").stdout.strip()
    assert (git.current_branch() or "") == branch
    default = git.ask("symbolic-ref", "--quiet", "--short", "refs/remotes/origin/HEAD").stdout.strip()
    assert (git.default_branch("origin") or "") == default.removeprefix("origin/")
    listed = git.ask("for-each-ref", "--format=%(refname)", "refs/heads/main", "refs/remotes/*/main").stdout.split()
    assert sorted(git_history.refs_of_branch(git, "main")) == sorted(listed)
    moved = git.ask("reflog", "show", "-n", "1", "--format=%H %gs", "refs/heads/main").stdout.strip()
    last = git_history.last_change(git, "refs/heads/main")
    assert (f"{last.commit} {last.reason}" if last else "") == moved


def test_a_linked_worktree_has_a_head_of_its_own(repo, tmp_path):
    """In a linked worktree HEAD is its own, and branches are shared."""
    sh(repo, "worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    git = Git(str(tmp_path / "side"), Processes(), os.environ)
    assert (git.current_branch(), git.head_of("main")) == ("side", sh(repo, "rev-parse", "main"))


@pytest.mark.parametrize("name", ["../../HEAD", "a..b", "x.lock", ".hidden", "@{0}", "a b", "ü"])
def test_odd_names_are_left_to_git(repo, counted, name):
    """A name that is not plain is never looked for on disk."""
    git, calls = counted
    (repo / ".git" / "refs" / "heads" / "x.lock").write_text("0" * 40 + "\n")
    assert git.head_of(name) is None
    assert "rev-parse" in calls.read_text()


def test_an_answer_is_given_again_while_it_holds(repo, counted):
    """A remote's address is asked for once; a changed configuration, or a program of others, makes git answer anew."""
    git, calls = counted
    sh(repo, "remote", "add", "origin", "/first")
    _settle(repo)
    assert [git.remote_url("origin"), git.remote_url("origin")] == ["/first", "/first"]
    assert calls.read_text().count("remote -v") == 1
    sh(repo, "remote", "set-url", "origin", "/second")
    assert git.remote_url("origin") == "/second"
    _settle(repo)
    git.remote_url("origin")
    before = calls.read_text().count("remote -v")
    git.processes.run(["true"], directory=str(repo), environment=os.environ)
    git.remote_url("origin")
    assert calls.read_text().count("remote -v") == before + 1


def test_a_fresh_file_is_not_relied_on(repo, counted):
    """A configuration that may change again within the same tick of the clock is read anew."""
    git, calls = counted
    sh(repo, "remote", "add", "origin", "/first")
    os.utime(repo / ".git" / "config", (time.time() + 5, time.time() + 5))
    git.remote_url("origin")
    git.remote_url("origin")
    assert calls.read_text().count("remote -v") == 2


def test_addresses_are_those_git_uses(repo, counted):
    """Push addresses, rewritten ones and remotes without an address are told as git itself tells them."""
    git, _ = counted
    sh(repo, "config", "url./srv/.insteadOf", "short:")
    sh(repo, "remote", "add", "one", "short:one")
    sh(repo, "remote", "set-url", "--push", "one", "/push")
    sh(repo, "config", "remote.bare.prune", "true")
    found = git.remote("one")
    assert (found.url, found.push_url) == (sh(repo, "remote", "get-url", "one"), "/push")
    assert (git.remote("bare"), git.remote("none"), git.remote_url("one")) == (None, None, "/srv/one")


def test_ignored_paths_are_asked_for_together(repo, counted):
    """Of several paths those are told that git passes over, odd names included, with one process."""
    git, calls = counted
    (repo / ".gitignore").write_text("logs/\nö*\n")
    (repo / "logs").mkdir()
    assert git.ignored(["logs", "kept", "ö dd"]) & {"logs", "kept", "ö dd"} == {"logs", "ö dd"}
    assert calls.read_text().count("check-ignore") == 1


def test_one_look_at_the_working_tree(repo, counted):
    """Within one look the state of the working tree counts; after it, and after an order of ours, it is asked for."""
    git, calls = counted
    with git.one_look():
        first = git_history.tree_status(git).changed
        (repo / "new.txt").write_text("x")
        assert git_history.tree_status(git).changed == first == ()
        git.ask("update-ref", "refs/heads/other", "HEAD")
        assert git_history.tree_status(git).changed == ("new.txt",)
    (repo / "newer.txt").write_text("x")
    assert git_history.tree_status(git).changed == ("new.txt", "newer.txt")
    assert calls.read_text().count("status") == 3


@pytest.mark.parametrize("kind", ["sha1", "sha256"])
def test_a_commit_is_stored_with_one_process(tmp_path, kind):
    """A commit with files and a folder is whole, as git checks it, whatever names objects have there."""
    root = tmp_path / kind
    sh(tmp_path, "init", "-q", f"--object-format={kind}", str(root))
    git = Git(str(root), Processes(), os.environ)
    files = {"claim.json": b"{}\n", "evidence/a.txt": "é\n".encode(), "evidence-b": b"x" * 5000}
    first = write_commit(git, NewCommit("First\n\nwhy", files, when=7))
    second = write_commit(git, NewCommit("Second", {"claim.json": b"2"}, parents=(first,)))
    shown = sh(root, "show", "--no-patch", "--format=%an|%ae|%at|%P|%B", second, first).split("\n")
    assert shown[0] == f"agent-sync|agent-sync@localhost|0|{first}|Second"
    listed = sh(root, "ls-tree", "-r", "--name-only", first).split("\n")
    assert sorted(listed) == sorted(files)
    assert sh(root, "show", f"{first}:evidence/a.txt") == "é"
    sh(root, "fsck", "--strict", "--no-dangling", second)
    assert Path(root / ".git" / "refs" / "heads").is_dir()
