from dataclasses import replace

import pytest

from agent_sync.task.decision.notice import Notice
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
    assert len(outbox.known_ids()) == REMEMBERED


def test_waking_notices_go_alone(outbox):
    """What the agent was woken with still waits for the human; the rest waits as it was."""
    wakes = Notice("ci", "CI failed", for_agent=True, wakes=True)
    outbox.add([NOTICE, wakes])
    assert outbox.waking() == (wakes,)
    outbox.mark_woken((wakes,))
    assert outbox.waking() == ()
    assert outbox.waiting() == (NOTICE, replace(wakes, for_agent=False))


def test_agent_is_told_at_a_stop_what_cannot_wait(outbox):
    """What is not worth a turn stays for the next prompt; the human reads it at once."""
    outbox.add([Notice("closed", "Issue closed", for_agent=True, can_wait=True)])
    stop, prompt = Readers(human=True, agent=True, patient=False), BOTH
    assert unread(outbox.waiting(), stop) == (("Issue closed",), ())
    outbox.mark(outbox.waiting(), stop)
    assert unread(outbox.waiting(), prompt) == ((), ("Issue closed",))


def test_agent_reads_its_own_words(outbox):
    """Where the agent has a next step, it reads that instead."""
    outbox.add([Notice("ci", "CI failed", for_agent=True, agent_text="CI failed. Fix it.")])
    assert unread(outbox.waiting(), BOTH) == (("CI failed",), ("CI failed. Fix it.",))


def test_notice_without_reader_is_only_remembered(outbox):
    """What nobody reads does not wait, and is known."""
    outbox.add([Notice("ci", "CI failed", for_human=False)])
    assert (outbox.waiting(), outbox.known_ids()) == ((), {"ci"})


def test_news_again_does_not_wait_twice(outbox):
    """A sentence that still waits is not added a second time."""
    outbox.add([NOTICE])
    outbox.forget(("pr:",))
    outbox.add([NOTICE])
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


def test_neither_text_keeps_a_secret(outbox):
    """What the agent reads may quote a reviewer: a token in it is masked like one in the human's text."""
    secret = "ghp_" + "a1B2" * 9

    outbox.add([Notice("a", f"seen {secret}", for_agent=True, agent_text=f"told {secret}")])
    (kept,) = outbox.waiting()
    assert (kept.text, kept.agent_text) == ("seen ***", "told ***")
