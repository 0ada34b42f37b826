"""Commits become checkpoints, however they were made."""

import subprocess

import pytest
from support.history import History, sh

from agent_sync.record.machine.machine import with_move
from agent_sync.record.machine.states import CheckpointCause, RecordMove
from agent_sync.record.receipts.integrity import broken_at
from agent_sync.settings import Settings
from agent_sync.settings.tables import RecordSettings


@pytest.fixture
def history(repo) -> History:
    """Begin a task in a repository that has some past."""
    begun = History(repo)
    begun.commit("Before the task")
    assert begun.look() == []
    return begun


def _plain(history):
    sh(history.root, "commit", "-q", "--allow-empty", "-m", "Work")


def _from_elsewhere(history):
    sh(history.root.parent, "-C", str(history.root), "commit", "-q", "--allow-empty", "-m", "Work")


def _alias(history):
    sh(history.root, "-c", "alias.save=commit -q --allow-empty -m", "save", "Work")


def _script(history):
    script = history.root.parent / "save.sh"
    script.write_text("cd repo && true; git commit -q --allow-empty -m Work && echo done\n")
    subprocess.run(["sh", str(script)], cwd=history.root.parent, check=True, capture_output=True)


def _no_verify(history):
    hook = history.root / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)
    sh(history.root, "commit", "-q", "--no-verify", "--allow-empty", "-m", "Work")


def _without_hooks(history):
    sh(history.root, "-c", "core.hooksPath=/dev/null", "commit", "-q", "--allow-empty", "-m", "Work")


def _detached(history):
    sh(history.root, "checkout", "-q", "--detach")
    sh(history.root, "commit", "-q", "--allow-empty", "-m", "Work")


def _by_plumbing(history):
    made = sh(history.root, "commit-tree", "-m", "Work", "-p", "HEAD", "HEAD^{tree}")
    sh(history.root, "update-ref", "HEAD", made)


def _by_a_tool(history):
    sh(history.root, "commit", "-q", "--allow-empty", "-m", "Work", GIT_REFLOG_ACTION="tool")


WAYS = {
    "plain": _plain,
    "git -C": _from_elsewhere,
    "alias": _alias,
    "script": _script,
    "--no-verify": _no_verify,
    "hooks switched off": _without_hooks,
    "detached HEAD": _detached,
    "plumbing": _by_plumbing,
    "a tool with words of its own": _by_a_tool,
}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_every_commit_is_a_checkpoint(history, way):
    """Whatever made it, a commit is one checkpoint with its subject and its hash, once."""
    way(history)
    assert history.look() == ["Commit: Work"]
    checkpoint = history.record.checkpoints[-1]
    assert (checkpoint.trigger, checkpoint.git_commit) == (CheckpointCause.COMMIT, history.head)
    assert checkpoint.git_branch == ("" if way is _detached else "main")
    assert history.record.current_step.current_checkpoint_id == checkpoint.checkpoint_id
    assert history.look() == []


def test_reconciling_again_changes_nothing(history):
    """A second look returns the very same record, and the chain of events is whole."""
    history.commit("One")
    history.look()
    assert history.reconciled() is history.record
    assert broken_at(history.record, []) is None


def test_amend_is_a_commit(history):
    """An amended commit is another commit; the one it replaced stays in the record."""
    history.commit("One")
    history.look()
    sh(history.root, "commit", "-q", "--amend", "-m", "One, better")
    assert history.look() == ["Commit: One, better"]


def test_amended_between_two_looks(history):
    """A commit that was replaced before anybody looked is told from the log."""
    history.commit("One")
    sh(history.root, "commit", "-q", "--amend", "-m", "Two")
    sh(history.root, "reset", "-q", "--hard", "HEAD~1")
    assert history.look() == ["Commit: One", "Commit: Two"]


def test_rebase_of_five_commits(history):
    """Every commit that a rebase makes anew is told, and nothing of what it was put on."""
    sh(history.root, "switch", "-q", "-c", "work")
    for number in range(5):
        history.commit(f"Part {number}")
    history.look()
    sh(history.root, "switch", "-q", "main")
    history.commit("Meanwhile")
    assert history.look() == ["Commit: Meanwhile"]
    sh(history.root, "switch", "-q", "work")
    sh(history.root, "rebase", "-q", "main")
    assert history.look() == [f"Commit: Part {number}" for number in range(5)]
    assert history.record.checkpoints[-1].git_commit == history.head


def test_merge_cherry_pick_revert_and_am(history):
    """Every order that makes a commit counts; a fast-forward makes none."""
    sh(history.root, "switch", "-q", "-c", "side")
    side = history.commit("Side")
    sh(history.root, "switch", "-q", "-c", "copy", "main")
    history.commit("Main")
    history.look()
    sh(history.root, "merge", "-q", "-m", "Bring side in", "side")
    sh(history.root, "revert", "--no-edit", "-m", "1", "HEAD")
    assert history.look() == ["Commit: Bring side in", 'Commit: Revert "Bring side in"']
    sh(history.root, "switch", "-q", "-c", "pick", "main")
    sh(history.root, "cherry-pick", side, GIT_COMMITTER_NAME="Another")
    assert history.look() == ["Commit: Side"]
    patch = sh(history.root, "format-patch", "-1", "--stdout", "copy~2")
    (history.root.parent / "patch").write_text(patch + "\n")
    sh(history.root, "am", "-q", "--committer-date-is-author-date", str(history.root.parent / "patch"))
    assert len(history.look()) == 1
    sh(history.root, "switch", "-q", "main")
    sh(history.root, "merge", "-q", "--ff-only", "pick")
    assert history.look() == []


def test_moves_are_no_commits(history):
    """Switching, resetting and stashing lead to commits that were there already."""
    history.commit("One")
    history.look()
    sh(history.root, "switch", "-q", "-c", "other", "HEAD~1")
    sh(history.root, "switch", "-q", "main")
    sh(history.root, "reset", "-q", "--hard", "HEAD~1")
    sh(history.root, "reset", "-q", "--hard", "main@{1}")
    (history.root / "One.txt").write_text("changed")
    sh(history.root, "stash", "-q")
    sh(history.root, "stash", "pop", "-q")
    assert history.look() == []


def test_commit_from_another_worktree(repo, tmp_path):
    """The task's branch may grow in another worktree; what other branches do there is not its business."""
    sh(repo, "branch", "work")
    sh(repo, "switch", "-q", "work")
    history = History(repo, branch="work")
    history.look()
    other = tmp_path / "other"
    sh(repo, "worktree", "add", "-q", "--detach", str(other))
    sh(other, "commit", "-q", "--allow-empty", "-m", "Elsewhere")
    assert history.look() == []
    sh(other, "checkout", "-q", "--ignore-other-worktrees", "work")
    sh(other, "commit", "-q", "--allow-empty", "-m", "On the branch")
    assert history.look() == ["Commit: On the branch"]
    assert history.look() == []


def test_linked_worktree_has_its_own_head(repo, tmp_path):
    """A task in a linked worktree sees its own commits and not those of the main one."""
    root = tmp_path / "linked"
    sh(repo, "worktree", "add", "-q", "-b", "work", str(root))
    history = History(root, branch="work")
    history.look()
    sh(repo, "commit", "-q", "--allow-empty", "-m", "In the main worktree")
    history.commit("Here")
    assert history.look() == ["Commit: Here"]


def test_first_commit_of_a_repository(tmp_path):
    """A task may begin before there is any commit."""
    root = tmp_path / "new"
    root.mkdir()
    sh(root, "init", "-q", "-b", "main")
    history = History(root)
    assert history.look() == []
    history.commit("First")
    assert history.look() == ["Commit: First"]


def test_subjects_that_are_no_text(history):
    """A subject that is no UTF-8, with a token or with control characters becomes one harmless line."""
    for subject in (b"caf\xe9 \xff!", b"see \x1b[31mred", b"use ghp_0123456789abcdef0123"):
        _commit_bytes(history, subject)
    assert history.look() == ["Commit: caf !", "Commit: see [31mred", "Commit: use ***"]
    assert history.record.model_dump_json()
    assert broken_at(history.record, []) is None


def _commit_bytes(history, subject: bytes) -> None:
    """Make a commit out of bytes that `git commit` itself would have put right."""
    who = b"Tester <tester@example.invalid> %d +0000" % history.now.timestamp()
    content = b"tree %b\nparent %b\nauthor %b\ncommitter %b\n\n%b\n" % (
        sh(history.root, "rev-parse", "HEAD^{tree}").encode(), history.head.encode(), who, who, subject,
    )  # fmt: skip
    made = subprocess.run(
        ["git", "hash-object", "-t", "commit", "-w", "--stdin"], cwd=history.root, input=content, check=True,
        capture_output=True,
    )  # fmt: skip
    sh(history.root, "update-ref", "-m", "commit: as bytes", "HEAD", made.stdout.decode().strip())


def test_settings_say_which_are_wanted(history):
    """What is switched off makes no checkpoint, and is not made up for when it is switched on again."""
    history.settings = Settings(record=RecordSettings(on_commit=False))
    history.commit("One")
    assert history.look() == []
    history.settings = Settings()
    history.commit("Two")
    assert history.look() == ["Commit: Two"]


def test_interval_checkpoint(history):
    """A step that runs without any checkpoint for too long gets one at the next look, and one only."""
    assert history.look(later=299) == []
    assert len(history.look(later=1)) == 1
    assert history.record.checkpoints[-1].trigger is CheckpointCause.INTERVAL
    assert history.look(later=299) == []
    history.commit("One")
    assert history.look(later=1) == ["Commit: One"]


def test_finished_task_is_left_alone(history):
    """Nothing is added to a record that has ended."""
    history.record = with_move(history.record, RecordMove.ABANDON, history.now)
    history.commit("After the end")
    assert history.reconciled() is history.record
