"""Check runs, commit statuses, and what they add up to."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from agent_sync.emulator.graphql.connections import Page
from agent_sync.emulator.graphql.git_objects import GitCommit, GitRef, derived_id, ref_of
from agent_sync.emulator.graphql.request import Request
from agent_sync.emulator.graphql.tables import Table
from agent_sync.emulator.operations.check_suites import (
    run_conclusion,
    run_status,
    runs_on,
    workflow_file,
    workflow_number,
)
from agent_sync.emulator.operations.checks import rollup
from agent_sync.emulator.operations.rights.permissions import require_permission
from agent_sync.emulator.world.checks import CheckRun, CommitStatus, WorkflowRun
from agent_sync.emulator.world.refusal import Kind, Refused
from agent_sync.emulator.world.repositories import Repository

ACTIONS = {"id": "A_kwDOActions", "databaseId": 15368, "name": "GitHub Actions", "slug": "github-actions"}
FIRST_APP = 100_000


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
    """A run seen as the suite of its checks."""

    run: WorkflowRun

    @property
    def id(self) -> str:
        """Return the node id."""
        return self.run.suite.node


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


def visible_contexts(page: Page, request: Request) -> list[Any]:
    """Return the contexts; a token that may not see checks gets an error in the place of each."""
    hidden = Refused(Kind.FORBIDDEN, request.viewer.no_access)
    sees = request.viewer.may("checks", "read")
    return [hidden if isinstance(entry, CheckRun) and not sees else entry for entry in page.nodes]


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
    return run_status(suite.run).upper()


def suite_conclusion(suite: Suite, _request: Request) -> str | None:
    """Return how the whole suite ended, once it has."""
    found = run_conclusion(suite.run)
    return found.upper() if found else None


def app(suite: Suite, _request: Request) -> dict[str, Any]:
    """Return the application that made a suite."""
    slug = suite.run.app
    if suite.run.is_workflow:
        return ACTIONS
    return {"id": f"A_kwDO{slug}", "databaseId": FIRST_APP, "name": slug.replace("-", " ").title(), "slug": slug}


def suites(commit: GitCommit, request: Request, *, filter_by: dict[str, Any] | None = None) -> Sequence[Suite]:
    """Return the suites of a commit, of one application or with a check of one name if asked."""
    require_permission(request.viewer, ("checks",), "read")
    wanted = filter_by or {}
    found = [Suite(run) for run in runs_on(commit.repository, commit.oid)]
    return [
        suite
        for suite in found
        if wanted.get("appId") in {None, app(suite, request)["databaseId"]}
        and (wanted.get("checkName") is None or wanted["checkName"] in {check.name for check in suite.run.checks})
    ]


def annotations(check: CheckRun, request: Request) -> Sequence[dict[str, Any]]:
    """Return what a check has to say about lines of the change."""
    blob = f"/{check.repository.full_name}/blob/{check.sha}/"
    return [
        {
            "annotationLevel": entry.level.upper(), "blobUrl": request.url(f"{blob}{entry.path}"),
            "databaseId": number, "fullDatabaseId": str(number), "message": entry.message, "path": entry.path,
            "location": {"start": {"line": entry.line, "column": None}, "end": {"line": entry.line, "column": None}},
            "rawDetails": None, "title": entry.title,
        }
        for number, entry in enumerate(check.annotations, 1)
    ]  # fmt: skip


def steps(check: CheckRun, _request: Request, *, number: int | None = None) -> Sequence[dict[str, Any]]:
    """Return the steps of a job, or the one of a number."""
    return [
        {
            "completedAt": check.completed_at if step.conclusion else None, "externalId": None, "name": step.name,
            "conclusion": step.conclusion.upper() if step.conclusion else None, "number": step.number,
            "secondsToCompletion": None, "startedAt": check.started_at,
            "status": "COMPLETED" if step.conclusion else "QUEUED",
        }
        for step in check.steps
        if number in {None, step.number}
    ]  # fmt: skip


def changed_at(run: WorkflowRun) -> datetime:
    """Return when the newest check of a run moved."""
    moments = (check.completed_at or check.started_at or check.created_at for check in run.checks)
    return max(moments, default=run.created_at)


def branch(suite: Suite, _request: Request) -> GitRef | None:
    """Return the branch the suite ran for, if it still exists."""
    return ref_of(suite.run.repository, suite.run.branch) if suite.run.branch else None


def workflow(run: WorkflowRun, request: Request) -> dict[str, Any]:
    """Return the workflow that a run is one of."""
    path = f"/{run.repository.full_name}/actions/workflows/{workflow_file(run)}"
    return {
        "id": derived_id("W", run.repository, run.name), "databaseId": workflow_number(run), "name": run.name,
        "createdAt": run.repository.created_at, "updatedAt": run.repository.created_at,
        "resourcePath": path, "url": request.url(path),
    }  # fmt: skip


RESOLVERS: dict[str, Table] = {
    "CheckRun": {
        "annotations": annotations,
        "checkSuite": lambda check, _: Suite(check.run),
        "conclusion": lambda check, _: check.conclusion.upper() if check.conclusion else None,
        "detailsUrl": lambda check, request: check.details_url or request.url(check_path(check)),
        "isRequired": is_required,
        "permalink": lambda check, request: request.url(check_path(check)),
        "resourcePath": check_path,
        "status": lambda check, _: check.status.upper(),
        "steps": steps,
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
        "nodes": visible_contexts,
        "checkRunCount": lambda page, _: sum(isinstance(entry, CheckRun) for entry in page.everything),
        "checkRunCountsByState": lambda page, _: counts(page, CheckRun, run_state),
        "statusContextCount": lambda page, _: sum(isinstance(entry, CommitStatus) for entry in page.everything),
        "statusContextCountsByState": lambda page, _: counts(page, CommitStatus, lambda entry: entry.state.upper()),
    },
    "CheckSuite": {
        "app": app,
        "branch": branch,
        "checkRuns": lambda suite, _: suite.run.checks,
        "commit": lambda suite, _: GitCommit(suite.run.repository, suite.run.sha),
        "conclusion": suite_conclusion,
        "createdAt": lambda suite, _: suite.run.created_at,
        "databaseId": lambda suite, _: suite.run.suite.number,
        "repository": lambda suite, _: suite.run.repository,
        "resourcePath": lambda suite, _: run_path(suite.run),
        "status": suite_status,
        "updatedAt": lambda suite, _: changed_at(suite.run),
        "url": lambda suite, request: request.url(run_path(suite.run)),
        "workflowRun": lambda suite, _: suite.run if suite.run.is_workflow else None,
    },
    "WorkflowRun": {
        "checkSuite": lambda run, _: Suite(run),
        "displayTitle": lambda run, _: run.repository.git.commit(run.sha).message.partition("\n")[0],
        "resourcePath": run_path,
        "runAttempt": lambda run, _: run.attempt,
        "runNumber": lambda run, _: run.number,
        "updatedAt": lambda run, _: changed_at(run),
        "url": lambda run, request: request.url(run_path(run)),
        "workflow": workflow,
    },
}
