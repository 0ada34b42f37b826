"""The pages of the local GitHub, by HTTP: what they show, that texts stay texts, and that programs notice nothing."""

import re
from html.parser import HTMLParser
from urllib.parse import urljoin

import pytest

from agent_sync.emulator.operations import boards
from agent_sync.emulator.operations.issues import create_issue
from agent_sync.emulator.world.boards import FieldType
from agent_sync.emulator.world.people import Viewer

BROWSER = {"accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
HEADERS = {
    "content-security-policy", "x-content-type-options", "referrer-policy", "x-frame-options", "cache-control",
    "cross-origin-opener-policy", "cross-origin-resource-policy", "permissions-policy",
}  # fmt: skip
HOSTILE = "<img src=x onerror=alert(1)>\"'&lt;\x1b[31m\u202etxt </title><script>alert(1)</script>"
HOSTILE_BODY = f"""{HOSTILE}

<iframe src="https://example.org"></iframe>

[a](javascript:alert(1)) [b](data:text/html,x) [c](//example.org) ![d](https://example.org/x.png) <http://example.org>

- [ ] {HOSTILE}

```"onload=alert(1)
{HOSTILE}
```
"""


class Seen(HTMLParser):
    """What a page consists of, as a browser would read it."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.text, self.headings = [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        """Note an element."""
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(int(tag[1]))

    def handle_data(self, data):
        """Note a text."""
        self.text.append(data)

    @property
    def words(self):
        """Return the text with single spaces."""
        return " ".join("".join(f"{piece} " for piece in self.text).split())

    def values(self, name):
        """Return every value of an attribute."""
        return [value for _, attribute, value in self.attributes if attribute == name]


def opened(client, path, status=200):
    """Open a page as a browser does."""
    answer = client.http.get(path, headers=BROWSER)
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    return Seen(answer.text)


@pytest.fixture
def pull(client):
    number = client.opened_pull(
        "claude/fix-42",
        title="Take the lock",
        body="## Summary\n\nTake the **lock**.\n\nCloses #42\n\n- [x] tried\n\n<!-- agent-sync claim=x -->\n",
    )
    client.act("add_check", pull=number, name="test", conclusion="failure", log="E assert 1 == 2", required=True)
    client.act("add_check", pull=number, name="lint", conclusion="success")
    client.act("add_status", pull=number, context="preview", state="pending")
    thread = {"path": "work.txt", "line": 1, "body": "Why not?"}
    client.act("review", pull=number, by="mona", state="CHANGES_REQUESTED", body="Please mend it.", threads=[thread])
    return number


def test_pull_page_shows_checks_reviews_body_and_commits(client, pull):
    """Everything about a pull request is on its page, in words; comments of programs are not."""
    words = opened(client, f"/octo/demo/pull/{pull}").words
    for said in (
        "Take the lock #45", "Open opened by octo", "into main from claude/fix-42", "Take the lock .", "☑ tried",
        "failed test required", "E assert 1 == 2", "passed lint", "running preview", "mona ✗ asked for changes",
        "Please mend it.", "work.txt:1 … open", "Why not?", "Change work.txt",
    ):  # fmt: skip
        assert said in words
    assert "agent-sync claim" not in words


def test_issue_page_shows_board_relations_and_history(client, pull):
    """An issue names its card, its pull request, what blocks it and what happened."""
    client.act("set_field", issue=42, field="Agent", value="octo@laptop")
    client.act("comment", issue=42, by="mona", body="See #40")
    client.act("block_issue", issue=42, blocked_by=40)
    seen = opened(client, "/octo/demo/issues/42")
    assert "Status: Todo, Priority: P1, Agent: octo@laptop" in seen.words
    assert {f"/octo/demo/pull/{pull}", "/octo/demo/issues/40", "/users/octo/projects/1"} <= set(seen.values("href"))
    assert "marked this as blocked by #40" in seen.words
    assert "mona commented" in seen.words


def test_board_page_shows_every_column_and_card(client):
    """Columns are in the board's order, empty ones too; a card says who has it."""
    seen = opened(client, "/users/octo/projects/1")
    assert re.findall(r"(Todo|In Progress|In Review|Done) \d", seen.words) == [
        "Todo",
        "In Progress",
        "In Review",
        "Done",
    ]
    assert "#40 Rework the configuration loader In octo/demo Assigned to mona" in seen.words
    client.act("archive_item", issue=40)
    assert "#40" not in opened(client, "/users/octo/projects/1").words


def test_board_of_an_organisation_shows_which_repository_a_card_is_of(client, server):
    """A board that several repositories share is below /orgs, whatever the case of its status field."""
    world = server.world
    with world.lock:
        acme = world.add_user("acme", is_organization=True)
        project = boards.create_project(world, acme, 7, "Team board")
        boards.add_field(world, project, "STATUS", FieldType.SINGLE_SELECT, options=("Todo", "Done"))
        for name in ("api", "web"):
            issue = create_issue(world, Viewer(acme), world.add_repository(acme, name), title=f"Work on {name}")
            boards.add_item(world, Viewer(acme), project, issue)
    words = opened(client, "/orgs/acme/projects/7").words
    assert "Todo 0 No card. Done 0 No card. No status 2" in words
    assert "#1 Work on api In acme/api" in words
    assert "#1 Work on web In acme/web" in words
    opened(client, "/users/acme/projects/7", status=404)


def test_head_has_the_headers_alone(client):
    """A program that only looks whether a page is there gets no body."""
    answer = client.http.head("/octo/demo", headers=BROWSER)
    assert (answer.status_code, answer.content) == (200, b"")


def test_long_columns_and_lists_say_what_they_leave_out(client):
    """A column of hundreds ends with a link to the rest; a list has pages."""
    client.act("grow_board", items=70)
    assert "and 21 more" in opened(client, "/users/octo/projects/1").words
    assert "more" not in opened(client, "/users/octo/projects/1?all=1").words
    first, second = (opened(client, f"/octo/demo/issues?state=closed&page={page}") for page in (1, 2))
    assert "71 closed" in first.words
    assert ("Older" in first.words, "Newer" in second.words) == (True, True)
    assert "#44" in second.words


def test_every_link_of_every_page_opens(client, pull):
    """Whoever starts at the first page and follows links never ends nowhere."""
    seen, waiting = set(), ["/"]
    while waiting:
        path = waiting.pop()
        if path in seen:
            continue
        seen.add(path)
        targets = opened(client, path).attributes
        waiting += [
            urljoin(path, value).partition("#")[0] for tag, name, value in targets if (tag, name) == ("a", "href")
        ]
    assert {"/", "/octo/demo", "/octo/demo/issues/44", f"/octo/demo/pull/{pull}", "/users/octo/projects/1"} <= seen


@pytest.mark.usefixtures("pull")
def test_a_number_under_the_other_kinds_path_leads_to_the_right_page(client):
    """Issues and pull requests share their numbers; either path finds them."""
    pages = {"/octo/demo/issues/45": "/octo/demo/pull/45", "/octo/demo/pull/42": "/octo/demo/issues/42"}
    for asked, right in pages.items():
        answer = client.http.get(asked, headers=BROWSER)
        assert (answer.status_code, answer.headers["location"]) == (302, right)


def test_what_does_not_exist_is_a_page_too(client):
    """A browser gets a page that says so and leads back."""
    for path in (
        "/octo/nowhere",
        "/octo/demo/issues/99",
        "/orgs/octo/projects/1",
        "/users/octo/projects/9",
        "/a/b/c/d",
    ):
        seen = opened(client, path, status=404)
        assert "Not found" in seen.words, path
        assert "/" in seen.values("href"), path


@pytest.fixture
def hostile(client):
    """Fill every text that people can write with markup, control characters and marks of direction."""
    issue = client.act("add_issue", title=HOSTILE, body=HOSTILE_BODY, labels=[HOSTILE[:40]], status="Todo")["number"]
    client.act("set_field", issue=issue, field="Agent", value=HOSTILE)
    client.act("comment", issue=issue, body=HOSTILE_BODY)
    number = client.opened_pull(
        "<b>branch", title=HOSTILE, body=f"Closes #{issue}\n\n{HOSTILE_BODY}", commit={"path": "<u>x"}
    )
    client.act("add_check", pull=number, name=HOSTILE, conclusion="failure", log=HOSTILE)
    client.act("add_status", pull=number, context=HOSTILE, state="failure")
    thread = {"path": HOSTILE, "line": 1, "body": HOSTILE_BODY}
    client.act("review", pull=number, by="mona", state="COMMENTED", body=HOSTILE_BODY, threads=[thread])
    client.act("push_commit", branch="main", path="README.md", content=HOSTILE_BODY)
    client.post("/repos/octo/demo/issues", {"title": "x", "body": "y"})
    return issue, number


def test_foreign_text_is_shown_as_text(client, hostile):
    """No text of anybody's becomes an element, an attribute, a script or a request elsewhere."""
    issue, pull = hostile
    paths = ["/octo/demo", "/octo/demo/issues", f"/octo/demo/issues/{issue}", "/octo/demo/pulls",
             f"/octo/demo/pull/{pull}", "/users/octo/projects/1"]  # fmt: skip
    for path in paths:
        seen = opened(client, path)
        assert not {"script", "img", "iframe", "style", "form", "object", "b", "u"} & set(seen.tags), path
        assert not [name for _, name, _ in seen.attributes if name.startswith("on") or name == "style"], path
        assert [
            value for value in seen.values("href") if not re.match(r"/(?!/)|#|https?://example\.org(/x\.png)?$", value)
        ] == []
        assert not re.search("[\x1b\u202e]", "".join(seen.text))
    assert "<script>alert(1)</script>" in opened(client, f"/octo/demo/pull/{pull}").words


def test_every_answer_has_the_security_headers(client):
    """Pages, files and errors alike run no script and are framed by nobody."""
    for path in ("/", "/octo/demo", "/octo/nowhere", "/_pages/style.css", "/_pages/icon.svg"):
        headers = client.http.get(path, headers=BROWSER).headers
        assert set(headers) >= HEADERS, path
        policy = headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; style-src 'self'; img-src 'self'; "), path
        assert "unsafe" not in policy, path
        assert "script-src" not in policy, path


@pytest.mark.usefixtures("pull")
def test_pages_are_made_for_screen_readers(client):
    """One first heading, none skipped, landmarks, unique ids, and labels that exist."""
    paths = ["/", "/octo/demo", "/octo/demo/issues", "/octo/demo/issues/42", "/octo/demo/pull/45",
             "/users/octo/projects/1"]  # fmt: skip
    for path in paths:
        seen = opened(client, path)
        assert seen.headings.count(1) == 1, path
        skipped = [pair for pair in zip(seen.headings, seen.headings[1:], strict=False) if pair[1] > pair[0] + 1]
        assert skipped == [], path
        assert [seen.tags.count(name) for name in ("header", "main", "footer", "title")] == [1, 1, 1, 1], path
        ids = seen.values("id")
        assert len(ids) == len(set(ids)), path
        assert set(seen.values("aria-labelledby")) <= set(ids), path
        assert seen.values("lang") == ["en"], path


def test_clients_of_the_interface_see_no_page(client):
    """Who asks for JSON gets the same answer as ever where only pages are."""
    for path in ("/octo/demo", "/octo/demo/issues/42", "/users/octo/projects/1", "/octo/nowhere"):
        answer = client.call("GET", path, headers={"accept": "application/vnd.github+json"})
        assert (answer.status_code, answer.json()["message"]) == (404, "Not Found"), path


def test_paths_of_the_interface_stay_json(client):
    """A path of the interface answers JSON whoever asks."""
    for path in ("/repos/octo/demo", "/users/octo", "/user", "/api/v3/repos/octo/demo", "/rate_limit"):
        for accept in ("*/*", BROWSER["accept"]):
            answer = client.call("GET", path, headers={"accept": accept})
            found = (answer.status_code, answer.headers["content-type"])
            assert found == (200, "application/json; charset=utf-8"), (path, accept)


def test_the_root_is_a_page_for_browsers_alone(client):
    """Programs still learn from the root where things are."""
    assert "user_url" in client.read("/")
    assert "octo/demo" in opened(client, "/").words


def test_reading_pages_leaves_journal_and_faults_alone(client):
    """A person who looks does not disturb a test that counts requests or waits for trouble."""
    client.fault("status:502")
    opened(client, "/octo/demo")
    assert client.requests() == []
    assert client.call("GET", "/repos/octo/demo").status_code == 502
