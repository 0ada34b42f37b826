"""What others do to a task: what is noticed, what is said of it, and how often."""

from dataclasses import replace

import pytest
from support.claims import NOW, claim
from support.github import pull
from support.situations import note

from agent_sync.settings import Settings
from agent_sync.task.claim.drift_seen import NO_DRIFT, DriftSeen, IssueChange
from agent_sync.task.claim.phases import Phase
from agent_sync.task.decision import actions as a
from agent_sync.task.decision.decide import decide
from agent_sync.task.decision.drift.comparing import card_to_watch, drift_of
from agent_sync.task.decision.drift.drift_actions import DriftNoted
from agent_sync.task.decision.drift.drift_messages import drift_news
from agent_sync.task.decision.evolve import evolve, report, told_before
from agent_sync.task.decision.facts import Facts, ForcePush, IssueSeen, PullDrift, PullState, Revert, Trigger
from agent_sync.task.decision.needs import AskHead, AskPull, needs

HEAD = "a" * 40
OPEN = claim(Phase.PR_CREATED, pr_number=107, status="In Review", last_synced_status="In Review", lease=note())
MERGED = OPEN.model_copy(update={"phase": Phase.MERGED_DETECTED})
FINE = IssueSeen(is_open=True, assignees=("octo", "mona"), viewer="octo", card_status="In Review")


def look(held=OPEN, *, issue=FINE, is_head_here=True, **fields):
    """Return what a look finds that others have changed."""
    return drift_of(held, seen(**fields), issue, is_head_here=is_head_here)


def seen(state=PullState.OPEN, **drift):
    """Return a pull request as the poll shows it."""
    return pull(state=state, issue=FINE, drift=PullDrift(**drift))


def facts(*, is_head_here=True, **fields):
    """Return a look at the pull request, with its issue."""
    return Facts(NOW, Settings(), pull=pull(**({"issue": FINE} | fields)), is_head_here=is_head_here)


def with_drift(**fields):
    """Return the open claim after an earlier look."""
    return OPEN.model_copy(update={"drift": DriftSeen(**fields)})


CASES = {
    "nothing": (look(), NO_DRIFT),
    "not asked": (
        drift_of(with_drift(base="develop", foreign_head=HEAD, forced_by="mona"), pull(), None, is_head_here=None),
        DriftSeen(base="develop", foreign_head=HEAD, forced_by="mona"),
    ),
    "retargeted": (look(base="develop"), DriftSeen(base="develop")),
    "pushed by somebody else": (look(is_head_here=False), DriftSeen(foreign_head=HEAD)),
    "force-pushed": (
        look(is_head_here=False, force_push=ForcePush("mona", HEAD)),
        DriftSeen(foreign_head=HEAD, forced_by="mona"),
    ),
    "force-pushed, and pushed to since": (
        look(is_head_here=False, force_push=ForcePush("mona", "b" * 40)),
        DriftSeen(foreign_head=HEAD),
    ),
    "force-pushed by us": (look(force_push=ForcePush("octo", HEAD)), NO_DRIFT),
    "branch deleted": (look(state=PullState.CLOSED, is_branch_deleted=True), DriftSeen(is_branch_deleted=True)),
    "branch deleted after the merge": (look(state=PullState.MERGED, is_branch_deleted=True), NO_DRIFT),
    "issue closed": (look(issue=replace(FINE, is_open=False)), DriftSeen(issue="closed")),
    "issue gone": (look(issue=IssueSeen(is_open=False, is_gone=True)), DriftSeen(issue="gone")),
    "issue open again": (look(with_drift(issue="closed")), DriftSeen(issue="reopened")),
    "issue back again": (look(with_drift(issue="gone")), DriftSeen(issue="reopened")),
    "issue still open again": (look(with_drift(issue="reopened")), DriftSeen(issue="reopened")),
    "issue not asked": (look(with_drift(issue="closed"), issue=None), DriftSeen(issue="closed")),
    "given to others": (
        look(issue=replace(FINE, assignees=("mona",))),
        DriftSeen(is_reassigned=True, assignees=("mona",)),
    ),
    "given to nobody": (look(issue=replace(FINE, assignees=())), DriftSeen(is_reassigned=True)),
    "names have no case": (look(issue=replace(FINE, assignees=("Octo",))), NO_DRIFT),
    "another account asks": (look(issue=replace(FINE, viewer="robot")), NO_DRIFT),
    "a claim written by hand assigns nobody": (
        look(OPEN.model_copy(update={"lease": None}), issue=replace(FINE, assignees=())),
        NO_DRIFT,
    ),
    "card moved": (look(issue=replace(FINE, card_status="Blocked")), DriftSeen(card_status="Blocked")),
    "card without status": (look(issue=replace(FINE, card_status="")), DriftSeen(card_status="no status")),
    "card not seen": (look(issue=replace(FINE, card_status=None)), NO_DRIFT),
    "card about to be written": (
        look(OPEN.model_copy(update={"status": "Done"}), issue=replace(FINE, card_status="Blocked")),
        NO_DRIFT,
    ),
    "revert proposed": (look(MERGED, state=PullState.MERGED, revert=Revert(9, is_merged=False)), DriftSeen(revert=9)),
    "revert merged": (
        look(MERGED, state=PullState.MERGED, revert=Revert(9, is_merged=True)),
        DriftSeen(revert=9, is_revert_merged=True),
    ),
}


@pytest.mark.parametrize(("found", "expected"), CASES.values(), ids=CASES)
def test_what_others_changed_is_found(found, expected):
    """Each change by somebody else is its own finding; our own and what was not asked are none."""
    assert found == expected


SENTENCES = {
    "Issue #42 was closed while PR #107 is not merged.": DriftSeen(issue="closed"),
    "Issue #42 is open again": DriftSeen(issue="reopened"),
    "Issue #42 is no longer in this repository": DriftSeen(issue="gone"),
    'Issue #42 is assigned to "mona" now. That is left as it is': DriftSeen(is_reassigned=True, assignees=("mona",)),
    "Issue #42 is assigned to nobody now": DriftSeen(is_reassigned=True),
    'moved to "Blocked" on the board (agent-sync had put it to "In Review"). It is left there.': DriftSeen(
        card_status="Blocked"
    ),
    'PR #107 goes into branch "develop" now': DriftSeen(base="develop"),
    '"mona" has force-pushed to the branch of PR #107: it is at aaaaaaaaaaaa': DriftSeen(
        foreign_head=HEAD, forced_by="mona"
    ),
    "Somebody else has pushed to the branch of PR #107": DriftSeen(foreign_head=HEAD),
    "PR #9 would take the merged PR #107 back.": DriftSeen(revert=9),
    "PR #107 was taken back: PR #9, which reverts it, is merged.": DriftSeen(revert=9, is_revert_merged=True),
}


@pytest.mark.parametrize(("words", "drift"), SENTENCES.items(), ids=SENTENCES)
def test_each_change_is_said_once_and_wakes_nobody(words, drift):
    """The sentence comes with the look that finds it, and not with the next; it is not worth a model turn."""
    outcome = DriftNoted(pull(), drift)
    (said,) = drift_news(OPEN, outcome)
    assert words in said.text
    assert (said.for_human, said.for_agent, said.can_wait, said.wakes) == (True, True, True, False)
    after = evolve(OPEN, outcome)
    assert (after.drift, drift_news(after, outcome)) == (drift, ())


def test_what_comes_back_is_news_again():
    """A card that was moved away, back and away again is told each time: its id is forgotten first."""
    outcome = DriftNoted(pull(), DriftSeen(card_status="Blocked"))
    assert told_before(OPEN, outcome) == ("card-moved:42:Blocked",)
    assert told_before(evolve(OPEN, outcome), outcome) == ()
    assert evolve(evolve(OPEN, outcome), a.CardMoved("In Review")).drift is None


def test_a_beginning_session_is_told_by_an_id_of_its_own():
    """What a session's start finds reaches that session, and nobody hears it a second time."""
    outcome = DriftNoted(pull(), DriftSeen(issue=IssueChange.CLOSED))
    known = Facts(NOW, Settings(), "s1")
    said = report(Trigger.SESSION_START, OPEN, outcome, known)
    assert [(one.id, one.for_agent) for one in said] == [("issue-closed:42@s1", True), ("issue-closed:42", False)]


def test_an_open_look_notes_drift_before_anything_else():
    """Nothing is done about a card or an assignment that somebody changed: it is written down, and no more."""
    moved = replace(FINE, card_status="Blocked", assignees=("mona",))
    (action,) = decide(Trigger.IDLE, OPEN, facts(issue=moved))
    assert action.outcome.seen == DriftSeen(card_status="Blocked", is_reassigned=True, assignees=("mona",))
    after = evolve(OPEN, action.outcome)
    assert decide(Trigger.IDLE, after, facts(issue=moved)) == ()


def test_a_new_head_is_compared_with_the_branch_here():
    """Git is asked where the head is not the one last seen, and as long as it was somebody else's."""
    asked = (AskHead(OPEN.branch, HEAD),)
    checks = {"sha": HEAD, "passed": 0, "total": 0, "state": "no checks yet"}
    known = claim(Phase.PR_CREATED, pr_number=107, checks=checks)
    assert needs(Trigger.IDLE, OPEN, facts(is_head_here=None)) == asked
    assert needs(Trigger.SESSION_START, OPEN, facts(is_head_here=None)) == asked
    assert needs(Trigger.IDLE, known, facts(is_head_here=None)) == ()
    foreign = known.model_copy(update={"drift": DriftSeen(foreign_head="b" * 40)})
    assert needs(Trigger.IDLE, foreign, facts(is_head_here=None)) == asked


def test_the_branch_may_be_deleted_after_the_close():
    """First the PR is closed, later its branch deleted: both are said."""
    closed = evolve(OPEN, a.PullClosed(pull(state=PullState.CLOSED)))
    assert closed.closed_unmerged
    gone = facts(state=PullState.CLOSED, drift=PullDrift(is_branch_deleted=True))
    (action,) = decide(Trigger.SYNC, closed, gone)
    assert isinstance(action.outcome, a.PullClosed)
    (said,) = report(Trigger.SYNC, closed, action.outcome, gone)
    assert "branch" in said.text
    assert "was deleted on GitHub" in said.text
    after = evolve(closed, action.outcome)
    assert decide(Trigger.SYNC, after, gone) == ()


def test_open_again_until_the_next_push():
    """That a PR was closed for a while is remembered for its head of that moment."""
    closed = evolve(OPEN, a.PullClosed(seen(PullState.CLOSED, is_branch_deleted=True)))
    again = evolve(closed, a.PullReopened(pull()))
    assert (again.closed_unmerged, again.drift) == (False, DriftSeen(reopened_sha=HEAD))
    assert look(again) == DriftSeen(reopened_sha=HEAD)
    assert drift_of(again, replace(pull(), head_sha="b" * 40), FINE, is_head_here=True) == NO_DRIFT


def test_after_the_merge_nobody_is_asked_about_a_closed_issue():
    """The issue that a merge closes a little later leads to the close, not to the question."""
    closed = facts(state=PullState.MERGED, issue=replace(FINE, is_open=False))
    for trigger in (Trigger.SESSION_START, Trigger.SYNC, Trigger.IDLE):
        assert needs(trigger, MERGED, replace(closed, pull=None)) == (AskPull(107, 42),)
        (action,) = decide(trigger, MERGED, closed)
        assert isinstance(action.outcome, a.ClosedByMerge)
        assert evolve(MERGED, action.outcome).phase is Phase.DONE


def test_nobody_is_asked_to_close_what_was_taken_back():
    """Once the revert is merged, neither a session's start nor its prompts ask whether the issue is closed."""
    reverted = facts(state=PullState.MERGED, drift=PullDrift(revert=Revert(9, is_merged=True)))
    for trigger, asks in ((Trigger.SESSION_START, 2), (Trigger.PROMPT, 1)):
        assert len([one for one in decide(trigger, MERGED, Facts(NOW, Settings())) if isinstance(one, a.Say)]) == asks
        after = evolve(MERGED, decide(Trigger.SYNC, MERGED, reverted)[0].outcome)
        assert decide(trigger, after, replace(reverted, now=NOW)) == ()


def test_after_the_merge_looks_keep_to_the_backoff():
    """A revert is looked for when an idle look is due, when a person asks and when a session begins."""
    known = evolve(MERGED, DriftNoted(pull(state=PullState.MERGED), NO_DRIFT, NOW))
    unasked = Facts(NOW, Settings())
    assert needs(Trigger.IDLE, known, unasked) == ()
    assert needs(Trigger.REWAKE, known, unasked) == ()
    assert needs(Trigger.STOP, known, unasked) == ()
    assert needs(Trigger.SYNC, known, unasked) == (AskPull(107, 42),)


def test_only_a_card_that_we_have_written_is_watched():
    """Without an item of a board, or after a refusal, nobody's move could be told."""
    assert card_to_watch(OPEN) == "PVTI_1"
    for fields in ({"item_id": "TEST"}, {"last_synced_status": None}, {"refused_status": "In Review"}):
        assert card_to_watch(OPEN.model_copy(update=fields)) == ""
