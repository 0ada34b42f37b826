"""Who may see the page of the fleet: the door's decisions, row by row."""

from http import HTTPStatus

import pytest

from agent_sync.fleet.web.door import DoorKeys, refusal

KEYS = DoorKeys(8400, token="t", path="place", cookie="c", action_key="k")
ACTING = DoorKeys(8400, token="t", path="place", cookie="c", action_key="k", has_actions=True)
IN = {"host": "127.0.0.1:8400", "cookie": "agent-sync-8400=c"}
ACT = {"origin": "http://127.0.0.1:8400", "content-type": "application/json", "x-agent-sync-key": "k"}

REFUSED = {
    "another host": ({"host": "evil.example"}, "/place/", HTTPStatus.MISDIRECTED_REQUEST),
    "a host that begins with ours": (
        {"host": "127.0.0.1.evil.example:8400"},
        "/place/",
        HTTPStatus.MISDIRECTED_REQUEST,
    ),
    "another port": ({"host": "127.0.0.1:3000"}, "/place/", HTTPStatus.MISDIRECTED_REQUEST),
    "no host": ({"host": ""}, "/place/", HTTPStatus.MISDIRECTED_REQUEST),
    "another host at the way in": ({"host": "evil.example"}, "/enter", HTTPStatus.MISDIRECTED_REQUEST),
    "another origin": ({"origin": "http://evil.example"}, "/place/", HTTPStatus.FORBIDDEN),
    "an origin that is hidden": ({"origin": "null"}, "/place/", HTTPStatus.FORBIDDEN),
    "a page on another port": ({"sec-fetch-site": "same-site"}, "/place/", HTTPStatus.FORBIDDEN),
    "a page of another site": ({"sec-fetch-site": "cross-site"}, "/place/", HTTPStatus.FORBIDDEN),
    "no cookie": ({"cookie": ""}, "/place/", HTTPStatus.FORBIDDEN),
    "another cookie": ({"cookie": "agent-sync-8400=x"}, "/place/", HTTPStatus.FORBIDDEN),
    "a cookie that is not ASCII": ({"cookie": "agent-sync-8400=ü"}, "/place/", HTTPStatus.FORBIDDEN),
    "no cookie, a way round": ({"cookie": ""}, "/x/../place/task/1", HTTPStatus.FORBIDDEN),
    "a way round": ({}, "/place/../place/", HTTPStatus.NOT_FOUND),
    "another place": ({}, "/elsewhere/", HTTPStatus.NOT_FOUND),
}


@pytest.mark.parametrize(("headers", "path", "status"), REFUSED.values(), ids=REFUSED)
def test_what_is_refused(headers, path, status):
    """Each of these gets no data."""
    found = refusal(KEYS, "GET", path, IN | headers)
    assert found
    assert found.status is status


@pytest.mark.parametrize("headers", [{}, {"host": "localhost:8400"}, {"sec-fetch-site": "same-origin"}], ids=str)
def test_what_is_let_in(headers):
    """Whoever came by the link sees the page."""
    assert refusal(KEYS, "GET", "/place/", IN | headers) is None


def test_the_way_in_needs_no_cookie():
    """The link works from another site, too: a chat, an issue."""
    assert refusal(KEYS, "GET", "/enter", {"host": "127.0.0.1:8400", "sec-fetch-site": "cross-site"}) is None


@pytest.mark.parametrize(
    ("keys", "method", "left_out", "is_allowed"),
    [
        (ACTING, "POST", "", True),
        (KEYS, "POST", "", False),
        (ACTING, "DELETE", "", False),
        (ACTING, "POST", "origin", False),
        (ACTING, "POST", "content-type", False),
        (ACTING, "POST", "x-agent-sync-key", False),
    ],
)
def test_who_may_act(keys, method, left_out, is_allowed):
    """Only the page itself, only by a request that no form can make, and only where actions were asked for."""
    headers = {name: value for name, value in (IN | ACT).items() if name != left_out}
    assert (refusal(keys, method, "/place/task/42/act", headers) is None) is is_allowed


def test_odd_bytes_and_endless_numbers_are_refused():
    """A key that is not ASCII, and a number that cannot be read, get an ordinary refusal."""
    headers = IN | ACT | {"x-agent-sync-key": "\xff"}
    refused = refusal(ACTING, "POST", "/place/task/42/act", headers)
    assert refused is not None
    assert refused.status == HTTPStatus.FORBIDDEN
    refused = refusal(KEYS, "GET", f"/place/task/{'9' * 5000}.json", IN)
    assert refused is not None
    assert refused.status == HTTPStatus.NOT_FOUND
