"""The pages in a real browser: nothing refused or missing, both colour schemes, narrow windows, keys alone."""

import pytest
from support.browser import tab

PAGES = (
    "/",
    "/octo/demo",
    "/octo/demo/issues",
    "/octo/demo/issues/42",
    "/octo/demo/pulls",
    "/octo/demo/pull/45",
    "/users/octo/projects/1",
    "/octo/nowhere",
)
# Everything that can be clicked or scrolled.
STOPS = "document.querySelectorAll('a, summary, pre[tabindex]')"


@pytest.fixture(scope="module")
def page():
    with tab() as opened:
        yield opened


@pytest.fixture
def pull(client):
    """Return the number of a pull request that has something in every part of its page."""
    number = client.opened_pull("a-branch-with-a-rather-long-name-for-one-line", body="# Why\n\nCloses #42\n\n`x`" * 3)
    client.act("add_check", pull=number, name="test", conclusion="failure", log="wide " * 80)
    client.act("review", pull=number, by="mona", state="CHANGES_REQUESTED", body="Please mend it.")
    return number


def background(page):
    """Return the colour behind the page."""
    return page.value("getComputedStyle(document.body).backgroundColor")


@pytest.mark.usefixtures("pull")
def test_pages_load_without_complaint_in_light_and_dark_and_narrow(page, server):
    """The browser refuses nothing that a page wants, and the stylesheet follows the reader's colour scheme.

    At 320 pixels nothing has to be scrolled sideways but code.
    """
    for path in PAGES:
        page.complaints.clear()
        page.open(server.url + path)
        light = background(page)
        page.open(server.url + path, dark=True, width=320)
        assert (light, background(page)) == ("rgb(255, 255, 255)", "rgb(13, 17, 23)"), path
        assert page.value("document.documentElement.scrollWidth") <= 320, path
        missing = [text for text in page.complaints if "404" not in text or path != "/octo/nowhere"]
        assert missing == [], path


def test_keys_reach_the_content_and_every_link(page, server, pull):
    """The first key press offers to skip to the content; then every link, log and fold is reached in order, visibly."""
    page.open(f"{server.url}/octo/demo/pull/{pull}")
    page.press("Tab")
    assert page.value("document.activeElement.textContent") == "Skip to the content"
    assert page.value("document.activeElement.getBoundingClientRect().left") >= 0
    page.value("document.querySelectorAll('details').forEach(log => { log.open = true })")
    wanted = page.value(f"[...{STOPS}].length")
    reached = []
    for _ in range(wanted):
        reached.append(page.value(f"[...{STOPS}].indexOf(document.activeElement)"))
        assert page.value("getComputedStyle(document.activeElement).outlineStyle") != "none"
        page.press("Tab")
    assert reached == list(range(wanted))
