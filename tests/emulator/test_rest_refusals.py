REPO = "/repos/octo/demo"


def _problem(answer):
    assert answer.status_code == 422
    body = answer.json()
    assert body["message"] == "Validation Failed"
    assert body["status"] == "422"
    assert "documentation_url" in body
    return body["errors"][0]


def test_duplicate_pull(client):
    """A second open pull request for the same head and base is refused with GitHub's words."""
    number = client.opened_pull("work")
    again = {"title": "Again", "head": "octo:work", "base": "main"}
    assert _problem(client.post(f"{REPO}/pulls", again)) == {
        "resource": "PullRequest",
        "code": "custom",
        "message": "A pull request already exists for octo:work.",
    }
    client.act("close_pull", pull=number)
    assert client.post(f"{REPO}/pulls", again).status_code == 201


def test_pulls_that_cannot_be_opened(client):
    """A missing head, a missing base, nothing to merge and an empty title each have their own problem."""
    client.act("push_commit", branch="work")
    for change, expected in (
        ({"head": "nope"}, {"field": "head", "code": "invalid"}),
        ({"head": "someone:work"}, {"field": "head", "code": "invalid"}),
        ({"base": "nope"}, {"field": "base", "code": "invalid"}),
        ({"head": "main"}, {"code": "custom", "message": "No commits between main and main"}),
        ({"title": " "}, {"field": "title", "code": "missing_field", "message": "Title can't be blank"}),
        ({"title": None}, {"field": "title", "code": "missing_field"}),
        ({"title": "x" * 257}, {"field": "title"}),
    ):
        body = {"title": "Work", "head": "work", "base": "main"} | change
        problem = _problem(client.post(f"{REPO}/pulls", body))
        assert problem.items() >= ({"resource": "PullRequest"} | expected).items(), change
        assert client.state()["pulls"] == [], change


def test_assignees(client):
    """Ten assignees at most, and only people who can be assigned."""
    logins = [f"dev{index}" for index in range(12)]
    for login in logins:
        client.act("role", user=login, role="write")
    answer = client.post(f"{REPO}/issues/42/assignees", {"assignees": logins})
    assert [user["login"] for user in answer.json()["assignees"]] == logins[:10]
    problem = _problem(client.post(f"{REPO}/issues/43/assignees", {"assignees": ["stranger"]}))
    assert (problem["field"], problem["value"]) == ("assignees", "stranger")


def test_refs(client):
    """Creating twice, unknown objects, bad names, moving backwards and deleting nothing are refused."""
    main = client.read(f"{REPO}/git/ref/heads/main")["object"]["sha"]
    newer = client.act("push_commit", branch="work")["id"]
    refs = f"{REPO}/git/refs"
    created = client.post(refs, {"ref": "refs/heads/x", "sha": newer})
    assert (created.status_code, created.json()["object"]["sha"]) == (201, newer)
    messages = [
        client.post(refs, {"ref": "refs/heads/x", "sha": main}).json()["message"],
        client.post(refs, {"ref": "refs/heads/y", "sha": "1" * 40}).json()["message"],
        client.post(refs, {"ref": "heads/y", "sha": main}).json()["message"],
        client.post(refs, {"ref": "refs/heads/a..b", "sha": main}).json()["message"],
        client.call("PATCH", f"{refs}/heads/x", json={"sha": main}).json()["message"],
        client.call("PATCH", f"{refs}/heads/none", json={"sha": main}).json()["message"],
        client.call("DELETE", f"{refs}/heads/none").json()["message"],
    ]
    assert messages == [
        "Reference already exists",
        "Object does not exist",
        "heads/y is not a valid ref name.",
        "refs/heads/a..b is not a valid ref name.",
        "Update is not a fast forward",
        "Reference does not exist",
        "Reference does not exist",
    ]
    assert client.call("PATCH", f"{refs}/heads/x", json={"sha": main, "force": True}).status_code == 200
    assert client.call("DELETE", f"{refs}/heads/x").status_code == 204


def test_reviews_of_ones_own_work(client):
    """Nobody approves their own pull request; someone else can."""
    number = client.opened_pull()
    reviews = f"{REPO}/pulls/{number}/reviews"
    refused = client.post(reviews, {"event": "APPROVE"})
    assert refused.status_code == 422
    assert refused.json()["errors"] == ["Can not approve your own pull request"]
    assert client.post(reviews, {"event": "APPROVE"}, token="as:mona").status_code == 200
    assert client.post(reviews, {"event": "COMMENT"}, token="as:mona").status_code == 422


def test_tokens(client):
    """Each special token behaves as documented, and any other is the owner."""
    assert client.call("GET", "/user", token="bad-token").status_code == 401
    assert client.call("GET", "/user", token="bad-token").json()["message"] == "Bad credentials"
    assert client.call("GET", "/user", token="as:no one").status_code == 401
    assert client.call("GET", "/user", token="ghp_x").json()["login"] == "octo"
    assert client.call("GET", "/user", token="as:mona").json()["login"] == "mona"
    assert client.call("GET", "/user", token="as:new-one").json()["login"] == "new-one"
    assert client.call("GET", f"{REPO}/issues/42", token="read-only").status_code == 200
    refused = client.post(f"{REPO}/issues", {"title": "X"}, token="read-only")
    assert refused.status_code == 403
    assert refused.json()["message"] == "Resource not accessible by personal access token"
    assert "project" in client.call("GET", "/user").headers["x-oauth-scopes"].split(", ")
    without = client.call("GET", "/user", token="no-project-scope").headers["x-oauth-scopes"]
    assert "project" not in without.split(", ")


def test_what_is_not_there(client):
    """Whatever cannot be found answers the same 404."""
    below = [f"{REPO}/{name}" for name in ("issues/999", "issues/x", "pulls/42")]
    for path in (*below, "/repos/octo/none", "/users/none", "/none"):
        answer = client.call("GET", path)
        assert (answer.status_code, answer.json()["message"]) == (404, "Not Found"), path


def test_bodies_that_are_no_objects(client):
    """A body that is no JSON object is a bad request."""
    for content, message in {"{": "Problems parsing JSON", "[1]": "Body should be a JSON object"}.items():
        answer = client.call("POST", f"{REPO}/issues", content=content)
        assert (answer.status_code, answer.json()["message"]) == (400, message)


def test_reruns(client):
    """A finished job can run again under a new number; a running one cannot."""
    number = client.opened_pull()
    job = client.act("add_check", pull=number, name="test", conclusion="failure")["id"]
    assert client.call("POST", f"{REPO}/actions/jobs/{job}/rerun").status_code == 201
    sha = client.pull(number)["head_sha"]
    (latest,) = client.read(f"{REPO}/commits/{sha}/check-runs")["check_runs"]
    assert (latest["id"] != job, latest["status"], latest["conclusion"]) == (True, "queued", None)
    assert client.read(f"{REPO}/commits/{sha}/check-runs?filter=all")["total_count"] == 2
    assert client.call("POST", f"{REPO}/actions/jobs/{latest['id']}/rerun").status_code == 403
    assert client.call("GET", f"{REPO}/actions/jobs/{latest['id']}/logs").status_code == 404


def test_graphql_requests_that_cannot_be_run(client):
    """A bad token, a body that is no JSON and a missing query are refused before GraphQL begins."""
    query = {"query": "{ viewer { login } }"}
    assert client.post("/graphql", query, token="bad-token").status_code == 401
    assert client.call("POST", "/graphql", content="{").status_code == 400
    assert client.post("/graphql", ["query"]).status_code == 400
    assert client.post("/graphql", {"query": 1}).status_code == 400
    assert client.call("GET", "/graphql").status_code == 404


def test_moving_an_issue_through_rest(client):
    """An edit can change text, people, labels and state at once, and only what it names."""
    change = {
        "title": "New", "labels": ["bug"], "assignees": ["octo"], "state": "closed",
        "state_reason": "not_planned",
    }  # fmt: skip
    client.call("PATCH", f"{REPO}/issues/40", json=change)
    assert client.issue(40) == client.issue(40) | change
    client.call("PATCH", f"{REPO}/issues/40", json={"state": "open", "labels": []})
    assert client.issue(40) == client.issue(40) | {"title": "New", "labels": [], "state": "open"}
    assert client.call("PATCH", f"{REPO}/issues/40", json={"state": "ajar"}).status_code == 422
    assert client.call("PATCH", f"{REPO}/issues/40", json={"state_reason": "x", "state": "closed"}).status_code == 422


def test_pulls_can_be_edited_as_issues_and_as_pulls(client):
    """The state of a pull request can be changed from both of its sides."""
    number = client.opened_pull()
    client.act("push_commit", branch="next", path="n.txt")
    for path in ("issues", "pulls"):
        client.call("PATCH", f"{REPO}/{path}/{number}", json={"state": "closed"})
        assert client.pull(number)["state"] == "closed"
        client.call("PATCH", f"{REPO}/{path}/{number}", json={"state": "open"})
        assert client.pull(number)["state"] == "open"
    client.call("PATCH", f"{REPO}/pulls/{number}", json={"title": "T", "body": "B", "base": "next"})
    assert client.pull(number) == client.pull(number) | {"title": "T", "body": "B", "base": "next"}
    assert client.call("PATCH", f"{REPO}/pulls/{number}", json={"state": "ajar"}).status_code == 422


def test_labels_are_created_once(client):
    """A label is created once, whatever its case, and found again although its name has a slash."""
    assert client.post(f"{REPO}/labels", {"name": "size/L", "color": "ffffff"}).status_code == 201
    problem = _problem(client.post(f"{REPO}/labels", {"name": "SIZE/L"}))
    assert problem == {"resource": "Label", "field": "name", "code": "already_exists"}
    client.post(f"{REPO}/issues/42/labels", ["size/L", "bug"])
    assert client.call("DELETE", f"{REPO}/issues/42/labels/size%2FL").status_code == 200
    assert client.issue(42)["labels"] == ["bug"]


def test_a_deleted_base_closes_the_pull(client):
    """A pull request whose base branch is deleted is closed."""
    client.act("push_commit", branch="release", path="r.txt")
    number = client.opened_pull(base="release")
    client.act("delete_branch", branch="release")
    assert client.pull(number)["state"] == "closed"
    refused = client.call("PATCH", f"{REPO}/pulls/{number}", json={"base": "main"})
    assert "closed pull request" in refused.json()["errors"][0]["message"]


def test_mistakes_of_the_program_look_like_a_server_error(client, server, caplog):
    """An unexpected failure is a 500 in GitHub's shape, and the log says where it came from."""
    server.world.repository("octo", "demo").git.path = None
    answer = client.call("GET", f"{REPO}/branches")
    assert (answer.status_code, answer.json()["message"]) == (500, "Server Error")
    assert "GET /repos/octo/demo/branches failed" in caplog.text
