"""Of which tasks a person is told, and how often."""

from dataclasses import replace
from datetime import timedelta

from support.claims import NOW, claim
from support.fleet_views import here, view
from support.situations import opened

from agent_sync.fleet.alarms import alarm_text, alarms
from agent_sync.fleet.seen import HeldTask, Session
from agent_sync.fleet.view import as_json, view_of
from agent_sync.task.claim.phases import Phase

MERGED = HeldTask(42, here=here(claim=claim(Phase.MERGED_DETECTED, pr_number=45)))
LEFT = HeldTask(43, here=replace(here(session=Session.ENDED), root="/home/octo/other"))
WORKING = HeldTask(42, here=here())


def told_at(minutes, *held, before=None):
    """Return the issues that are told of at a moment, and what is known after that."""
    due, known = alarms(before or {}, view(*held), NOW + timedelta(minutes=minutes))
    return [task.issue for task in due], known


def test_entry_is_told_once():
    """A task that comes to need a person is told once, and not again at the next look."""
    first, known = told_at(0, MERGED, WORKING)
    again, _ = told_at(2, MERGED, WORKING, before=known)
    assert (first, again) == ([42], [])


def test_it_is_repeated_ever_more_rarely():
    """While it lasts it is told again after an hour, after four more, and then once a day."""
    known, heard = {}, []
    for hour in range(80):
        due, known = told_at(hour * 60, MERGED, before=known)
        heard += [hour] if due else []
    assert heard == [0, 1, 5, 29, 53, 77]


def test_what_is_settled_is_forgotten():
    """A task that needs a person a second time is news."""
    _, known = told_at(0, MERGED)
    _, known = told_at(5, WORKING, before=known)
    assert known == {}
    assert told_at(10, MERGED, before=known)[0] == [42]


def test_another_reason_is_news():
    """A task that needs a person for something else is told of at once."""
    _, known = told_at(0, HeldTask(42, here=here(claim=opened(closed_unmerged=True))))
    assert told_at(1, MERGED, before=known)[0] == [42]


def test_a_reason_with_another_age_is_no_news():
    """That a silence lasts an hour or two is one reason."""
    silent = HeldTask(42, here=here(last_sign=NOW - timedelta(hours=1, minutes=5)))
    longer = HeldTask(42, here=here(last_sign=NOW - timedelta(hours=2)))
    _, known = told_at(0, silent)
    assert told_at(1, longer, before=known)[0] == []


def test_several_are_told_together():
    """One task is told with its reason and command, several with their numbers."""
    due, _ = alarms({}, view(MERGED), NOW)
    assert alarm_text(due) == "#42 : merged; close issue #42? (agent-sync done)"
    due, _ = alarms({}, view(MERGED, LEFT), NOW)
    assert alarm_text(due) == "2 tasks need you: #42, #43"


def test_a_view_survives_the_way_through_a_pipe():
    """What one process prints for programs is what another one shows, but for the situations themselves."""
    shown = view(MERGED, LEFT, board_note="Also in Todo: 1 blocked.", stale_reason="old")
    read = view_of(as_json(shown))
    assert read == replace(shown, tasks=tuple(replace(task, situation=None) for task in shown.tasks))
