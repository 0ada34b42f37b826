"""Brings the record to where the claim is: by the machine's own moves, from any state, in one call."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import assert_never

from agent_sync.record.machine.machine import moved, reworked
from agent_sync.record.machine.model import Event, Record
from agent_sync.record.machine.states import TERMINAL, Move, State, StepStatus
from agent_sync.task.claim.model import Claim
from agent_sync.task.claim.phases import Phase
from agent_sync.task.decision.checks import CI
from agent_sync.task.decision.outside_text import quoted

# Marks the moves that are made here: a human who is waited for because of something else is not passed over.
_SOURCE = "claim"


@dataclass(frozen=True)
class Goal:
    """The step a claim is at, and what a human must do there, if anything."""

    step: str
    waits: str = ""
    # The furthest step that is as good: within one phase of the claim the record may be ahead.
    upto: str = ""


def goal_of(claim: Claim) -> Goal:
    """Return where the record of `claim` belongs; work that is elsewhere now waits, whatever its phase."""
    goal, lease = _goal_of_phase(claim), claim.lease
    if lease and claim.is_lost:
        return replace(goal, waits=f"issue #{claim.issue_number} is held by {quoted(lease.lost_to, limit=300)}")
    if lease and claim.is_left:
        return replace(goal, waits=f"issue #{claim.issue_number} was left on the hook of {quoted(lease.left_on)}")
    return goal


def _goal_of_phase(claim: Claim) -> Goal:
    match claim.phase:
        case Phase.CODING:
            return Goal("implement")
        case Phase.READY_FOR_PR:
            return Goal("validate", upto="pull_request")
        case Phase.PR_CREATED | Phase.CHECKS_RUNNING:
            return _goal_of_pull(claim)
        case Phase.MERGED_DETECTED:
            return Goal("close", waits="a human decides whether the issue is closed")
        case Phase.DONE:
            return Goal("close")
        case _:
            assert_never(claim.phase)


def followed(record: Record, goal: Goal, now: datetime) -> Record:
    """Return the record at `goal`; one that is there already, has ended or has no such step is returned as it is."""
    names = [step.name for step in record.steps]
    if record.state in TERMINAL or goal.step not in names:
        return record
    first = names.index(goal.step)
    last = names.index(goal.upto) if goal.upto in names else first
    if _index(record) > last:
        reason = f"The claim is back at the step {goal.step}."
        record = moved(reworked(record, first, now, source=_SOURCE, reason=reason), Move.START_STEP, now)
    while _index(record) < first:
        record = moved(_running(record, now), Move.STEP_COMPLETE, now, source=_SOURCE)
    return _waiting(record, goal.waits, now) if goal.waits else _working(record, now)


def finished(record: Record, now: datetime) -> Record:
    """Return the record with every step that was left completed, and with them the task."""
    while record.state not in TERMINAL:
        record = moved(_running(record, now), Move.STEP_COMPLETE, now, source=_SOURCE)
    return record


def abandoned(record: Record, reason: str, now: datetime) -> Record:
    """Return the record of a task that was given up; one that has ended is returned as it is."""
    return record if record.state in TERMINAL else moved(record, Move.ABANDON, now, reason=reason)


def _goal_of_pull(claim: Claim) -> Goal:
    is_green = claim.checks is not None and claim.checks.state == CI.GREEN.value
    step = "merge" if is_green else "checks"
    pull = f"PR #{claim.pr_number}" if claim.pr_number else "The pull request"
    if claim.closed_unmerged:
        return Goal(step, waits=f"{pull} was closed without merging: a human decides how to go on")
    if is_green:
        return Goal(step, waits=f"{pull} is green and waits to be merged")
    return Goal(step)


def _working(record: Record, now: datetime) -> Record:
    """Return the record at work; the advice after a crash and a human's decision are left to whom they are for."""
    match record.state:
        case State.STEP_RUNNING | State.STEP_VALIDATING | State.RECOVERING:
            return record
        case State.AWAITING_HUMAN if not waits_for_claim(record):
            return record
        case _:
            return _running(record, now)


def _waiting(record: Record, reason: str, now: datetime) -> Record:
    if record.state is State.AWAITING_HUMAN and record.waiting_for == reason:
        return record
    return moved(_running(record, now), Move.MANUAL_REQUIRED, now, source=_SOURCE, reason=reason)


def _running(record: Record, now: datetime) -> Record:
    """Return the record with its step running, from whatever active state."""
    match record.state:
        case State.STEP_RUNNING:
            return record
        case State.STEP_VALIDATING:
            return moved(record, Move.CONTINUE_STEP, now, source=_SOURCE)
        case State.INITIALIZING:
            return moved(moved(record, Move.SETUP_COMPLETE, now), Move.START_STEP, now)
        case State.STEP_PENDING:
            return moved(record, Move.START_STEP, now)
        case State.AWAITING_HUMAN | State.RECOVERING if not _has_begun(record):
            pending = reworked(record, _index(record), now, source=_SOURCE, reason="The step had not begun.")
            return moved(pending, Move.START_STEP, now)
        case State.AWAITING_HUMAN:
            return moved(record, Move.HUMAN_RESUME, now, source=_SOURCE, reason="The claim has moved on.")
        case State.RECOVERING:
            return moved(record, Move.RESUME_CHECKPOINT, now, source=_SOURCE, reason="The claim has moved on.")
        case State.COMPLETED | State.FAILED | State.ABANDONED:
            return record
        case _:
            assert_never(record.state)


def _index(record: Record) -> int:
    """Return the number of the current step; before there is one, the first is what comes."""
    return record.current_step.step_index if record.current_step else 0


def _has_begun(record: Record) -> bool:
    return record.current_step is not None and record.steps[_index(record)].status is not StepStatus.PENDING


def waits_for_claim(record: Record) -> bool:
    """Tell whether a human is waited for because of where the claim is: a merge, or consent to close."""
    entered = next(_entries(record), None)
    return entered is not None and entered.details.get("source") == _SOURCE


def _entries(record: Record) -> Iterator[Event]:
    """Return the events that began to wait for a human, the last first."""
    for event in reversed(record.history):
        if event.to_state is State.AWAITING_HUMAN and event.from_state is not State.AWAITING_HUMAN:
            yield event
