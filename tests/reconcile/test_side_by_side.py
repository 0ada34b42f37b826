from dataclasses import replace

import pytest
from support.claims import claim
from support.github import CARD, pull

from agent_sync.reconcile.side_by_side import rows
from agent_sync.task.claim.phases import Phase
from agent_sync.task.decision.facts import Branch, NoCard, PullState
from agent_sync.task.decision.feedback.checks import CheckRun
from agent_sync.task.decision.tasks import Person, Task

SHA = "a" * 40
HERE = Branch(SHA, is_current=True)
TASK = Task(
    Person("octo", "U_1"),
    "I_42",
    42,
    "A title",
    "url",
    is_open=True,
    assignees=("octo",),
    open_blockers=(),
    open_sub_issues=(),
    card=CARD,
    priority="P1",
    default_branch="main",
)
OPEN = claim(Phase.PR_CREATED, pr_number=107, status="In Progress")


def notes(held=None, branch=HERE, task=TASK, seen=None):
    """Return what disagrees, by the name of the row."""
    return {row.name: row.disagrees for row in rows(held or claim(), branch, task, seen) if row.disagrees}


def test_agreement_has_no_notes():
    """Where everything agrees nothing is marked."""
    assert notes() == {}
    assert notes(OPEN, seen=pull(checks=(CheckRun("a", "SUCCESS"),))) == {}


@pytest.mark.parametrize(
    ("changes", "row", "note"),
    [
        ({"branch": Branch(None, is_current=False)}, "branch", "the claim's branch is not here"),
        ({"branch": Branch(SHA, is_current=False)}, "branch", "another branch is checked out"),
        (
            {"held": OPEN, "branch": Branch("b" * 40, is_current=True), "seen": pull()},
            "branch",
            f"the PR is at {'a' * 12}",
        ),
        ({"held": OPEN}, "pull request", "the claim names one"),
        (
            {"held": OPEN, "seen": pull(state=PullState.MERGED)},
            "pull request",
            "merged, and the claim does not know yet",
        ),
        ({"held": OPEN, "seen": pull(state=PullState.CLOSED)}, "pull request", "closed without merging"),
        ({"held": OPEN, "seen": pull(is_conflicting=True)}, "pull request", "conflicts with its base branch"),
        ({"held": OPEN, "seen": pull(checks=(CheckRun("lint", "FAILURE"),))}, "CI", "lint"),
        ({"held": OPEN, "seen": pull(changes_requested_by=("mona",))}, "reviews", 'by "mona"'),
        ({"task": replace(TASK, is_open=False)}, "issue", "the issue is closed, the claim is not done"),
        ({"task": replace(TASK, assignees=())}, "issue", "you are not assigned"),
        ({"task": replace(TASK, card=NoCard("Not on the board."))}, "card", "Not on the board."),
        ({"task": replace(TASK, card=replace(CARD, status="Todo"))}, "card", "the claim says In Progress"),
        ({"task": replace(TASK, card=replace(CARD, agent="mona-1"))}, "card", "the Agent field names somebody else"),
        ({"task": replace(TASK, card=replace(CARD, agent=None))}, "card", "the Agent field is empty"),
    ],
)
def test_disagreement_is_marked(changes, row, note):
    """Each kind of lie is marked where it stands."""
    assert notes(**changes)[row] == note
