"""The words of the recovery record: its states, what moves it, and what makes a checkpoint."""

from enum import StrEnum


class RecordState(StrEnum):
    """Where a task stands."""

    INITIALIZING = "initializing"
    STEP_PENDING = "step_pending"
    STEP_RUNNING = "step_running"
    STEP_VALIDATING = "step_validating"
    AWAITING_HUMAN = "awaiting_human"
    RECOVERING = "recovering"
    COMPLETED = "completed"
    FAILED = "failed"
    ABANDONED = "abandoned"


TERMINAL = frozenset({RecordState.COMPLETED, RecordState.FAILED, RecordState.ABANDONED})
ACTIVE = frozenset(RecordState) - TERMINAL


class RecordMove(StrEnum):
    """What can happen to a task; every one of them is written into the history."""

    INIT = "init"
    SETUP_COMPLETE = "setup_complete"
    SETUP_FAILED = "setup_failed"
    START_STEP = "start_step"
    STEP_OUTPUT = "step_output"
    # A validation ran while the step continues: its result does not end the step.
    CONTINUE_STEP = "continue_step"
    STEP_COMPLETE = "step_complete"
    STEP_FAILED = "step_failed"
    VALIDATE_PASS = "validate_pass"  # noqa: S105  # a word of the machine, no password
    VALIDATE_FAIL = "validate_fail"
    HUMAN_APPROVE = "human_approve"
    HUMAN_REJECT = "human_reject"
    HUMAN_RESUME = "human_resume"
    # The task went back to an earlier step: a pull request was closed unmerged, or handed off anew.
    REWORK = "rework"
    CHECKPOINT = "checkpoint"
    RECEIPT = "receipt"
    OWNER = "owner"
    # The session that worked on the task ended in the ordinary way.
    SESSION_ENDED = "session_ended"
    # Something else than agent-sync has changed hook.json.
    CHANGED_OUTSIDE = "changed_outside"
    # hook.json was damaged or gone: the generation before it was used.
    RESTORED = "restored"
    CRASH_DETECTED = "crash_detected"
    RETRY_STEP = "retry_step"
    SKIP_STEP = "skip_step"
    RETRY_VALIDATION = "retry_validation"
    RESUME_CHECKPOINT = "resume_checkpoint"
    MANUAL_REQUIRED = "manual_required"
    ABANDON = "abandon"


class CheckpointCause(StrEnum):
    """What made a checkpoint."""

    MANUAL = "manual"
    COMMIT = "git_commit"
    PUSH = "git_push"
    PULL = "pr_created"
    VALIDATION = "validation"
    STEP_COMPLETE = "step_complete"
    INTERVAL = "interval"


class StepStatus(StrEnum):
    """How far one step of the template has come."""

    PENDING = "pending"
    RUNNING = "running"
    COMPLETED = "completed"
    SKIPPED = "skipped"


class RecoveryAdvice(StrEnum):
    """What recovery recommends."""

    SKIP_STEP = "skip_step"
    RETRY_VALIDATION = "retry_validation"
    RETRY_STEP = "retry_step"
    MANUAL = "manual"
    AWAIT_HUMAN = "await_human"


class CrashType(StrEnum):
    """How the owner ended: gone in this boot, gone with an earlier boot, or out of sight and silent for too long."""

    SIGNAL = "signal"
    UNKNOWN = "unknown"
    TIMEOUT = "timeout"


class OwnerStanding(StrEnum):
    """What is known of the owner: only one that lives, or is known to be gone, decides by itself."""

    ALIVE = "alive"
    GONE = "gone"
    OTHER_BOOT = "other_boot"
    OTHER_HOST = "other_host"
    UNKNOWN = "unknown"


CLAIM_TO_CLOSE = "claim-to-close"
# Doing these twice does no harm: they look before they write, or write nothing.
IDEMPOTENT = frozenset(
    {"analyze", "plan", "validate", "review", "test", "lint", "push", "pull_request", "checks", "merge", "close"}
)
BUILT_IN: dict[str, tuple[str, ...]] = {
    CLAIM_TO_CLOSE: ("implement", "validate", "pull_request", "checks", "merge", "close"),
    "bugfix": ("analyze", "plan", "implement", "validate", "commit", "push", "pull_request"),
    "feature": ("analyze", "plan", "implement", "test", "validate", "document", "commit", "push", "pull_request"),
}
# What the record says of a run of the gates.
GATES = "agent-sync gate run"
