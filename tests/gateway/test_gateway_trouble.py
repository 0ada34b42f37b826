"""Each way GitHub, a proxy or a limit can be in the way, as documented, with its message."""

from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from documented import answer, error, page, pull, refusal, reply
from proxied import Failure, HttpReply

from agent_sync.errors import Conflict, GitHubDown, MissingScope, NotFound, NotSignedIn, RateLimited, Refused

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
SECONDARY = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."
SSO = "Resource protected by organization SAML enforcement."
WRONG = "Something went wrong while executing your query. Please include `ABCD:1` when reporting this issue."
PAGE = "<html><head><title>Access denied</title></head><body>Corporate proxy</body></html>"
RESET = str(int((NOW + timedelta(minutes=20)).timestamp()))

TROUBLE = {
    "401": (refusal(401, "Bad credentials"), NotSignedIn, ["does not accept the token", "gh auth login"]),
    "401 as a page": (page(401, PAGE), NotSignedIn, ["does not accept the token"]),
    "403 with a scope hint": (
        refusal(403, "Must have admin rights", x_accepted_oauth_scopes="repo", x_oauth_scopes="project"),
        MissingScope,
        ["Must have admin rights", "classic token lacks the scope"],
    ),
    "403 without a hint": (refusal(403, "Resource not accessible"), MissingScope, ["Resource not accessible"]),
    "403 for single sign-on": (
        refusal(403, SSO, x_github_sso="required; url=https://github.com/orgs/o/sso?x=1"),
        MissingScope,
        ["SAML", "authorise the token at https://github.com/orgs/o/sso?x=1"],
    ),
    "403 as a page": (page(403, PAGE), GitHubDown, ["HTML page, perhaps of a proxy", "Access denied"]),
    "404": (refusal(404, "Not Found"), NotFound, ["does not show it to this token"]),
    "409": (refusal(409, "Git Repository is empty."), Conflict, ["Git Repository is empty."]),
    "422": (refusal(422, "Validation Failed"), Refused, ["Validation Failed"]),
    "400": (refusal(400, "Problems parsing JSON"), Refused, ["400", "Problems parsing JSON"]),
    "502": (refusal(502, "Server Error"), GitHubDown, ["502", "Server Error"]),
    "503 as a page": (page(503, PAGE), GitHubDown, ["503", "HTML page"]),
    "504 with nothing": (page(504), GitHubDown, ["504", "empty"]),
    "200 as a page": (page(200, PAGE), GitHubDown, ["200", "HTML page"]),
    "200 cut short": (HttpReply(200, {}, b'{"data": {"repos'), GitHubDown, ["not JSON", "repos"]),
    "200 with a list": (HttpReply(200, {}, b"[1, 2]"), GitHubDown, ["200"]),
    "200 with a number": (HttpReply(200, {}, b"7"), GitHubDown, ["200"]),
    "200 with neither data nor errors": (reply({"message": "hm"}), GitHubDown, ["hm"]),
    "redirect": (
        HttpReply(301, {"location": "https://evil.example/graphql"}),
        Refused,
        ["points to https://evil.example/graphql", "not followed"],
    ),
    "something went wrong": (
        reply({"data": None, "errors": [{"message": WRONG}]}),
        GitHubDown,
        ["Something went wrong"],
    ),
    "something went wrong in part": (
        answer(error("INTERNAL", WRONG, "repository", "issue"), issue=None),
        GitHubDown,
        ["Something went wrong"],
    ),
    "time-out": (Failure.SILENCE, GitHubDown, ["did not answer in time"]),
    "server hung up": (Failure.HANG_UP, GitHubDown, ["broke", "closed connection without response"]),
    "answer cut short": (Failure.CUT_SHORT, GitHubDown, ["broke", "IncompleteRead"]),
    "secondary limit as 403": (refusal(403, SECONDARY, retry_after="60"), RateLimited, ["secondary rate limit"]),
    "secondary limit without a header": (refusal(403, SECONDARY), RateLimited, ["secondary rate limit"]),
    "secondary limit as 429": (refusal(429, "Too many requests", retry_after="60"), RateLimited, ["secondary"]),
    "429 as a page": (page(429, PAGE), RateLimited, ["secondary rate limit"]),
    "secondary limit as 200": (reply({"errors": [{"message": SECONDARY}]}), RateLimited, ["secondary rate limit"]),
    "primary limit as 403": (
        refusal(403, "API rate limit exceeded for user ID 1.", x_ratelimit_remaining="0", x_ratelimit_reset=RESET),
        RateLimited,
        ["hourly rate limit", "12:20:01"],
    ),
    "primary limit as 200": (
        reply(
            {"errors": [{"type": "RATE_LIMITED", "message": "API rate limit exceeded for user ID 1."}]},
            x_ratelimit_remaining="0",
            x_ratelimit_reset=RESET,
        ),
        RateLimited,
        ["hourly rate limit", "12:20:01"],
    ),
    "field of a newer server": (
        reply({"errors": [{"message": "Field 'projectItems' doesn't exist on type 'Issue'", "path": ["query Card"]}]}),
        Refused,
        ["doesn't exist on type"],
    ),
}


def test_trouble_has_its_error_and_its_words(documented, go_home):
    """Trouble of every kind becomes one of our errors, says what was attempted, and shows no token."""
    for name, (came, kind, words) in TROUBLE.items():
        go_home(name)
        documented.given("Card", came)
        with time_machine.travel(NOW, tick=False), pytest.raises(kind) as raised:
            documented.gateway(token="ghp_abcdefghijklmnop", github={"timeout_s": 0.5}).card(42)
        said = str(raised.value)
        assert all(word in said for word in [*words, "looking for the card of issue #42"]), (name, said)
        assert type(raised.value) is kind, name
        assert raised.value.__cause__ is None, name
        assert "ghp_" not in said + repr(raised.value), name


UNTIL = {
    "retry-after in seconds": ({"retry_after": "90"}, 90),
    "retry-after as a date": ({"retry_after": "Sun, 01 Mar 2026 12:05:00 GMT"}, 300),
    "by the server's clock": (
        {"retry_after": "Sun, 01 Mar 2026 11:05:00 GMT", "date": "Sun, 01 Mar 2026 11:00:00 GMT"},
        300,
    ),
    "more than any limit lasts": ({"retry_after": "99999999999999999999"}, 7200),
    "no header at all": ({}, 60),
    "a header that is nonsense": ({"retry_after": "soon"}, 60),
    "reset in the past": ({"x_ratelimit_remaining": "0", "x_ratelimit_reset": "1"}, 60),
}


def test_a_limit_says_until_when(documented, go_home):
    """The error of a limit names the moment from which GitHub may be called again."""
    for name, (headers, seconds) in UNTIL.items():
        go_home(name)
        documented.given("Card", refusal(403, SECONDARY, **headers))
        with time_machine.travel(NOW, tick=False), pytest.raises(RateLimited) as raised:
            documented.gateway().card(42)
        assert raised.value.until == NOW + timedelta(seconds=seconds), name
        assert documented.slept == [], name


def test_waits_for_limits_share_one_patience(documented):
    """All waits of one gateway together stay within the setting; then the limit is told."""
    limit = refusal(403, SECONDARY, retry_after="2")
    documented.given("Card", limit, limit, answer(), limit)
    gateway = documented.gateway(hooks={"rate_limit_wait_s": 5.0})
    gateway.card(42)
    assert documented.slept == [2.0, 2.0]
    with pytest.raises(RateLimited):
        gateway.card(42)
    assert documented.slept == [2.0, 2.0]


def test_a_limit_that_says_now_is_not_asked_in_a_circle(documented):
    """A limit without a wait still uses patience up."""
    documented.given("Card", refusal(403, SECONDARY, retry_after="0"))
    with pytest.raises(RateLimited):
        documented.gateway(hooks={"rate_limit_wait_s": 3.0}).card(42)
    assert documented.slept == [1.0, 1.0, 1.0]


def test_content_submitted_too_quickly_is_a_limit(documented):
    """The limit on new content comes as an error of one part, without a header."""
    documented.given("Lookup", answer())
    message = "was submitted too quickly"
    documented.given("OpenPull", {"data": {"pull": None}, "errors": [error("UNPROCESSABLE", message, "pull")]})
    from behaviour import order

    gateway = documented.gateway()
    with pytest.raises(RateLimited, match="submitted too quickly"):
        gateway.open_pull(order(gateway, with_card=False))


CHECKS = ("repository", "pullRequest", "statusCheckRollup")
HIDDEN = "Resource not accessible by personal access token"
KINDS = {
    "fine-grained": ("github_pat_x", "A fine-grained token cannot read check runs"),
    "App": ("ghs_x", "Checks: read"),
    "classic": ("ghp_x", "lacks the scope repo"),
}


def test_refused_checks_leave_the_rest_of_a_poll(documented):
    """A token that may not see checks still sees the pull request, and why CI is not known."""
    node = pull(statusCheckRollup=None, mergeable="CONFLICTING")
    documented.given("Poll", answer(error("FORBIDDEN", HIDDEN, *CHECKS), pullRequest=node))
    for name, (token, words) in KINDS.items():
        seen = documented.gateway(token=token).pull(45, with_checks=True)
        assert (seen.checks, seen.is_conflicting) == (None, True), name
        assert words in seen.checks_note, name


def test_single_hidden_checks_make_ci_unknown(documented):
    """Where some checks are kept back, the visible ones are not taken for all of them."""
    page = {"pageInfo": {"hasNextPage": False}, "nodes": [{"name": "a", "status": "COMPLETED"}, None]}
    node = pull(statusCheckRollup={"contexts": page})
    documented.given("Poll", answer(error("FORBIDDEN", HIDDEN, *CHECKS, "contexts", "nodes", 1), pullRequest=node))
    assert documented.gateway().pull(45, with_checks=True).checks is None


def test_a_hidden_workflow_does_not_matter(documented):
    """An App without access to Actions sees checks without their workflow's name."""
    run = {"name": "a", "status": "COMPLETED", "conclusion": "SUCCESS", "checkSuite": {"workflowRun": None}}
    node = pull(statusCheckRollup={"contexts": {"pageInfo": {"hasNextPage": False}, "nodes": [run]}})
    path = (*CHECKS, "contexts", "nodes", 0, "checkSuite", "workflowRun")
    documented.given("Poll", answer(error("FORBIDDEN", HIDDEN, *path), pullRequest=node))
    checks = documented.gateway().pull(45, with_checks=True).checks
    assert checks is not None
    assert [(check.name, check.result, check.workflow) for check in checks] == [("a", "SUCCESS", "")]


def test_checks_of_a_head_that_moved_are_read_anew(documented):
    """A push between two pages of checks makes the first page worthless."""

    def page(name, head, *, more):
        info = {"hasNextPage": more, "endCursor": "c1" if more else None}
        nodes = [{"name": name, "status": "COMPLETED", "conclusion": "SUCCESS"}]
        return answer(
            pullRequest=pull(headRefOid=head, statusCheckRollup={"contexts": {"pageInfo": info, "nodes": nodes}})
        )

    old, new = "a" * 40, "b" * 40
    documented.given("Poll", page("old", old, more=True), page("x", new, more=False), page("new", new, more=False))
    seen = documented.gateway().pull(45, with_checks=True)
    assert seen.checks is not None
    assert ([check.name for check in seen.checks], seen.head_sha) == (["new"], new)


def test_a_hidden_card_says_why(documented):
    """Where only the issue's cards are refused, the card's reason names what is missing."""
    part = error("FORBIDDEN", "Resource not accessible by integration", "repository", "issue", "projectItems")
    documented.given("Card", answer(part, issue={"id": "I_42", "projectItems": None}))
    card = documented.gateway(token="ghs_x").card(42)
    assert "Projects: write" in card.reason


def test_details_of_a_refusal_are_told(documented):
    """The details of a validation error are part of what is said, with nothing that could move a cursor."""
    body = {
        "message": "Validation Failed\x1b[2J",
        "errors": [{"resource": "Issue", "field": "title", "code": "missing"}, "x"],
    }
    documented.given("Card", reply(body, 422))
    with pytest.raises(Refused, match="Issue title missing x") as raised:
        documented.gateway().card(42)
    assert "\x1b" not in str(raised.value)


def test_a_part_that_stumbles_alone_may_have_been_done(documented):
    """A write whose part fails inside GitHub is told as possibly done."""
    from behaviour import change_of

    documented.given("Card", answer())
    documented.given(
        "MoveCard", {"data": {"status": None}, "errors": [error("SERVICE_UNAVAILABLE", "Try later", "status")]}
    )
    gateway = documented.gateway()
    with pytest.raises(GitHubDown, match="Try later") as raised:
        gateway.move_card(change_of(gateway))
    assert raised.value.maybe_applied


def test_refused_repository_permissions_name_themselves(documented):
    """A fine-grained token that lacks a repository permission is told which one."""
    documented.given("BranchPull", answer(error("FORBIDDEN", HIDDEN, "repository", "pullRequests")))
    with pytest.raises(MissingScope, match="Pull requests: write") as raised:
        documented.gateway(token="github_pat_x").branch_pull("work")
    assert raised.value.scope == "Pull requests: write"
    documented.given("Task", answer(error("FORBIDDEN", HIDDEN, "repository", "issue"), issue=None))
    with pytest.raises(MissingScope, match="The GitHub App lacks the repository permission Issues: write"):
        documented.gateway(token="ghs_x").task(42)


def test_a_write_that_ran_in_part_is_not_repeated_for_a_limit(documented):
    """A limit that stops a document half-way leaves what was done; sending it again would do that twice."""
    from behaviour import order

    documented.given("Lookup", answer())
    half = {"data": {"pull": {"pullRequest": pull()}, "status": None, "agent": None}}
    documented.given("OpenPull", half | {"errors": [error("RATE_LIMITED", "API rate limit exceeded", "status")]})
    gateway = documented.gateway(hooks={"rate_limit_wait_s": 900.0})
    opened, trouble = gateway.open_pull(order(gateway))
    assert (opened.number, documented.slept) == (45, [])
    assert "rate limit" in trouble
    assert documented.operations() == ["Lookup", "OpenPull"]


def test_a_write_that_ran_is_not_repeated_without_its_card(documented):
    """Only a document that was turned away before it ran is sent again without the board."""
    from behaviour import order

    documented.given("Lookup", answer())
    wrong = [error("INSUFFICIENT_SCOPES", "requires one of the following scopes: ['project']", "status")]
    documented.given("OpenPull", {"data": {"pull": None, "status": None}, "errors": wrong})
    gateway = documented.gateway()
    with pytest.raises(GitHubDown, match="does not say whether") as raised:
        gateway.open_pull(order(gateway))
    assert raised.value.maybe_applied
    assert documented.operations() == ["Lookup", "OpenPull"]
