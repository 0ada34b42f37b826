"""Answers that break GitHub's promise, or were too much for it: one error of ours, and never a guess."""

import json
from contextlib import suppress

import pytest
from local_github import context_in, repository_in, settings_of
from scripted import scripted

from agent_sync.errors import AgentSyncError, GitHubDown, MissingScope, NotFound, OddAnswer, TooHeavy
from agent_sync.gateway.github import GitHub
from agent_sync.task.decision.facts import NoCard

GRAPHQL = "/api/graphql"
REFS = "/api/v3/repos/octo/demo/git/matching-refs/agentsync/"
PAGE = "https://github.com/settings/personal-access-tokens/12885303"
LIFETIME = (
    "The 'acme' organization forbids access via a fine-grained personal access tokens if the token's lifetime is greater "
    f"than 90 days. Please adjust your token's lifetime at the following URL: {PAGE}"
)
UNICORN = (
    "<!DOCTYPE html><!-- Hello future GitHubber! --><html><head><title>Unicorn! &middot; GitHub</title></head></html>"
)


@pytest.fixture
def script():
    """A server that answers what it is told to."""
    with scripted() as served:
        yield served


@pytest.fixture
def gateway(script, tmp_path):
    """Return what makes a gateway to that server for a token."""
    root = repository_in(tmp_path / "scripted", "git@github.com:octo/demo.git")
    settings = settings_of(github={"url": script.url})

    def made(token="ghp_scripted"):
        context = context_in(root, settings, GH_TOKEN=token, AGENT_SYNC_GITHUB_URL=script.url)
        return GitHub.reaching(context, sleep=lambda _: None)

    return made


def answer(data, *errors, **headers):
    """Return a GraphQL answer."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return 200, named, json.dumps({"data": data} | ({"errors": list(errors)} if errors else {}))


def heavy(*path):
    """Return the error of a question that was too much, at a place."""
    message = "Resource limits for this query exceeded."
    return {"type": "RESOURCE_LIMITS_EXCEEDED", "path": list(path), "message": message}


ASK = {
    "task": lambda github: github.task(42),
    "card": lambda github: github.card(42),
    "lookup": lambda github: github.lookup(branch="x", issue=42),
    "closing": lambda github: github.closing(issue=42, pull=45, branch="x", marker="m"),
    "pull": lambda github: github.pull(45, with_checks=True),
    "branch_pull": lambda github: github.branch_pull("x"),
    "board": lambda github: github.board(),
    "boards": lambda github: github.boards(),
    "board_issues": lambda github: list(github.board_issues()),
    "board_columns": lambda github: github.board_columns(10),
    "viewer": lambda github: github.viewer(),
    "parent": lambda github: github.parent(),
    "repository_id": lambda github: github.repository_id,
}
TWISTED = {
    "numbers for objects": {"repository": 7, "boardOwner": 7, "viewer": 7},
    "texts for objects": {"repository": "x", "boardOwner": "x", "viewer": "x"},
    "empty objects": {"repository": {}, "boardOwner": {"projectV2": {}}, "viewer": {}},
    "hollow parts": {
        "repository": {"issue": {"title": []}, "pullRequest": {"state": "ODD"}, "pullRequests": {"nodes": [{}]}},
        "boardOwner": {"projectV2": {"items": {"nodes": [{"content": 7}]}, "fields": {"nodes": [7, {}]}}},
        "viewer": {"login": None},
    },
    "nothing": None,
}


@pytest.mark.parametrize("twist", TWISTED.values(), ids=TWISTED)
def test_answer_that_breaks_the_promise_is_one_error_of_ours(script, gateway, twist):
    """Whatever stands where something else is promised: a value or an error of ours, never a surprise."""
    for ask in ASK.values():
        script.given(GRAPHQL, answer(twist, x_github_request_id="AB:12"))
        # A card or a board that is not there is a value; anything else that leaves here fails the test.
        with suppress(OddAnswer, NotFound):
            ask(gateway())


def test_odd_answer_says_what_was_asked_and_which_request(script, gateway):
    """The question, GitHub's number of the request, and where to look."""
    script.given(GRAPHQL, answer({"repository": {"issue": {"id": 1}}, "viewer": {}}, x_github_request_id="AB:12"))
    with pytest.raises(OddAnswer) as raised:
        gateway().task(42)
    said = str(raised.value)
    wanted = ("not what it promises", "task", "AB:12", "reading issue #42", "agent-sync doctor", "githubstatus.com")
    assert [word for word in wanted if word not in said] == [], said


BODIES = {
    "204": (204, {}, ""),
    "304": (304, {}, ""),
    "empty": (200, {}, ""),
    "null": (200, {}, "null"),
    "number": (200, {}, "7"),
    "object for a list": (200, {}, '{"message": "x"}'),
    "redirect that is not followed": (
        307,
        {"location": "https://elsewhere.example/x"},
        '{"message": "Moved Permanently"}',
    ),
    "half": (200, {}, '[{"ref": "refs/agentsync/cl'),
    "other keys": (200, {}, '[{"name": "x"}]'),
}


@pytest.mark.parametrize("reply", BODIES.values(), ids=BODIES)
def test_rest_answer_without_its_body_is_one_error_of_ours(script, gateway, reply):
    """What the library of REST makes of such an answer is never shown."""
    script.given(REFS, reply)
    with pytest.raises(AgentSyncError) as raised:
        gateway().refs_below("refs/agentsync/")
    assert isinstance(raised.value, GitHubDown) or "not followed" in str(raised.value), raised.value
    assert "NoneType" not in str(raised.value)


HEAVY = {
    "pull, at its checks": ("pull", ("repository", "pullRequest", "statusCheckRollup"), {"repository": {"pullRequest": {}}}),
    "pull, at its commit": ("pull", ("repository", "pullRequest", "headCommit"), {"repository": {"pullRequest": None}}),
    "pull, at its threads": ("pull", ("repository", "pullRequest", "reviewThreads"), {"repository": {"pullRequest": None}}),
    "task, at what blocks it": ("task", ("repository", "issue", "blockedBy"), {"repository": {"issue": None}}),
    "task, at its cards": ("task", ("repository", "issue", "projectItems"), {"repository": {"issue": None}}),
    "board": ("board", ("boardOwner", "projectV2", "items"), {"boardOwner": {"projectV2": None}}),
    "lookup": ("lookup", ("repository", "pullRequests"), {"repository": None}),
}  # fmt: skip


@pytest.mark.parametrize(("name", "path", "data"), HEAVY.values(), ids=HEAVY)
def test_too_much_for_one_question_is_called_that(script, gateway, name, path, data):
    """Never a missing scope, and never that something is not there."""
    script.given(GRAPHQL, answer(data, heavy(*path)))
    with pytest.raises(TooHeavy, match="too much for one question") as raised:
        ASK[name](gateway())
    assert "scope" not in str(raised.value)
    assert "exist" not in str(raised.value)


def test_board_that_is_too_much_does_not_hold_the_task(script, gateway):
    """The card is said to be unknown, and why."""
    script.given(GRAPHQL, answer({"repository": {"issue": None}}, heavy("repository", "issue", "projectItems")))
    found = gateway().card(42)
    assert isinstance(found, NoCard)
    assert "too much for one question" in found.reason


def test_missing_thing_is_told_by_the_error_that_took_it_along(script, gateway):
    """An error deep in a part that may be hidden makes the whole null: that error is told, not that nothing is there."""
    error = {"type": "FORBIDDEN", "path": ["repository", "issue", "blockedBy"], "message": "Computer says no."}
    script.given(GRAPHQL, answer({"repository": {"issue": None}, "viewer": {"login": "octo", "id": "1"}}, error))
    with pytest.raises(MissingScope, match="Computer says no"):
        gateway().task(42)


@pytest.mark.parametrize("way", ["rest", "graphql"])
def test_lifetime_of_a_token_is_told_with_its_page(script, gateway, way):
    """The address of the token is the step, whole; no other kind of token is advised."""
    script.given(REFS, (403, {}, json.dumps({"message": LIFETIME})))
    script.given(GRAPHQL, answer(None, {"type": "FORBIDDEN", "message": LIFETIME}))
    github = gateway("github_pat_scripted")
    with pytest.raises(MissingScope) as raised:
        github.refs_below("refs/agentsync/") if way == "rest" else github.parent()
    assert raised.value.helps.endswith(PAGE)
    assert "classic" not in raised.value.helps
    assert "https://gi…" not in raised.value.happened


PERMISSIONS = {
    "one": ("actions=write", "github_pat_x", "Actions: write"),
    "either": ("issues=read; pull_requests=read", "ghs_x", "Issues: read or Pull requests: read"),
    "both": ("contents=write,workflows=write", "github_pat_x", "Contents: write and Workflows: write"),
    "classic token": ("actions=write", "ghp_x", ""),
    "token of gh": ("actions=write", "gho_x", ""),
    "none": ("allows_permissionless_access=true", "github_pat_x", "Contents: read"),
}


@pytest.mark.parametrize(("header", "token", "named"), PERMISSIONS.values(), ids=PERMISSIONS)
def test_permission_that_github_names_is_the_one_that_is_said(script, gateway, header, token, named):
    """To tokens that have permissions; and it is never called a scope."""
    body = '{"message": "Resource not accessible by personal access token"}'
    script.given(REFS, (403, {"X-Accepted-GitHub-Permissions": header}, body))
    with pytest.raises(MissingScope) as raised:
        gateway(token).refs_below("refs/agentsync/")
    assert raised.value.scope == named
    assert named in raised.value.helps
    assert ("scope" in str(raised.value), "actions=write" in str(raised.value)) == (False, False)


PAGES = {
    "GitHub's own": ((503, {"content-type": "text/html", "x-github-request-id": "AB:12"}, UNICORN), "AB:12", "proxy"),
    "of a proxy": ((503, {"content-type": "text/html"}, UNICORN), "perhaps of a proxy", "AB:12"),
    "error as a key": ((502, {}, '{"error": "Server Error"}'), "Server Error", "no reason"),
}


@pytest.mark.parametrize("row", PAGES.values(), ids=PAGES)
@pytest.mark.parametrize("path", [REFS, GRAPHQL])
def test_page_is_told_by_its_title(script, gateway, path, row):
    """Never by its source."""
    reply, said, unsaid = row
    script.given(path, reply)
    with pytest.raises(GitHubDown) as raised:
        gateway().refs_below("refs/agentsync/") if path == REFS else gateway().parent()
    told = str(raised.value)
    assert (said in told, unsaid in told, "future GitHubber" in told) == (True, False, False), told


def test_redirect_is_followed_without_a_word(script, gateway, capsys):
    """A repository that was renamed is read at its new place; the library prints nothing."""
    script.given(
        REFS, (301, {"location": f"{script.url}/api/v3/repositories/7/refs"}, '{"message": "Moved Permanently"}')
    )
    script.given("/api/v3/repositories/7/refs", (200, {}, "[]"))
    assert gateway().refs_below("refs/agentsync/") == {}
    assert "edirect" not in "".join(capsys.readouterr())
