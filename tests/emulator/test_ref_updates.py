"""Refs without git: objects written over REST, moved together by `updateRefs`."""

import base64

import pytest

REPO = "/repos/octo/demo"
ZERO = "0" * 40
CLAIM, HOOK = "refs/agentsync/claims/42", "refs/agentsync/hooks/42"
UPDATE = "mutation($input: UpdateRefsInput!) { updateRefs(input: $input) { clientMutationId } }"


@pytest.fixture
def repository(client):
    return client.read(REPO)["node_id"]


@pytest.fixture
def commits(client):
    """Return two root commits with no history in common, made over REST."""
    return [commit(client, str(number)) for number in range(2)]


def commit(client, content, parents=()):
    """Write a tree and a commit, and return its SHA."""
    entry = {"path": "claim.json", "mode": "100644", "type": "blob", "content": content}
    tree = client.post(f"{REPO}/git/trees", {"tree": [entry]}).raise_for_status().json()["sha"]
    body = {"message": "Claim", "tree": tree, "parents": list(parents)}
    return client.post(f"{REPO}/git/commits", body).raise_for_status().json()["sha"]


def update(client, repository, *updates):
    """Send one mutation and return its errors."""
    given = {"repositoryId": repository, "refUpdates": list(updates)}
    return client.post("/graphql", {"query": UPDATE, "variables": {"input": given}}).json().get("errors", [])


def refs(client):
    return {entry["name"]: entry["sha"] for entry in client.state()["refs"]}


def test_only_who_knows_the_old_value_moves_a_ref(client, repository, commits):
    """Zeros create, the exact old value moves, anything else is refused; a sibling needs force as well."""
    one, two = commits
    create = {"name": CLAIM, "beforeOid": ZERO, "afterOid": one}
    assert update(client, repository, create) == []
    (error,) = update(client, repository, create)
    assert error["type"] == "UNPROCESSABLE"
    assert CLAIM in error["message"]
    assert update(client, repository, {"name": CLAIM, "beforeOid": two, "afterOid": two, "force": True}) != []
    assert update(client, repository, {"name": CLAIM, "beforeOid": one, "afterOid": two}) != []
    assert refs(client)[CLAIM] == one
    assert update(client, repository, {"name": CLAIM, "beforeOid": one, "afterOid": two, "force": True}) == []
    assert refs(client)[CLAIM] == two


def test_one_refused_ref_leaves_all_alone(client, repository, commits):
    """Two refs move together or not at all."""
    one, two = commits
    first = {"name": CLAIM, "beforeOid": ZERO, "afterOid": one}
    assert update(client, repository, first, {"name": HOOK, "beforeOid": two, "afterOid": one}) != []
    assert CLAIM not in refs(client)
    assert update(client, repository, first, {"name": HOOK, "beforeOid": ZERO, "afterOid": two}) == []
    assert update(client, repository, *({"name": name, "afterOid": ZERO} for name in (CLAIM, HOOK))) == []
    assert CLAIM not in refs(client)


def test_without_the_old_value_nothing_is_compared(client, repository, commits):
    """An update that names no old value goes through whatever is there, if it goes forward."""
    child = commit(client, "next", parents=[commits[0]])
    assert update(client, repository, {"name": CLAIM, "afterOid": commits[0]}) == []
    assert update(client, repository, {"name": CLAIM, "afterOid": child}) == []
    assert refs(client)[CLAIM] == child


def test_what_is_never_allowed(client, repository, commits):
    """The default branch stays, hidden and missing refs are refused, and names have to be whole."""
    before = refs(client)
    for name, after in (
        ("refs/heads/main", ZERO),
        ("refs/pull/1/head", commits[0]),
        ("refs/agentsync/none", ZERO),
        ("odd", commits[0]),
    ):
        assert update(client, repository, {"name": name, "afterOid": after}) != [], name
    assert refs(client) == before


def test_rules_hold_here_too(client, repository, commits):
    """A rule against a ref refuses it over the interface as well, and a reader may not write."""
    client.act("refuse_refs", pattern="refs/agentsync")
    (error,) = update(client, repository, {"name": CLAIM, "afterOid": commits[0]})
    assert "Repository rule violations" in error["message"]


def test_custom_refs_are_hidden_from_graphql_and_listed_whole_by_rest(client, repository, commits):
    """GraphQL shows branches and tags only; REST lists matching refs in one answer, without pages."""
    claims = [{"name": f"refs/agentsync/claims/{number}", "afterOid": commits[0]} for number in range(40)]
    assert update(client, repository, *claims) == []
    query = f'{{ repository(owner: "octo", name: "demo") {{ ref(qualifiedName: "{CLAIM}") {{ id }} }} }}'
    query = query.replace(CLAIM, "refs/agentsync/claims/1")
    assert client.post("/graphql", {"query": query}).json()["data"]["repository"]["ref"] is None
    found = client.read(f"{REPO}/git/matching-refs/agentsync/claims/")
    assert len(found) == 40
    assert {entry["object"]["sha"] for entry in found} == {commits[0]}


def test_objects_round_trip(client):
    """What is written as blob, tree and commit is read back, binary files too."""
    content = base64.b64encode(b"\xff\x00x").decode()
    blob = client.post(f"{REPO}/git/blobs", {"content": content, "encoding": "base64"}).json()["sha"]
    assert base64.b64decode(client.read(f"{REPO}/git/blobs/{blob}")["content"]) == b"\xff\x00x"
    base = client.read(f"{REPO}/git/trees/main")
    entries = [{"path": "a/b.bin", "mode": "100644", "type": "blob", "sha": blob}]
    made = client.post(f"{REPO}/git/trees", {"base_tree": base["sha"], "tree": entries}).json()
    assert {entry["path"] for entry in made["tree"]} == {"README.md", "a"}
    deep = client.read(f"{REPO}/git/trees/{made['sha']}?recursive=1")
    assert {entry["path"] for entry in deep["tree"]} == {"README.md", "a", "a/b.bin"}
    gone = [{"path": "README.md", "mode": "100644", "type": "blob", "sha": None}]
    less = client.post(f"{REPO}/git/trees", {"base_tree": made["sha"], "tree": gone}).json()
    assert {entry["path"] for entry in less["tree"]} == {"a"}


def test_objects_that_cannot_be(client):
    """Parents, trees and entries have to exist."""
    tree = client.read(f"{REPO}/git/trees/main")["sha"]
    bad = {"path": "x", "mode": "100644", "type": "blob", "sha": "1" * 40}
    assert client.post(f"{REPO}/git/trees", {"tree": [bad]}).status_code == 422
    assert client.post(f"{REPO}/git/trees", {"tree": [{"path": "x"}]}).status_code == 422
    assert client.post(f"{REPO}/git/trees", {"base_tree": "main", "tree": []}).status_code == 422
    assert client.post(f"{REPO}/git/commits", {"message": "m", "tree": "1" * 40}).status_code == 422
    orphan = client.post(f"{REPO}/git/commits", {"message": "m", "tree": tree, "parents": ["1" * 40]})
    assert (orphan.status_code, "Parent SHA" in orphan.json()["message"]) == (422, True)
    assert client.call("GET", f"{REPO}/git/blobs/{'1' * 40}").status_code == 404


def test_an_orphan_branch_cannot_be_proposed(client, commits):
    """A pull request between histories that never met is refused in GitHub's words."""
    client.post(f"{REPO}/git/refs", {"ref": "refs/heads/orphan", "sha": commits[0]}).raise_for_status()
    answer = client.post(f"{REPO}/pulls", {"title": "x", "head": "orphan", "base": "main"})
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["message"] == "The orphan branch has no history in common with main"
