"""Check runs, commit statuses, and what they add up to."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from agent_sync.emulator.graphql.connections import Page
from agent_sync.emulator.graphql.git_objects import GitCommit, GitRef, derived_id, ref_of
from agent_sync.emulator.graphql.request import Request
from agent_sync.emulator.graphql.tables import Table, constant
from agent_sync.emulator.operations.checks import rollup
from agent_sync.emulator.world.checks import CheckRun, CommitStatus, WorkflowRun
from agent_sync.emulator.world.repositories import Repository

ACTIONS = {"id": "A_kwDOActions", "databaseId": 15368, "name": "GitHub Actions", "slug": "github-actions"}


@dataclass(frozen=True)
class Reported:
    """Everything reported on one commit; nothing reported means no such object."""

    repository: Repository
    sha: str
    state: str
    contexts: Sequence[CheckRun | CommitStatus]

    @property
    def id(self) -> str:
        """Return the node id."""
        return derived_id("SCR", self.repository, self.sha)

    @property
    def commit(self) -> GitCommit:
        """Return the commit it is about."""
        return GitCommit(self.repository, self.sha)


@dataclass(frozen=True)
class Suite:
    """A workflow run seen as the suite of its checks."""

    run: WorkflowRun

    @property
    def statuses(self) -> set[str]:
        """Return how far the checks have come."""
        return {check.status for check in self.run.checks}


def rollup_of(repository: Repository, sha: str) -> Reported | None:
    """Return the sum of what was reported on a commit, if anything was."""
    found = rollup(repository, sha)
    return Reported(repository, sha, found.state, (*found.checks, *found.statuses)) if found.state else None


def statuses_of(repository: Repository, sha: str) -> Reported | None:
    """Return the sum of the commit statuses alone."""
    found = rollup(repository, sha).statuses
    words = [status.state.upper() for status in found]
    worst = next((word for word in ("ERROR", "FAILURE", "PENDING", "SUCCESS") if word in words), None)
    return Reported(repository, sha, worst, found) if worst else None


def run_state(check: CheckRun) -> str:
    """Return a check's place in the counts: its conclusion, or how far it has come."""
    return (check.conclusion or check.status).upper()


def counts(page: Page, kind: type, word: Any) -> list[dict[str, Any]]:
    """Count the contexts of a kind by state."""
    counted = Counter(word(entry) for entry in page.everything if isinstance(entry, kind))
    return [{"state": state, "count": count} for state, count in sorted(counted.items())]


def is_required(entry: CheckRun | CommitStatus, _request: Request, **_pull: Any) -> bool:
    """Say whether a rule of the repository waits for this check."""
    name = entry.name if isinstance(entry, CheckRun) else entry.context
    return name in entry.repository.required_checks


def check_path(check: CheckRun, _request: Request | None = None) -> str:
    """Return the path of a job's page."""
    return f"/{check.repository.full_name}/actions/runs/{check.run.identity.number}/job/{check.identity.number}"


def run_path(run: WorkflowRun, _request: Request | None = None) -> str:
    """Return the path of a workflow run's page."""
    return f"/{run.repository.full_name}/actions/runs/{run.identity.number}"


def suite_status(suite: Suite, _request: Request) -> str:
    """Return how far the whole suite has come."""
    if suite.statuses == {"completed"}:
        return "COMPLETED"
    return "QUEUED" if suite.statuses <= {"queued"} else "IN_PROGRESS"


def suite_conclusion(suite: Suite, request: Request) -> str | None:
    """Return how the whole suite ended, once it has."""
    if suite_status(suite, request) != "COMPLETED":
        return None
    passed = all(check.conclusion in {"success", "neutral", "skipped"} for check in suite.run.checks)
    return "SUCCESS" if passed else "FAILURE"


def changed_at(run: WorkflowRun) -> datetime:
    """Return when the newest check of a run moved."""
    return max((check.completed_at or check.started_at for check in run.checks), default=run.created_at)


def branch(suite: Suite, _request: Request) -> GitRef | None:
    """Return the branch the suite ran for, if it still exists."""
    return ref_of(suite.run.repository, suite.run.branch) if suite.run.branch else None


def workflow(run: WorkflowRun, request: Request) -> dict[str, Any]:
    """Return the workflow that a run is one of."""
    path = f"/{run.repository.full_name}/actions/workflows/ci.yml"
    return {
        "id": derived_id("W", run.repository, run.name), "databaseId": 1, "name": run.name,
        "createdAt": run.repository.created_at, "updatedAt": run.repository.created_at,
        "resourcePath": path, "url": request.url(path),
    }  # fmt: skip


RESOLVERS: dict[str, Table] = {
    "CheckRun": {
        "checkSuite": lambda check, _: Suite(check.run),
        "conclusion": lambda check, _: check.conclusion.upper() if check.conclusion else None,
        "detailsUrl": lambda check, request: check.details_url or request.url(check_path(check)),
        "isRequired": is_required,
        "permalink": lambda check, request: request.url(check_path(check)),
        "resourcePath": check_path,
        "status": lambda check, _: check.status.upper(),
        "url": lambda check, request: request.url(check_path(check)),
    },
    "StatusContext": {
        "commit": lambda status, _: GitCommit(status.repository, status.sha),
        "isRequired": is_required,
        "state": lambda status, _: status.state.upper(),
    },
    "Status": {
        "context": lambda found, _, name: next((entry for entry in found.contexts if entry.context == name), None),
    },
    "StatusCheckRollupContextConnection": {
        "checkRunCount": lambda page, _: sum(isinstance(entry, CheckRun) for entry in page.everything),
        "checkRunCountsByState": lambda page, _: counts(page, CheckRun, run_state),
        "statusContextCount": lambda page, _: sum(isinstance(entry, CommitStatus) for entry in page.everything),
        "statusContextCountsByState": lambda page, _: counts(page, CommitStatus, lambda entry: entry.state.upper()),
    },
    "CheckSuite": {
        "app": constant(ACTIONS),
        "branch": branch,
        "checkRuns": lambda suite, _: suite.run.checks,
        "commit": lambda suite, _: GitCommit(suite.run.repository, suite.run.sha),
        "conclusion": suite_conclusion,
        "createdAt": lambda suite, _: suite.run.created_at,
        "databaseId": lambda suite, _: suite.run.suite.number,
        "id": lambda suite, _: suite.run.suite.node,
        "repository": lambda suite, _: suite.run.repository,
        "resourcePath": lambda suite, _: run_path(suite.run),
        "status": suite_status,
        "updatedAt": lambda suite, _: changed_at(suite.run),
        "url": lambda suite, request: request.url(run_path(suite.run)),
        "workflowRun": lambda suite, _: suite.run,
    },
    "WorkflowRun": {
        "checkSuite": lambda run, _: Suite(run),
        "resourcePath": run_path,
        "runNumber": lambda run, _: run.number,
        "updatedAt": lambda run, _: changed_at(run),
        "url": lambda run, request: request.url(run_path(run)),
        "workflow": workflow,
    },
}
