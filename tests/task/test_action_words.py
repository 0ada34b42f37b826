from dataclasses import replace

import pytest
from support.claims import NOW, claim
from support.github import CARD, pull

from agent_sync.task.action_words import action_words
from agent_sync.task.claim.phases import Phase
from agent_sync.task.decision import actions as a
from agent_sync.task.decision.feedback.checks import CI, ChecksVerdict
from agent_sync.task.decision.feedback.feedback_actions import RequestReview, RerunJobs
from agent_sync.task.decision.feedback.reviews import AuthorKind, Remark, Review
from agent_sync.task.decision.notice import Notice

HELD = claim(Phase.PR_CREATED, pr_number=107)
CHANGE = a.CardChange(CARD, "In Review", "octo-1")
OPENING = a.OpenPull("R", "claude/x", "main", "Fix", "", draft=False, status="In Review", change=CHANGE)
CLOSING = a.CloseTask("I", 42, "Completed", close=True, change=a.CardChange(CARD, "Done", ""))
REVIEW = Review(Remark("R", "mona", AuthorKind.WRITER, "Please rename it."), "CHANGES_REQUESTED")
RUNNING = a.ChecksUnsettled(pull(), ChecksVerdict(CI.RUNNING, "a" * 40, running=1), NOW)


@pytest.mark.parametrize(
    ("action", "words"),
    [
        (a.PushBranch("claude/x", "a" * 40), 'push branch "claude/x" at aaaaaaaaaaaa'),
        (OPENING, 'open a PR "Fix" from "claude/x" into "main"; card: Status "In Review", Agent "octo-1"'),
        (replace(OPENING, draft=True, change=None), 'open a draft PR "Fix" from "claude/x" into "main"'),
        (a.AdoptPull(pull(), "In Review", None), "take PR #107 (open) for this claim's"),
        (a.MoveCard(CHANGE), 'write the card: Status "In Review", Agent "octo-1"'),
        (CLOSING, 'comment and close issue #42; card: Status "Done", Agent empty'),
        (replace(CLOSING, close=False, comment=None, change=None), "leave issue #42 closed"),
        (
            RerunJobs(pull(), ("https://x",), ("unit",), "timed out"),
            'run failed jobs of PR #107 again: "unit" (looks like timed out)',
        ),
        (RequestReview(pull(), (REVIEW,)), 'ask for a new review of PR #107 by "mona"'),
        (a.DeleteClaim(), "delete .agent-claim.json and give the lease back"),
        (a.RecordOutcome(RUNNING), "write down what was seen (phase pr_created → checks_running)"),
        (a.RecordOutcome(a.PullClosed(pull())), "write down what was seen (phase stays pr_created)"),
        (a.Say(Notice("n", "Hello.")), "say: Hello."),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_actions_in_words(action, words):
    """`--dry-run` says what would happen, not what our classes are called."""
    assert action_words(action, HELD) == words
