"""Every situation with a claim and a record that lead to it, for tests that go through all of them."""

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from support.claims import NOW, claim
from support.github import pull

from agent_sync.task.claim.model import Claim, LeaseNote
from agent_sync.task.claim.phases import Phase, WithheldBy
from agent_sync.task.decision import actions, situations as s
from agent_sync.task.decision.drift import drift_situations as d
from agent_sync.task.decision.facts import IssueSeen, PullDrift, PullState, Revert
from agent_sync.task.decision.feedback.checks import CI
from agent_sync.task.decision.situation import Known, RecordSeen
from agent_sync.task.decision.situations import RecordStage

CHECKS = {"sha": "a" * 40, "passed": 1, "total": 2, "state": "running"}
GREEN_CHECKS = CHECKS | {"state": "green", "passed": 2}
WAITING = RecordSeen("issue-42", RecordStage.WAITING, issue=42, waiting_for="the gates failed as often as is allowed")
TASK: dict[str, Any] = {"task_id": "fix-it", "step": "analyze", "validation": "agent-sync validate -- make test"}


@dataclass(frozen=True)
class Case:
    """What is known, and the situation that follows."""

    expected: s.Situation
    claim: Claim | None = None
    record: RecordSeen | None = None
    known: Known = field(default_factory=Known)


def note(**fields: Any) -> LeaseNote:
    """Return a lease that is gone."""
    return LeaseNote(where="remote", epoch=1, nonce="n", renewed_at=NOW, ttl_s=60, **fields)


def withheld(by: WithheldBy, reason: str) -> dict[str, str]:
    """Return why nothing was done, as a claim file says it."""
    return {"by": by.value, "reason": reason}


def opened(**fields: Any) -> Claim:
    """Return the claim of an open pull request."""
    return claim(Phase.PR_CREATED, pr_number=45, **fields)


CASES = {
    "free": Case(s.Free(has_board=True)),
    "free, no board": Case(s.Free(has_board=False), known=Known(has_board=False)),
    "an ended task": Case(s.Free(has_board=True), record=RecordSeen("t", RecordStage.ENDED)),
    "an open pull request beside the claim": Case(
        s.PullFound(42, 45, is_merged=False), claim(), known=Known(pull=pull(number=45))
    ),
    "a merged pull request beside the claim": Case(
        s.PullFound(42, 45, is_merged=True), claim(), known=Known(pull=pull(number=45, state=PullState.MERGED))
    ),
    "the claim file is gone": Case(
        s.Unclaimed("issue-42", 42), record=RecordSeen("issue-42", RecordStage.RUNNING, issue=42)
    ),
    "a task to set up": Case(
        s.Recorded("fix-it", RecordStage.SETTING_UP, "analyze", TASK["validation"]),
        record=RecordSeen(stage=RecordStage.SETTING_UP, **TASK),
    ),
    "a task to start": Case(
        s.Recorded("fix-it", RecordStage.PENDING, "analyze", TASK["validation"]),
        record=RecordSeen(stage=RecordStage.PENDING, **TASK),
    ),
    "a task at work": Case(
        s.Recorded("fix-it", RecordStage.RUNNING, "analyze", TASK["validation"]),
        record=RecordSeen(stage=RecordStage.RUNNING, **TASK),
    ),
    "a task in validation": Case(
        s.Recorded("fix-it", RecordStage.VALIDATING, "analyze", TASK["validation"]),
        record=RecordSeen(stage=RecordStage.VALIDATING, **TASK),
    ),
    "a task that waits": Case(
        s.WaitingForHuman("fix-it", "who?", is_claim=False),
        record=RecordSeen(stage=RecordStage.WAITING, waiting_for="who?", **TASK),
    ),
    "a task that crashed": Case(
        s.Crashed("fix-it", "Nothing was under way."),
        record=RecordSeen(stage=RecordStage.RECOVERING, advice="Nothing was under way.", **TASK),
    ),
    "coding": Case(s.Coding(42), claim()),
    "coding, at work": Case(s.Coding(42), claim(), RecordSeen("issue-42", RecordStage.RUNNING, issue=42)),
    "handed off": Case(s.Opening(42), claim(Phase.READY_FOR_PR)),
    "withheld by the gates": Case(
        s.Withheld(42, "Lint failed."), claim(Phase.READY_FOR_PR, withheld=withheld(WithheldBy.GATE, "Lint failed."))
    ),
    "no commits": Case(
        s.NotOpened(42, WithheldBy.COMMITS, "No commits."),
        claim(Phase.READY_FOR_PR, withheld=withheld(WithheldBy.COMMITS, "No commits.")),
    ),
    "refused by GitHub": Case(
        s.NotOpened(42, WithheldBy.GITHUB, "No rights."),
        claim(Phase.READY_FOR_PR, withheld=withheld(WithheldBy.GITHUB, "No rights.")),
    ),
    "back to work after a refusal": Case(
        s.Coding(42), claim(Phase.CODING, withheld=withheld(WithheldBy.GATE, "Lint failed."))
    ),
    "no number": Case(
        s.NotOpened(42, WithheldBy.BRANCH, "The claim names no PR (phase pr_created)."), claim(Phase.PR_CREATED)
    ),
    "ahead": Case(s.Ahead(45), opened(), known=Known(is_ahead=True)),
    "ahead of a red CI": Case(s.Ahead(45), opened(checks=CHECKS | {"state": "failed"}), known=Known(is_ahead=True)),
    "conflicting": Case(s.Conflicting(45), opened(feedback={"is_conflicting": True})),
    "conflicting with a base": Case(
        s.Conflicting(45, "origin/main"), opened(feedback={"is_conflicting": True, "upstream": "origin/main"})
    ),
    "the same failure again and again": Case(
        s.CIStuck(45, ("lint",), 3),
        opened(
            checks=CHECKS | {"state": "failed", "failed": ["lint"]},
            failures={"sha": "a" * 40, "fingerprint": "f", "rounds": 3},
        ),
    ),
    "a failure of another commit": Case(
        s.CIFailed(45, ("lint",)),
        opened(
            checks=CHECKS | {"state": "failed", "failed": ["lint"]},
            failures={"sha": "b" * 40, "fingerprint": "f", "rounds": 3},
        ),
    ),
    "waiting for approval": Case(
        s.ApprovalNeeded(45, "https://github.com/r/1"),
        opened(checks=CHECKS | {"state": "waiting for approval", "approval_url": "https://github.com/r/1"}),
    ),
    "review threads": Case(s.ThreadsOpen(45, 2), opened(feedback={"threads": 2}, checks=CHECKS)),
    "ejected": Case(s.Ejected(45, "checks failed"), opened(feedback={"ejected": "checks failed"}, checks=GREEN_CHECKS)),
    "in the queue": Case(s.InMergeQueue(45, 2), opened(feedback={"queue_position": 2}, checks=GREEN_CHECKS)),
    "behind": Case(
        s.BehindBase(45, "origin/main"),
        opened(feedback={"is_behind": True, "upstream": "origin/main", "missing": "x"}, checks=GREEN_CHECKS),
    ),
    "blocked": Case(
        s.MergeBlocked(45, "it is a draft"), opened(feedback={"missing": "it is a draft"}, checks=GREEN_CHECKS)
    ),
    "blocked while running": Case(
        s.Watching(45, CI.RUNNING), opened(feedback={"missing": "a required review is missing"}, checks=CHECKS)
    ),
    "required checks missing": Case(
        s.Watching(45, CI.MISSING, ("e2e",)),
        opened(checks=CHECKS | {"state": "required checks missing", "missing": ["e2e"]}),
    ),
    "no CI": Case(s.AwaitingMerge(45, has_ci=False), opened(checks=CHECKS | {"state": "no CI configured", "total": 0})),
    "seen behind": Case(
        s.BehindBase(45, "up/main"),
        opened(),
        known=Known(pull=pull(45, merge_state="BEHIND", base="main"), remote="up"),
    ),
    "seen in the queue": Case(
        s.InMergeQueue(45, 1), opened(checks=GREEN_CHECKS), known=Known(pull=pull(45, queue_position=1))
    ),
    "CI failed": Case(s.CIFailed(45, ("lint",)), opened(checks=CHECKS | {"state": "failed", "failed": ["lint"]})),
    "changes requested": Case(
        s.ChangesRequested(45, ("mona",)), opened(feedback={"changes_requested_by": ["mona"]}, checks=CHECKS)
    ),
    "no checks yet": Case(s.Watching(45, CI.NONE), opened()),
    "running": Case(s.Watching(45, CI.RUNNING), claim(Phase.CHECKS_RUNNING, pr_number=45, checks=CHECKS)),
    "unseen": Case(s.Watching(45, CI.UNAVAILABLE), opened(checks=CHECKS | {"state": "checks unavailable"})),
    "green": Case(s.AwaitingMerge(45), opened(checks=CHECKS | {"state": "green", "passed": 2})),
    "green, as the record knows": Case(
        s.AwaitingMerge(45),
        opened(checks=CHECKS | {"state": "green", "passed": 2}),
        RecordSeen("issue-42", RecordStage.WAITING, issue=42, waiting_for="the merge", is_claims_wait=True),
    ),
    "closed unmerged": Case(s.ClosedUnmerged(42, 45), opened(closed_unmerged=True)),
    "seen closed": Case(s.ClosedUnmerged(42, 45), opened(), known=Known(pull=pull(45, PullState.CLOSED))),
    "branch deleted": Case(d.BranchDeleted(42, 45), opened(closed_unmerged=True, drift={"is_branch_deleted": True})),
    "seen deleted": Case(
        d.BranchDeleted(42, 45),
        opened(),
        known=Known(pull=pull(45, PullState.CLOSED, drift=PullDrift(is_branch_deleted=True))),
    ),
    "seen open again": Case(d.Reopened(45), opened(closed_unmerged=True), known=Known(pull=pull(45))),
    "open again": Case(d.Reopened(45), opened(drift={"reopened_sha": "a" * 40}, checks=CHECKS)),
    "open again and green": Case(s.AwaitingMerge(45), opened(drift={"reopened_sha": "a" * 40}, checks=GREEN_CHECKS)),
    "issue closed": Case(d.IssueClosed(42, 45), opened(drift={"issue": "closed"}, checks=CHECKS | {"state": "failed"})),
    "issue closed, then handed off": Case(s.Opening(42), claim(Phase.READY_FOR_PR, drift={"issue": "closed"})),
    "issue open again": Case(d.IssueReopened(42, 45), opened(drift={"issue": "reopened"}, checks=CHECKS)),
    "issue gone": Case(d.IssueGone(42, 45), opened(drift={"issue": "gone"}, checks=CHECKS)),
    "seen closed while coding": Case(d.IssueClosed(42, None), claim(), known=Known(issue=IssueSeen(is_open=False))),
    "reassigned": Case(
        d.Reassigned(42, 45, ("mona",)), opened(drift={"is_reassigned": True, "assignees": ["mona"]}, checks=CHECKS)
    ),
    "seen reassigned while coding": Case(
        d.Reassigned(42, None, ("mona",)),
        claim(lease=note()),
        known=Known(issue=IssueSeen(is_open=True, assignees=("mona",), viewer="octo")),
    ),
    "somebody else's head": Case(
        d.ForeignHead(45, "b" * 40, "mona"),
        opened(drift={"foreign_head": "b" * 40, "forced_by": "mona"}, checks=CHECKS | {"state": "failed"}),
    ),
    "seen with somebody else's head": Case(
        d.ForeignHead(45, "a" * 40), opened(), known=Known(pull=pull(45), is_ahead=True, is_head_here=False)
    ),
    "somebody else's head, pulled since": Case(
        s.Ahead(45), opened(drift={"foreign_head": "b" * 40}), known=Known(is_ahead=True, is_head_here=True)
    ),
    "another base": Case(d.Retargeted(45, "develop"), opened(drift={"base": "develop"}, checks=CHECKS)),
    "card moved": Case(d.MovedOnBoard(42, 45, "Blocked"), opened(drift={"card_status": "Blocked"}, checks=CHECKS)),
    "card moved, CI failed": Case(
        s.CIFailed(45, ("lint",)),
        opened(drift={"card_status": "Blocked"}, checks=CHECKS | {"state": "failed", "failed": ["lint"]}),
    ),
    "a revert is proposed": Case(
        d.Reverted(42, 45, 46, is_merged=False), claim(Phase.MERGED_DETECTED, pr_number=45, drift={"revert": 46})
    ),
    "reverted": Case(
        d.Reverted(42, 45, 46, is_merged=True),
        claim(Phase.MERGED_DETECTED, pr_number=45, drift={"revert": 46, "is_revert_merged": True}),
    ),
    "seen reverted": Case(
        d.Reverted(42, 45, 46, is_merged=False),
        claim(Phase.MERGED_DETECTED, pr_number=45),
        known=Known(pull=pull(45, PullState.MERGED, drift=PullDrift(revert=Revert(46, is_merged=False)))),
    ),
    "seen conflicting": Case(s.Conflicting(45), opened(), known=Known(pull=pull(45, is_conflicting=True))),
    "merged": Case(s.AwaitingConsent(42, 45), claim(Phase.MERGED_DETECTED, pr_number=45)),
    "seen merged": Case(s.AwaitingConsent(42, 45), opened(), WAITING, Known(pull=pull(45, PullState.MERGED))),
    "done": Case(s.Closing(42), claim(Phase.DONE, pr_number=45), WAITING),
    "done, not merged": Case(
        s.NotClosed(42, "PR #45 is open"),
        claim(Phase.DONE, pr_number=45, withheld=withheld(WithheldBy.UNMERGED, "PR #45 is open")),
    ),
    "left on a hook": Case(s.OnHook(42, "main/w1"), claim(lease=note(left_on="main/w1")), WAITING),
    "lost": Case(s.Lost(42, "ann"), claim(Phase.DONE, lease=note(lost_to="ann"))),
    "left, then taken": Case(
        s.Lost(42, "bob"), claim(lease=note(left_on="main/w1")), known=Known(lease=actions.LeaseLost("bob"))
    ),
    "seen lost": Case(s.Lost(42, "ann"), claim(lease=note()), known=Known(lease=actions.LeaseLost("ann"))),
    "unknown": Case(
        s.LeaseUnverified(42, "no answer"), claim(lease=note()), known=Known(lease=actions.LeaseUnknown("no answer"))
    ),
    "crashed": Case(
        s.Crashed("issue-42", "A checkpoint is there."),
        claim(),
        RecordSeen("issue-42", RecordStage.RECOVERING, issue=42, advice="A checkpoint is there."),
    ),
    "waiting for a human": Case(
        s.WaitingForHuman("issue-42", WAITING.waiting_for, is_claim=True), claim(Phase.READY_FOR_PR), WAITING
    ),
    "paused": Case(
        s.Paused(42, NOW + timedelta(minutes=5)), claim(Phase.READY_FOR_PR, not_before=NOW + timedelta(minutes=5))
    ),
    "no longer paused": Case(s.Opening(42), claim(Phase.READY_FOR_PR, not_before=NOW - timedelta(minutes=5))),
}
