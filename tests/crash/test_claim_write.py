"""Kills a claim write at every system call it makes, and fails every call it can fail."""

from pathlib import Path

import pytest
from support.claims import claim
from support.prove import PROVE
from support.traced import TracedWriter, points

from agent_sync.task.claim.phases import Phase
from agent_sync.task.claim.store import ClaimStore
from agent_sync.worktree import worktree

WRITER = Path(__file__).with_name("claim_writer.py")
FAILURES = [
    ("write", "ENOSPC"),
    ("write", "EIO"),
    ("fsync", "EIO"),
    ("fsync", "ENOSPC"),
    ("rename", "EIO"),
    ("openat", "EACCES"),
    ("openat", "ENOSPC"),
    ("flock", "EIO"),
]


@pytest.fixture
def writer(repo):
    """Set up a repository and a process that writes claims in it."""
    one = TracedWriter(WRITER, str(repo), "handoff", trace=repo / "trace")
    yield one
    one.end()


def start_over(store):
    """Put the old claim back, as a first write would have left it."""
    store.file.unlink(missing_ok=True)
    with store.locked() as token:
        store.create(token, claim())


def check(store, old, new):
    """The file is the whole old or the whole new one, and the next write succeeds and leaves no litter."""
    content = store.file.read_bytes()
    assert content in {old, new}
    with store.locked() as token:
        seen = store.read()
        store.save(token, seen=seen, changed=seen.model_copy(update={"phase": Phase.DONE}))
    assert store.read().phase is Phase.DONE
    assert list(store.file.parent.glob(".agent-claim.json.*")) == []
    return content == new


def test_kill_at_any_system_call_leaves_old_or_new(repo, writer, record_property):
    """Wherever a write is killed, the file is the complete old or the complete new one."""
    store = ClaimStore(worktree(str(repo)), lambda: False)
    start_over(store)
    old = store.file.read_bytes()
    every = points(writer.write())
    new = store.file.read_bytes()
    assert old != new
    tried = every if PROVE else every[::14] + [point for point in every if point[0] in {"rename", "fsync"}]
    outcomes = {True: 0, False: 0}
    for name, number in tried:
        start_over(store)
        writer.write("-e", f"inject={name}:signal=SIGKILL:when={number}")
        outcomes[check(store, old, new)] += 1
    kept = f"{outcomes[False]} old, {outcomes[True]} new, 0 torn"
    record_property("counted", f"killed a claim write at {len(tried)} of {len(every)} system calls: {kept}")
    assert outcomes[False]
    assert outcomes[True]


def test_failing_call_leaves_old_or_new(repo, writer):
    """A disk that is full or broken costs the write, never the file."""
    store = ClaimStore(worktree(str(repo)), lambda: False)
    start_over(store)
    old = store.file.read_bytes()
    calls = writer.write()
    new = store.file.read_bytes()
    for call, error in FAILURES:
        for number in range(1, calls.count(call) + 1) if PROVE else {1, calls.count(call)}:
            start_over(store)
            writer.write("-e", f"inject={call}:error={error}:when={number}")
            check(store, old, new)


def test_kill_may_lose_consent_and_never_invents_it(repo):
    """Wherever `done --yes` is killed, consent counts only once the copy in the git directory holds it."""
    store = ClaimStore(worktree(str(repo)), lambda: False)
    start_over(store)
    writer = TracedWriter(WRITER, str(repo), "consent", trace=repo / "trace")
    every = points(writer.write())
    assert store.read().close_unmerged
    between = 0
    for name, number in every if PROVE else [point for point in every if point[0] in {"rename", "fsync"}]:
        start_over(store)
        writer.write("-e", f"inject={name}:signal=SIGKILL:when={number}")
        in_file, in_copy = (b"close_unmerged" in file.read_bytes() for file in (store.file, store._base))
        assert store.read().close_unmerged == in_copy
        assert in_file or not in_copy
        between += in_file and not in_copy
    writer.end()
    assert between
