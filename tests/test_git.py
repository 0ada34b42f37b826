import json
import os
import subprocess

import pytest

from agent_sync.errors import BadInput, GitFailed
from agent_sync.system import git_branches, git_history
from agent_sync.system.git import Git
from agent_sync.system.processes import Processes


def sh(root, *command):
    return subprocess.run(["git", *command], cwd=root, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def remote(repo, tmp_path):
    bare = tmp_path / "remote.git"
    subprocess.run(["git", "init", "-q", "--bare", str(bare)], check=True)
    sh(repo, "remote", "add", "origin", str(bare))
    return bare


@pytest.fixture
def git(repo):
    return Git(str(repo), Processes(), os.environ)


def test_branches(repo, git):
    """The current branch and each branch's commit are known; what is not there is None."""
    assert ("main", sh(repo, "rev-parse", "HEAD")) == (git.current_branch(), git.head_of("main"))
    assert git.head_of("none") is None
    sh(repo, "checkout", "-q", "--detach")
    assert git.current_branch() is None


def test_push_is_fast_forward_only(repo, git, remote):
    """A branch that has moved on the remote is not overwritten, and the message says what helps."""
    git_branches.push(git, "origin", "work", git.head_of("main"))
    sh(remote, "update-ref", "refs/heads/work", _other(repo, remote))
    with pytest.raises(GitFailed, match="has commits that are not here") as error:
        git_branches.push(git, "origin", "work", git.head_of("main"))
    assert error.value.helps == "git pull --rebase origin work"


def _other(repo, remote):
    tree = sh(repo, "rev-parse", "HEAD^{tree}")
    theirs = sh(repo, "commit-tree", "-m", "theirs", tree)
    sh(repo, "push", "-q", str(remote), f"{theirs}:refs/heads/elsewhere")
    return theirs


@pytest.mark.usefixtures("remote")
def test_fetch_does_not_tidy_the_repository(repo, tmp_path):
    """Maintenance is left to the person's own git commands: a hook does not wait for it."""
    sh(repo, "push", "-q", "origin", "main")
    trace = tmp_path / "trace"
    git = Git(str(repo), Processes(), os.environ | {"GIT_TRACE2_EVENT": str(trace)})
    assert git_branches.fetch_heads(git, "origin", "main") == ""
    git_branches.try_to_fetch(git, "origin", "main")
    started = [
        event["name"] for event in map(json.loads, trace.read_text().splitlines()) if event["event"] == "cmd_name"
    ]
    assert started.count("fetch") == 2
    assert "maintenance" not in started


def test_push_to_nowhere_is_explained(git, remote):
    """A remote that cannot be reached gives git's own reason."""
    sh(git.root, "remote", "set-url", "origin", str(remote) + "-gone")
    with pytest.raises(GitFailed, match="git push failed"):
        git_branches.push(git, "origin", "work", git.head_of("main"))


@pytest.mark.parametrize(
    "name", ["--upload-pack=touch x", "-x", "a b", "a..b", "a:b", "x.lock", "/a", "a/", "a\nb", "", "a@{1}", "a//b"]
)
def test_odd_branch_names_are_refused(git, name):
    """No name from outside becomes an option or a refspec."""
    with pytest.raises(BadInput, match="is not a branch name"):
        git_branches.push(git, "origin", name, "0" * 40)


def test_surrounding_git_hook_does_not_mislead(repo, tmp_path):
    """Variables of a surrounding git hook do not point us at another repository."""
    git = Git(str(repo), Processes(), os.environ | {"GIT_DIR": str(tmp_path), "GIT_INDEX_FILE": "x"})
    assert git.current_branch() == "main"


def test_missing_git_is_explained(repo):
    """Without git on PATH the message says so."""
    with pytest.raises(GitFailed, match="git is not installed"):
        Git(str(repo), Processes(), {"PATH": ""}).changes()


def test_remote_url(repo, git, remote):
    """The remote's address is the one git would use."""
    assert str(remote) == git.remote_url("origin")
    assert git.remote_url("none") is None
    assert sh(repo, "status", "--porcelain") == ""


def test_branch_that_is_ahead(repo, git):
    """A branch is ahead of a commit that it has built upon; not of itself, nor of one that is not here."""
    before = git.head_of("main")
    sh(repo, "commit", "-q", "--allow-empty", "-m", "More")
    assert git_history.is_ahead(git, "main", before)
    assert [git_history.is_ahead(git, "main", commit) for commit in (git.head_of("main"), "a" * 40)] == [False, False]
    sh(repo, "branch", "old", before)
    assert [git_history.is_ahead(git, branch, git.head_of("main")) for branch in ("old", "none")] == [False, False]
