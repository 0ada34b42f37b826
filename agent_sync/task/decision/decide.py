"""Decides what to do next, for every trigger, phase and set of facts, in one place."""

from typing import assert_never

from agent_sync.task.claim.model import Claim
from agent_sync.task.claim.phases import WithheldBy
from agent_sync.task.decision import messages
from agent_sync.task.decision.actions import (
    Action,
    AdoptPull,
    CardRefused,
    ChecksNoted,
    ChecksUnsettled,
    CloseTask,
    DeleteClaim,
    FeedbackNoted,
    MoveCard,
    Notice,
    OpenPull,
    Outcome,
    PullClosed,
    PullMerged,
    PullReopened,
    PushBranch,
    Record,
    Say,
    Withheld,
)
from agent_sync.task.decision.board import card_change
from agent_sync.task.decision.checks import CI, verdict
from agent_sync.task.decision.evolve import evolve
from agent_sync.task.decision.facts import Branch, Closing, Facts, Lookup, Pull, PullState, Trigger
from agent_sync.task.decision.needs import is_board_behind, is_paused, is_withheld
from agent_sync.task.decision.pr_body import body, closing_comment, marker, title
from agent_sync.task.decision.steps import STEPS, Step

# Whoever works on an issue that is somebody else's is told by the first of these in every session.
REMINDING = frozenset({Trigger.STOP, Trigger.IDLE, Trigger.PROMPT, Trigger.SYNC})


def decide(trigger: Trigger, claim: Claim, facts: Facts) -> tuple[Action, ...]:
    """Return what to do now; nothing when the world is as the claim wants it, or not enough is known."""
    if claim.is_left:
        return ()
    if claim.is_lost:
        return _said(facts, messages.lease_lost(claim, facts.session_id)) if trigger in REMINDING else ()
    step = STEPS[trigger][claim.phase]
    if step is Step.NOTHING:
        return ()
    if is_paused(claim, facts):
        return _said(facts, messages.paused(claim))
    match step:
        case Step.SYNC_BOARD:
            return _sync_board(trigger, claim, facts)
        case Step.OPEN_PULL:
            return _open_pull(claim, facts)
        case Step.WATCH_PULL:
            return _watch_pull(trigger, claim, facts)
        case Step.CLOSE:
            return _close(claim, facts)
        case Step.REMIND:
            return _said(facts, messages.merged_reminder(claim, facts.session_id))
        case _:
            assert_never(step)


def existing_pull(claim: Claim, lookup: Lookup, branch: Branch | None) -> Pull | None:
    """Return the pull request that is ours: an open one, or a dead one of this very commit or claim."""
    open_one = next((pull for pull in lookup.pulls if pull.state is PullState.OPEN), None)
    if open_one:
        return open_one
    # Commits that are only here make the branch another one than the dead pull request was about.
    head = (branch.local_sha if branch else None) or lookup.remote_sha
    return next((pull for pull in lookup.pulls if _is_ours(pull, claim, head)), None)


def is_merge_of(claim: Claim, pull: Pull) -> bool:
    """Tell whether a pull request is merged and this task's own, not an older one of a branch used again."""
    return pull.state is PullState.MERGED and (claim.pr_number == pull.number or marker(claim) in pull.body)


def _is_ours(pull: Pull, claim: Claim, head: str | None) -> bool:
    if claim.pr_number is not None and pull.number <= claim.pr_number and pull.state is PullState.CLOSED:
        # The agent has handed off again after a close: that is a wish for a new one.
        return False
    return pull.head_sha == head or marker(claim) in pull.body


def _open_pull(claim: Claim, facts: Facts) -> tuple[Action, ...]:
    if not claim.branch:
        return _withheld(claim, facts, WithheldBy.BRANCH, messages.branch_missing(claim))
    if not claim.summary.strip():
        return _withheld(claim, facts, WithheldBy.SUMMARY, messages.summary_missing(claim))
    if facts.branch is None or facts.gate is None:
        return ()
    if is_withheld(claim, facts.gate, facts):
        return _withheld(claim, facts, WithheldBy.GATE, messages.gate_withheld(claim, facts.gate, facts.branch))
    if facts.lookup is None:
        return ()
    found = existing_pull(claim, facts.lookup, facts.branch)
    if found and found.state is not PullState.OPEN:
        return (_adoption(claim, facts, found),)
    push = _push_needed(claim, facts.branch, facts.lookup)
    if push:
        return (push,)
    if found:
        return (_adoption(claim, facts, found),)
    if facts.lookup.remote_sha is None:
        return _withheld(claim, facts, WithheldBy.BRANCH, messages.branch_unknown(claim))
    if facts.lookup.commits_ahead == 0:
        return _withheld(claim, facts, WithheldBy.COMMITS, messages.nothing_to_merge(claim))
    return (_opening(claim, facts, facts.lookup),)


def _push_needed(claim: Claim, branch: Branch, lookup: Lookup) -> PushBranch | None:
    if branch.local_sha is None or branch.local_sha == lookup.remote_sha:
        return None
    return PushBranch(claim.branch, branch.local_sha)


def _opening(claim: Claim, facts: Facts, lookup: Lookup) -> OpenPull:
    status = facts.settings.board.in_review
    change, trouble = card_change(lookup.card, status=status, agent=claim.agent_id)
    return OpenPull(
        repository_id=lookup.repository_id,
        branch=claim.branch,
        base=facts.settings.pr.base or lookup.default_branch,
        title=title(claim),
        body=body(
            claim,
            facts.settings.pr,
            gate=facts.gate.summary if facts.gate else "",
            receipts=facts.branch.receipts if facts.branch else (),
        ),
        draft=claim.draft,
        status=status,
        change=change,
        trouble=trouble,
    )


def _adoption(claim: Claim, facts: Facts, pull: Pull) -> AdoptPull:
    lookup = facts.lookup
    status = facts.settings.board.in_review
    if lookup is None or claim.last_synced_status == status:
        return AdoptPull(pull, status, None)
    change, trouble = card_change(lookup.card, status=status, agent=claim.agent_id)
    return AdoptPull(pull, status, change, trouble)


def _watch_pull(trigger: Trigger, claim: Claim, facts: Facts) -> tuple[Action, ...]:
    if claim.pr_number is None:
        return _find_pull(claim, facts)
    pull = facts.pull
    if pull is None:
        return ()
    if pull.state is PullState.MERGED:
        return _recorded(claim, PullMerged(pull))
    if pull.state is PullState.CLOSED:
        return _recorded(claim, PullClosed(pull)) or _sync_board(trigger, claim, facts)
    reopened = _recorded(claim, PullReopened(pull)) if claim.closed_unmerged else ()
    seen = reopened or _polled(claim, facts, pull)
    return seen or _feedback(claim, facts, pull) or _sync_board(trigger, claim, facts)


def _find_pull(claim: Claim, facts: Facts) -> tuple[Action, ...]:
    """Mend a claim that says there is a pull request and not which one."""
    found = existing_pull(claim, facts.lookup, facts.branch) if facts.lookup else None
    if found:
        return (_adoption(claim, facts, found),)
    return _said(facts, messages.pull_unknown(claim))


def _polled(claim: Claim, facts: Facts, pull: Pull) -> tuple[Action, ...]:
    if pull.checks is None and not pull.checks_note:
        return ()
    seen = verdict(pull.head_sha, pull.checks)
    if seen.ci in {CI.RUNNING, CI.FAILED}:
        return _recorded(claim, ChecksUnsettled(pull, seen, facts.now))
    return _recorded(claim, ChecksNoted(pull, seen, facts.now))


def _feedback(claim: Claim, facts: Facts, pull: Pull) -> tuple[Action, ...]:
    noted = _recorded(claim, FeedbackNoted(pull))
    if pull.changes_requested_by:
        asked = _said(facts, messages.changes_requested(pull))
        if asked:
            return (*noted, *asked)
    return (*noted, *(_said(facts, messages.conflicting(pull)) if pull.is_conflicting else ()))


def _sync_board(trigger: Trigger, claim: Claim, facts: Facts) -> tuple[Action, ...]:
    if facts.card is None or not is_board_behind(trigger, claim):
        return ()
    change, trouble = card_change(facts.card, status=claim.status, agent=claim.agent_id)
    if trouble or change is None:
        return _recorded(claim, CardRefused(claim.status, trouble))
    return (MoveCard(change),)


def _close(claim: Claim, facts: Facts) -> tuple[Action, ...]:
    closing = facts.closing
    if closing is None:
        return ()
    is_merged = closing.pull is not None and is_merge_of(claim, closing.pull)
    if closing.is_open and not is_merged and not claim.close_unmerged:
        return _withheld(claim, facts, WithheldBy.UNMERGED, messages.not_merged(claim, closing.pull))
    return (_closure(claim, facts, closing), DeleteClaim())


def _closure(claim: Claim, facts: Facts, closing: Closing) -> CloseTask:
    """Do only what is missing: an issue found closed is neither closed nor commented again."""
    change, trouble = card_change(closing.card, status=facts.settings.board.done, agent="")
    number = closing.pull.number if closing.pull else claim.pr_number
    wants_comment = closing.is_open and not closing.has_comment
    return CloseTask(
        issue_id=closing.issue_id,
        issue_number=claim.issue_number,
        comment=closing_comment(claim, number) if wants_comment else None,
        close=closing.is_open,
        change=change,
        trouble=trouble,
    )


def _recorded(claim: Claim, outcome: Outcome) -> tuple[Action, ...]:
    return (Record(outcome),) if evolve(claim, outcome) != claim else ()


def _withheld(claim: Claim, facts: Facts, by: WithheldBy, notice: Notice) -> tuple[Action, ...]:
    """Remember why nothing was done for as long as it is true, and say it once."""
    return _recorded(claim, Withheld(by, notice)) or _said(facts, notice)


def _said(facts: Facts, notice: Notice) -> tuple[Action, ...]:
    return () if notice.id in facts.told else (Say(notice),)
