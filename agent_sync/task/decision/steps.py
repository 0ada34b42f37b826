"""The two tables of the lifecycle: trigger and phase lead to a step, outcome and phase lead to a phase."""

from enum import Enum

from agent_sync.task.claim.phases import Phase
from agent_sync.task.decision.actions import (
    BranchPushed,
    CardMoved,
    CardRefused,
    ChecksNoted,
    ChecksUnsettled,
    ClaimDeleted,
    ClosedByMerge,
    Consented,
    FeedbackNoted,
    HandedOff,
    LeaseLost,
    LeaseUnknown,
    LeftOnHook,
    Outcome,
    PauseNoted,
    PullAdopted,
    PullClosed,
    PullMerged,
    PullOpened,
    PullRefused,
    PullReopened,
    Said,
    StepWithheld,
    TaskClosed,
)
from agent_sync.task.decision.drift.drift_actions import DriftNoted
from agent_sync.task.decision.facts import Trigger
from agent_sync.task.decision.feedback.feedback_actions import JobsRerun, PullUnmoved, ReviewRequested


class PhaseStep(Enum):
    """What a trigger is good for in a phase."""

    NOTHING = "nothing"
    SYNC_BOARD = "sync the board"
    FIND_PULL = "look for a pull request of the branch, and sync the board"
    OPEN_PULL = "open the pull request"
    WATCH_PULL = "watch the pull request"
    AWAIT_CONSENT = "ask a human whether the issue is closed, unless it is"
    REMIND = "remind of the question"
    CLOSE = "close and clean up"


_ACTING = {
    Phase.CODING: PhaseStep.SYNC_BOARD,
    Phase.READY_FOR_PR: PhaseStep.OPEN_PULL,
    Phase.PR_CREATED: PhaseStep.WATCH_PULL,
    Phase.CHECKS_RUNNING: PhaseStep.WATCH_PULL,
    Phase.MERGED_DETECTED: PhaseStep.AWAIT_CONSENT,
    Phase.DONE: PhaseStep.CLOSE,
}
_QUIET = dict.fromkeys(Phase, PhaseStep.NOTHING)

STEPS: dict[Trigger, dict[Phase, PhaseStep]] = {
    # The turn must not wait for CI: watching is left to the idle session.
    Trigger.STOP: _ACTING
    | dict.fromkeys((Phase.PR_CREATED, Phase.CHECKS_RUNNING, Phase.MERGED_DETECTED), PhaseStep.SYNC_BOARD),
    Trigger.IDLE: _ACTING,
    Trigger.REWAKE: _ACTING | {Phase.MERGED_DETECTED: PhaseStep.SYNC_BOARD},
    Trigger.SYNC: _ACTING | {Phase.CODING: PhaseStep.FIND_PULL},
    # What became of the pull request overnight is told at once; everything else waits for the turn's end.
    Trigger.SESSION_START: _QUIET
    | {
        Phase.CODING: PhaseStep.FIND_PULL,
        Phase.PR_CREATED: PhaseStep.WATCH_PULL,
        Phase.CHECKS_RUNNING: PhaseStep.WATCH_PULL,
        Phase.MERGED_DETECTED: PhaseStep.AWAIT_CONSENT,
    },
    Trigger.PROMPT: _QUIET | {Phase.MERGED_DETECTED: PhaseStep.REMIND},
    Trigger.TOOL: _QUIET,
}

_SAME = {phase: phase for phase in Phase}
_OPEN = (Phase.PR_CREATED, Phase.CHECKS_RUNNING)

TRANSITIONS: dict[type[Outcome], dict[Phase, Phase]] = {
    HandedOff: dict.fromkeys((Phase.CODING, Phase.READY_FOR_PR, *_OPEN), Phase.READY_FOR_PR),
    BranchPushed: _SAME,
    PullOpened: {Phase.READY_FOR_PR: Phase.PR_CREATED},
    # A claim that lost its pull request's number finds it again without going back.
    PullAdopted: dict.fromkeys((Phase.CODING, Phase.READY_FOR_PR), Phase.PR_CREATED)
    | {phase: phase for phase in _OPEN},
    PullRefused: {Phase.READY_FOR_PR: Phase.READY_FOR_PR},
    StepWithheld: {phase: phase for phase in (Phase.READY_FOR_PR, Phase.DONE)},
    FeedbackNoted: {phase: phase for phase in _OPEN},
    ChecksUnsettled: dict.fromkeys(_OPEN, Phase.CHECKS_RUNNING),
    ChecksNoted: {phase: phase for phase in _OPEN},
    JobsRerun: {phase: phase for phase in _OPEN},
    ReviewRequested: {phase: phase for phase in _OPEN},
    DriftNoted: {phase: phase for phase in (*_OPEN, Phase.MERGED_DETECTED)},
    PullUnmoved: {phase: phase for phase in _OPEN},
    PullMerged: dict.fromkeys(_OPEN, Phase.MERGED_DETECTED),
    ClosedByMerge: dict.fromkeys((*_OPEN, Phase.MERGED_DETECTED), Phase.DONE),
    PullClosed: {phase: phase for phase in _OPEN},
    PullReopened: {phase: phase for phase in _OPEN},
    CardMoved: _SAME,
    CardRefused: _SAME,
    PauseNoted: _SAME,
    Consented: dict.fromkeys(Phase, Phase.DONE),
    TaskClosed: {Phase.DONE: Phase.DONE},
    ClaimDeleted: {Phase.DONE: Phase.DONE},
    LeaseLost: _SAME,
    LeftOnHook: _SAME,
    LeaseUnknown: _SAME,
    Said: _SAME,
}
