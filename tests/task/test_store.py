import json
import os
import threading

import pytest
from support.claims import claim

from agent_sync.errors import BadClaim, ClaimGone, ClaimTooNew, ClaimUnsafe, LockHeld, WrongState
from agent_sync.system import files
from agent_sync.task.claim.phases import Phase
from agent_sync.task.claim.store import ClaimStore


@pytest.fixture
def store(workshop):
    return workshop.context.store


def save(store, seen, **changes):
    with store.locked() as token:
        return store.save(token, seen=seen, changed=seen.model_copy(update=changes))


def create(store, one):
    with store.locked() as token:
        store.create(token, one)


def delete(store, expected):
    with store.locked() as token:
        store.delete(token, expected)


def edit(store, **changes):
    """Do what an editor does: no lock, the whole file."""
    values = json.loads(store.file.read_text()) | changes
    store.file.write_text(json.dumps(values))


def test_no_file_is_no_claim(store):
    """Without a file there is no claim and no error."""
    assert store.read() is None


def test_what_is_written_is_read(store):
    """A claim comes back as it was written, and no temporary file stays."""
    create(store, claim())
    assert claim() == store.read()
    assert [path.name for path in store.file.parent.glob(".agent-claim*")] == [".agent-claim.json"]


def test_a_claim_is_never_overwritten_by_another(store):
    """Creating where a claim is held is refused."""
    create(store, claim())
    with pytest.raises(WrongState, match="already there"):
        create(store, claim(issue_number=43))
    assert store.read().issue_number == 42


def test_edit_during_a_hook_loses_neither_side(store):
    """An edit between a hook's read and its write is kept beside the hook's own change."""
    create(store, claim())
    seen = store.read()
    edit(store, summary="written meanwhile", mine=1)
    result = save(store, seen, status="In Review")
    assert (result.summary, result.status, result.model_extra["mine"]) == ("written meanwhile", "In Review", 1)
    assert result == store.read()


def test_stale_content_written_back_keeps_the_pull_request(store):
    """An editor that writes back what it loaded before the PR was opened does not make the PR vanish."""
    create(store, claim(Phase.READY_FOR_PR))
    old = store.file.read_text()
    seen = store.read()
    save(store, seen, phase=Phase.PR_CREATED, pr_number=107, status="In Review", last_synced_status="In Review")
    store.file.write_text(old)
    now = store.read()
    assert (now.pr_number, now.last_synced_status, now.status) == (107, "In Review", "In Progress")


def test_done_written_during_a_poll_is_kept(store):
    """The agent's `done` is not overwritten by a poll that began before it."""
    create(store, claim(Phase.PR_CREATED, pr_number=107))
    seen = store.read()
    edit(store, phase="done")
    assert save(store, seen, phase=Phase.CHECKS_RUNNING).phase == Phase.DONE


def test_another_task_written_over_it_is_not_merged(store):
    """A hand-written file for another issue replaces the old claim whole; the old run's result is not put into it."""
    create(store, claim(pr_number=107))
    seen = store.read()
    edit(store, issue_number=43, pr_number=None)
    assert store.read().pr_number is None
    with pytest.raises(ClaimGone):
        save(store, seen, phase=Phase.DONE)


def test_deleted_claim_is_not_brought_back(store):
    """A file that was deleted while a hook ran stays deleted."""
    create(store, claim())
    seen = store.read()
    store.file.unlink()
    with pytest.raises(ClaimGone):
        save(store, seen, phase=Phase.DONE)
    assert not store.file.exists()


@pytest.mark.parametrize("content", [b"{", b"\x00\x01", b'{"schema_version":2,"new":true}', b'{"phase":"x"}'])
def test_unusable_file_is_kept_byte_for_byte(store, content):
    """A file that cannot be used is reported and left exactly as it is."""
    store.file.write_bytes(content)
    with pytest.raises((BadClaim, ClaimTooNew)):
        store.read()
    with pytest.raises(WrongState):
        create(store, claim())
    assert content == store.file.read_bytes()


def test_half_written_file_is_looked_at_again(store):
    """A reader that catches an editor between truncating and writing waits a moment instead of complaining."""
    store.file.write_bytes(b"")
    writer = threading.Timer(0.02, lambda: store.file.write_bytes(claim().to_json()))
    writer.start()
    assert claim() == store.read()
    writer.join()


def test_symbolic_link_is_refused(store, tmp_path):
    """A link is refused, whatever it points at."""
    target = tmp_path / "elsewhere.json"
    target.write_bytes(claim().to_json())
    store.file.symlink_to(target)
    with pytest.raises(ClaimUnsafe, match="symbolic link"):
        store.read()


def test_pipe_is_refused_at_once(store):
    """A named pipe is refused without waiting for a writer."""
    os.mkfifo(store.file)
    with pytest.raises(ClaimUnsafe, match="not a plain file"):
        store.read()


def test_huge_file_is_refused(store):
    """A file that no claim can be is not read whole."""
    store.file.write_bytes(b" " * (files.LARGEST + 1))
    with pytest.raises(ClaimUnsafe, match="larger than"):
        store.read()


@pytest.mark.skipif(os.geteuid() != 0, reason="giving a file away needs root")
def test_foreign_owned_file_is_refused(store):
    """A file that belongs to someone else is refused."""
    store.file.write_bytes(claim().to_json())
    os.chown(store.file, 65534, 65534)
    with pytest.raises(ClaimUnsafe, match="belongs to user 65534"):
        store.read()


def test_write_needs_the_lock(store):
    """A token that was let go, or that of another lock, opens nothing."""
    with store.locked() as token:
        pass
    with pytest.raises(AssertionError, match="must be locked"):
        store.create(token, claim())


def test_lock_excludes_another_holder(store):
    """While one process writes, another waits, and says whom it waited for when it gives up."""
    with store.locked() as token:
        second = files.locked(token.path, wait=0.05, doing="testing")
        with pytest.raises(LockHeld, match=r"claim\.lock"):
            second.__enter__()


def test_left_over_temporary_is_swept(store):
    """What a killed writer left is gone after the next write."""
    left = store.file.with_name(".agent-claim.json.999.tmp")
    left.write_text("half")
    create(store, claim())
    assert not left.exists()


def test_damaged_copy_is_as_good_as_none(store):
    """The copy in the git directory may be lost or damaged: the file alone is enough."""
    create(store, claim())
    store._base.write_bytes(b"\x00")
    assert claim() == store.read()


def test_delete_keeps_another_task(store):
    """Closing one task does not delete the file of another that was written meanwhile."""
    create(store, claim())
    seen = store.read()
    edit(store, issue_number=43)
    with store.locked() as token, pytest.raises(ClaimGone):
        store.delete(token, seen)
    assert store.read().issue_number == 43


def test_half_a_character_is_written_escaped(store):
    """A cut emoji in a text does not keep the claim from being saved."""
    create(store, claim(summary="cut \ud83d", mine="\udcff"))
    assert store.read().summary == "cut \ud83d"


class Answers:
    """Git as the store asks it: one answer for as long as nobody changes it."""

    def __init__(self, answer):
        self.answer = answer
        self.times = 0

    def __call__(self):
        """Answer once more."""
        self.times += 1
        return self.answer


@pytest.fixture
def asked():
    return Answers(answer=False)


@pytest.fixture
def asking(workshop, asked):
    return ClaimStore(workshop.context.place, asked)


def test_git_is_asked_once_about_one_file(asking, asked):
    """Without a file git is not asked; about one that stays as it is, or that we write, it is asked once."""
    assert (asking.read(), asked.times) == (None, 0)
    asking.file.write_bytes(claim().to_json())
    seen = asking.read()
    asking.read()
    save(asking, seen, status="In Review")
    asking.read()
    assert asked.times == 1
    edit(asking, summary="by hand")
    asking.read()
    assert asked.times == 2


def test_tracked_file_is_refused_byte_for_byte(asking, asked):
    """A file that git has is neither read, nor written, nor deleted, nor made."""
    asked.answer = True
    with pytest.raises(ClaimUnsafe, match="git tracks it"):
        create(asking, claim())
    assert not asking.file.exists()
    content = claim(Phase.DONE).to_json()
    asking.file.write_bytes(content)
    for attempt in (asking.read, lambda: save(asking, claim(), phase=Phase.DONE), lambda: delete(asking, claim())):
        with pytest.raises(ClaimUnsafe, match="git tracks it"):
            attempt()
    assert (asking.file.read_bytes(), asked.times) == (content, 2)


def test_file_that_appears_during_a_checkout_waits_for_its_end(asking, asked, workshop):
    """While git holds its index a file that we did not write may be half of a checkout; what we wrote is not."""
    lock = workshop.root / ".git" / "index.lock"
    create(asking, claim())
    lock.touch()
    assert ClaimStore(workshop.context.place, asked).read() == claim()
    edit(asking, phase="done")
    with pytest.raises(BadClaim, match="git is changing files here"):
        asking.read()
    lock.unlink()
    assert asking.read().phase is Phase.DONE


def test_consent_counts_as_it_was_recorded(store):
    """What a command has written down is read back; what stands in the file alone is not."""
    create(store, claim())
    edit(store, phase="done", close_unmerged=True)
    seen = store.read()
    assert (seen.phase, seen.close_unmerged) == (Phase.DONE, False)
    consented = save(store, seen, close_unmerged=True)
    assert consented.close_unmerged
    edit(store, close_unmerged=False)
    assert store.read().close_unmerged


def test_hand_written_claim_has_no_consent(store):
    """A file without a copy, or about another task than the copy, never says that an issue may be closed unmerged."""
    store.file.write_bytes(claim(Phase.DONE, close_unmerged=True).to_json())
    assert not store.read().close_unmerged
    store.file.unlink()
    create(store, claim(Phase.DONE, close_unmerged=True))
    edit(store, agent_id="another")
    assert not store.read().close_unmerged


def test_consent_ends_with_its_phase(store):
    """Once the claim was written in another phase, a later `done` needs a new word."""
    create(store, claim(Phase.DONE, close_unmerged=True))
    edit(store, phase="coding")
    save(store, store.read(), status="In Review")
    edit(store, phase="done")
    assert not store.read().close_unmerged
