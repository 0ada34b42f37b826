"""Turns what was reported on one commit, and what is still to come, into one verdict."""

from collections.abc import Iterable
from dataclasses import field, replace
from enum import Enum

from agent_sync.lazy_dataclasses import dataclass


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
class CheckRun:
    """One check run or commit status; `url` leads to the job of Actions it may be."""

    name: str
    result: str
    workflow: str = ""
    started: str = ""
    event: str = ""
    url: str = field(default="", compare=False)

    @property
    def bucket(self) -> Bucket:
        """What it means."""
        return BUCKETS.get(self.result.upper(), Bucket.PENDING)

    @property
    def age(self) -> tuple[bool, str]:
        """What newer runs have more of; a rerun that waits for a runner has not started and is the newest."""
        return self.bucket is Bucket.PENDING and not self.started, self.started


@dataclass(frozen=True)
class WorkflowRun:
    """One run of a workflow on the commit, which may have no check yet: `result` is its conclusion once it has one."""

    workflow: str
    event: str
    result: str = ""
    url: str = field(default="", compare=False)
    created: str = ""

    @property
    def is_finished(self) -> bool:
        """Whether no more checks come from it."""
        return self.result.upper() in BUCKETS

    @property
    def waits_for_approval(self) -> bool:
        """Whether somebody has to approve it before it starts."""
        return self.result.upper() == "ACTION_REQUIRED"


class CI(Enum):
    """The verdict over all checks of a commit."""

    ABSENT = "no CI configured"
    NONE = "no checks yet"
    UNAVAILABLE = "checks unavailable"
    APPROVAL = "waiting for approval"
    RUNNING = "running"
    FAILED = "failed"
    MISSING = "required checks missing"
    GREEN = "green"


# Nothing more is to come from CI, and nothing in it stands against a merge.
SETTLED_WELL = frozenset({CI.GREEN, CI.ABSENT})


@dataclass(frozen=True)
class Reported:
    """All that is known of CI on one commit: checks, workflow runs, names of required checks, whether there is any CI.

    `checks` is None where they cannot be seen.
    """

    checks: tuple[CheckRun, ...] | None
    runs: tuple[WorkflowRun, ...] = ()
    required: tuple[str, ...] = ()
    is_configured: bool = True


@dataclass(frozen=True)
class ChecksVerdict:
    """What all checks of one commit say together."""

    ci: CI
    sha: str
    passed: int = 0
    failed: tuple[str, ...] = ()
    running: int = 0
    failed_runs: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    approval_url: str = ""
    failures: tuple[CheckRun, ...] = field(default=(), compare=False)

    @property
    def total(self) -> int:
        """How many checks there are."""
        return self.passed + len(self.failed) + self.running


def verdict(sha: str, reported: Reported) -> ChecksVerdict:
    """Return the verdict over what was reported on a commit, of which the newest run of each check counts."""
    if reported.checks is None:
        return ChecksVerdict(CI.UNAVAILABLE, sha)
    latest = latest_runs(reported.checks)
    runs = latest_workflow_runs(reported.runs)
    failures = sorted(
        (*(check for check in latest if check.bucket is Bucket.FAILED), *_failed_before_any_check(runs, latest)),
        key=lambda check: check.name,
    )
    running = sum(check.bucket is Bucket.PENDING for check in latest) + len(_still_to_report(runs, latest))
    found = ChecksVerdict(
        CI.GREEN,
        sha,
        passed=sum(check.bucket is Bucket.PASSED for check in latest),
        failed=tuple(check.name for check in failures),
        running=running,
        failed_runs=tuple(f"{check.name}@{check.started}" for check in failures),
        missing=_missing(reported.required, latest),
        approval_url=next((run.url or run.workflow for run in runs if run.waits_for_approval), ""),
        failures=tuple(failures),
    )
    return _with_state(found, is_configured=reported.is_configured)


def latest_runs(checks: Iterable[CheckRun]) -> list[CheckRun]:
    """Keep the newest run of each check: a rerun replaces what it repeats, a run for another event does not."""
    newest: dict[tuple[str, str, str], CheckRun] = {}
    for check in checks:
        key = (check.workflow, check.event, check.name)
        if key not in newest or check.age >= newest[key].age:
            newest[key] = check
    return list(newest.values())


def latest_workflow_runs(runs: Iterable[WorkflowRun]) -> list[WorkflowRun]:
    """Keep the newest run of each workflow for each event."""
    in_order = sorted(runs, key=lambda run: run.created)
    return list({(run.workflow, run.event): run for run in in_order}.values())


def _still_to_report(runs: list[WorkflowRun], latest: list[CheckRun]) -> list[WorkflowRun]:
    """Return the runs from which checks are still to come and of which no check is seen running."""
    seen = {(check.workflow, check.event) for check in latest if check.bucket is Bucket.PENDING}
    return [run for run in runs if not run.is_finished and (run.workflow, run.event) not in seen]


def _failed_before_any_check(runs: list[WorkflowRun], latest: list[CheckRun]) -> list[CheckRun]:
    """Return the runs that ended badly without a check, as for a workflow file with a mistake in it."""
    seen = {(check.workflow, check.event) for check in latest}
    return [
        CheckRun(run.workflow, run.result, run.workflow, run.created, run.event, run.url)
        for run in runs
        if (run.workflow, run.event) not in seen
        and BUCKETS.get(run.result.upper()) is Bucket.FAILED
        and not run.waits_for_approval
    ]


def _missing(required: tuple[str, ...], latest: list[CheckRun]) -> tuple[str, ...]:
    reported = {check.name for check in latest}
    return tuple(sorted(name for name in set(required) if name not in reported))


def _with_state(found: ChecksVerdict, *, is_configured: bool) -> ChecksVerdict:
    if found.failed:
        ci = CI.FAILED
    elif found.approval_url:
        ci = CI.APPROVAL
    elif found.running:
        ci = CI.RUNNING
    elif not found.total:
        ci = CI.NONE if is_configured or found.missing else CI.ABSENT
    else:
        ci = CI.MISSING if found.missing else CI.GREEN
    return replace(found, ci=ci)
