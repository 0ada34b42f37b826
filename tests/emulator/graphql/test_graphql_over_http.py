"""GraphQL as a client meets it: over HTTP, by token."""

import pytest

VIEWER = {"query": "query Who { viewer { login url } }"}


@pytest.mark.parametrize("path", ["/graphql", "/api/graphql"])
def test_both_paths_answer(client, server, path):
    """The path of github.com and the one of an Enterprise server answer, with addresses of this host."""
    answer = client.post(path, VIEWER)
    assert answer.status_code == 200
    assert answer.json() == {"data": {"viewer": {"login": "octo", "url": f"{server.url}/octo"}}}
    assert "project" in answer.headers["x-oauth-scopes"]


def test_tokens_decide_who_asks(client):
    """A token signs in as whom it names; a bad one is refused before anything is read."""
    assert client.post("/graphql", VIEWER, token="as:hubot").json()["data"]["viewer"]["login"] == "hubot"
    assert client.post("/graphql", VIEWER, token="bad-token").status_code == 401


def test_refusals_are_answers(client):
    """What GraphQL refuses is still HTTP 200, with the errors in the body."""
    query = '{ user(login: "octo") { projectV2(number: 1) { id } } }'
    answer = client.post("/graphql", {"query": query}, token="no-project-scope")
    assert answer.status_code == 200
    assert answer.json()["errors"][0]["type"] == "INSUFFICIENT_SCOPES"


def test_the_journal_names_operations(client):
    """Each request appears in the journal under the name of its operation."""
    client.post("/graphql", VIEWER)
    assert client.requests()[-1]["operation"] == "Who"


def test_the_views_share_one_world(client):
    """What GraphQL writes, REST reads."""
    find = '{ repository(owner: "octo", name: "demo") { issue(number: 42) { id } } }'
    issue = client.post("/graphql", {"query": find}).json()["data"]["repository"]["issue"]["id"]
    close = """mutation($id: ID!) {
      closeIssue(input: { issueId: $id, stateReason: NOT_PLANNED }) { issue { id } } }"""
    client.post("/graphql", {"query": close, "variables": {"id": issue}})
    read = client.read("/repos/octo/demo/issues/42")
    assert (read["state"], read["state_reason"]) == ("closed", "not_planned")
