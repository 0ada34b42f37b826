import pytest

from agent_sync.task.decision.actions import Notice
from agent_sync.task.outbox import REMEMBERED, Readers, unread

BOTH = Readers(human=True, agent=True)
HUMAN = Readers(human=True, agent=False)
NOTICE = Notice("pr:1", "PR #1 created", for_agent=True)


@pytest.fixture
def outbox(workshop):
    return workshop.context.outbox


def test_said_once_per_id(outbox):
    """The same notice is not put in twice, not even after it was read."""
    outbox.add([NOTICE, NOTICE])
    outbox.mark(outbox.waiting(), BOTH)
    outbox.add([NOTICE])
    assert unread(outbox.waiting(), BOTH) == ((), ())


def test_each_reader_reads_once(outbox):
    """What the human has read still waits for the agent."""
    outbox.add([NOTICE])
    assert unread(outbox.waiting(), HUMAN) == (("PR #1 created",), ())
    outbox.mark(outbox.waiting(), HUMAN)
    assert unread(outbox.waiting(), BOTH) == ((), ("PR #1 created",))
    outbox.mark(outbox.waiting(), BOTH)
    assert outbox.waiting() == ()


def test_kept_until_marked(outbox, workshop):
    """A notice that was not marked as read is there for the next process."""
    outbox.add([NOTICE])
    assert unread(outbox.waiting(), BOTH) == unread(workshop.new_context().outbox.waiting(), BOTH) != ((), ())


def test_damaged_file_is_as_good_as_empty(outbox):
    """A damaged outbox costs a repeated sentence at most."""
    outbox.add([NOTICE])
    for damage in (b"{", b"[]", b'{"waiting": [{"x": 1}]}', b'{"waiting": 3}'):
        outbox._file.write_bytes(damage)
        assert outbox.waiting() == ()
    outbox.add([NOTICE])
    assert len(outbox.waiting()) == 1


def test_memory_is_bounded(outbox):
    """Old ids are forgotten, so that the file does not grow for ever."""
    outbox.add(Notice(f"n{number}", "x") for number in range(REMEMBERED + 5))
    assert len(outbox.told()) == REMEMBERED


def test_waking_notices_go_alone(outbox):
    """What wakes the agent is taken out; the rest waits."""
    wakes = Notice("ci", "CI failed", for_agent=True, wakes=True)
    outbox.add([NOTICE, wakes])
    assert outbox.waking() == (wakes,)
    outbox.mark_woken((wakes,))
    assert outbox.waiting() == (NOTICE,)


def test_what_comes_in_while_printing_still_waits(outbox):
    """Only what was printed is forgotten."""
    outbox.add([NOTICE])
    read = outbox.waiting()
    outbox.add([Notice("later", "later")])
    outbox.mark(read, BOTH)
    assert [notice.id for notice in outbox.waiting()] == ["later"]


def test_forgotten_kinds_are_news_again(outbox):
    """After a new handoff an old refusal may be said once more."""
    outbox.add([NOTICE])
    outbox.mark(outbox.waiting(), BOTH)
    outbox.forget(("pr:",))
    outbox.add([NOTICE])
    assert outbox.waiting() == (NOTICE,)
