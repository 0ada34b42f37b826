"""Certificates are judged by the system's store and the environment's bundles, by both clients alike."""

import http.server
import json
import threading

import pytest
from local_github import context_in, repository_in, settings_of

from agent_sync.errors import GitHubDown
from agent_sync.gateway.github import GitHub

BUNDLES = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")


class Answering(http.server.BaseHTTPRequestHandler):
    """Answers whose token it is, in GraphQL and in REST."""

    def do_POST(self):
        """Answer the question for the viewer."""
        self.rfile.read(int(self.headers["content-length"]))
        self._answer({"data": {"viewer": {"login": "octo", "id": "U_1"}}})

    def do_GET(self):
        """Answer the limits."""
        rate = {"limit": 5000, "remaining": 4999, "reset": 1900000000, "used": 1}
        self._answer({"resources": {"core": rate, "search": rate, "graphql": rate}, "rate": rate})

    def _answer(self, body):
        content = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        # Some proxies add a second one; the first is in the standard library's answer.
        self.send_header("Date", "Tue, 17 Nov 2026 00:00:00 -0000")
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        """Say nothing."""


@pytest.fixture
def github(authority, tmp_path, monkeypatch):
    """Return a GitHub that speaks https with a certificate of that authority."""
    for name in BUNDLES:
        monkeypatch.delenv(name, raising=False)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answering)
    server.socket = authority.server_context().wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"https://localhost:{server.server_port}"
    root = repository_in(tmp_path / "clone", "https://github.com/octo/demo")
    made = context_in(root, settings_of(github={"url": url}), GH_TOKEN="any")
    yield GitHub.reaching(made, sleep=lambda _: None)
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize("variable", BUNDLES)
def test_one_variable_is_enough_for_both_clients(github, authority, variable, monkeypatch):
    """A bundle that the environment names counts for GraphQL and for REST."""
    monkeypatch.setenv(variable, str(authority.certificate))
    person = github.viewer()
    assert (person.login, person.clock.tzinfo is not None) == ("octo", True)


def test_unknown_authority_is_called_that(github):
    """A certificate that nobody vouches for is named as the trouble, with what helps, and is not tried again later."""
    with pytest.raises(GitHubDown, match="certificate of localhost is not trusted") as raised:
        github.viewer()
    assert "SSL_CERT_FILE" in raised.value.helps
    assert "later" not in raised.value.helps


def test_unknown_authority_is_called_that_by_rest_too(github):
    """PyGithub's connections say the same."""
    from agent_sync.gateway.transport.line import Call
    from agent_sync.gateway.transport.rest import Rest

    with pytest.raises(GitHubDown, match="certificate of localhost is not trusted"):
        Rest(github).headers(Call("", attempted="asking"))
