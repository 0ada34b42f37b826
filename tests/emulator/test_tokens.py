"""Tokens of every kind, what each is refused, and organisations that keep some of them out."""

import pytest

API, WEB = "/repos/acme/api", "/repos/acme/web"
ISSUE = """{ repository(owner: "acme", name: "api") { issue(number: 1) { id
  projectItems(first: 5) { nodes { id } } } } }"""
OWNER = '{ repositoryOwner(login: "acme") { ... on Organization { login } } }'
PLAIN_OWNER = '{ repository(owner: "acme", name: "api") { owner { login } } }'
COMMENT = 'mutation($id: ID!) { addComment(input: {subjectId: $id, body: "Hi"}) { clientMutationId } }'
CHECKS = """query($n: Int!) { repository(owner: "acme", name: "api") { pullRequest(number: $n) {
  state statusCheckRollup { state contexts(first: 5) { nodes { __typename } } } } } }"""


def ask(team, query, token, **variables):
    """Return the whole answer to a query."""
    return team.post("/graphql", {"query": query, "variables": variables}, token=token).json()


def configure(team, name, **more):
    """Configure a token and return its name."""
    return team.act("token", token=name, **more)["id"]


def test_a_classic_token_without_read_org(team):
    """Asking an organisation for its login needs read:org; the owner of a repository does not."""
    token = configure(team, "ghp_plain", kind="classic", scopes=["repo", "project"])
    (error,) = ask(team, OWNER, token)["errors"]
    assert error["type"] == "INSUFFICIENT_SCOPES"
    assert "The 'login' field requires one of the following scopes: ['read:org']" in error["message"]
    assert "only been granted the: ['repo', 'project'] scopes" in error["message"]
    assert ask(team, PLAIN_OWNER, token)["data"]["repository"]["owner"] == {"login": "acme"}
    assert team.call("GET", API, token=token).headers["x-oauth-scopes"] == "repo, project"


def test_a_classic_token_without_repo(team):
    """Without repo nothing is written, and a private repository is not there."""
    token = configure(team, "ghp_bare", scopes=["read:org"])
    issue = team.read(f"{API}/issues/1")["node_id"]
    assert ask(team, COMMENT, token, id=issue)["errors"][0]["type"] == "INSUFFICIENT_SCOPES"
    assert team.post(f"{API}/issues/1/comments", {"body": "Hi"}, token=token).status_code == 404
    assert team.call("GET", API, token=token).status_code == 200
    team.act("visibility", repo="acme/api", private=True)
    assert team.call("GET", API, token=token).status_code == 404
    assert team.call("GET", API, token="as:octo").json()["visibility"] == "private"


def test_a_fine_grained_token(team):
    """Each permission is needed for its own area, boards of people and checks are out of reach."""
    token = configure(team, "github_pat_1", kind="fine_grained", permissions={"issues": "write", "contents": "read"})
    issue = team.read(f"{API}/issues/1")["node_id"]
    assert "errors" not in ask(team, COMMENT, token, id=issue)
    answer = ask(team, ISSUE, token)
    assert answer["data"]["repository"]["issue"]["projectItems"] is None
    assert answer["errors"][0]["type"] == "FORBIDDEN"
    assert answer["errors"][0]["message"] == "Resource not accessible by personal access token"
    assert answer["errors"][0]["path"] == ["repository", "issue", "projectItems"]
    refused = team.post(f"{API}/pulls", {"title": "x", "head": "y", "base": "main"}, token=token)
    assert (refused.status_code, refused.headers["x-accepted-github-permissions"]) == (403, "pull_requests=write")
    assert "x-oauth-scopes" not in refused.headers
    assert "cannot have checks" in team.refused_act(
        "token", token="x", kind="fine_grained", permissions={"checks": "read"}
    )


def test_checks_are_hidden_from_fine_grained_tokens(team):
    """The sum of the checks is seen, each check is an error in its place."""
    token = configure(team, "github_pat_2", kind="fine_grained", permissions={"pull_requests": "read"})
    team.act("push_commit", repo="acme/api", branch="work", content="x\n")
    body = {"title": "Work", "head": "work", "base": "main"}
    number = team.post(f"{API}/pulls", body).raise_for_status().json()["number"]
    team.act("add_check", repo="acme/api", pull=number, name="test", conclusion="success")
    answer = ask(team, CHECKS, token, n=number)
    assert answer["data"]["repository"]["pullRequest"]["statusCheckRollup"]["contexts"]["nodes"] == [None]
    assert answer["errors"][0]["type"] == "FORBIDDEN"
    sha = next(entry["sha"] for entry in team.state()["checks"])
    assert team.call("GET", f"{API}/commits/{sha}/check-runs", token=token).status_code == 403


def test_the_token_of_a_workflow(team):
    """It is a bot, sees no board, and has no user."""
    token = configure(team, "ghs_run", kind="actions")
    assert ask(team, "{ viewer { login } }", token)["data"]["viewer"]["login"] == "github-actions[bot]"
    assert ask(team, ISSUE, token)["errors"][0]["message"] == "Resource not accessible by integration"
    assert team.call("GET", "/user", token=token).json()["message"] == "Resource not accessible by integration"
    assert team.post(f"{API}/issues/1/comments", {"body": "Hi"}, token=token).status_code == 201
    assert "cannot have organization_projects" in team.refused_act(
        "token", token="x", kind="actions", permissions={"organization_projects": "write"}
    )


def test_an_application_reaches_the_board_of_its_organisation(team):
    """With the permission for the organisation's boards an application sees cards."""
    token = configure(
        team, "ghs_app", kind="app", login="planner[bot]",
        permissions={"issues": "write", "organization_projects": "write"},
    )  # fmt: skip
    answer = ask(team, ISSUE, token)
    assert len(answer["data"]["repository"]["issue"]["projectItems"]["nodes"]) == 1


@pytest.mark.parametrize(
    ("configured", "said"),
    [
        ({"scopes": ["repo"]}, "a Personal Access Token {} without `workflow` scope"),
        (
            {"kind": "app", "login": "a[bot]", "permissions": {"contents": "write"}},
            "a GitHub App {} without `workflows` permission",
        ),
    ],
)
def test_workflow_files_need_more(client, clone, server, configured, said):
    """A push that brings a workflow file is refused to tokens that may not, and passes with one that may."""
    client.act("token", token="tok", **configured)
    client.act("git_credentials", required=True)
    (clone.path / ".github" / "workflows").mkdir(parents=True)
    clone.commit(path=".github/workflows/ci.yml")
    address = f"{server.url.replace('://', '://x:%s@')}/octo/demo.git"
    refused = clone.run("push", address % "tok", "HEAD:refs/heads/work")
    what = "to create or update workflow `.github/workflows/ci.yml`"
    assert f"(refusing to allow {said.format(what)})" in refused.stderr
    clone.git("push", "--quiet", address % "any", "HEAD:refs/heads/work")


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        ("saml", "Resource protected by organization SAML enforcement."),
        ("oauth", "the `acme` organization has enabled OAuth App access restrictions"),
        ("ip", "the `acme` organization has an IP allow list enabled"),
        ("classic", "`acme` forbids access via a personal access token (classic)."),
    ],
)
def test_an_organisation_keeps_tokens_out(team, policy, said):
    """Each policy refuses in GitHub's words, over GraphQL, REST and git."""
    team.act("access_policy", owner="acme", policy=policy)
    answer = ask(team, ISSUE, "any")
    (error,) = answer["errors"]
    assert (answer["data"], error["type"], error["path"]) == ({"repository": None}, "FORBIDDEN", ["repository"])
    assert said in error["message"]
    rest = team.call("GET", API)
    assert (rest.status_code, said in rest.json()["message"]) == (403, True)
    assert team.http.get("/acme/api.git/info/refs?service=git-upload-pack").status_code == 403
    team.act("access_policy", owner="acme", policy=None)
    assert team.call("GET", API).status_code == 200


def test_single_sign_on_says_where(team):
    """The header leads to the page where a token is let in, and a token that was let in passes."""
    team.act("access_policy", owner="acme", policy="saml")
    graphql = team.post("/graphql", {"query": ISSUE})
    assert graphql.json()["errors"][0]["extensions"] == {"saml_failure": True}
    for answer in (graphql, team.call("GET", API)):
        assert answer.headers["x-github-sso"].startswith("required; url=https://github.com/orgs/acme/sso?")
    token = configure(team, "ghp_sso", sso=["acme"])
    assert "errors" not in ask(team, ISSUE, token)


def test_documents_that_weigh_too_much(team):
    """Above the limit that was set a document is refused by type, and a smaller page passes."""
    team.act("weight_limit", nodes=100)
    heavy = """query($n: Int!) { repository(owner: "acme", name: "api") {
      issues(first: $n) { nodes { assignees(first: 9) { nodes { login } } } } } }"""
    assert ask(team, heavy, "any", n=50)["errors"][0]["type"] == "RESOURCE_LIMITS_EXCEEDED"
    assert "errors" not in ask(team, heavy, "any", n=10)


HIDDEN = """{ repository(owner: "acme", name: "api") { issue(number: 5) {
  parent { title } blockedBy(first: 5) { totalCount nodes { title } } issueDependenciesSummary { blockedBy } } }
  repositoryOwner(login: "acme") { ... on ProjectV2Owner { projectV2(number: 7) {
    items(first: 100) { nodes { type content { ... on Issue { number } } } } } } } }"""


def test_relatives_in_a_repository_one_must_not_see(team):
    """A hidden parent and blocker are nulls to a person's token, errors to one with permissions; cards are redacted."""
    team.act("block_issue", repo="acme/api", issue=5, blocked_by="acme/web#5")
    team.act("sub_issue", repo="acme/api", issue=5, parent="acme/web#4")
    team.act("visibility", repo="acme/web", private=True)
    team.act("role", repo="acme/web", user="octo", role="none")
    answer = ask(team, HIDDEN, "any")
    issue = answer["data"]["repository"]["issue"]
    assert (issue["parent"], issue["blockedBy"]) == (None, {"totalCount": 1, "nodes": [None]})
    assert issue["issueDependenciesSummary"] == {"blockedBy": 1}
    assert "errors" not in answer
    cards = answer["data"]["repositoryOwner"]["projectV2"]["items"]["nodes"]
    assert [card["type"] for card in cards].count("REDACTED") == 12
    permissions = {"issues": "write", "organization_projects": "read"}
    token = configure(team, "github_pat_3", kind="fine_grained", permissions=permissions)
    paths = [error["path"] for error in ask(team, HIDDEN, token)["errors"]]
    assert paths == [["repository", "issue", "parent"], ["repository", "issue", "blockedBy", "nodes", 0]]


@pytest.mark.parametrize(("fault", "said"), [("resource_limits", "Resource limits"), ("timed_out", "a timeout")])
def test_weight_as_a_fault(client, fault, said):
    """The two answers to a document that is too heavy can be ordered for one request."""
    client.fault(fault, path="/graphql")
    assert said in client.post("/graphql", {"query": "{ viewer { login } }"}).json()["errors"][0]["message"]
    assert "errors" not in client.post("/graphql", {"query": "{ viewer { login } }"}).json()
