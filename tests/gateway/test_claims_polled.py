"""Many claims in one request: what is found, what it costs, and what becomes of trouble."""

import pytest
from behaviour import order
from documented import answer, error, issue, pull

from agent_sync.errors import GitHubDown, RateLimited
from agent_sync.gateway.pulls.claim_polls import AT_ONCE, claims_operation
from agent_sync.gateway.transport.line import with_fragments
from agent_sync.task.decision.claims_seen import ClaimAsked
from agent_sync.task.decision.feedback.merging import feedback_of, pull_verdict

MANY = [ClaimAsked(42, number) for number in range(1_000, 1_000 + AT_ONCE)]


def opened(local, branch):
    """Open a pull request of a branch and return its number."""
    local.push(branch, path=f"{branch}.txt")
    gateway = local.gateway()
    return gateway.open_pull(order(gateway, branch=branch, with_card=False))[0].number


def test_a_round_finds_what_single_looks_find(local):
    """State, verdict, requested changes and open threads are those of a look at each pull request alone."""
    first, second, third = opened(local, "one"), opened(local, "two"), opened(local, "three")
    local.act("add_check", pull=first, name="test", conclusion="failure")
    local.act("add_run", pull=second, workflow="CI")
    thread = {"path": "two.txt", "line": 1, "body": "Why?"}
    local.act("review", pull=second, state="changes_requested", by="mona", body="No.", threads=[thread])
    local.act("merge_pull", pull=third)
    gateway = local.gateway()
    local.operations()
    seen = gateway.claims([ClaimAsked(41, first), ClaimAsked(42, second), ClaimAsked(43, branch="three")])
    assert local.operations() == ["Claims"]
    found = {one.pull.number: one.pull for one in seen.issues if one.pull}
    assert list(found) == [first, second, third]
    for number, together in found.items():
        alone = gateway.pull(number, with_checks=True)
        assert pull_verdict(together) == pull_verdict(alone)
        assert feedback_of(together) == feedback_of(alone)
        assert (together.state, together.url, together.id) == (alone.state, alone.url, alone.id)
    asked = feedback_of(found[second])
    assert asked is not None
    assert (asked.changes_requested_by, asked.threads) == (("mona",), 1)


def test_a_round_over_a_hundred_claims_is_one_request(local):
    """A hundred claims are one request, and fewer points by GitHub's formula than as many looks."""
    local.gateway().claims(MANY)
    assert local.operations() == ["Claims"]
    text = with_fragments(claims_operation(MANY)).replace(
        "{\n  viewer", "{\n  rateLimit { cost nodeCount }\n  viewer", 1
    )
    values = {"owner": "octo", "name": "demo"}
    for place, claim in enumerate(MANY):
        values |= {f"number{place}": claim.issue, f"pull{place}": claim.pull}
    body = {"query": text, "variables": values}
    found = local.control.post("/graphql", json=body, headers={"authorization": "bearer x"}).json()
    assert found["data"]["rateLimit"]["cost"] == 29
    assert found["data"]["rateLimit"]["nodeCount"] < 50_000


def test_more_than_a_hundred_checks_are_read_page_by_page(local):
    """One pull request with very many checks costs its own looks, and none of its checks is lost."""
    number = opened(local, "work")
    for place in range(101):
        local.act("add_check", pull=number, name=f"check {place}", conclusion="success")
    local.operations()
    (seen,) = local.gateway().claims([ClaimAsked(42, number)]).issues
    assert len(seen.pull.checks) == 101
    assert local.operations() == ["Claims", "Poll", "Poll"]


@pytest.mark.parametrize("fault", ["resource_limits", "status:502"])
def test_what_is_too_heavy_is_asked_in_halves(local, fault):
    """A round that GitHub cannot answer is asked once more, in two halves."""
    local.fault(fault, operation="Claims")
    seen = local.gateway().claims([ClaimAsked(41), ClaimAsked(42)])
    assert [one.number for one in seen.issues] == [41, 42]
    assert local.operations() == ["Claims"] * 3


def test_an_outage_is_not_asked_again_and_again(local):
    """While GitHub is down, a round over a hundred claims ends after four tries."""
    local.fault("status:502", times=100, operation="Claims")
    with pytest.raises(GitHubDown):
        local.gateway().claims(MANY)
    assert local.operations() == ["Claims"] * 4


def test_a_limit_ends_the_round(local):
    """A rate limit is said with its end, after one request."""
    local.fault("primary_limit", times=100, operation="Claims")
    with pytest.raises(RateLimited):
        local.gateway().claims(MANY)
    assert local.operations() == ["Claims"]


def test_refused_checks_are_unknown_and_not_none(documented):
    """Checks that this token may not see are unknown, with the reason; those of the other claim are read all the same."""
    shown = {"issue0": issue(), "pull0": pull(statusCheckRollup=None)}
    shown |= {"issue1": issue(number=43), "pull1": pull(number=46, statusCheckRollup=None)}
    refused = error("FORBIDDEN", "Resource not accessible", "repository", "pull0", "statusCheckRollup")
    documented.given("Claims", answer(refused, **shown))
    first, second = (
        documented.gateway(token="github_pat_documented").claims([ClaimAsked(42, 45), ClaimAsked(43, 46)]).issues
    )
    assert (first.pull.checks, second.pull.checks) == (None, ())
    assert first.pull.checks_note


def test_an_older_server_is_asked_plainly(documented):
    """A server without merge queues tells state, reviews and checks."""
    unknown = {"errors": [{"message": "Field 'mergeQueueEntry' doesn't exist on type 'PullRequest'"}]}
    documented.given("Claims", unknown, answer(issue0=issue(), pull0=pull(statusCheckRollup=None)))
    (seen,) = documented.gateway().claims([ClaimAsked(42, 45)]).issues
    assert seen.pull.checks == ()
    assert documented.operations() == ["Claims", "Claims"]
