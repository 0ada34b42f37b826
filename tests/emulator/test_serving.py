import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time

import pytest
from support.command import run

from agent_sync.emulator.server import CannotServeError, running

REPO = "/repos/octo/demo"
SERVE = ("emulator", "serve", "--port", "0")
COMMAND = [sys.executable, "-m", "agent_sync", *SERVE]


def _started(*more, **options):
    process = subprocess.Popen([*COMMAND, *more], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)
    line = process.stdout.readline()
    if not line:
        pytest.fail(process.communicate()[1])
    return process, json.loads(line)


def _get(url, path):
    return _asked(url, "GET", path)[1]


def _act(url, **fields):
    return _asked(url, "POST", "/_emulator/act", fields)[1]


def _asked(url, method, path, body=None, **headers):
    """Return status and JSON of an answer, asked for on a connection of its own."""
    connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=20)
    try:
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        answer = connection.getresponse()
        return answer.status, json.load(answer)
    finally:
        connection.close()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_command_prints_one_line_and_stops_cleanly(tmp_path, number):
    """The command says where it serves, answers, and ends without a word when told to.

    A user's git configuration cannot disturb the repositories of the server.
    """
    (tmp_path / ".gitconfig").write_text("[core]\n\thooksPath = /nowhere\n[init]\n\tdefaultBranch = odd\n[broken\n")
    disturbed = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    process, line = _started(env=disturbed if number == signal.SIGTERM else None)
    with process:
        assert set(line) == {"url", "pid"}
        assert line["pid"] == process.pid
        assert _get(line["url"], "/user")["login"] == "octo"
        assert _get(line["url"], REPO)["default_branch"] == "main"
        process.send_signal(number)
        out, err = process.communicate(timeout=20)
    assert (process.returncode, out, err) == (0, "", "")


def test_command_refuses_an_unknown_scenario(tmp_path):
    """An unknown scenario is answered with the known ones."""
    done = run(*SERVE, "--scenario", "huge", cwd=tmp_path)
    assert done.status == 2
    assert "There is no scenario 'huge'; known: small, empty, large, team." in done.stderr


def test_state_survives_the_server(tmp_path):
    """A world kept in a directory is there again after a restart, git and all."""
    with running(state=tmp_path / "kept") as server:
        _act(server.url, act="add_issue", title="Kept")
        sha = _act(server.url, act="push_commit", branch="b")["id"]
    with running("empty", state=tmp_path / "kept") as server:
        state = _get(server.url, "/_emulator/state")
        number = _act(server.url, act="add_issue", title="Next")
    assert state["issues"][-1]["title"] == "Kept"
    assert {"repo": "octo/demo", "name": "refs/heads/b", "sha": sha} in state["refs"]
    assert number["number"] == 46


def test_state_survives_a_killed_server(tmp_path):
    """What was written a moment before a kill is there again too."""
    process, line = _started("--state", str(tmp_path / "kept"))
    with process:
        _act(line["url"], act="add_issue", title="Kept")
        _wait_until_kept(tmp_path / "kept" / "world.pickle", b"Kept")
        process.kill()
        process.communicate()
    with running(state=tmp_path / "kept") as server:
        assert _get(server.url, "/_emulator/state")["issues"][-1]["title"] == "Kept"


def _wait_until_kept(file, content):
    deadline = time.monotonic() + 20
    while content not in file.read_bytes():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_loopback_only():
    """No other address than loopback is served."""
    with pytest.raises(CannotServeError, match="loopback only"), running(host="0.0.0.0"):  # noqa: S104 - refused
        pass


def test_a_used_port_is_reported():
    """A port somebody else uses is an error with the port in it."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(CannotServeError, match=f"Port {port}"), running(port=port):
            pass


@pytest.mark.parametrize(
    ("script", "reason"),
    [(None, "git is not installed"), ("echo git version 2.30.1", "it says 'git version 2.30.1'")],
)
def test_git_must_be_there_and_young_enough(tmp_path, monkeypatch, script, reason):
    """Without a usable git the server says so instead of failing later."""
    if script:
        (tmp_path / "git").write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / "git").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(CannotServeError, match=reason), running():
        pass


def test_requests_through_a_proxy_name_the_whole_url(server):
    """An absolute request target works, and answers speak of the host that was asked for."""
    with socket.create_connection(("127.0.0.1", int(server.url.rpartition(":")[2])), timeout=20) as connection:
        connection.sendall(
            b"GET http://api.github.localhost/repos/octo/demo/issues/42 HTTP/1.1\r\n"
            b"Host: api.github.localhost\r\nConnection: close\r\n\r\n"
        )
        reply = b"".join(iter(lambda: connection.recv(65536), b""))
    body = json.loads(reply.partition(b"\r\n\r\n")[2])
    assert body["url"] == "http://api.github.localhost/repos/octo/demo/issues/42"
    assert body["html_url"] == "http://github.localhost/octo/demo/issues/42"


def test_unix_socket(tmp_path):
    """The same server answers on a unix socket, as gh can be told to use."""
    path = tmp_path / "s"
    with running(unix_socket=str(path)), socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(20)
        connection.connect(str(path))
        connection.sendall(b"GET /user HTTP/1.1\r\nHost: api.github.com\r\nConnection: close\r\n\r\n")
        reply = b"".join(iter(lambda: connection.recv(65536), b""))
        assert json.loads(reply.partition(b"\r\n\r\n")[2])["html_url"] == "https://github.com/octo"
    assert not path.exists()


def test_urls_follow_host_and_prefix(client, server):
    """Answers under the Enterprise prefix lead back under it; others do not."""
    plain = client.read(f"{REPO}/issues/42")
    enterprise = client.read(f"/api/v3{REPO}/issues/42")
    assert plain["url"] == f"{server.url}{REPO}/issues/42"
    assert enterprise["url"] == f"{server.url}/api/v3{REPO}/issues/42"
    assert plain["html_url"] == enterprise["html_url"] == f"{server.url}/octo/demo/issues/42"
    renamed = client.call("GET", "/user", headers={"host": "localhost:1234"}).json()
    assert renamed["url"] == "http://localhost:1234/users/octo"


def test_paging(client):
    """Lists come in pages with links to the first, previous, next and last one."""
    client.act("grow_board", items=45)
    seen, path = [], f"{REPO}/issues?state=all&per_page=20"
    while path:
        answer = client.call("GET", path)
        seen += [entry["number"] for entry in answer.json()]
        path = answer.links.get("next", {}).get("url")
    assert seen == list(range(89, 39, -1))
    middle = client.call("GET", f"/api/v3{REPO}/issues?state=all&per_page=20&page=2")
    assert set(middle.links) == {"first", "prev", "next", "last"}
    assert "/api/v3/repos/octo/demo/issues?state=all&per_page=20&page=3" in middle.links["next"]["url"]
    assert len(client.read(f"{REPO}/issues?state=all")) == 30
    assert len(client.read(f"{REPO}/issues?state=all&per_page=500")) == 50


def test_etags(client):
    """An unchanged answer is a 304 that costs nothing; a changed one is sent again."""
    first = client.call("GET", f"{REPO}/issues/42")
    known = {"if-none-match": first.headers["etag"]}
    again = client.call("GET", f"{REPO}/issues/42", headers=known)
    assert (again.status_code, again.content) == (304, b"")
    assert again.headers["x-ratelimit-used"] == first.headers["x-ratelimit-used"]
    client.act("comment", issue=42, body="News")
    assert client.call("GET", f"{REPO}/issues/42", headers=known).status_code == 200


def test_rate_limit_counts(client):
    """Each request is counted, asking for the limits is free, and an hour resets the count."""
    client.read("/user")
    client.read("/user")
    assert client.read("/rate_limit")["resources"]["core"]["used"] == 2
    client.post("/_emulator/clock", {"advance_s": 3601})
    assert client.read("/rate_limit")["rate"]["used"] == 0


def test_filters(client):
    """Issues can be filtered by state, assignee, label and creator; pull requests by head, base and state."""
    client.act("add_issue", title="Labelled", labels=["bug"], by="mona")
    number = client.opened_pull("work")

    def numbers(query):
        return [entry["number"] for entry in client.read(f"{REPO}/{query}")]

    assert numbers("issues?assignee=mona") == [40]
    assert numbers("issues?assignee=none&labels=bug") == [45]
    assert numbers("issues?assignee=*") == [40]
    assert numbers("issues?creator=mona") == [45]
    assert numbers("issues?state=closed") == [44]
    assert numbers("issues?direction=asc&per_page=2") == [40, 41]
    assert numbers("pulls?head=octo:work") == [number]
    assert numbers("pulls?head=octo:none") == []
    assert numbers("pulls?base=main&state=all") == [number]
    assert numbers("pulls?state=closed") == []


COUNTS = """{ repository(owner: "octo", name: "demo") { issues { totalCount } }
              user(login: "octo") { projectV2(number: 1) { items { totalCount } } } }"""


@pytest.mark.parametrize(("scenario", "issues"), [("empty", 0), ("large", 10_000)])
def test_other_scenarios(scenario, issues):
    """The empty world has a board without cards; the large one has ten thousand."""
    with running(scenario) as server:
        counted = _asked(server.url, "POST", "/graphql", {"query": COUNTS}, authorization="token any")[1]["data"]
        refs = server.world.repository("octo", "demo").git.refs()
    assert counted["repository"]["issues"]["totalCount"] == issues
    assert counted["user"]["projectV2"]["items"]["totalCount"] == issues
    assert list(refs) == ["refs/heads/main"]


def test_answers_do_not_wait_for_an_acknowledgement(client):
    """On a kept connection the quickest answer takes far less than the 40 ms of Nagle's algorithm."""
    durations = []
    for _ in range(20):
        started = time.monotonic()
        client.read("/meta")
        durations.append(time.monotonic() - started)
    assert min(durations) < 0.03


def test_many_clients_at_once(server):
    """Of many clients that create the same ref at once exactly one wins."""
    from concurrent.futures import ThreadPoolExecutor

    sha = _get(server.url, f"{REPO}/git/ref/heads/main")["object"]["sha"]
    body = {"ref": "refs/agentsync/claims/42", "sha": sha}
    with ThreadPoolExecutor(8) as pool:
        codes = list(pool.map(lambda _: _asked(server.url, "POST", f"{REPO}/git/refs", body)[0], range(16)))
    assert sorted(codes) == [201] + [422] * 15


def test_a_world_of_another_version_is_refused(tmp_path):
    """A kept world with another layout is refused with what to do, not read by half."""
    kept = tmp_path / "kept"
    with running(state=kept) as server, server.world.lock:
        server.world.layout = 1
    with pytest.raises(CannotServeError, match="kept by another version; give an empty directory"), running(state=kept):
        pass
