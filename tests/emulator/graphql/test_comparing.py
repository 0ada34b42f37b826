COMPARE = """query Compare($head: String!) {
  repository(owner: "octo", name: "demo") {
    ref(qualifiedName: "refs/heads/main") { compare(headRef: $head) { aheadBy behindBy status } }
  }
}"""


def compared(context, head):
    """Return how a branch compares with main."""
    return context.data(COMPARE, head=head)["repository"]["ref"]["compare"]


def test_commits_on_both_sides_are_counted(context):
    """A branch is ahead by its own commits and behind by those of its base."""
    context.branch("work")
    assert compared(context, "work") == {"aheadBy": 1, "behindBy": 0, "status": "AHEAD"}
    context.act("push_commit", branch="main", path="other.txt", content="other\n")
    assert compared(context, "work") == {"aheadBy": 1, "behindBy": 1, "status": "DIVERGED"}
    assert compared(context, "main") == {"aheadBy": 0, "behindBy": 0, "status": "IDENTICAL"}


def test_a_branch_that_is_not_there_has_no_comparison(context):
    """Comparing with an unknown branch answers null and hides nothing else."""
    assert compared(context, "nowhere") is None
