"""The six phases of a task."""

from enum import StrEnum


class Phase(StrEnum):
    """Where a task stands between claim and close."""

    CODING = "coding"
    READY_FOR_PR = "ready_for_pr"
    PR_CREATED = "pr_created"
    CHECKS_RUNNING = "checks_running"
    MERGED_DETECTED = "merged_detected"
    DONE = "done"
