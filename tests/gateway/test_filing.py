"""Convoys, asking a human, and filing what was found."""

import pytest

from agent_sync.errors import GitHubDown, NotFound

MARK = "<!-- mark -->"


def labels(local, number=42):
    """Return the labels of an issue."""
    return next(issue["labels"] for issue in local.state()["issues"] if issue["number"] == number)


def test_convoy_is_read_in_one_request(local):
    """A parent comes with its sub-issues, and a sub-issue knows its parent."""
    local.act("sub_issue", issue=42, parent=43)
    gateway = local.gateway()
    found = gateway.convoy(43)
    assert (found.number, found.is_open, [child[::2] for child in found.children]) == (43, True, [(42, True)])
    assert gateway.requests == 1
    assert (gateway.task(42).parent, gateway.task(43).parent) == (43, None)
    with pytest.raises(NotFound):
        gateway.convoy(999)


def test_human_is_asked_once(local):
    """A label that the repository does not have yet is made; a comment that is there is not made again."""
    for _ in range(2):
        local.gateway().escalate(42, label="needs-human", comment="Look!", marker=MARK)
    assert labels(local) == ["needs-human"]
    assert [comment["body"] for comment in local.state()["comments"]] == [f"Look!\n\n{MARK}"]
    assert local.operations().count("Comment") == 1


@pytest.mark.parametrize("operation", ["Comment", "FileIssue"])
def test_lost_answer_is_not_repeated_by_itself(local, operation):
    """Whoever comes next looks first, so that what was done is not done twice."""
    local.fault("drop_after_apply", operation=operation)
    order = {
        "Comment": lambda: local.gateway().escalate(42, label="needs-human", comment="Look!", marker=MARK),
        "FileIssue": lambda: local.gateway().file_issue("Found", "Text", marker=MARK),
    }[operation]
    with pytest.raises(GitHubDown) as raised:
        order()
    assert raised.value.maybe_applied
    order()
    texts = [comment["body"] for comment in local.state()["comments"]]
    titles = [issue["title"] for issue in local.state()["issues"] if issue["title"] == "Found"]
    assert len(texts) + len(titles) == 1


def test_issue_is_filed_once(local):
    """An issue with the marker is the one that is wanted, however often it is asked for."""
    numbers = [local.gateway().file_issue("Found", "Text", marker=mark) for mark in (MARK, MARK, "<!-- other -->")]
    assert numbers == [45, 45, 46]


def test_a_convoy_tells_foreign_parts_apart(team):
    """Sub-issues of another repository are named in full; their numbers are not taken for this repository's."""
    team.act("sub_issue", repo="acme/api", issue=2, parent="acme/api#1")
    team.act("sub_issue", repo="acme/web", issue=2, parent="acme/api#1")
    gateway = team.gateway(project={"owner": "acme", "number": 7})
    found = gateway.convoy(1)
    assert [number for number, _, _ in found.children] == [2]
    assert found.foreign == (("acme/web#2", "Keep the cart after sign-in", True),)
    task = gateway.task(1)
    assert (task.open_sub_issues, task.foreign_sub_issues) == ((2,), ("acme/web#2",))
    assert gateway.task(2).parent == 1
