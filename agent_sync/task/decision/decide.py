"""Decides what to do next, for every trigger, phase and set of facts, in one place."""

from dataclasses import replace
from typing import assert_never

from agent_sync.task.claim.drift_seen import DriftSeen
from agent_sync.task.claim.model import Claim
from agent_sync.task.claim.phases import WithheldBy
from agent_sync.task.decision import messages
from agent_sync.task.decision.actions import (
    Action,
    AdoptPull,
    CardChange,
    CardRefused,
    ClosedByMerge,
    CloseTask,
    DeleteClaim,
    MoveCard,
    OpenPull,
    PullClosed,
    PullMerged,
    PullReopened,
    PushBranch,
    StepWithheld,
)
from agent_sync.task.decision.drift.drift_actions import DriftNoted
from agent_sync.task.decision.facts import Branch, Card, ClosingFacts, Facts, Lookup, NoCard, Pull, PullState, Trigger
from agent_sync.task.decision.feedback.decide_feedback import decide_checks, decide_feedback
from agent_sync.task.decision.feedback.feedback_actions import PullUnmoved
from agent_sync.task.decision.messages import closing_comment
from agent_sync.task.decision.needs import is_board_behind, is_paused, is_withheld, wanted_status
from agent_sync.task.decision.notice import Notice, as_told
from agent_sync.task.decision.once import record_change, say_now, say_once
from agent_sync.task.decision.pull_orders import NO_EXTRAS, extras_of, update_of
from agent_sync.task.decision.pull_text import NO_BRANCH, NO_GATE, claim_marker, pull_body, pull_title
from agent_sync.task.decision.steps import STEPS, PhaseStep

# Whoever works on an issue that is somebody else's is told by the first of these in every session.
REMINDING = frozenset({Trigger.STOP, Trigger.IDLE, Trigger.PROMPT, Trigger.SYNC})


def decide(trigger: Trigger, claim: Claim, facts: Facts) -> tuple[Action, ...]:
    """Return what to do now; nothing when the world is as the claim wants it, or not enough is known."""
    if claim.is_left:
        return ()
    if claim.is_lost:
        return say_once(facts, messages.lease_lost(claim, facts.session_id)) if trigger in REMINDING else ()
    step = STEPS[trigger][claim.phase]
    if step is PhaseStep.NOTHING:
        return ()
    if is_paused(claim, facts):
        return say_once(facts, messages.github_paused(claim))
    match step:
        case PhaseStep.SYNC_BOARD:
            return _remind_to_push(claim, facts) or _sync_board(trigger, claim, facts)
        case PhaseStep.FIND_PULL:
            return _find_beside(trigger, claim, facts)
        case PhaseStep.OPEN_PULL:
            return _open_pull(claim, facts)
        case PhaseStep.WATCH_PULL:
            return _watch_pull(trigger, claim, facts)
        case PhaseStep.AWAIT_CONSENT:
            return _await_consent(trigger, claim, facts)
        case PhaseStep.CLOSE:
            return _close(claim, facts)
        case PhaseStep.REMIND:
            reminder = messages.merged_reminder(claim, facts.session)
            return () if _is_taken_back(claim) else say_once(facts, reminder)
        case _:
            assert_never(step)


def _await_consent(trigger: Trigger, claim: Claim, facts: Facts) -> tuple[Action, ...]:
    """Ask a session that begins; nobody is asked about an issue that is closed already."""
    pull = facts.pull
    if pull and pull.is_issue_closed:
        return record_change(claim, ClosedByMerge(pull))
    noted = record_change(claim, DriftNoted(pull, _drift(claim, facts, pull), facts.now)) if pull else ()
    if noted or trigger is not Trigger.SESSION_START:
        return noted or _sync_board(trigger, claim, facts)
    if _is_taken_back(claim):
        return ()
    # A session that was asked at its start is not reminded with its first prompt.
    asked = messages.merge_question(claim, facts.session), as_told(messages.merged_reminder(claim, facts.session))
    return tuple(action for notice in asked for action in say_once(facts, notice))


def _is_taken_back(claim: Claim) -> bool:
    """Tell whether the merge was reverted: then closing is not the question."""
    return claim.drift is not None and claim.drift.is_revert_merged


def _drift(claim: Claim, facts: Facts, pull: Pull) -> DriftSeen:
    from agent_sync.task.decision.drift.comparing import drift_of

    return drift_of(claim, pull, pull.issue, is_head_here=facts.is_head_here)


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
    return pull.state is PullState.MERGED and (claim.pr_number == pull.number or claim_marker(claim) in pull.body)


def _is_ours(pull: Pull, claim: Claim, head: str | None) -> bool:
    if claim.pr_number is not None and pull.number <= claim.pr_number and pull.state is PullState.CLOSED:
        # The agent has handed off again after a close: that is a wish for a new one.
        return False
    if pull.head_sha == head:
        return True
    # The marker of a claim without a lease is that of every round with the same name; and whoever hands off again
    # after the merge has more to merge.
    is_of_this_round = claim.lease is not None and pull.number != claim.pr_number
    return is_of_this_round and claim_marker(claim) in pull.body


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
        return (_renewal(claim, facts, found),)
    if (objection := _issue_objection(claim, facts.lookup)) and not claim.open_anyway:
        return _withheld(claim, facts, WithheldBy.ISSUE, messages.issue_objects(claim, objection))
    if facts.lookup.remote_sha is None:
        return _withheld(claim, facts, WithheldBy.BRANCH, messages.branch_unknown(claim))
    if facts.lookup.commits_ahead == 0:
        return _withheld(claim, facts, WithheldBy.COMMITS, messages.nothing_to_merge(claim))
    return (_opening(claim, facts, facts.lookup),)


def _issue_objection(claim: Claim, lookup: Lookup) -> str:
    """Return why no pull request may be wanted for the issue any more."""
    if lookup.issue is None:
        return ""
    from agent_sync.task.decision.drift.comparing import issue_drift
    from agent_sync.task.decision.drift.drift_messages import people

    if not lookup.issue.is_open:
        return "the issue was closed"
    drift = issue_drift(claim, lookup.issue)
    # An account that may only read is never assigned.
    others = drift["assignees"] if drift.get("is_reassigned") else ()
    return f"the issue is assigned to {people(others)} now" if others else ""


def _push_needed(claim: Claim, branch: Branch, lookup: Lookup) -> PushBranch | None:
    if branch.local_sha is None or branch.local_sha == lookup.remote_sha:
        return None
    return PushBranch(claim.branch, branch.local_sha)


def _opening(claim: Claim, facts: Facts, lookup: Lookup) -> OpenPull:
    wanted = facts.settings.pr
    asks_more = bool(wanted.labels or wanted.reviewers or wanted.auto_merge)
    status = facts.settings.board.in_review
    change, trouble = card_change(lookup.card, status=status, agent=claim.agent_id)
    return OpenPull(
        repository_id=lookup.repository_id,
        branch=claim.branch,
        base=facts.settings.pr.base or lookup.default_branch,
        title=pull_title(claim),
        body=pull_body(claim, facts.settings.pr, gate=facts.gate or NO_GATE, branch=facts.branch or NO_BRANCH),
        draft=claim.draft,
        status=status,
        change=change,
        trouble=trouble,
        extras=extras_of(claim, wanted, None, is_new=True) if asks_more else NO_EXTRAS,
    )


def _adoption(claim: Claim, facts: Facts, pull: Pull) -> AdoptPull:
    lookup = facts.lookup
    status = facts.settings.board.in_review
    if lookup is None or claim.last_synced_status == status:
        return AdoptPull(pull, status, None)
    change, trouble = card_change(lookup.card, status=status, agent=claim.agent_id)
    return AdoptPull(pull, status, change, trouble)


def _renewal(claim: Claim, facts: Facts, pull: Pull) -> AdoptPull:
    """Take the open pull request of a handoff for ours, and bring it up to date."""
    update = update_of(claim, facts, pull)
    extras = extras_of(claim, facts.settings.pr, update, is_new=claim.pr_number is None)
    return replace(_adoption(claim, facts, pull), update=update, extras=extras)


def _watch_pull(trigger: Trigger, claim: Claim, facts: Facts) -> tuple[Action, ...]:
    if claim.pr_number is None:
        return () if trigger is Trigger.SESSION_START else _find_pull(claim, facts)
    pull = facts.pull
    if pull is None:
        unmoved = record_change(claim, PullUnmoved(facts.unmoved_at)) if facts.unmoved_at else ()
        return unmoved or _remind_to_push(claim, facts) or _sync_board(trigger, claim, facts)
    if pull.state is PullState.MERGED:
        return record_change(claim, ClosedByMerge(pull) if pull.is_issue_closed else PullMerged(pull))
    noted = record_change(claim, DriftNoted(pull, _drift(claim, facts, pull)))
    if pull.state is PullState.CLOSED:
        told = messages.closed_unmerged(claim, pull)
        said = say_now(trigger, facts, told) if trigger is Trigger.SESSION_START else ()
        seen = record_change(claim, PullClosed(pull, facts.now)) or noted
        return seen or said or _sync_board(trigger, claim, facts)
    reopened = record_change(claim, PullReopened(pull)) if claim.closed_unmerged else ()
    seen = reopened or noted or decide_checks(claim, facts, pull)
    return seen or decide_feedback(trigger, claim, facts, pull) or _sync_board(trigger, claim, facts)


def _find_pull(claim: Claim, facts: Facts) -> tuple[Action, ...]:
    """Mend a claim that says there is a pull request and not which one."""
    found = existing_pull(claim, facts.lookup, facts.branch) if facts.lookup else None
    if found:
        return (_adoption(claim, facts, found),)
    return say_once(facts, messages.pull_unknown(claim))


def _find_beside(trigger: Trigger, claim: Claim, facts: Facts) -> tuple[Action, ...]:
    """Take a merged pull request of this work for ours; an open one is said, and adopted by the next handoff."""
    pull = facts.beside.pull if facts.beside and facts.beside.is_own else None
    if pull and pull.state is PullState.MERGED:
        return (AdoptPull(pull, claim.status, None),)
    if trigger is Trigger.SESSION_START:
        return say_now(trigger, facts, messages.pull_beside(pull)) if pull else ()
    return _sync_board(trigger, claim, facts)


def _remind_to_push(claim: Claim, facts: Facts) -> tuple[Action, ...]:
    return say_once(facts, messages.unpushed(claim)) if facts.is_ahead else ()


def _sync_board(trigger: Trigger, claim: Claim, facts: Facts) -> tuple[Action, ...]:
    if facts.card is None or not is_board_behind(trigger, claim, facts):
        return ()
    status = wanted_status(claim, facts.settings)
    change, trouble = card_change(facts.card, status=status, agent=claim.agent_id)
    if trouble or change is None:
        return record_change(claim, CardRefused(status, trouble, facts.now))
    return (MoveCard(change),)


def _close(claim: Claim, facts: Facts) -> tuple[Action, ...]:
    closing = facts.closing
    if closing is None:
        return ()
    is_merged = closing.pull is not None and is_merge_of(claim, closing.pull)
    if closing.is_open and not is_merged and not claim.close_unmerged:
        return _withheld(claim, facts, WithheldBy.UNMERGED, messages.not_merged(claim, closing.pull))
    merged = closing.pull if is_merged else None
    return (_closure(claim, facts, closing), DeleteClaim(merged.head_sha if merged else "", merged))


def _closure(claim: Claim, facts: Facts, closing: ClosingFacts) -> CloseTask:
    """Do only what is missing: an issue found closed is neither closed nor commented again."""
    stays_open = closing.is_open and not closing.may_close
    change, trouble = card_change(closing.card, status="" if stays_open else facts.settings.board.done, agent="")
    number = closing.pull.number if closing.pull else claim.pr_number
    wants_comment = closing.is_open and not closing.has_comment
    return CloseTask(
        issue_id=closing.issue_id,
        issue_number=claim.issue_number,
        comment=closing_comment(claim, number) if wants_comment else None,
        close=closing.is_open and not stays_open,
        change=change,
        trouble=trouble,
        stays_open=stays_open,
    )


def _withheld(claim: Claim, facts: Facts, by: WithheldBy, notice: Notice) -> tuple[Action, ...]:
    """Remember why nothing was done for as long as it is true, and say it once."""
    return record_change(claim, StepWithheld(by, notice)) or say_once(facts, notice)


def card_change(card: Card | NoCard, *, status: str, agent: str) -> tuple[CardChange | None, str]:
    """Return the change that makes the card say this, and what is wrong with the board, if anything."""
    if isinstance(card, NoCard):
        return None, card.reason
    if card.is_archived:
        return None, "The task's card is archived and cannot be moved."
    trouble = status_trouble(card, status)
    return CardChange(card, "" if trouble else status, agent), trouble


def option_id(card: Card, status: str) -> str | None:
    """Return the id of a status on this board; case does not matter, as on the board itself."""
    wanted = status.casefold()
    return next((identity for name, identity in card.options if name.casefold() == wanted), None)


def status_trouble(card: Card, status: str) -> str:
    """Return why the card cannot be given a status."""
    if not status:
        # The settings say that the board has no such status: the card stays where it is.
        return ""
    if card.status_field_id is None:
        return "The board has no Status field of the configured name."
    if option_id(card, status) is None:
        options = ", ".join(name for name, _ in card.options)
        return f'The board has no status "{status}". It has: {options}.'
    return ""
