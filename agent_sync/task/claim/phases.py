"""The six phases of a task, and what can withhold the next one."""

from enum import StrEnum


class Phase(StrEnum):
    """Where a task stands between claim and close."""

    CODING = "coding"
    READY_FOR_PR = "ready_for_pr"
    PR_CREATED = "pr_created"
    CHECKS_RUNNING = "checks_running"
    MERGED_DETECTED = "merged_detected"
    DONE = "done"


class WithheldBy(StrEnum):
    """What keeps a pull request from being opened, or an issue from being closed."""

    GATE = "gate"
    BRANCH = "branch"
    SUMMARY = "summary"
    COMMITS = "commits"
    ISSUE = "issue"
    GITHUB = "github"
    UNMERGED = "unmerged"
