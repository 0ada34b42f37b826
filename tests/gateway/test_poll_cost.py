"""What one look at a pull request costs, by GitHub's published formula."""

import pytest
from behaviour import order

DOCUMENTS = {"Poll": "poll", "PollPlain": "poll_plain", "Task": "task", "TaskPlain": "task_plain"}
VALUES = {
    "owner": "octo", "name": "demo", "checks": True, "after": None, "issue": 42, "withIssue": True, "withText": True,
    "board": True, "boardOwner": "octo", "boardNumber": 1, "statusName": "Status", "priorityName": "Priority",
    "agentName": "Agent", "withCard": True, "revert": "revert-45-x", "withRevert": True,
}  # fmt: skip


@pytest.mark.parametrize("name", DOCUMENTS.values(), ids=DOCUMENTS)
def test_a_look_costs_one_point(local, name):
    """Checks, rules, reviews and what others did to a pull request and its issue, or a claim's needs, are one point."""
    from agent_sync.gateway.transport.line import document

    local.push()
    gateway = local.gateway()
    number = gateway.open_pull(order(gateway, with_card=False))[0].number
    text = document(name).replace("\n  repository(", "\n  rateLimit { cost nodeCount }\n  repository(", 1)
    answer = local.control.post(
        "/graphql",
        json={"query": text, "variables": VALUES | {"number": number, "item": gateway.card(42).item_id}},
        headers={"authorization": "bearer x"},
    )
    found = answer.json()["data"]["rateLimit"]
    assert found["cost"] == 1
    assert found["nodeCount"] < 1_500


def test_a_server_without_the_fields_is_asked_a_plainer_document(documented):
    """An older Enterprise server still tells state, reviews and checks; nothing is called ready there."""
    from documented import answer, pull

    from agent_sync.task.decision.feedback.merging import is_ready

    unknown = {"errors": [{"message": "Field 'mergeQueueEntry' doesn't exist on type 'PullRequest'"}]}
    documented.given("Poll", unknown)
    documented.given("PollPlain", answer(pullRequest=pull(statusCheckRollup=None)))
    seen = documented.gateway().pull(45, with_checks=True)
    assert (seen.checks, seen.merge_state, is_ready(seen)) == ((), "", False)
