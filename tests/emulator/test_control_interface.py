import time

STATE_KEYS = {
    "issues": [
        "repo", "number", "title", "state", "state_reason", "assignees", "labels", "blocked_by", "parent",
    ],
    "pulls": [
        "repo", "number", "title", "body", "state", "draft", "merged", "head", "head_sha", "base",
    ],
    "checks": ["repo", "sha", "name", "status", "conclusion"],
    "comments": ["repo", "issue", "id", "by", "body"],
    "items": ["project", "repo", "id", "issue", "archived", "fields"],
    "refs": ["repo", "name", "sha"],
}  # fmt: skip


def test_state_has_exactly_the_published_shape(client):
    """Every list of the state has entries with exactly the published keys, in their order."""
    number = client.opened_pull()
    client.act("add_check", pull=number, name="test", conclusion="success")
    client.act("comment", issue=42, body="Hello")
    state = client.state()
    assert list(state) == list(STATE_KEYS)
    for name, keys in STATE_KEYS.items():
        assert state[name], name
        assert all(list(entry) == keys for entry in state[name]), name


def test_small_scenario(client):
    """The default world is the documented one."""
    state = client.state()
    assert {entry["number"]: entry["state"] for entry in state["issues"]} == {
        40: "open", 41: "open", 42: "open", 43: "open", 44: "closed",
    }  # fmt: skip
    assert client.issue(40)["assignees"] == ["mona"]
    assert client.issue(41)["blocked_by"] == [40]
    assert client.issue(42)["title"] == "Fix race condition in cache"
    assert {entry["issue"]: entry["fields"] for entry in state["items"]} == {
        40: {"Status": "In Progress"},
        41: {"Status": "Todo"},
        42: {"Status": "Todo", "Priority": "P1"},
        43: {"Status": "Todo", "Priority": "P2"},
        44: {"Status": "Done"},
    }
    assert [entry["name"] for entry in state["refs"]] == ["refs/heads/main"]
    assert client.act("add_issue", title="Next")["number"] == 45


def test_issues_and_pulls_share_one_sequence(client):
    """A pull request takes the number an issue would have had."""
    assert client.opened_pull() == 45
    assert client.act("add_issue", title="After")["number"] == 46


def test_journal_lists_requests_but_not_control_or_git(client, clone):
    """The journal names each request's operation; git traffic shows only when asked for."""
    client.read("/repos/octo/demo/issues/42")
    client.post("/api/graphql", {"query": "query WhoAmI { viewer { login } }"})
    client.call("GET", "/nowhere")
    clone.git("fetch", "--quiet", "origin")
    shown = [(e["method"], e["path"], e["operation"], e["status"]) for e in client.requests()]
    assert shown == [
        ("GET", "/repos/octo/demo/issues/42", "issues/get", 200),
        ("POST", "/api/graphql", "WhoAmI", 200),
        ("GET", "/nowhere", None, 404),
    ]
    assert all(set(entry) == {"method", "path", "operation", "status", "ms"} for entry in client.requests())
    with_git = client.read("/_emulator/requests?git=1")
    assert "/octo/demo.git/git-upload-pack" in {entry["path"] for entry in with_git}
    assert client.http.delete("/_emulator/requests").status_code == 200
    assert client.requests() == []


def test_operation_name_comes_from_the_request_first(client):
    """A named operation among several is journalled by the name the request chose."""
    query = "query A { viewer { login } } query B { viewer { login } }"
    client.post("/graphql", {"query": query, "operationName": "B"})
    assert client.requests()[0]["operation"] == "B"


def test_clock_can_be_advanced(client):
    """Time moves forward by the seconds given, in answers and headers alike."""
    before = client.act("add_issue", title="Early")["number"]
    client.post("/_emulator/clock", {"advance_s": 7200})
    after = client.act("add_issue", title="Late")["number"]
    early, late = (client.read(f"/repos/octo/demo/issues/{n}")["created_at"] for n in (before, after))
    assert early < late
    assert int(late[11:13]) == (int(early[11:13]) + 2) % 24


def test_latency_is_added_to_requests_and_not_to_control(client):
    """Each request of the interface waits; control requests do not."""
    client.post("/_emulator/latency", {"ms": 1000})
    started = time.monotonic()
    client.state()
    assert time.monotonic() - started < 1
    started = time.monotonic()
    client.read("/user")
    assert time.monotonic() - started >= 1
    assert client.requests()[0]["ms"] >= 1000


def test_unknown_control_path_lists_the_known_ones(client):
    """A control request that does not exist says what does."""
    answer = client.http.post("/_emulator/stat")
    assert answer.status_code == 404
    assert "GET /_emulator/state" in answer.json()["error"]


def test_bad_acts_are_refused(client):
    """An act that cannot be read or is unknown answers what is wrong."""
    for body, status in {"{": 400, "[]": 422, "{}": 422, '{"act": "explode"}': 422}.items():
        answer = client.http.post("/_emulator/act", content=body, headers={"content-type": "application/json"})
        assert (answer.status_code, answer.json()["ok"]) == (status, False), body


def test_unknown_fault_is_refused(client):
    """A fault nobody knows is not silently ignored."""
    answer = client.http.post("/_emulator/faults", json={"fault": "explode"})
    assert answer.status_code == 422
    assert "drop_after_apply" in answer.json()["error"]
    for wrong in ("status:many", "delay:", "status:"):
        assert client.http.post("/_emulator/faults", json={"fault": wrong}).status_code == 422


PLAIN = {"content-type": "text/plain"}
TYPED = {"content-type": "application/json"}
CROSS_SITE = {
    "form": (PLAIN | {"origin": "https://evil.example"}, 403),
    "sandboxed frame": (TYPED | {"origin": "null"}, 403),
    "other port": (TYPED | {"origin": "http://127.0.0.1:1"}, 403),
    "fetch metadata": (TYPED | {"sec-fetch-site": "cross-site"}, 403),
    "same site, other origin": (TYPED | {"sec-fetch-site": "same-site"}, 403),
    "curl -d of a page": ({"content-type": "application/x-www-form-urlencoded", "origin": "https://evil.example"}, 403),
    "plain text": (PLAIN, 415),
    "upload": ({"content-type": "multipart/form-data; boundary=x"}, 415),
}


def test_control_requests_of_web_pages_are_refused(client):
    """A page in a browser of this machine cannot act on the world: it is told no, as JSON, and nothing happens."""
    before = client.state()
    for name, (headers, status) in CROSS_SITE.items():
        answer = client.http.post("/_emulator/act", content='{"act": "close_issue", "issue": 42}', headers=headers)
        assert (answer.status_code, answer.json()["ok"]) == (status, False), name
        assert before == client.state(), name


def test_programs_need_no_header(client):
    """What curl and scripts send by themselves is taken."""
    for kind in ("application/json", "application/x-www-form-urlencoded", ""):
        headers = {"content-type": kind} if kind else {}
        answer = client.http.post("/_emulator/act", content='{"act": "close_issue", "issue": 42}', headers=headers)
        assert answer.json()["ok"], kind
        assert client.issue(42)["state"] == "closed", kind
        client.act("reopen_issue", issue=42)


def test_other_methods_of_web_pages_are_refused(client):
    """Neither looking nor forgetting is open to another site; a request whose origin is this very server is its own."""
    for method in ("GET", "DELETE"):
        answer = client.http.request(method, "/_emulator/requests", headers={"origin": "https://evil.example"})
        assert answer.status_code == 403, method
    own = str(client.http.base_url).rstrip("/")
    headers = {"origin": own, "sec-fetch-site": "same-origin"}
    assert client.http.get("/_emulator/state", headers=headers).status_code == 200


def test_other_names_for_this_server_are_refused(client):
    """A name that somebody else's name server points here opens nothing, the interface and git included.

    Loopback addresses and names below localhost work, with any port: proxies and forwarding change it.
    """
    for host in ("evil.example", "127.0.0.1.evil.example:80", "localhost.evil.example", "[::2]", "x@localhost"):
        for path in ("/_emulator/state", "/user", "/octo/demo.git/info/refs?service=git-upload-pack"):
            assert client.http.get(path, headers={"host": host}).status_code == 403, (host, path)
    for host in ("127.0.0.1", "127.0.0.1:80", "localhost:8042", "[::1]:8042", "api.github.localhost"):
        assert client.http.get("/user", headers={"host": host}).status_code == 200, host
