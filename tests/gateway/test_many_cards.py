"""The cards of many issues in one request."""

import pytest

from agent_sync.errors import MissingScope
from agent_sync.gateway.many_cards import cards_operation
from agent_sync.gateway.transport.line import with_fragments


def test_cards_of_many_issues_are_one_request(local):
    """Each issue's own card, whatever there is besides; an issue that is not there is left out."""
    seen = local.gateway().cards([40, 42, 44, 999])
    assert local.operations() == ["Cards"]
    assert {number: card.status for number, card in seen.items()} == {40: "In Progress", 42: "Todo", 44: "Done"}
    assert seen[42] == local.gateway().card(42)


def test_a_hundred_cards_cost_two_points(local):
    """By GitHub's formula; a repository with more claims is asked again for each hundred."""
    operation = with_fragments(cards_operation(range(1, 101)))
    text = operation.replace("\n  repository(", "\n  rateLimit { cost nodeCount }\n  repository(", 1)
    values = {"owner": "octo", "name": "demo", "boardOwner": "octo", "boardNumber": 1}
    names = {"statusName": "Status", "agentName": "Agent"}
    asked = {"query": text, "variables": values | names}
    answer = local.control.post("/graphql", json=asked, headers={"authorization": "bearer x"}).json()
    assert answer["data"]["rateLimit"]["cost"] <= 2
    local.operations()
    local.gateway().cards(range(1, 151))
    assert local.operations() == ["Cards", "Cards"]


def test_a_token_without_boards_is_told_so(local):
    """What it lacks is named; whoever compares claims goes on without cards."""
    with pytest.raises(MissingScope):
        local.gateway(token="no-project-scope").cards([42])
