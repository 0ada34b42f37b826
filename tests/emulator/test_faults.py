import json
import time

import pytest

REPO = "/repos/octo/demo"


def _transport_errors():
    import httpx

    return httpx.TransportError


def test_status_fault_answers_without_acting(client):
    """A server error on order happens instead of the act, once, and only where it matches."""
    client.fault("status:502", method="POST", path=f"{REPO}/issues")
    assert client.call("GET", f"{REPO}/issues").status_code == 200
    assert client.post(f"{REPO}/issues", {"title": "Lost"}).status_code == 502
    assert len(client.state()["issues"]) == 5
    assert client.post(f"{REPO}/issues", {"title": "Kept"}).status_code == 201


def test_faults_count_down_and_first_match_wins(client):
    """Orders are used up in the order they came."""
    client.fault("status:500", times=2, path="/user")
    client.fault("status:503", path="/user")
    assert [client.call("GET", "/user").status_code for _ in range(4)] == [500, 500, 503, 200]


def test_faults_match_by_operation(client):
    """A fault can be meant for one GraphQL operation or one REST operation."""
    client.fault("status:504", operation="Poll")
    client.fault("status:500", operation="issues/get")
    query = {"query": "query Other { viewer { login } }"}
    assert client.post("/graphql", query).status_code == 200
    assert client.post("/api/graphql", {"query": "query Poll { viewer { login } }"}).status_code == 504
    assert client.call("GET", f"/api/v3{REPO}/issues/42").status_code == 500


def test_faults_match_paths_without_the_enterprise_prefix(client):
    """A path without the prefix matches requests that came with it."""
    client.fault("status:500", path=f"{REPO}/issues/42")
    assert client.call("GET", f"/api/v3{REPO}/issues/42").status_code == 500


def test_faults_can_be_forgotten(client):
    """DELETE lifts every order; GET shows those that are left."""
    client.fault("status:500", times=99)
    client.call("GET", "/user")
    (left,) = client.http.get("/_emulator/faults").json()
    assert (left["kind"], left["times"]) == ("status:500", 98)
    client.http.delete("/_emulator/faults")
    assert client.http.get("/_emulator/faults").json() == []
    assert client.call("GET", "/user").status_code == 200


@pytest.mark.parametrize(("fault", "status"), [("secondary_limit", 403), ("status:429", 429)])
def test_secondary_limit(client, fault, status):
    """The secondary limit comes as 403 or 429, with GitHub's words and a time to wait."""
    client.fault(fault)
    answer = client.call("GET", "/user")
    assert answer.status_code == status
    assert answer.json()["message"].startswith("You have exceeded a secondary rate limit.")
    assert int(answer.headers["retry-after"]) > 0


def test_primary_limit_over_rest(client):
    """The primary limit is a 403 with nothing remaining and a reset in the future."""
    client.fault("primary_limit")
    answer = client.call("GET", "/user")
    assert answer.status_code == 403
    assert answer.json()["message"].startswith("API rate limit exceeded")
    assert answer.headers["x-ratelimit-remaining"] == "0"
    assert int(answer.headers["x-ratelimit-reset"]) > time.time()
    assert client.call("GET", "/user").headers["x-ratelimit-remaining"] != "0"


def test_primary_limit_over_graphql(client):
    """In GraphQL the primary limit is HTTP 200 with an error."""
    client.fault("primary_limit", path="/graphql")
    answer = client.post("/graphql", {"query": "{ viewer { login } }"})
    assert answer.status_code == 200
    assert answer.json()["errors"][0]["type"] == "RATE_LIMITED"
    assert answer.headers["x-ratelimit-remaining"] == "0"


def test_drop_before_acting(client):
    """The connection is reset and nothing has happened; the journal has no status."""
    client.fault("drop_before", method="POST")
    with pytest.raises(_transport_errors()):
        client.post(f"{REPO}/issues/42/comments", {"body": "Lost"})
    assert client.state()["comments"] == []
    assert client.requests()[-1]["status"] is None


def test_drop_after_acting(client):
    """The connection is reset although everything has happened."""
    client.fault("drop_after_apply", method="POST")
    with pytest.raises(_transport_errors()):
        client.post(f"{REPO}/issues/42/comments", {"body": "Kept"})
    assert [entry["body"] for entry in client.state()["comments"]] == ["Kept"]
    assert client.requests()[-1]["status"] is None


def test_delay(client):
    """A delayed answer is late and right."""
    client.fault("delay:0.3", path="/user")
    started = time.monotonic()
    assert client.read("/user")["login"] == "octo"
    assert time.monotonic() - started >= 0.3


def test_garbage_is_not_json(client):
    """A garbled answer has been acted upon and cannot be read."""
    client.fault("garbage", method="POST")
    answer = client.post(f"{REPO}/issues/42/comments", {"body": "Kept"})
    assert answer.status_code == 201
    with pytest.raises(ValueError, match=r"."):
        json.loads(answer.content)
    assert len(client.state()["comments"]) == 1


def test_truncated_answers_end_early(client):
    """A truncated answer promises more than it sends."""
    client.fault("truncate", path="/user")
    with pytest.raises(_transport_errors()):
        client.read("/user")
    assert client.read("/user")["login"] == "octo"


def test_git_pushes_can_be_dropped_before_and_after(client, clone):
    """A push can fail before it took effect and after."""
    path = "/octo/demo.git/git-receive-pack"
    client.fault("drop_before", path=path)
    assert clone.run("push", "origin", "HEAD:refs/heads/lost").returncode != 0
    client.fault("drop_after_apply", path=path)
    assert clone.run("push", "origin", "HEAD:refs/heads/kept").returncode != 0
    names = {entry["name"] for entry in client.state()["refs"]}
    assert "refs/heads/kept" in names
    assert "refs/heads/lost" not in names


def test_git_can_be_down(client, clone):
    """A server error reaches git too."""
    client.fault("status:503", path="/octo/demo.git/info/refs")
    done = clone.run("fetch", "origin")
    assert done.returncode != 0
    assert "503" in done.stderr
    clone.git("fetch", "origin")
