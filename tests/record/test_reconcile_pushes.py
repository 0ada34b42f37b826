"""Pushes become checkpoints; what only looks like one does not."""

import subprocess

import pytest
from support.history import History, sh

from agent_sync.record.machine.states import CheckpointCause


@pytest.fixture
def history(repo, tmp_path) -> History:
    """Begin a task on a branch of a clone with two remotes."""
    for name in ("origin", "team/second"):
        bare = tmp_path / f"{name.replace('/', '-')}.git"
        sh(tmp_path, "init", "-q", "--bare", "-b", "main", str(bare))
        sh(repo, "remote", "add", name, str(bare))
    sh(repo, "push", "-q", "origin", "main")
    sh(repo, "switch", "-q", "-c", "claude/cache")
    begun = History(repo, branch="claude/cache")
    assert begun.look() == []
    begun.commit("Work")
    assert begun.look() == ["Commit: Work"]
    return begun


def short(history: History) -> str:
    return history.head[:7]


PUSHES = {
    "plain": ("push", "-q", "origin", "claude/cache"),
    "--no-verify": ("push", "-q", "--no-verify", "origin", "claude/cache"),
    "with an upstream": ("push", "-q", "-u", "origin", "HEAD"),
    "forced": ("push", "-q", "--force-with-lease", "origin", "claude/cache"),
    "hooks switched off": ("-c", "core.hooksPath=/dev/null", "push", "-q", "origin", "claude/cache"),
}


def test_push_is_a_checkpoint(history):
    """A push that arrived is one checkpoint with branch, remote and commit, once."""
    for name, command in PUSHES.items():
        history.commit(name)
        assert history.look() == [f"Commit: {name}"]
        sh(history.root, *command)
        assert history.look() == [f"Push: claude/cache → origin {short(history)}"], name
        checkpoint = history.record.checkpoints[-1]
        assert (checkpoint.trigger, checkpoint.git_commit) == (CheckpointCause.PUSH, history.head), name
        assert history.reconciled() is history.record, name


def test_every_push_follows_its_commit(history):
    """Two commits and two pushes between looks are told in the order they happened."""
    sh(history.root, "push", "-q", "origin", "HEAD")
    history.look()
    first = history.commit("One")
    sh(history.root, "push", "-q", "origin", "HEAD")
    second = history.commit("Two")
    sh(history.root, "push", "-q", "origin", "HEAD")
    assert history.look() == [
        "Commit: One", f"Push: claude/cache → origin {first[:7]}",
        "Commit: Two", f"Push: claude/cache → origin {second[:7]}",
    ]  # fmt: skip


def test_second_remote(history):
    """Each remote is told by its own name, slashes included."""
    sh(history.root, "push", "-q", "origin", "HEAD")
    sh(history.root, "push", "-q", "team/second", "HEAD")
    assert sorted(history.look()) == [
        f"Push: claude/cache → origin {short(history)}", f"Push: claude/cache → team/second {short(history)}",
    ]  # fmt: skip
    assert history.reconciled() is history.record
    history.commit("More")
    sh(history.root, "push", "-q", "team/second", "HEAD")
    assert history.look() == ["Commit: More", f"Push: claude/cache → team/second {short(history)}"]


def test_push_to_a_branch_of_another_name(history):
    """The task's commits are followed wherever they go."""
    sh(history.root, "push", "-q", "origin", "HEAD:refs/heads/review/cache")
    assert history.look() == [f"Push: review/cache → origin {short(history)}"]
    assert history.reconciled() is history.record


def test_push_of_another_worktree_is_not_told(history, tmp_path):
    """Worktrees share the logs of their remotes; what another task pushes is its own."""
    other = tmp_path / "other"
    sh(history.root, "worktree", "add", "-q", "-b", "claude/other", str(other), "main")
    sh(other, "commit", "-q", "--allow-empty", "-m", "Other work")
    sh(other, "push", "-q", "origin", "HEAD")
    assert history.reconciled() is history.record


def test_rejected_push(history, tmp_path):
    """A push that the remote refused is none."""
    _advance_remote(tmp_path)
    with pytest.raises(subprocess.CalledProcessError):
        sh(history.root, "push", "-q", "origin", "HEAD:refs/heads/main", "HEAD:refs/heads/claude/cache", "--atomic")
    assert history.look() == []


def test_push_of_nothing(history):
    """A push that finds everything up to date is none."""
    sh(history.root, "push", "-q", "origin", "HEAD")
    history.look()
    sh(history.root, "push", "-q", "origin", "HEAD")
    assert history.reconciled() is history.record


def test_fetch(history, tmp_path):
    """What others pushed and a fetch brought is no push from here, even on the task's own branch."""
    sh(history.root, "push", "-q", "origin", "HEAD")
    history.look()
    clone = tmp_path / "clone"
    sh(tmp_path, "clone", "-q", "-b", "claude/cache", str(tmp_path / "origin.git"), str(clone))
    sh(clone, "commit", "-q", "--allow-empty", "-m", "By somebody else")
    sh(clone, "push", "-q")
    sh(history.root, "fetch", "-q", "origin")
    assert history.look() == []
    sh(history.root, "pull", "-q", "--ff-only", "origin", "claude/cache")
    assert history.look() == []


def test_pull_with_rebase(history, tmp_path):
    """A pull that makes the task's commits anew tells these, and not what it brought."""
    _advance_remote(tmp_path)
    sh(history.root, "pull", "-q", "--rebase", "origin", "main")
    assert history.look() == ["Commit: Work"]


def test_push_by_address_leaves_no_trace(history, tmp_path):
    """A push to an address instead of a remote is nowhere written down in a clone."""
    sh(history.root, "push", "-q", str(tmp_path / "origin.git"), "HEAD")
    assert history.look() == []


def test_deleted_branch(history):
    """Deleting a branch on the remote is no push of a commit; pushing it anew is told for a new commit."""
    sh(history.root, "push", "-q", "origin", "HEAD")
    history.look()
    sh(history.root, "push", "-q", "origin", ":claude/cache")
    assert history.look() == []
    history.commit("Again")
    sh(history.root, "push", "-q", "origin", "HEAD")
    assert history.look() == ["Commit: Again", f"Push: claude/cache → origin {short(history)}"]


def test_pushes_before_the_task_are_not_told(history):
    """A record that begins now knows nothing of earlier pushes."""
    sh(history.root, "push", "-q", "origin", "HEAD")
    later = History(history.root, branch="claude/cache")
    assert later.look() == []
    assert later.look() == []


def _advance_remote(tmp_path) -> None:
    clone = tmp_path / "ahead"
    sh(tmp_path, "clone", "-q", "-b", "main", str(tmp_path / "origin.git"), str(clone))
    sh(clone, "commit", "-q", "--allow-empty", "-m", "Ahead")
    sh(clone, "push", "-q")
