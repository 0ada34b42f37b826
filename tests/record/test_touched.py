"""Which files a step touched, how the tree stands, and how files lie on disk."""

import hashlib
import os
from datetime import UTC, datetime

import pytest
from support.history import History, sh

from agent_sync.errors import GitFailed
from agent_sync.record.observe import checkpoints as limits
from agent_sync.record.observe.checkpoints import (
    branch_checkpoint,
    files_touched,
    quoted_path,
    snapshots,
    unquoted_path,
    working_tree_state,
)
from agent_sync.system.git import Git
from agent_sync.system.processes import Processes


@pytest.fixture
def history(repo) -> History:
    """Begin a task in a repository with two files."""
    begun = History(repo)
    begun.commit("Old", name="old.py")
    begun.commit("Gone", name="gone.py")
    return begun


def test_everything_since_the_step_began(history):
    """Committed, staged, changed, deleted, renamed and untracked files count; our own do not."""
    base, root = history.head, history.root
    history.commit("One", name="one.py")
    (root / "one.py").rename(root / "moved to.py")
    sh(root, "add", "-A")
    (root / "gone.py").unlink()
    (root / "new dir").mkdir()
    (root / "new dir" / "2 new.py").write_text("x")
    (root / ".forge").mkdir()
    for name in (".agent-claim.json", ".agent-claim.json.5.tmp", ".forge/view.json"):
        (root / name).write_text("{}")
    assert files_touched(history.git, base) == ("gone.py", "moved to.py", "new dir/2 new.py", "one.py")
    assert files_touched(history.git, "") == ("gone.py", "moved to.py", "new dir/2 new.py", "one.py")


def test_own_files_that_are_committed_do_not_count(history):
    """A claim file that somebody committed is not the work either."""
    base = history.head
    history.commit("Claim", name=".agent-claim.json")
    assert files_touched(history.git, base) == ()


def test_commits_that_are_on_the_branch(history):
    """The newest comes first, in one harmless line each; of very many the last ones are named, and that there are more."""
    base = history.head
    assert branch_checkpoint(history.git, base) == ()
    history.commit("One", name="one.py")
    (found,) = branch_checkpoint(history.git, base)
    assert (found.trigger, found.commit) == ("git_commit", history.head)
    assert found.description == "1 commit found on the branch, the last: One"
    assert found.artifacts == (f"{history.head[:7]} One",)
    secret = "ghp_" + "a1" * 18
    for number in range(limits.MOST_COMMITS_FOUND):
        sh(history.root, "commit", "-q", "--allow-empty", "-m", f"Use {secret}\r {number}")
    (found,) = branch_checkpoint(history.git, base)
    assert found.description.startswith("50 or more commits found on the branch, the last: Use")
    assert (len(found.artifacts), found.artifacts[0][:7]) == (limits.MOST_COMMITS_FOUND, history.head[:7])
    assert not [line for line in found.artifacts if secret in line or not line.isprintable()]


@pytest.mark.parametrize("base", ["f" * 40, "--output=evil", "HEAD~9"])
def test_base_that_says_nothing(history, base):
    """A base that is gone or no commit at all leaves what is uncommitted, and can be no option of git."""
    (history.root / "new.py").write_text("x")
    assert files_touched(history.git, base) == ("new.py",)
    assert not (history.root / "evil").exists()


def test_list_is_bounded(history):
    """Of very many files the first ones are told."""
    for number in range(limits.MOST_FILES_TOUCHED + 5):
        (history.root / f"{number:04}").touch()
    assert files_touched(history.git, "") == tuple(f"{number:04}" for number in range(limits.MOST_FILES_TOUCHED))


def test_names_that_are_no_text(history):
    """A name that JSON cannot hold is quoted as git quotes it, and its file is found by that."""
    for name in (b"caf\xe9", b"two\nlines", b'"said"', "grün".encode()):
        with open(os.path.join(os.fsencode(history.root), name), "wb") as file:  # noqa: PTH118, PTH123
            file.write(b"x")
    names = files_touched(history.git, "")
    assert names == ('"\\042said\\042"', '"caf\\351"', '"two\\012lines"', "grün")
    assert [lie.exists for lie in snapshots(str(history.root), names)] == [True] * 4


@pytest.mark.parametrize("name", ["plain.py", "with space", '"', '"x', 'a"b', "a\\b", "\udce9\\351", "\t", ""])
def test_quoting_can_be_undone(name):
    """Whatever was shown is what is meant."""
    assert unquoted_path(quoted_path(name)) == name
    assert quoted_path(name).encode() or not name


def test_state_of_the_tree(history):
    """Branch, commit, changes and tree are told; a claim file is no change."""
    head, tree = history.head, sh(history.root, "rev-parse", "HEAD^{tree}")
    (history.root / ".agent-claim.json").write_text("{}")
    state = working_tree_state(history.git)
    assert (state.branch, state.head, state.dirty, state.tree) == ("main", head, False, tree)
    sh(history.root, "checkout", "-q", "--detach")
    (history.root / "new.py").write_text("x")
    state = working_tree_state(history.git)
    assert (state.branch, state.head, state.dirty) == ("", head, True)


def test_state_before_the_first_commit(tmp_path):
    """A repository without any commit has a branch and nothing else."""
    sh(tmp_path, "init", "-q", "-b", "main")
    state = working_tree_state(Git(str(tmp_path), Processes(), os.environ))
    assert (state.branch, state.head, state.dirty, state.tree) == ("main", "", False, "")


def test_no_repository_is_trouble(tmp_path):
    """A tree that cannot be looked at is not a clean one."""
    with pytest.raises(GitFailed):
        working_tree_state(Git(str(tmp_path), Processes(), os.environ))


def test_how_files_lie(tmp_path):
    """Size, time and the beginning of the hash; what is gone, a link, a pipe or outside is told as that."""
    (tmp_path / "a").write_bytes(b"abc")
    os.utime(tmp_path / "a", (1_700_000_000.9, 1_700_000_000.9))
    (tmp_path / "link").symlink_to("/dev/zero")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path.parent / "outside").write_text("x")
    found = {
        lie.path: lie for lie in snapshots(str(tmp_path), ("a", "link", "pipe", "none", "../outside", "/etc", "\0"))
    }
    assert found["a"].model_dump() == {
        "path": "a",
        "size": 3,
        "mod_time": datetime.fromtimestamp(1_700_000_000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "sha256": hashlib.sha256(b"abc").hexdigest()[:16],
        "exists": True,
    }
    assert found["link"].sha256 == hashlib.sha256(b"/dev/zero").hexdigest()[:16]
    assert (found["pipe"].exists, found["pipe"].sha256) == (True, "")
    assert [found[name].exists for name in ("none", "../outside", "/etc", "\0")] == [False] * 4


def test_large_and_many_files(tmp_path):
    """A file beyond the limit has no hash, and no more files than the limit are looked at."""
    for name, size in (("large", limits.LARGEST_HASHED + 1), ("fits", limits.LARGEST_HASHED)):
        with (tmp_path / name).open("wb") as file:
            file.truncate(size)
    large, fits = snapshots(str(tmp_path), ("large", "fits"))
    assert (large.size, large.sha256, large.mod_time != "") == (limits.LARGEST_HASHED + 1, "", True)
    assert len(fits.sha256) == 16
    assert len(snapshots(str(tmp_path), (str(number) for number in range(99)))) == limits.MOST_SNAPSHOTS


def test_checkpoint_tells_the_files(history):
    """A checkpoint tells how the files of its step lie; of several at once only the last one does."""
    history.look()
    step = history.record.current_step
    history.record = history.record.model_copy(
        update={"current_step": step.model_copy(update={"base_commit": history.head})}
    )
    history.commit("One", name="one.py")
    history.commit("Two", name="two.py")
    (history.root / "three.py").write_text("x")
    assert history.look() == ["Commit: One", "Commit: Two"]
    first, second = history.record.checkpoints
    assert history.record.current_step.files_touched == ("one.py", "three.py", "two.py")
    assert [lie.path for lie in second.files_snapshot] == ["one.py", "three.py", "two.py"]
    assert (first.files_snapshot, first.git_dirty, second.git_dirty) == ((), True, True)
