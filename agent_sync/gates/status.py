"""The one list of outcomes, shared by the executor, the stop hook and the commands."""

from enum import StrEnum

from agent_sync.errors import Exit


class Status(StrEnum):
    """How a run, or a stop without a run, ended."""

    PASSED = "passed"
    PASSED_WITH_WARNINGS = "passed_with_warnings"
    NO_APPLICABLE_GATES = "no_applicable_gates"
    NO_CHANGES = "no_changes"
    FAILED = "failed"
    RETRY_LIMIT_EXCEEDED = "retry_limit_exceeded"
    LOCK_EXISTS = "lock_exists"
    INTERVAL_NOT_ELAPSED = "interval_not_elapsed"
    NO_CONFIG = "no_config"
    STOP_HOOK_ACTIVE = "stop_hook_active"
    STOP_HOOK_DISABLED = "stop_hook_disabled"
    INVALID_INPUT = "invalid_input"
    INFRASTRUCTURE_ERROR = "infrastructure_error"
    ERROR = "error"


# What `Status: …` says at the end of a run.
HEADLINES = {
    Status.PASSED: "Passed",
    Status.PASSED_WITH_WARNINGS: "Passed with warnings",
    Status.NO_APPLICABLE_GATES: "No applicable gates",
    Status.NO_CHANGES: "No changes",
    Status.FAILED: "Failed",
    Status.RETRY_LIMIT_EXCEEDED: "Retry limit exceeded",
    Status.LOCK_EXISTS: "Another run is in progress",
    Status.INFRASTRUCTURE_ERROR: "Infrastructure error",
    Status.ERROR: "Error",
}
SUCCESSES = frozenset({Status.PASSED, Status.PASSED_WITH_WARNINGS, Status.NO_APPLICABLE_GATES, Status.NO_CHANGES})
# The others either blocked, could not tell, or have not looked.
OPENS_PULL = SUCCESSES | {Status.NO_CONFIG, Status.STOP_HOOK_DISABLED}


def is_blocking(status: Status) -> bool:
    """Tell whether a stop with this outcome is sent back: only real failures are."""
    return status is Status.FAILED


def exit_status(status: Status) -> Exit:
    """Return the exit code of a command that ran gates."""
    return Exit.OK if status in SUCCESSES else Exit.FAILED
