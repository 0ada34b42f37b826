"""Forks and their pull requests, and things that moved: repositories, issues."""

import pytest

REPO = "/repos/octo/demo"
PULL = """query($number: Int!) { repository(owner: "octo", name: "demo") { isFork forkCount pullRequest(number: $number) {
  isCrossRepository maintainerCanModify headRefName headRepository { nameWithOwner isFork parent { nameWithOwner } }
  headRepositoryOwner { login } author { login } authorAssociation } } }"""


@pytest.fixture
def fork(client):
    """Return the fork of somebody who may only read the parent, with a branch of its own."""
    client.act("role", user="hubot", role="read")
    name = client.act("fork", by="hubot")["id"]
    client.act("push_commit", repo=name, by="hubot", branch="work", path="work.txt", content="x\n")
    return name


def proposed(client):
    """Open a pull request from the fork and return its number."""
    body = {"title": "Work", "head": "hubot:work", "base": "main", "maintainer_can_modify": True}
    return client.post(f"{REPO}/pulls", body, token="as:hubot").raise_for_status().json()["number"]


def graphql(client, query, **variables):
    """Return the data of an answer without errors."""
    answer = client.post("/graphql", {"query": query, "variables": variables}).json()
    assert "errors" not in answer, answer
    return answer["data"]


def test_a_fork_proposes_a_branch(client, fork):
    """A reader of the parent opens a pull request from the fork; branch and repository are the fork's."""
    number = proposed(client)
    seen = graphql(client, PULL, number=number)["repository"]
    assert (seen["isFork"], seen["forkCount"]) == (False, 1)
    pull = seen["pullRequest"]
    assert (pull["isCrossRepository"], pull["maintainerCanModify"], pull["headRefName"]) == (True, True, "work")
    assert pull["headRepository"] == {
        "nameWithOwner": fork, "isFork": True, "parent": {"nameWithOwner": "octo/demo"},
    }  # fmt: skip
    assert (pull["author"]["login"], pull["authorAssociation"]) == ("hubot", "NONE")
    shown = client.read(f"{REPO}/pulls/{number}")
    assert (shown["head"]["label"], shown["head"]["repo"]["full_name"]) == ("hubot:work", fork)
    assert client.read(f"/repos/{fork}")["parent"]["full_name"] == "octo/demo"
    assert client.read(f"{REPO}/pulls?head=hubot:work")[0]["number"] == number


def test_the_parent_keeps_a_reader_out(client, fork):
    """In the parent the reader may neither push a branch nor move a card, and a strange head is refused."""
    answer = client.post(f"{REPO}/git/refs", {"ref": "refs/heads/x", "sha": "0" * 40}, token="as:hubot")
    assert answer.status_code == 403
    wrong = client.post(f"{REPO}/pulls", {"title": "x", "head": "nobody:work", "base": "main"}, token="as:hubot")
    assert wrong.status_code == 422
    assert fork == "hubot/demo"


def test_a_pull_request_follows_its_fork(client, fork, clone, server):
    """A push to the fork moves the head; a maintainer may push there too, and the merge works."""
    number = proposed(client)
    client.act("push_commit", repo=fork, by="hubot", branch="work", path="more.txt", content="y\n")
    head = client.pull(number)["head_sha"]
    assert any(entry["sha"] == head and entry["repo"] == fork for entry in client.state()["refs"])
    client.act("git_credentials", required=True)
    address = f"{server.url.replace('://', '://x:as%3Amona@')}/{fork}.git"
    clone.git("fetch", "--quiet", address, "work")
    clone.git("checkout", "--quiet", "FETCH_HEAD")
    sha = clone.commit()
    clone.git("push", "--quiet", address, "HEAD:refs/heads/work")
    assert client.pull(number)["head_sha"] == sha
    client.act("merge_pull", pull=number)
    assert client.pull(number)["merged"] is True


def test_a_renamed_repository_is_found_under_its_old_name(client, clone, server):
    """GraphQL follows the name, REST and git redirect, and asked not to follow, GraphQL finds nothing."""
    client.act("rename_repository", name="renamed")
    query = 'query($f: Boolean) { repository(owner: "octo", name: "demo", followRenames: $f) { nameWithOwner } }'
    assert graphql(client, query, f=True)["repository"]["nameWithOwner"] == "octo/renamed"
    assert client.post("/graphql", {"query": query, "variables": {"f": False}}).json()["data"]["repository"] is None
    moved = client.call("GET", f"{REPO}/issues/42?x=1")
    assert (moved.status_code, moved.json()["message"]) == (301, "Moved Permanently")
    assert moved.headers["location"].endswith("/issues/42?x=1")
    import httpx

    with httpx.Client(base_url=server.url, follow_redirects=True) as http:
        assert http.get(f"{REPO}/issues/42").json()["number"] == 42
        assert http.post(f"{REPO}/issues", json={"title": "New"}).status_code == 201
    clone.commit()
    clone.git("push", "--quiet", "origin", "HEAD:refs/heads/work")
    client.act("transfer_repository", repo="octo/renamed", owner="mona")
    assert client.state()["refs"][0]["repo"] == "mona/renamed"
    clone.git("fetch", "--quiet", "origin")


def test_a_transferred_issue_is_elsewhere(team):
    """It has a number of its own there, its card goes along, and the old number finds nothing."""
    number = team.act("transfer_issue", repo="acme/api", issue=5, to="acme/web")["number"]
    assert number == 13
    query = '{ repository(owner: "acme", name: "api") { issue(number: 5) { id } } }'
    assert team.post("/graphql", {"query": query}).json()["errors"][0]["type"] == "NOT_FOUND"
    assert team.call("GET", "/repos/acme/api/issues/5").status_code == 301
    cards = [(item["repo"], item["issue"]) for item in team.state()["items"]]
    assert ("acme/web", 13) in cards
    assert ("acme/api", 5) not in cards
