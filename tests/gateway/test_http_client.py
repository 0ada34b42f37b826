"""Connections: kept while they are good, made through the proxy that is named, and never believed to be more."""

import base64
import gc
import gzip
import socket
from urllib.parse import urlsplit

import pytest
from behaviour import change_of
from documented import answer
from proxied import Failure, HttpReply, tls_before

from agent_sync.errors import GitHubDown
from agent_sync.gateway.transport import http_client
from agent_sync.gateway.transport.http_client import FAILURES, HttpClient
from agent_sync.gateway.transport.proxies import proxy_for


@pytest.fixture
def closed_address():
    """An address on loopback at which nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    return f"http://127.0.0.1:{port}"


def test_one_connection_serves_a_whole_run(documented):
    """A gateway keeps its connection between requests."""
    documented.given("Card", answer())
    gateway = documented.gateway()
    assert gateway.card(42) == gateway.card(42)
    assert [address for address, _ in documented.server.tunnels] == ["api.github.com:443"]


def test_a_connection_that_the_server_has_closed_is_not_used_again(documented):
    """A write is not lost on a connection that was closed meanwhile: a new one is made."""
    documented.given("Card", answer())
    documented.server.is_curt = True
    gateway = documented.gateway()
    assert gateway.card(42) == gateway.card(42)
    assert (len(documented.server.tunnels), documented.slept) == (2, [])


def test_a_connection_that_was_idle_for_long_is_not_used_again(documented, monkeypatch):
    """What a server may be about to close is not trusted with a write."""
    monkeypatch.setattr(http_client, "MOST_IDLE_S", 0.0)
    documented.given("Card", answer())
    gateway = documented.gateway()
    assert gateway.card(42) == gateway.card(42)
    assert len(documented.server.tunnels) == 2


def test_a_gateway_that_is_dropped_closes_its_connection(local):
    """Nothing has to be closed by hand: a gateway nobody holds lets its connection go."""
    gateway = local.gateway()
    gateway.card(42)
    plug = gateway.wire._client._idle[0][0].sock
    assert plug.fileno() >= 0
    del gateway
    gc.collect()
    assert plug.fileno() == -1


def test_this_machine_is_reached_past_every_proxy(local, closed_address, monkeypatch):
    """A proxy between this machine and itself is not asked."""
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, closed_address)
    assert local.gateway().card(42).status == "Todo"


def test_a_proxy_is_told_its_password_and_not_the_token(documented, monkeypatch):
    """User and password of the proxy's address go to the proxy, the token to GitHub alone."""
    monkeypatch.setenv("HTTPS_PROXY", documented.server.url.replace("://", "://octo:p%40ss@"))
    documented.given("Card", answer())
    documented.gateway().card(42)
    _, told = documented.server.tunnels[0]
    assert told["proxy-authorization"] == f"Basic {base64.b64encode(b'octo:p@ss').decode()}"
    assert "authorization" not in told
    assert "proxy-authorization" not in documented.headers[0]


def test_a_proxy_that_refuses_leaves_a_write_undone(documented):
    """A tunnel that the proxy does not open means that nothing was sent."""
    documented.given("Card", answer())
    gateway = documented.gateway()
    change = change_of(gateway)
    gateway.wire._client.close()
    documented.server.connect_status = 407
    with pytest.raises(GitHubDown, match=r"cannot be reached: .*407") as raised:
        gateway.move_card(change)
    assert not raised.value.maybe_applied
    assert documented.operations() == ["Card"]


def test_a_refused_connection_means_that_nothing_was_sent(documented, closed_address, monkeypatch):
    """Nobody listens: that is said, with what helps, after three tries."""
    monkeypatch.setenv("HTTPS_PROXY", closed_address)
    with pytest.raises(GitHubDown, match=r"cannot be reached: .*Connection refused"):
        documented.gateway().card(42)
    assert len(documented.slept) == 2


def test_a_proxy_of_an_unknown_kind_is_named(documented, monkeypatch):
    """A kind of proxy that is not supported is said to be that, without its password."""
    monkeypatch.setenv("HTTPS_PROXY", "socks5://octo:secret@127.0.0.1:1")
    with pytest.raises(GitHubDown, match="proxy of the kind socks5 is not supported") as raised:
        documented.gateway().card(42)
    assert "secret" not in str(raised.value)


def test_a_proxy_can_be_reached_by_tls(documented, authority, monkeypatch):
    """TLS to GitHub goes through the TLS to the proxy, and one connection serves a whole run."""
    documented.given("Card", answer())
    with tls_before(documented.server, authority) as address:
        monkeypatch.setenv("HTTPS_PROXY", address)
        gateway = documented.gateway()
        assert gateway.card(42) == gateway.card(42)
        gateway.wire._client.close()
    assert len(documented.server.tunnels) == 1


def test_a_proxy_reached_by_tls_has_to_be_believed(documented, authority, monkeypatch):
    """A proxy whose certificate nobody vouches for is not told anything."""
    monkeypatch.delenv("SSL_CERT_FILE")
    with tls_before(documented.server, authority) as address:
        monkeypatch.setenv("HTTPS_PROXY", address)
        with pytest.raises(GitHubDown, match="is not trusted"):
            documented.gateway().card(42)
    assert documented.server.tunnels == []


GITHUB, PROXY = "https://api.github.com/graphql", "http://proxy.example:3128"
ROUTES = {
    "no proxy is named": ({}, None),
    "one for https": ({"https_proxy": PROXY}, ("proxy.example", 3128, False)),
    "one for https in capitals": ({"HTTPS_PROXY": PROXY}, ("proxy.example", 3128, False)),
    "small letters come first": (
        {"https_proxy": PROXY, "HTTPS_PROXY": "http://other:1"},
        ("proxy.example", 3128, False),
    ),
    "one for everything": ({"ALL_PROXY": PROXY}, ("proxy.example", 3128, False)),
    "one for http alone": ({"HTTP_PROXY": PROXY}, None),
    "no port and no scheme": ({"HTTPS_PROXY": "proxy.example"}, ("proxy.example", 80, False)),
    "one by TLS": ({"HTTPS_PROXY": "https://proxy.example"}, ("proxy.example", 443, True)),
    "passed by for all": ({"HTTPS_PROXY": PROXY, "NO_PROXY": "*"}, None),
    "passed by for the host": ({"HTTPS_PROXY": PROXY, "NO_PROXY": "localhost, api.github.com"}, None),
    "passed by for the domain": ({"HTTPS_PROXY": PROXY, "no_proxy": ".github.com"}, None),
    "passed by for another": ({"HTTPS_PROXY": PROXY, "NO_PROXY": "hub.com"}, ("proxy.example", 3128, False)),
}


@pytest.mark.parametrize(("variables", "way"), ROUTES.values(), ids=ROUTES)
def test_which_proxy_is_in_the_way(variables, way, monkeypatch):
    """The environment names the proxy, and the hosts that are reached past it."""
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    found = proxy_for(urlsplit(GITHUB))
    assert (found and (found.host, found.port, found.is_tls)) == way


@pytest.fixture
def server(proxied):  # noqa: ARG001  # must be there
    """A client of the server behind the proxy."""
    client = HttpClient("https://api.github.com/log?part=1", timeout_s=5, is_direct=False)
    yield client
    client.close()


def test_packed_answers_are_unpacked(server, proxied):
    """The server may pack what it answers."""
    proxied.answering = lambda *_: HttpReply(200, {"content-encoding": "gzip"}, gzip.compress(b"plain"))
    assert server.send("GET", {}).content == b"plain"
    proxied.answering = lambda *_: HttpReply(200, {"content-encoding": "gzip"}, b"not packed")
    with pytest.raises(FAILURES, match="cannot be unpacked"):
        server.send("GET", {})


def test_of_a_long_answer_the_end_is_kept(server, proxied):
    """Only the end of a long body is kept; one that was cut off has no end."""
    proxied.answering = lambda _, path, *__: HttpReply(200, {}, b"a" * 200_000 + path.encode())
    assert server.send("GET", {}, most=12).content == b"/log?part=1"[-12:].rjust(12, b"a")
    proxied.answering = lambda *_: Failure.CUT_SHORT
    with pytest.raises(FAILURES, match="IncompleteRead"):
        server.send("GET", {}, most=3)


def test_headers_and_text_are_read_as_they_were_meant(server, proxied):
    """Names come in small letters, values that came twice as one, and the text as its header says it is written."""
    headers = {"X-One": "1", "content-type": "text/plain; charset=latin-1"}
    proxied.answering = lambda *_: HttpReply(403, headers, "é".encode("latin-1"))
    found = server.send("GET", {})
    assert (found.headers["x-one"], found.text, found.is_error) == ("1", "é", True)
    proxied.answering = lambda *_: HttpReply(200, {"content-type": "text/plain; charset=none"}, b"\xff")
    assert server.send("GET", {}).text == "\N{REPLACEMENT CHARACTER}"
