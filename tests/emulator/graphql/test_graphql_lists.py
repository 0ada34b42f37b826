"""Lists of issues, pull requests and boards: chosen, ordered, searched."""

import pytest

ISSUES = {
    "all": ("first: 10", [40, 41, 42, 43, 44]),
    "open": ("first: 10, states: [OPEN]", [40, 41, 42, 43]),
    "newest first": ("first: 2, orderBy: { field: CREATED_AT, direction: DESC }", [44, 43]),
    "label": ('first: 10, labels: ["bug"]', [43]),
    "assignee": ('first: 10, filterBy: { assignee: "mona" }', [40]),
    "anyone assigned": ('first: 10, filterBy: { assignee: "*" }', [40]),
    "author": ('first: 10, filterBy: { createdBy: "mona" }', []),
    "mentioned": ('first: 10, filterBy: { mentioned: "octo" }', [42]),
    "filter by state": ("first: 10, filterBy: { states: [CLOSED] }", [44]),
    "filter by label": ('first: 10, filterBy: { labels: ["bug"] }', [43]),
    "changed since": ('first: 10, filterBy: { since: "2100-01-01T00:00:00Z" }', []),
    "most comments": ("first: 1, orderBy: { field: COMMENTS, direction: DESC }", [42]),
}

FOUND = {
    "state": ("repo:octo/demo is:issue state:closed", [44]),
    "words": ("repo:octo/demo cache", [43, 42]),
    "assignee": ("repo:octo/demo type:issue assignee:mona", [40]),
    "oneself": ("repo:octo/demo is:issue author:@me state:open sort:created-asc", [40, 41, 42, 43]),
    "label": ("label:bug", [43]),
    "unlabelled": ("is:issue no:label no:assignee is:open", [42, 41]),
    "negated": ("is:issue -label:bug -assignee:mona is:open", [42, 41]),
    "pull request": ("is:pr head:claude/fix-42 base:main draft:false", [45]),
    "merged": ("is:pr is:merged", []),
    "unmerged": ("is:unmerged", [45]),
    "mentions": ("mentions:octo", [42]),
    "review requested": ("review-requested:@me", []),
    "elsewhere": ("repo:octo/other", []),
    "owner": ("user:octo is:closed", [44]),
}


@pytest.fixture
def busy(context):
    """Return the small world with a label, a comment and a pull request."""
    context.pull()
    context.act("comment", issue=42, body="Ask @octo")
    context.issue(43).labels.append(context.issue(43).repository.labels["bug"])
    return context


@pytest.mark.parametrize(("arguments", "expected"), ISSUES.values(), ids=ISSUES.keys())
def test_issues(busy, arguments, expected):
    """Issues are chosen and ordered by every argument."""
    data = busy.data(
        f'{{ repository(owner: "octo", name: "demo") {{ issues({arguments}) {{ nodes {{ number }} }} }} }}'
    )
    assert [issue["number"] for issue in data["repository"]["issues"]["nodes"]] == expected


@pytest.mark.parametrize(("query", "expected"), FOUND.values(), ids=FOUND.keys())
def test_search(busy, query, expected):
    """Search understands the qualifiers that tools use."""
    text = """query($q: String!) { search(query: $q, type: ISSUE, first: 10) { issueCount
      nodes { ... on Issue { number } ... on PullRequest { number } } } }"""
    found = busy.data(text, q=query)["search"]
    assert [entry["number"] for entry in found["nodes"]] == expected
    assert found["issueCount"] == len(expected)


def test_pull_requests_by_branch_and_state(busy):
    """Pull requests are found by head, base and state."""
    query = """query($h: String, $s: [PullRequestState!]) { repository(owner: "octo", name: "demo") {
      pullRequests(headRefName: $h, states: $s, first: 5) { nodes { number } }
      ref(qualifiedName: "claude/fix-42") { associatedPullRequests(first: 5) { totalCount } } } }"""

    def numbers(**given):
        return [pull["number"] for pull in busy.data(query, **given)["repository"]["pullRequests"]["nodes"]]

    assert numbers(h="claude/fix-42") == [45]
    assert numbers(h="other") == []
    assert numbers(s=["MERGED", "CLOSED"]) == []
    busy.act("merge_pull", pull=45)
    assert numbers(s=["MERGED"]) == [45]


def test_boards_by_title_and_state(context):
    """Boards are listed by words of their title and by state."""
    query = 'query($q: String) { user(login: "octo") { projectsV2(first: 5, query: $q) { nodes { number } } } }'
    assert context.data(query, q="is:open demo")["user"]["projectsV2"]["nodes"] == [{"number": 1}]
    assert context.data(query, q="is:closed")["user"]["projectsV2"]["nodes"] == []


def test_resources_by_address(context):
    """A page's address leads to what it shows, under any host; nothing there is null."""
    query = "query($u: URI!) { resource(url: $u) { __typename } }"
    pages = {
        "https://github.com/octo/demo/issues/42": "Issue",
        "http://127.0.0.1:1/octo/demo": "Repository",
        "https://github.com/octo": "User",
        "https://github.com/octo/demo/issues/999": None,
        "https://github.com/octo/nope/issues/1": None,
        "https://github.com/a/b/c/d/e": None,
    }
    for url, kind in pages.items():
        found = context.data(query, u=url)["resource"]
        assert (found and found["__typename"]) == kind, url


def test_the_clock_is_the_worlds(context):
    """Moments in answers come from the world's clock, in GitHub's notation."""
    context.world.clock.advance(86400 * 365)
    context.act("comment", issue=42, body="later")
    query = '{ repository(owner: "octo", name: "demo") { issue(number: 42) { createdAt updatedAt } } }'
    issue = context.data(query)["repository"]["issue"]
    assert int(issue["updatedAt"][:4]) >= int(issue["createdAt"][:4]) + 1
    assert issue["updatedAt"].endswith("Z")
