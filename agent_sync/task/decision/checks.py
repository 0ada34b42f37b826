"""Turns the checks of one commit into one verdict."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum


class Bucket(Enum):
    """What one check means for the pull request."""

    PASSED = "passed"
    FAILED = "failed"
    PENDING = "pending"


# Upper-case words of check runs (conclusion) and commit statuses (state). A word that is not here is pending:
# GitHub adds new ones, and an unknown word must never look like a pass.
BUCKETS = {
    "SUCCESS": Bucket.PASSED,
    "NEUTRAL": Bucket.PASSED,
    "SKIPPED": Bucket.PASSED,
    "FAILURE": Bucket.FAILED,
    "ERROR": Bucket.FAILED,
    "TIMED_OUT": Bucket.FAILED,
    "ACTION_REQUIRED": Bucket.FAILED,
    "CANCELLED": Bucket.FAILED,
    "STARTUP_FAILURE": Bucket.FAILED,
    "STALE": Bucket.FAILED,
}


@dataclass(frozen=True)
class Check:
    """One check run or commit status."""

    name: str
    result: str
    workflow: str = ""
    started: str = ""

    @property
    def bucket(self) -> Bucket:
        """What it means."""
        return BUCKETS.get(self.result.upper(), Bucket.PENDING)


class CI(Enum):
    """The verdict over all checks of a commit."""

    NONE = "no checks yet"
    UNAVAILABLE = "checks unavailable"
    RUNNING = "running"
    FAILED = "failed"
    GREEN = "green"


@dataclass(frozen=True)
class Verdict:
    """What all checks of one commit say together."""

    ci: CI
    sha: str
    passed: int = 0
    failed: tuple[str, ...] = ()
    running: int = 0
    failed_runs: tuple[str, ...] = ()

    @property
    def total(self) -> int:
        """How many checks there are."""
        return self.passed + len(self.failed) + self.running


def verdict(sha: str, checks: Iterable[Check] | None) -> Verdict:
    """Return the verdict over `checks`, of which the newest run of each counts; None means they cannot be seen."""
    if checks is None:
        return Verdict(CI.UNAVAILABLE, sha)
    latest = latest_runs(checks)
    failures = sorted((check for check in latest if check.bucket is Bucket.FAILED), key=lambda check: check.name)
    failed = tuple(check.name for check in failures)
    running = sum(check.bucket is Bucket.PENDING for check in latest)
    runs = tuple(f"{check.name}@{check.started}" for check in failures)
    return Verdict(_ci(latest, failed, running), sha, len(latest) - len(failed) - running, failed, running, runs)


def latest_runs(checks: Iterable[Check]) -> list[Check]:
    """Keep the newest run of each check: a rerun replaces what it repeats."""
    newest: dict[tuple[str, str], Check] = {}
    for check in checks:
        key = (check.workflow, check.name)
        if key not in newest or check.started >= newest[key].started:
            newest[key] = check
    return list(newest.values())


def _ci(latest: list[Check], failed: tuple[str, ...], running: int) -> CI:
    if not latest:
        return CI.NONE
    if failed:
        return CI.FAILED
    return CI.RUNNING if running else CI.GREEN
