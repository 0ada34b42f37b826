"""Many pull requests in one request: what is found, what it costs, and what becomes of trouble."""

import pytest
from behaviour import order
from documented import answer, error, pull

from agent_sync.errors import GitHubDown, RateLimited
from agent_sync.gateway.pulls.many_polls import MOST_AT_ONCE, poll_many_operation
from agent_sync.gateway.transport.line import with_fragments
from agent_sync.task.decision.feedback.merging import feedback_of, pull_verdict


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
    found = gateway.many_pulls([third, first, second, first])
    assert local.operations() == ["PollMany"]
    assert list(found) == [first, second, third]
    for number, seen in found.items():
        alone = gateway.pull(number, with_checks=True)
        assert pull_verdict(seen) == pull_verdict(alone)
        assert feedback_of(seen) == feedback_of(alone)
        assert (seen.state, seen.url, seen.title, seen.id) == (alone.state, alone.url, alone.title, alone.id)
    asked = feedback_of(found[second])
    assert asked is not None
    assert (asked.changes_requested_by, asked.threads) == (("mona",), 1)


def test_a_hundred_are_two_requests(local):
    """A round over a hundred pull requests is two requests; what is not there is left out, and none is no request."""
    number = opened(local, "work")
    gateway = local.gateway()
    local.operations()
    assert list(gateway.many_pulls([number, *range(1_000, 1_099)])) == [number]
    assert local.operations() == ["PollMany", "PollMany"]
    assert gateway.many_pulls([]) == {}
    assert local.operations() == []


def test_a_round_costs_less_than_single_looks(local):
    """Fifty pull requests are 14 points by GitHub's formula, where fifty looks are 50."""
    text = with_fragments(poll_many_operation(range(1, 1 + MOST_AT_ONCE)))
    asked = text.replace(") {\n", ") {\n  rateLimit { cost nodeCount }\n", 1)
    body = {"query": asked, "variables": {"owner": "octo", "name": "demo"}}
    found = local.control.post("/graphql", json=body, headers={"authorization": "bearer x"}).json()
    assert found["data"]["rateLimit"]["cost"] == 14
    assert found["data"]["rateLimit"]["nodeCount"] < 20_000


def test_more_than_a_hundred_checks_are_read_page_by_page(local):
    """One pull request with very many checks costs its own looks, and none of its checks is lost."""
    number = opened(local, "work")
    for place in range(101):
        local.act("add_check", pull=number, name=f"check {place}", conclusion="success")
    local.operations()
    checks = local.gateway().many_pulls([number])[number].checks
    assert checks is not None
    assert len(checks) == 101
    assert local.operations() == ["PollMany", "Poll", "Poll"]


@pytest.mark.parametrize("fault", ["resource_limits", "status:502"])
def test_what_is_too_heavy_is_asked_in_halves(local, fault):
    """A round that GitHub cannot answer is asked once more, in two halves."""
    first, second = opened(local, "one"), opened(local, "two")
    local.operations()
    local.fault(fault, operation="PollMany")
    assert list(local.gateway().many_pulls([first, second])) == [first, second]
    assert local.operations() == ["PollMany"] * 3


def test_an_outage_is_not_asked_again_and_again(local):
    """While GitHub is down, a round over a hundred ends after four tries."""
    local.fault("status:502", times=100, operation="PollMany")
    with pytest.raises(GitHubDown):
        local.gateway().many_pulls(range(1, 101))
    assert local.operations() == ["PollMany"] * 4


def test_a_limit_ends_the_round(local):
    """A rate limit is said with its end, after one request."""
    local.fault("primary_limit", times=100, operation="PollMany")
    with pytest.raises(RateLimited):
        local.gateway().many_pulls(range(1, 101))
    assert local.operations() == ["PollMany"]


def test_refused_checks_are_unknown_and_not_none(documented):
    """Checks that this token may not see are unknown, with the reason; the others are read all the same."""
    hidden = {"pull45": pull(statusCheckRollup=None), "pull46": pull(number=46, statusCheckRollup=None)}
    refused = error("FORBIDDEN", "Resource not accessible", "repository", "pull45", "statusCheckRollup")
    documented.given("PollMany", answer(refused, **hidden))
    found = documented.gateway(token="github_pat_documented").many_pulls([45, 46])
    assert (found[45].checks, found[46].checks) == (None, ())
    assert found[45].checks_note


def test_other_trouble_with_one_is_not_taken_for_its_absence(documented):
    """A pull request that GitHub stumbles over is not said to be gone."""
    stumbled = error("INTERNAL", "Something else", "repository", "pull45")
    documented.given("PollMany", answer(stumbled, pull45=None))
    with pytest.raises(Exception, match="Something else"):
        documented.gateway().many_pulls([45])


def test_an_older_server_is_asked_plainly(documented):
    """A server without merge queues tells state, reviews and checks."""
    unknown = {"errors": [{"message": "Field 'mergeQueueEntry' doesn't exist on type 'PullRequest'"}]}
    documented.given("PollMany", unknown, answer(pull45=pull(statusCheckRollup=None)))
    assert documented.gateway().many_pulls([45])[45].checks == ()
    assert documented.operations() == ["PollMany", "PollMany"]
