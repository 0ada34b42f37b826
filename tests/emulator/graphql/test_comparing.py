COMPARE = """query Compare($head: String!) {
  repository(owner: "octo", name: "demo") {
    ref(qualifiedName: "refs/heads/main") { compare(headRef: $head) { aheadBy behindBy status } }
  }
}"""


def compared(desk, head):
    """Return how a branch compares with main."""
    return desk.data(COMPARE, head=head)["repository"]["ref"]["compare"]


def test_commits_on_both_sides_are_counted(desk):
    """A branch is ahead by its own commits and behind by those of its base."""
    desk.branch("work")
    assert compared(desk, "work") == {"aheadBy": 1, "behindBy": 0, "status": "AHEAD"}
    desk.act("push_commit", branch="main", path="other.txt", content="other\n")
    assert compared(desk, "work") == {"aheadBy": 1, "behindBy": 1, "status": "DIVERGED"}
    assert compared(desk, "main") == {"aheadBy": 0, "behindBy": 0, "status": "IDENTICAL"}


def test_a_branch_that_is_not_there_has_no_comparison(desk):
    """Comparing with an unknown branch answers null and hides nothing else."""
    assert compared(desk, "nowhere") is None
