"""Reading reflogs that were expired, rewritten, torn, switched off or grew long."""

from pathlib import Path

import pytest
from support.history import History, sh

from agent_sync.record.machine.model import ReflogPosition
from agent_sync.record.observe.reflogs import LONGEST, EntryKind, ReflogEntry, end_of, kind_of, portion_of

A, B, C, D = (letter * 40 for letter in "abcd")
ZERO = "0" * 40
K = EntryKind


def line(old: str, new: str, message: str, time: int = 1_700_000_000) -> bytes:
    return f"{old} {new} A U Thor <a@example.invalid> {time} +0100\t{message}\n".encode()


@pytest.fixture
def history(repo) -> History:
    """Begin a task."""
    begun = History(repo)
    assert begun.look() == []
    return begun


@pytest.fixture
def log(tmp_path) -> Path:
    """Write a log of two entries."""
    file = tmp_path / "log"
    file.write_bytes(line(ZERO, A, "commit (initial): a") + line(A, B, "commit: b"))
    return file


def seen_now(log: Path, sha: str = B) -> ReflogPosition:
    end = end_of(log)
    assert end
    return end.seen(sha)


def news(log: Path, seen: ReflogPosition) -> tuple[list[str], bool]:
    portion = portion_of(log, seen)
    assert portion
    return [entry.message for entry in portion.entries], portion.is_continuous


KINDS: dict[str, EntryKind] = {
    "commit: x": K.COMMIT,
    "commit: Fast-forward": K.COMMIT,
    "commit: checkout: moving from a to b": K.COMMIT,
    "commit (amend): x": K.COMMIT,
    "commit (initial): x": K.COMMIT,
    "commit (merge): x": K.COMMIT,
    "commit (cherry-pick): x": K.COMMIT,
    "cherry-pick: x": K.COMMIT,
    "cherry-pick: fast-forward": K.MOVE,
    "revert: x": K.COMMIT,
    "am: x": K.COMMIT,
    "merge side: Merge made by the 'ort' strategy.": K.COMMIT,
    "merge side: Fast-forward": K.MOVE,
    "pull: Fast-forward": K.MOVE,
    "pull -q --ff-only: Fast-forward": K.MOVE,
    "pull origin main: Merge made by the 'ort' strategy.": K.COMMIT,
    f"pull --rebase (start): checkout {C}": K.MOVE,
    "pull --rebase (pick): x": K.COMMIT,
    "pull --rebase (finish): returning to refs/heads/main": K.MOVE,
    "rebase (start): checkout main": K.MOVE,
    "rebase (pick): x": K.COMMIT,
    "rebase -i (fixup): x": K.COMMIT,
    "rebase (squash): x": K.COMMIT,
    "rebase (reword): x": K.COMMIT,
    "rebase (continue): x": K.COMMIT,
    "rebase (finish): returning to refs/heads/main": K.MOVE,
    "rebase (abort): returning to refs/heads/main": K.MOVE,
    f"rebase (finish): refs/heads/main onto {C}": K.COMMIT,
    f"rebase (finish): refs/heads/main onto {B}": K.MOVE,
    "rebase: fast-forward": K.MOVE,
    "rebase: x": K.COMMIT,
    "rebase finished: returning to refs/heads/main": K.MOVE,
    "checkout: moving from main to commit: x": K.MOVE,
    "reset: moving to HEAD~1": K.MOVE,
    "branch: Created from HEAD": K.MOVE,
    "clone: from example": K.MOVE,
    "fetch origin: fast-forward": K.MOVE,
    "fetch: storing head": K.MOVE,
    "update by push": K.PUSH,
    "": K.UNKNOWN,
    "tool: x": K.UNKNOWN,
}


@pytest.mark.parametrize(("message", "kind"), KINDS.items(), ids=KINDS)
def test_words_of_git(message, kind):
    """Git's own words tell whether a commit was made; the subject of a commit may be any of them."""
    assert kind_of(ReflogEntry(A, B, 0, message)) is kind


def test_only_what_was_added_is_read(log):
    """Reading goes on where it ended, and a log that has not grown has no news."""
    seen = seen_now(log)
    assert news(log, seen) == ([], True)
    with log.open("ab") as file:
        file.write(line(B, C, "commit: c"))
    assert news(log, seen) == (["commit: c"], True)


def test_long_log_costs_its_tail_only(tmp_path):
    """Ten thousand old entries cost no byte more than one new entry does."""
    counters = Path("/proc/self/io")
    if not counters.exists():
        pytest.skip("this system does not count what a process reads")
    log = tmp_path / "long"
    log.write_bytes(b"".join(line(A, B, f"commit: {number}") for number in range(10_000)))
    seen = seen_now(log)
    with log.open("ab") as file:
        file.write(line(B, C, "commit: c"))
    before = _read_so_far(counters)
    assert news(log, seen) == (["commit: c"], True)
    assert log.stat().st_size > 1_000_000
    assert _read_so_far(counters) - before < 50_000


def _read_so_far(counters: Path) -> int:
    return int(counters.read_text().split()[1])


def test_torn_line_waits(log):
    """A line that is being written is read when it is whole."""
    seen = seen_now(log)
    whole = line(B, C, "commit: c")
    with log.open("ab") as file:
        file.write(whole[:70])
    assert news(log, seen) == ([], True)
    with log.open("ab") as file:
        file.write(whole[70:])
    assert news(log, seen) == (["commit: c"], True)


def test_rewritten_log_is_gone_on_with(log):
    """When older entries have expired, the line last read is found again."""
    seen = seen_now(log)
    log.write_bytes(line(A, B, "commit: b") + line(B, C, "commit: c"))
    assert news(log, seen) == (["commit: c"], True)


def test_emptied_log_that_grew(log):
    """A log whose first entry begins at the commit last seen has lost nothing that is new."""
    seen = seen_now(log)
    log.write_bytes(line(B, C, "commit: c"))
    assert news(log, seen) == (["commit: c"], True)


def test_lost_place_is_said(log):
    """A log that does not lead back to what was last seen tells all it has, and says that it may be old."""
    seen = seen_now(log)
    log.write_bytes(line(C, D, "commit: d"))
    assert news(log, seen) == (["commit: d"], False)
    log.write_bytes(b"")
    assert news(log, seen) == ([], False)


def test_same_length_other_content(log):
    """A log that was rewritten to exactly the same length is not taken for the same."""
    seen = seen_now(log)
    log.write_bytes(line(ZERO, A, "commit (initial): a") + line(A, C, "commit: b"))
    assert news(log, seen)[1] is False


def test_garbage_is_passed_over(log):
    """Lines that are no entries are no news, and bytes that are no text do no harm."""
    seen = seen_now(log)
    with log.open("ab") as file:
        file.write(b"\0\0garbage\n\n" + line(B, C, "commit: x").replace(b"x", b"\xff"))
    assert news(log, seen) == (["commit: \ufffd"], True)


def test_very_much_news_is_read_from_its_end(log):
    """More than anybody can want is read from its end, and said to be incomplete."""
    seen = seen_now(log)
    with log.open("ab") as file:
        file.write(line(B, C, "commit: " + "x" * 1000) * (LONGEST // 1000))
    messages, is_continuous = news(log, seen)
    assert not is_continuous
    assert 900 < len(messages) < LONGEST // 1000


def test_missing_log(tmp_path):
    """No log is not the same as no news."""
    assert portion_of(tmp_path / "none", ReflogPosition()) is None
    assert end_of(tmp_path / "none") is None


def test_expired_in_between(history):
    """Commits whose log entries expired before anybody looked are found by comparing."""
    history.commit("One")
    history.commit("Two")
    sh(history.root, "reflog", "expire", "--expire=all", "--all")
    assert history.look() == ["Commit: One", "Commit: Two"]
    history.commit("Three")
    assert history.look() == ["Commit: Three"]
    assert history.reconciled() is history.record


def test_expired_and_grown_again(history):
    """What is left of the log and what the commits say are told once, in order."""
    history.commit("One")
    history.look()
    history.commit("Two")
    sh(history.root, "reflog", "expire", "--expire=all", "--all")
    history.commit("Three")
    assert history.look() == ["Commit: Two", "Commit: Three"]


def test_expired_commits_are_not_told_again(history):
    """An expired log makes nobody report what was reported before."""
    for number in range(3):
        history.commit(f"Part {number}")
    assert len(history.look()) == 3
    sh(history.root, "reflog", "delete", "HEAD@{1}")
    sh(history.root, "reflog", "delete", "--rewrite", "main@{1}")
    assert history.look() == []


def test_repository_without_logs(tmp_path):
    """With logging switched off, HEAD and the remote's refs are compared with what was last seen."""
    root, bare = tmp_path / "silent", tmp_path / "remote.git"
    sh(tmp_path, "init", "-q", "--bare", "-b", "main", str(bare))
    sh(tmp_path, "init", "-q", "-b", "main", str(root))
    sh(root, "config", "core.logAllRefUpdates", "false")
    sh(root, "remote", "add", "origin", str(bare))
    history = History(root)
    history.commit("Before", "--date=2020-01-01T00:00:00Z")
    sh(root, "push", "-q", "origin", "main")
    assert history.look() == []
    history.commit("One")
    two = history.commit("Two")
    assert not (root / ".git" / "logs" / "HEAD").exists()
    assert history.look() == ["Commit: One", "Commit: Two"]
    sh(root, "push", "-q", "origin", "main")
    assert history.look() == [f"Push: main → origin {two[:7]}"]
    sh(root, "fetch", "-q", "origin")
    sh(root, "push", "-q", "origin", "main")
    assert history.reconciled() is history.record


def test_fetch_without_logs(tmp_path):
    """Without a log, what others pushed is told from a push by whose commit it is."""
    test_repository_without_logs(tmp_path)
    root, clone = tmp_path / "silent", tmp_path / "clone"
    history = History(root)
    history.look()
    sh(tmp_path, "clone", "-q", str(tmp_path / "remote.git"), str(clone))
    sh(clone, "commit", "-q", "--allow-empty", "-m", "By somebody else")
    sh(clone, "push", "-q")
    sh(root, "fetch", "-q", "origin")
    assert history.look() == []


def test_logs_switched_off_later(history):
    """A log that ends while HEAD goes on is noticed."""
    history.commit("One")
    history.look()
    sh(history.root, "config", "core.logAllRefUpdates", "false")
    (history.root / ".git" / "logs" / "HEAD").unlink()
    history.commit("Two")
    assert history.look() == ["Commit: Two"]
    assert history.reconciled() is history.record


def test_line_torn_by_a_crash(history):
    """A torn line that swallowed the next one hides no commit."""
    log = history.root / ".git" / "logs" / "HEAD"
    # On no branch, so that no second log tells the same.
    sh(history.root, "checkout", "-q", "--detach")
    history.commit("One")
    content = log.read_bytes()
    log.write_bytes(content[:-1])
    history.commit("Two")
    assert history.look() == ["Commit: One", "Commit: Two"]
    assert history.reconciled() is history.record


def test_many_commits_at_once(history):
    """Of very many commits the last ones become checkpoints: no more would be kept."""
    committer = "committer T <t@example.invalid> 1700000000 +0000"
    commits = [f"commit refs/heads/side\n{committer}\ndata 3\nc{number:02}\n" for number in range(70)]
    stream = history.root.parent / "stream"
    stream.write_text("".join(commits))
    sh(history.root, "-c", f"alias.bulk=!git fast-import --quiet < '{stream}'", "bulk")
    sh(history.root, "cherry-pick", "--allow-empty", "side~69", *(f"side~{number}" for number in range(68, -1, -1)))
    assert history.look() == [f"Commit: c{number:02}" for number in range(6, 70)]
    assert history.look() == []


OLD = {"GIT_COMMITTER_DATE": "2020-01-01T00:00:00Z"}


def unlogged(root: Path) -> None:
    """Make a repository keep no logs from now on."""
    sh(root, "config", "core.logAllRefUpdates", "false")
    for log in (root / ".git" / "logs").rglob("*"):
        if log.is_file():
            log.unlink()


def test_lost_place_tells_nothing_from_before_the_task(history):
    """Entries of a log that lost its place count only if they are of the task's time."""
    history.commit("One")
    history.look()
    lines = line(C, D, "commit: Long ago", time=1) + line(D, history.head, "checkout: moving from x to main")
    (history.root / ".git" / "logs" / "HEAD").write_bytes(lines.replace(history.head.encode(), A.encode()))
    assert history.look() == []


def test_switching_without_logs(history):
    """Without logs, commits that were there before the task are not told when they are switched to."""
    sh(history.root, "switch", "-q", "-c", "old")
    sh(history.root, "commit", "-q", "--allow-empty", "-m", "Long ago", **OLD)
    sh(history.root, "switch", "-q", "main")
    unlogged(history.root)
    assert history.look() == []
    sh(history.root, "switch", "-q", "old")
    assert history.look() == []


def test_merging_without_logs(history):
    """Without logs, a merge is one commit, whatever it brought."""
    sh(history.root, "switch", "-q", "-c", "side")
    history.commit("Side")
    sh(history.root, "switch", "-q", "main")
    history.look()
    record = history.record.model_copy(update={"checkpoints": (), "history": history.record.history[:3]})
    history.record = record
    unlogged(history.root)
    sh(history.root, "merge", "-q", "--no-ff", "-m", "Bring it in", "side")
    assert history.look() == ["Commit: Bring it in"]


def test_commit_last_seen_is_gone(history):
    """When the commit last seen is gone for good, the present one is told."""
    history.look()
    unlogged(history.root)
    lost = dict.fromkeys(history.record.reflogs, ReflogPosition(last="f" * 40))
    history.record = history.record.model_copy(update={"reflogs": lost})
    history.commit("One")
    history.commit("Two")
    assert history.look() == ["Commit: Two"]


def test_tool_that_only_moves(history):
    """Words that git does not use tell of a commit only if it was made at that moment."""
    sh(history.root, "switch", "-q", "-c", "old")
    sh(history.root, "commit", "-q", "--allow-empty", "-m", "Long ago", **OLD)
    sh(history.root, "switch", "-q", "main")
    history.record = History(history.root).record
    history.look()
    sh(history.root, "update-ref", "HEAD", "old")
    assert history.look() == []


@pytest.fixture
def pushing(history, tmp_path) -> History:
    """Give the task a remote that already has its branch."""
    sh(tmp_path, "init", "-q", "--bare", "-b", "main", str(tmp_path / "remote.git"))
    sh(history.root, "remote", "add", "origin", str(tmp_path / "remote.git"))
    sh(history.root, "push", "-q", "origin", "main")
    return history


def test_push_whose_log_expired(pushing):
    """A push whose log entry expired before anybody looked is found by comparing."""
    pushing.look()
    head = pushing.commit("One")
    sh(pushing.root, "push", "-q", "origin", "main")
    sh(pushing.root, "reflog", "expire", "--expire=all", "--all")
    assert pushing.look() == ["Commit: One", f"Push: main → origin {head[:7]}"]
    assert pushing.reconciled() is pushing.record


def test_push_without_logs_of_earlier_work(pushing):
    """Without logs, what is checked out here and arrived at the remote was pushed, whoever made it."""
    head = pushing.commit("Before the task")
    unlogged(pushing.root)
    task = History(pushing.root)
    assert task.look() == []
    sh(pushing.root, "push", "-q", "origin", "main")
    assert task.look() == [f"Push: main → origin {head[:7]}"]


def test_switching_to_a_branch_pushed_before(pushing):
    """A task without a branch of its own tells no earlier push of a branch it switches to."""
    pushing.look()
    sh(pushing.root, "switch", "-q", "-c", "old")
    sh(pushing.root, "push", "-q", "origin", "old", **OLD)
    assert pushing.look() == []
