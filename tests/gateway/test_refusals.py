"""Refusals that no scope helps against: in GitHub's own words, with the step that helps."""

import pytest

from agent_sync.errors import AgentSyncError, MissingScope, Refused
from agent_sync.gateway.transport.line import Call, Failures
from agent_sync.gateway.transport.token import Area, TokenKind

POLICIES = {
    "saml": ("SAML enforcement", "authorise the token at https://github.com/orgs/octo/sso?authorization_request="),
    "oauth": ("OAuth App access restrictions", "ask an owner of the organisation to approve the app"),
    "ip": ("IP allow list", "a network that the organisation's IP allow list names"),
    "classic": ("forbids access via a personal access token (classic)", "fine-grained token"),
}


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("ask", ["graphql", "rest"])
def test_policy_is_called_by_its_name(local, policy, ask):
    """An organisation's policy is told in GitHub's words with the step that helps, and no scope is guessed."""
    words, helps = POLICIES[policy]
    github = local.gateway()
    local.act("access_policy", owner="octo", policy=policy)
    with pytest.raises(AgentSyncError) as raised:
        github.task(42) if ask == "graphql" else github.refs_below("refs/agentsync/")
    assert words in raised.value.happened
    assert helps in raised.value.helps
    assert "scope" not in str(raised.value)


def test_archived_repository_is_called_that(local):
    """A write to an archived repository is refused as such: no token helps."""
    local.act("read_only", on=True)
    with pytest.raises(Refused, match="archived") as raised:
        local.gateway().escalate(42, label="x", comment="y", marker="z")
    assert "unarchive" in raised.value.helps


def test_scope_that_github_names_is_the_one_that_is_said():
    """The scope comes from GitHub's sentence, not from what the document is about."""
    from agent_sync.gateway.transport.answer import answer_of

    message = "The 'login' field requires one of the following scopes: ['read:org'], but your token has: ['repo']."
    part = answer_of(None, [{"type": "INSUFFICIENT_SCOPES", "message": message}]).parts[0]
    error = Failures(TokenKind.CLASSIC, "github.com").of_part(part, Call("boards", area=Area.BOARD))
    assert isinstance(error, MissingScope)
    assert (error.scope, "read:org" in error.helps, "project" in error.helps) == ("read:org", True, False)


def test_boards_need_no_more_than_the_documented_scopes(local):
    """`repo` and `project` are enough to list the boards: the owner is read from their address."""
    local.act("token", token="ghp_documented", kind="classic", login="octo", scopes=["repo", "project"])
    boards = local.gateway(token="ghp_documented").boards()
    assert [board.owner for board in boards] == ["octo"]


UNEXPLAINED = {
    "a role that does not suffice": "octo does not have the correct permissions to execute `AddLabels`",
    "words nobody has seen yet": "Computer says no.",
}


@pytest.mark.parametrize("said", UNEXPLAINED.values(), ids=UNEXPLAINED)
@pytest.mark.parametrize("kind", TokenKind)
@pytest.mark.parametrize("area", [Area.BOARD, Area.ISSUES, Area.CHECKS])
def test_unknown_refusal_is_told_in_githubs_words_and_nothing_is_guessed(said, kind, area):
    """Whatever the token and whatever was asked for: GitHub's words, the command that tries things, no scope."""
    from agent_sync.gateway.transport.answer import answer_of

    part = answer_of(None, [{"type": "FORBIDDEN", "message": said}]).parts[0]
    error = Failures(kind, "github.com").of_part(part, Call("task", attempted="reading issue #42", area=area))
    assert (error.scope, error.helps) == ("", "agent-sync doctor --live")
    assert (said.rstrip(".") in error.happened, "scope" in str(error), "lacks" in str(error)) == (True, False, False)


def test_scope_that_the_token_has_is_not_asked_for():
    """REST names the scopes that would do with every refusal: where the token has one, its owner's role is at fault."""
    from datetime import UTC, datetime

    from agent_sync.gateway.transport.trouble import of_response

    def refused(granted):
        headers = {"x-accepted-oauth-scopes": "public_repo, repo", "x-oauth-scopes": granted}
        return of_response(403, headers, '{"message": "Must have admin rights to Repository."}', datetime.now(UTC))

    assert refused("project, repo").scopes == ()
    assert refused("project").scopes == ("public_repo", "repo")
