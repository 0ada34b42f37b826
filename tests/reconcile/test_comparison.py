"""What disagrees about a task, and whose it is to change."""

from dataclasses import replace
from datetime import timedelta

import pytest
from support.claims import NOW, claim
from support.github import CARD, pull
from support.situations import note

from agent_sync.leases.model import Holder, Lease, LeaseState
from agent_sync.reconcile.comparison import TaskSeen, differences
from agent_sync.reconcile.difference import DOES, Remedy, Side
from agent_sync.task.claim.phases import Phase
from agent_sync.task.decision.actions import LeaseLost, LeaseUnknown, LeftOnHook
from agent_sync.task.decision.facts import Branch, ForcePush, IssueSeen, NoCard, PullDrift, PullState, Revert
from agent_sync.task.decision.feedback.checks import CheckRun
from agent_sync.task.decision.situation import RecordSeen
from agent_sync.task.decision.situations import RecordStage
from agent_sync.work.findings import HookFinding, Repair

HEAD = "a" * 40
CHECKS = {"sha": HEAD, "passed": 0, "total": 0, "state": "no checks yet"}
OPEN = claim(
    Phase.PR_CREATED, pr_number=107, status="In Review", last_synced_status="In Review", lease=note(), checks=CHECKS
)
ISSUE = IssueSeen(is_open=True, assignees=("octo",), viewer="octo", card_status="In Review")
LEASE = Lease(
    issue=42,
    holder=Holder(host="h", user="u", worktree="w", agent=OPEN.agent_id),
    epoch=1,
    nonce="0" * 32,
    state=LeaseState.HELD,
    acquired_at=NOW,
    renewed_at=NOW,
    ttl_s=3600.0,
    branch=OPEN.branch,
    pr=107,
    phase="pr_created",
)
FINE = TaskSeen(
    claim=OPEN,
    now=NOW,
    branch=Branch(HEAD, is_current=True),
    pull=pull(checks=(), drift=PullDrift(), issue=ISSUE),
    issue=ISSUE,
    card=replace(CARD, status="In Review"),
    held=LEASE,
    record=RecordSeen("issue-42", RecordStage.RUNNING, issue=42),
)


def seen(**fields):
    """Return a task of which something differs."""
    return replace(FINE, **fields)


def held(**fields):
    """Return a claim of which something differs."""
    return OPEN.model_copy(update=fields)


def shown(**fields):
    """Return the pull request, of which something differs."""
    return replace(FINE.pull, **fields)


def card(**fields):
    """Return the card, of which something differs."""
    return replace(FINE.card, **fields)


CODING = claim(lease=note())
CODING_SEEN = seen(
    claim=CODING,
    pull=None,
    card=CARD,
    issue=replace(ISSUE, card_status="In Progress"),
    held=LEASE.model_copy(update={"phase": "coding", "pr": None}),
)
CASES = {
    "branch not here": (seen(branch=Branch(None, is_current=False)), Side.GIT, "is not in this clone", Remedy.TOLD),
    "other branch": (seen(branch=Branch(HEAD, is_current=False)), Side.GIT, "another branch", Remedy.TOLD),
    "ahead": (seen(is_ahead=True), Side.GIT, "commits that the pull request lacks", Remedy.TOLD),
    "pushed by others": (seen(is_head_here=False), Side.GIT, "somebody else has pushed aaaaaaaaaaaa", Remedy.LEFT),
    "force-pushed": (
        seen(is_head_here=False, pull=shown(drift=PullDrift(force_push=ForcePush("mona", HEAD)))),
        Side.GIT,
        '"mona" has force-pushed',
        Remedy.LEFT,
    ),
    "no PR": (seen(pull=None), Side.PULL, "none is there", Remedy.SYNC),
    "unnamed PR": (
        seen(claim=held(pr_number=None)),
        Side.PULL,
        "PR #107 of this branch is open, and the claim does not name it",
        Remedy.SYNC,
    ),
    "PR while coding": (replace(CODING_SEEN, pull=FINE.pull), Side.PULL, "does not name it", Remedy.TOLD),
    "merged": (seen(pull=shown(state=PullState.MERGED)), Side.PULL, "is merged", Remedy.SYNC),
    "closed": (seen(pull=shown(state=PullState.CLOSED)), Side.PULL, "does not know it", Remedy.SYNC),
    "closed, known": (
        seen(pull=shown(state=PullState.CLOSED), claim=held(closed_unmerged=True)),
        Side.PULL,
        "was closed without merging",
        Remedy.LEFT,
    ),
    "deleted": (
        seen(
            pull=shown(state=PullState.CLOSED, drift=PullDrift(is_branch_deleted=True)),
            claim=held(closed_unmerged=True),
        ),
        Side.PULL,
        "and its branch was deleted",
        Remedy.LEFT,
    ),
    "open again": (seen(claim=held(closed_unmerged=True)), Side.PULL, "is open again", Remedy.SYNC),
    "retargeted": (seen(pull=shown(drift=PullDrift("develop"))), Side.PULL, 'into "develop" now', Remedy.LEFT),
    "reverted": (
        seen(
            claim=held(phase=Phase.MERGED_DETECTED),
            pull=shown(state=PullState.MERGED, drift=PullDrift(revert=Revert(9, is_merged=True))),
            held=LEASE.model_copy(update={"phase": "merged_detected"}),
        ),
        Side.PULL,
        "PR #9 has taken PR #107 back",
        Remedy.LEFT,
    ),
    "CI": (seen(pull=shown(checks=(CheckRun("t", "SUCCESS"),))), Side.CI, "it is green, 1/1", Remedy.SYNC),
    "unmirrored": (seen(claim=held(is_unmirrored=True)), Side.ISSUE, "was not told", Remedy.MIRROR),
    "issue closed": (seen(issue=replace(ISSUE, is_open=False)), Side.ISSUE, "#42 is closed", Remedy.LEFT),
    "issue gone": (seen(issue=IssueSeen(is_open=False, is_gone=True)), Side.ISSUE, "was transferred", Remedy.LEFT),
    "issue closed while coding": (
        replace(CODING_SEEN, issue=replace(ISSUE, is_open=False)),
        Side.ISSUE,
        "in phase coding",
        Remedy.LEFT,
    ),
    "reassigned": (seen(issue=replace(ISSUE, assignees=("mona",))), Side.ISSUE, 'assigned to "mona"', Remedy.LEFT),
    "to be closed": (
        seen(
            claim=held(phase=Phase.DONE),
            pull=shown(state=PullState.MERGED),
            held=LEASE.model_copy(update={"phase": "done"}),
        ),
        Side.ISSUE,
        "its closing was agreed to",
        Remedy.SYNC,
    ),
    "card behind": (seen(claim=held(last_synced_status="In Progress")), Side.CARD, "and the claim", Remedy.SYNC),
    "card moved": (seen(card=card(status="Todo")), Side.CARD, 'moved to "Todo"', Remedy.LEFT),
    "Agent empty": (seen(card=card(agent=None)), Side.CARD, "Agent field is empty", Remedy.CARD),
    "Agent another": (seen(card=card(agent="mona-1")), Side.CARD, 'names "mona-1"', Remedy.LEFT),
    "card archived": (seen(card=card(is_archived=True)), Side.CARD, "archived", Remedy.LEFT),
    "no card": (seen(card=NoCard("It is not on the board.")), Side.CARD, "not on the board", Remedy.LEFT),
    "lost": (seen(lease=LeaseLost("ann")), Side.LEASE, "held by ann", Remedy.NOTE_LOSS),
    "left": (seen(lease=LeftOnHook("main/w1")), Side.LEASE, 'hook of "main/w1"', Remedy.TOLD),
    "unknown": (seen(lease=LeaseUnknown("no answer")), Side.LEASE, "no answer", Remedy.TOLD),
    "others see an older phase": (
        seen(held=LEASE.model_copy(update={"phase": "coding"})),
        Side.LEASE,
        'others see phase "coding"',
        Remedy.RENEW,
    ),
    "renewal due": (seen(now=NOW + timedelta(minutes=20)), Side.LEASE, "last renewed", Remedy.RENEW),
    "no record": (seen(record=None), Side.RECORD, "no recovery record", Remedy.RECORD),
    "other record": (
        seen(record=RecordSeen("fix", RecordStage.RUNNING)),
        Side.RECORD,
        'about task "fix"',
        Remedy.RECORD,
    ),
    "hook": (
        seen(findings=(HookFinding("orphaned", Repair.CANCEL, "nobody holds issue #42", issue=42),)),
        Side.HOOK,
        "nobody holds",
        Remedy.HOOK,
    ),
    "hook, told": (
        seen(findings=(HookFinding("overdue", Repair.TELL, "was due", issue=42),)),
        Side.HOOK,
        "was due",
        Remedy.TOLD,
    ),
}


@pytest.mark.parametrize(("task", "side", "words", "remedy"), CASES.values(), ids=CASES)
def test_each_difference_is_one_line(task, side, words, remedy):
    """One thing differs, one line says it, and whose it is to change is decided."""
    (found,) = differences(task)
    assert (found.side, found.remedy) == (side, remedy)
    assert words in found.says
    assert "\n" not in found.says


@pytest.mark.parametrize("task", [FINE, CODING_SEEN], ids=["open", "coding"])
def test_what_agrees_is_not_mentioned(task):
    """A task of which every side says the same has no differences."""
    assert differences(task) == ()


def test_whoever_lost_the_lease_repairs_nothing_on_github():
    """With the lease lost, what would be repaired is only told."""
    task = seen(lease=LeaseLost("ann"), pull=shown(state=PullState.MERGED), card=card(agent=None))
    assert [(one.side, one.remedy) for one in differences(task)] == [
        (Side.PULL, Remedy.TOLD),
        (Side.CARD, Remedy.TOLD),
        (Side.LEASE, Remedy.NOTE_LOSS),
    ]


def test_every_remedy_has_words():
    """What is done about a difference can be said."""
    assert set(DOES) == set(Remedy)


def test_without_a_board_there_is_no_card_to_miss():
    """Who has configured no board hears nothing of cards."""
    assert differences(seen(card=NoCard("No board."), has_board=False)) == ()
