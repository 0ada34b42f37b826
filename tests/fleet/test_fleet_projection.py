"""The view of a fleet as a whole: order, counts, and what programs get."""

import json
from dataclasses import replace
from datetime import timedelta

from support.claims import NOW, claim
from support.fleet_views import ROOT, here, issue, lease, shown, view
from support.github import pull
from support.situations import opened

from agent_sync.fleet.projection import Lane, as_json
from agent_sync.fleet.seen import HeldTask, Session
from agent_sync.leases.model import LeaseMode
from agent_sync.task.decision.tasks import BoardIssue


def ready(number: int, **fields: object) -> BoardIssue:
    """Return an issue that can be claimed."""
    url = f"https://github.com/octo/demo/issues/{number}"
    known = {"created": "2026-11-01T00:00:00Z", "open_blockers": 0, "open_sub_issues": 0} | fields
    return BoardIssue(number, f"Ready {number}", url, "Todo", "P1", None, (), is_open=True, **known)  # type: ignore[arg-type]


def merged(number: int, hours: int) -> tuple[HeldTask, object]:
    """Return a task that has waited for consent for some hours."""
    found = issue(number, pull=pull(number + 100, state=pull().state.MERGED))
    ended = replace(found, moments=replace(found.moments, ended=NOW - timedelta(hours=hours)))
    return HeldTask(number, lease(number, pr=number + 100, acquired_at=NOW - timedelta(hours=hours + 1))), ended


def test_lanes_come_in_order_and_the_longest_wait_first():
    """Needs you before Working before Ready; inside a lane who has waited longest, and Ready as `next` takes it."""
    (young, a), (old, b) = merged(1, 2), merged(2, 9)
    coding = HeldTask(3, lease(3))
    shown_view = view(young, coding, old, issues=(a, b, issue(3)), ready=(ready(9), ready(5)))
    assert [(task.issue, task.lane) for task in shown_view.tasks] == [
        (2, Lane.NEEDS_YOU),
        (1, Lane.NEEDS_YOU),
        (3, Lane.WORKING),
        (9, Lane.READY),
        (5, Lane.READY),
    ]


def test_every_lane_is_counted_even_when_empty():
    """An empty fleet has four lanes with nothing in them."""
    assert as_json(view())["counts"] == {"needs_you": 0, "working": 0, "waiting": 0, "ready": 0}


def test_what_is_held_is_not_ready():
    """An issue whose claim is not yet on the board is shown once."""
    assert [task.lane for task in view(HeldTask(9, lease(9)), issues=(issue(9),), ready=(ready(9),)).tasks] == [
        Lane.WORKING
    ]


def test_the_age_is_that_of_the_situation():
    """A claim of days that was merged an hour ago has waited for an hour."""
    held, found = merged(1, 1)
    held = replace(held, lease=lease(1, pr=101, acquired_at=NOW - timedelta(days=4)))
    assert shown(held, issues=(found,)).since == NOW - timedelta(hours=1)


def test_only_what_was_finished_today_is_counted():
    """Finished work is one number, not a lane."""
    assert view(finished=(NOW, NOW - timedelta(days=2))).finished_today == 1


def test_a_command_for_another_worktree_says_where():
    """A command works where the reader is, or begins with a change of directory that a shell takes."""
    by_hand = replace(here(claim=claim()), session=Session.UNKNOWN)
    elsewhere = HeldTask(42, here=replace(by_hand, root="/home/octo/my demo"))
    assert shown(elsewhere).next_command == "cd '/home/octo/my demo' && agent-sync handoff"
    assert shown(HeldTask(42, here=by_hand)).next_command == "agent-sync handoff"


def test_unfinished_work_of_an_agent_is_not_handed_off_by_a_person():
    """A task that an agent works on is offered to be watched."""
    assert shown(HeldTask(42, lease(mode=LeaseMode.AUTO), here(claim=claim()))).next_command == "agent-sync watch"


def test_foreign_text_is_one_harmless_line():
    """Titles, names and reasons lose whatever could move a cursor or hide text."""
    dirty = replace(issue(), title="Fix\x1b[31m \u202ebad\nline")
    task = shown(HeldTask(42, lease()), issues=(dirty,))
    assert task.title == "Fix[31m bad line"


def test_programs_get_everything_as_plain_values():
    """The JSON has what scripts rely on, and nothing that JSON cannot carry."""
    values = json.loads(json.dumps(as_json(view(HeldTask(42, here=here(claim=opened()))))))
    (task,) = values["tasks"]
    assert {"issue", "title", "situation", "lane", "next", "ci", "pull", "since", "who"} <= task.keys()
    assert (task["issue"], task["situation"], task["lane"]) == (42, "Watching", "waiting")
    assert task["pull"] == {"number": 45, "url": ""}
    assert task["worktree"] == ROOT
    assert values["looked_at"] == NOW.isoformat()
