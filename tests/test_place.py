import subprocess

import pytest

from agent_sync.worktree import place_of, worktree


def git(*arguments, cwd):
    subprocess.run(["git", "-c", "protocol.file.allow=always", *arguments], cwd=cwd, check=True, capture_output=True)


def answers_of_git(directory):
    """Ask git itself where the worktree and its directories are."""
    asked = ["rev-parse", "--path-format=absolute", "--show-toplevel", "--git-dir", "--git-common-dir"]
    done = subprocess.run(["git", *asked], cwd=directory, check=True, capture_output=True, text=True)
    return done.stdout.split()


@pytest.fixture
def linked(repo, tmp_path):
    """Add a linked worktree."""
    git("worktree", "add", "-q", str(tmp_path / "linked"), cwd=repo)
    return tmp_path / "linked"


@pytest.fixture
def submodule(repo, tmp_path):
    """Add a submodule."""
    other = tmp_path / "other"
    other.mkdir()
    git("init", "-q", cwd=other)
    git("commit", "-q", "--allow-empty", "-m", "x", cwd=other)
    git("submodule", "--quiet", "add", str(other), "sub", cwd=repo)
    return repo / "sub"


@pytest.mark.parametrize("where", ["repo", "deep", "linked", "submodule"])
def test_finds_what_git_finds(where, repo, linked, submodule):
    """The worktree is found without git exactly as git finds it."""
    deep = repo / "a" / "b"
    deep.mkdir(parents=True)
    start = {"repo": repo, "deep": deep, "linked": linked, "submodule": submodule}[where]
    found = worktree(str(start))
    assert answers_of_git(start) == [found.root, found.git_dir, found.common_dir]


def test_no_repository_is_none(tmp_path):
    """Outside of any repository there is no place."""
    assert worktree(str(tmp_path)) is None
    assert worktree(str(tmp_path / "gone")) is None


def test_session_in_a_worktree_is_about_that_worktree(repo, linked):
    """An agent that entered a linked worktree works on that one, although the project is the main one."""
    assert str(linked) == place_of([str(linked)], str(repo)).root


def test_submodule_is_not_the_project(repo, submodule):
    """An agent that stands in a submodule or nested repository works on the project."""
    assert str(repo) == place_of([str(submodule)], str(repo)).root


def test_lost_directory_falls_back(repo, tmp_path):
    """A directory that is gone, or none at all, leads to the project, then to the process's directory."""
    assert str(repo) == place_of([str(tmp_path / "gone"), str(tmp_path)], str(repo)).root
    assert str(repo) == place_of(["", str(repo)], "").root
    assert place_of(["", str(tmp_path)], "") is None


def test_linked_git_directory_is_the_same_repository(repo, linked, tmp_path):
    """A `.git` that is a symbolic link leads to the same repository as its worktrees."""
    elsewhere = tmp_path / "moved.git"
    (repo / ".git").rename(elsewhere)
    (repo / ".git").symlink_to(elsewhere)
    (linked / ".git").write_text(f"gitdir: {elsewhere}/worktrees/linked\n")
    assert place_of([str(linked)], str(repo)).root == str(linked)
