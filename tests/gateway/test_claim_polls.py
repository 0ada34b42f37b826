"""Many claims in one request: what is found, what it costs, and what becomes of trouble."""

import pytest
from behaviour import order
from documented import answer, error, pull

from agent_sync.errors import GitHubDown, RateLimited
from agent_sync.gateway.pulls.claim_polls import AT_ONCE, claims_operation
from agent_sync.gateway.transport.line import with_fragments
from agent_sync.task.decision.claims_seen import ClaimAsked
from agent_sync.task.decision.facts import PullState
from agent_sync.task.decision.feedback.merging import feedback_of, pull_verdict

ISSUE = {"number": 42, "title": "T", "url": "https://x/42", "state": "OPEN", "assignees": {"nodes": []}}


def opened(local, branch):
    """Open a pull request of a branch and return its number."""
    local.push(branch, path=f"{branch}.txt")
    gateway = local.gateway()
    return gateway.open_pull(order(gateway, branch=branch, with_card=False))[0].number


def test_claims_are_found_by_number_and_by_branch(local):
    """Each claim has its issue and its pull request, as a look at that alone finds it."""
    first, second = opened(local, "one"), opened(local, "two")
    local.act("add_check", pull=first, name="test", status="completed", conclusion="failure")
    local.act("merge_pull", pull=second)
    local.act("close_issue", issue=43)
    gateway = local.gateway()
    local.operations()
    asked = [ClaimAsked(42, first), ClaimAsked(43, branch="two"), ClaimAsked(41), ClaimAsked(40, branch="nowhere")]
    seen = gateway.claims(asked)
    assert local.operations() == ["Claims"]
    assert (seen.viewer, [issue.number for issue in seen.issues]) == ("octo", [42, 43, 41, 40])
    failed, merged, *rest = seen.issues
    assert failed.pull
    assert merged.pull
    alone = gateway.pull(first, with_checks=True)
    assert (pull_verdict(failed.pull), feedback_of(failed.pull)) == (pull_verdict(alone), feedback_of(alone))
    assert failed.moments.checked
    assert failed.pull_author == "octo"
    assert (merged.is_open, merged.pull.number, merged.pull.state) == (False, second, PullState.MERGED)
    assert merged.pull.is_issue_closed
    assert merged.moments.ended
    assert [issue.pull for issue in rest] == [None, None]
    assert rest[1].assignees == ("mona",)


def test_a_hundred_claims_are_one_request(local):
    """A look at a hundred claims is one request; an issue that is not there is gone, and hides no other."""
    gateway = local.gateway()
    local.operations()
    seen = gateway.claims([ClaimAsked(42), *(ClaimAsked(number, number) for number in range(1_000, 1_099))])
    assert local.operations() == ["Claims"]
    assert [issue.number for issue in seen.issues] == [42]
    assert 1_000 in seen.gone
    assert len(gateway.claims([ClaimAsked(42)] * 101).issues) == 101
    assert local.operations() == ["Claims", "Claims"]


def test_a_hundred_claims_stay_within_what_github_computes(local):
    """A hundred pull requests cost a few points by GitHub's formula, and far fewer nodes than it allows."""
    asked = [ClaimAsked(number, number) for number in range(1, 1 + AT_ONCE)]
    text = with_fragments(claims_operation(asked)).replace("viewer {", "rateLimit { cost nodeCount } viewer {", 1)
    values = {f"{name}{place}": place + 1 for place in range(AT_ONCE) for name in ("number", "pull")}
    body = {"query": text, "variables": {"owner": "octo", "name": "demo"} | values}
    found = local.control.post("/graphql", json=body, headers={"authorization": "bearer x"}).json()
    assert found["data"]["rateLimit"]["cost"] == 29
    assert found["data"]["rateLimit"]["nodeCount"] < 100_000


def test_claims_that_are_too_heavy_are_asked_in_halves(local):
    """A look that GitHub cannot answer is asked once more, in two halves."""
    for fault in ("resource_limits", "status:502"):
        local.fault(fault, operation="Claims")
        assert [issue.number for issue in local.gateway().claims([ClaimAsked(42), ClaimAsked(43)]).issues] == [42, 43]
        assert local.operations() == ["Claims"] * 3, fault


def test_an_outage_ends_the_look(local):
    """While GitHub is down, a look at a hundred claims ends after four tries."""
    local.fault("status:502", times=100, operation="Claims")
    with pytest.raises(GitHubDown):
        local.gateway().claims([ClaimAsked(number) for number in range(1, 101)])
    assert local.operations() == ["Claims"] * 4


def test_trouble_with_an_issue_is_not_taken_for_its_absence(documented):
    """An issue that GitHub stumbles over is not said to be gone."""
    documented.given("Claims", answer(error("UNPROCESSABLE", "Something else", "repository", "issue0"), issue0=None))
    with pytest.raises(Exception, match="Something else"):
        documented.gateway().claims([ClaimAsked(42)])


def test_a_pull_request_of_a_fork_is_nobodys_claim(documented):
    """A fork may use the same name for a branch; its pull request says nothing about the claim."""
    listed = [pull(number=46, isCrossRepository=True), pull(number=45)]
    documented.given("Claims", answer(issue0=ISSUE, pulls0={"nodes": listed}))
    (issue,) = documented.gateway().claims([ClaimAsked(42, branch="x")]).issues
    assert issue.pull
    assert issue.pull.number == 45


def test_refused_checks_of_a_claim_are_unknown(documented):
    """Checks that this token may not see are unknown, by number and by branch."""
    hidden = pull(statusCheckRollup=None)
    for place, found, asked in (
        (("pull0",), {"pull0": hidden}, ClaimAsked(42, 45)),
        (("pulls0", "nodes", "0"), {"pulls0": {"nodes": [hidden]}}, ClaimAsked(42, branch="x")),
    ):
        refused = error("FORBIDDEN", "Resource not accessible", "repository", *place, "statusCheckRollup")
        documented.given("Claims", answer(refused, issue0=ISSUE, **found))
        (issue,) = documented.gateway(token="github_pat_documented").claims([asked]).issues
        assert issue.pull, place
        assert (issue.pull.checks, bool(issue.pull.checks_note)) == (None, True), place


def test_a_limit_ends_the_look(local):
    """A rate limit is said with its end, after one request."""
    local.fault("primary_limit", times=100, operation="Claims")
    with pytest.raises(RateLimited):
        local.gateway().claims([ClaimAsked(number) for number in range(1, 1 + AT_ONCE)])
    assert local.operations() == ["Claims"]


def test_more_than_a_hundred_checks_are_read_page_by_page(local):
    """A commit with more than a hundred checks takes one request more per hundred, and none is lost.

    Among many claims, such a pull request costs its own looks.
    """
    number = opened(local, "work")
    for place in range(101):
        local.act("add_check", pull=number, name=f"check {place}", conclusion="success")
    local.operations()
    gateway = local.gateway()
    (seen,) = gateway.claims([ClaimAsked(42, number)]).issues
    assert len(seen.pull.checks) == 101
    assert local.operations() == ["Claims", "Poll", "Poll"]
    assert len({check.name for check in gateway.pull(number, with_checks=True).checks}) == 101
    assert local.operations() == ["Poll", "Poll"]


def test_an_older_server_is_asked_plainly(documented):
    """A server without merge queues tells state, reviews and checks."""
    unknown = {"errors": [{"message": "Field 'mergeQueueEntry' doesn't exist on type 'PullRequest'"}]}
    documented.given("Claims", unknown, answer(issue0=ISSUE, pull0=pull(statusCheckRollup=None)))
    (seen,) = documented.gateway().claims([ClaimAsked(42, 45)]).issues
    assert seen.pull.checks == ()
    assert documented.operations() == ["Claims", "Claims"]
