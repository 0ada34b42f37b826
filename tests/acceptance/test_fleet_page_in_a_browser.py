"""The page of the fleet in a real browser: live, by keys alone, narrow, dark, and nothing from outside is run."""

import time
from importlib.util import find_spec
from pathlib import Path

import pytest
from support.browser import tab
from support.fleet_page import fleet_page

HOSTILE = "<img src=x onerror=alert(1)>"
PATIENCE_S = 60


@pytest.fixture
def page(theatre):
    """Open the page of a fleet with a claim, a hostile title and an issue that is ready."""
    stage = theatre.stage
    stage.act("add_issue", title=HOSTILE, status="Todo")
    stage.environment["AGENT_SYNC_CHECKS_BACKOFF_S"] = "1"
    stage.command("claim", "42")
    with fleet_page(stage) as served, tab() as opened:
        opened.open(served.link)
        until(opened, "document.getElementById('freshness')?.textContent.startsWith('Live')")
        yield stage, opened, served


def until(page, expression):
    """Wait until an expression holds in the page."""
    limit = time.monotonic() + PATIENCE_S
    while not holds(page, expression):
        assert time.monotonic() < limit, expression
        time.sleep(0.05)


def holds(page, expression):
    """Tell whether an expression holds; while the browser goes from one page to the next, nothing does."""
    try:
        return page.value(expression)
    except AssertionError as error:
        if "navigated" not in str(error):
            raise
        return False


def lane(name):
    """Return the expression for the text of a lane."""
    return f"document.querySelector('[data-lane={name}]').innerText"


def test_page_is_live_by_keys_alone_and_shows_foreign_text_as_it_is_written(page):
    """What comes from outside is never markup, a redraw keeps the place, a task has its page, and lanes change alone."""
    stage, opened, served = page
    place = opened.value("location.href")
    nothing_from_outside_becomes_markup(opened)
    keys_lead_everywhere_and_a_redraw_keeps_the_place(stage, opened)
    page_of_a_task_shows_its_story(opened)
    opened.open(place)
    until(opened, "document.getElementById('freshness')?.textContent.startsWith('Live')")
    lanes_are_shown_and_change_by_themselves(stage, opened)
    assert opened.complaints == []
    assert served.process.poll() is None


def nothing_from_outside_becomes_markup(opened):
    """A title with markup is shown as it is written; the browser refuses nothing, because nothing is tried."""
    assert HOSTILE in opened.value(lane("ready"))
    assert opened.value("document.querySelectorAll('main img, main script').length") == 0
    assert opened.complaints == []


def keys_lead_everywhere_and_a_redraw_keeps_the_place(stage, opened):
    """The first key offers to skip to the tasks, j goes from task to task, and a change elsewhere leaves the focus."""
    opened.press("Tab")
    assert opened.value("document.activeElement.textContent") == "Skip to the tasks"
    opened.press("j")
    focused = opened.value("document.activeElement.textContent")
    assert focused.startswith("#42 ")
    stage.act("add_issue", title="Another one", status="Todo")
    until(opened, f"{lane('ready')}.includes('Another one')")
    assert opened.value("document.activeElement.textContent") == focused


def page_of_a_task_shows_its_story(opened):
    """Timeline, time, receipts and changes are on the task's own page, in a narrow window without scrolling."""
    opened.open(opened.value("document.querySelector('a[href*=\"task/42\"]').href"), width=320)
    until(opened, "document.querySelectorAll('.timeline li').length > 1")
    assert "claimed the issue" in opened.value("document.querySelector('.timeline').innerText")
    assert "Where the time went" in opened.value("document.body.innerText")
    assert opened.value("document.documentElement.scrollWidth") <= 320
    assert opened.complaints == []


def lanes_are_shown_and_change_by_themselves(stage, opened):
    """All four lanes have their counts; a merge moves the task to those that need a person, and the title counts it."""
    assert "Fix race condition in cache" in opened.value(lane("working"))
    assert opened.value("document.querySelectorAll('.lane h2 .count').length") == 4
    assert opened.value("document.title") == "octo/demo – agent-sync"
    stage.commit("cache.py", "LOCK = 1\n", "Lock the cache per key")
    stage.command("handoff", "--summary", "Fix the race")
    stage.act("merge_pull", pull=stage.claim()["pr_number"], method="squash")
    until(opened, f"{lane('needs_you')}.includes('agent-sync done')")
    assert opened.value("document.title") == "(1) octo/demo – agent-sync"
    assert "#42 needs you" in opened.value("document.getElementById('news').textContent")


def test_no_barrier_is_found(page):
    """An accessibility checker finds nothing on either page, light or dark, and does find a button without a name."""
    _, opened, served = page
    source = axe_source()
    place = opened.value("location.pathname")
    for dark in (False, True):
        for path in (place, f"{place}task/42"):
            opened.open(f"http://127.0.0.1:{served.port}{path}", dark=dark)
            until(opened, "document.querySelectorAll('main section').length > 3")
            assert findings(opened, source) == [], (path, dark)
    opened.value("document.querySelector('main').append(document.createElement('button'))")
    assert findings(opened, source) == ["button-name"]


def axe_source():
    """Return the checker that a package on this machine brings; without one the test is skipped."""
    found = find_spec("axe_playwright_python")
    if found is None or not found.submodule_search_locations:
        pytest.skip("no axe: `make browser` installs axe-playwright-python")
    return next(Path(found.submodule_search_locations[0]).rglob("axe.min.js")).read_text(encoding="utf-8")


def findings(opened, source):
    """Return the names of the rules that a page breaks."""
    opened.value(f"{source}; undefined")
    tags = "['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']"
    opened.value(f"axe.run({{runOnly: {tags}}}).then(found => {{ window.found = found.violations }}); undefined")
    until(opened, "Boolean(window.found)")
    return opened.value("window.found.map(one => one.id)")
