"""Check runs, statuses, workflow runs and jobs in REST's shapes."""

from typing import Any

from agent_sync.emulator.exchange import Links
from agent_sync.emulator.operations.check_suites import (
    latest_of,
    run_conclusion,
    run_status,
    workflow_file,
    workflow_number,
)
from agent_sync.emulator.operations.checks import latest_statuses
from agent_sync.emulator.rest.shapes.people import simple_user
from agent_sync.emulator.rest.shapes.repositories import api_url, minimal_repository, web_url
from agent_sync.emulator.world.checks import Annotation, CheckRun, CommitStatus, Step, WorkflowRun
from agent_sync.emulator.world.identity import timestamp
from agent_sync.emulator.world.pulls import PullRequest
from agent_sync.emulator.world.repositories import Repository

OTHER_APP = 100_000
LATER = {"stale": "failure", "startup_failure": "failure"}  # words GraphQL has and REST's list has not


def app_shape(links: Links, run: WorkflowRun) -> dict[str, Any]:
    """Return the application that reports a run's checks."""
    if run.is_workflow:
        return _actions_app(links, run.repository)
    return _actions_app(links, run.repository) | {
        "id": OTHER_APP,
        "slug": run.app,
        "node_id": f"A_kwDO{run.app}",
        "name": run.app.replace("-", " ").title(),
        "description": None,
        "external_url": f"{links.web}/apps/{run.app}",
        "html_url": f"{links.web}/apps/{run.app}",
    }


def _actions_app(links: Links, repository: Repository) -> dict[str, Any]:
    created = timestamp(repository.created_at)
    return {
        "id": 15368,
        "slug": "github-actions",
        "node_id": "MDM6QXBwMTUzNjg=",
        "owner": simple_user(links, repository.owner),
        "name": "GitHub Actions",
        "description": "Automate your workflow from idea to production",
        "external_url": "https://help.github.com/en/actions",
        "html_url": f"{links.web}/apps/github-actions",
        "created_at": created,
        "updated_at": created,
        "permissions": {"checks": "write", "contents": "read", "metadata": "read"},
        "events": [],
    }


def job_url(links: Links, check: CheckRun) -> str:
    """Return where people read about a job."""
    web = web_url(links, check.repository)
    return f"{web}/actions/runs/{check.run.identity.number}/job/{check.identity.number}"


def check_shape(links: Links, check: CheckRun) -> dict[str, Any]:
    """Return a check run."""
    url = f"{api_url(links, check.repository)}/check-runs/{check.identity.number}"
    pulls = [pull for pull in check.repository.pulls if pull.is_open and pull.head_sha == check.sha]
    return {
        "id": check.identity.number,
        "name": check.name,
        "node_id": check.id,
        "head_sha": check.sha,
        "external_id": check.external_id,
        "url": url,
        "html_url": job_url(links, check),
        "details_url": check.details_url or job_url(links, check),
        "status": check.status,
        "conclusion": LATER.get(check.conclusion or "", check.conclusion),
        "started_at": timestamp(check.started_at) if check.started_at else None,
        "completed_at": timestamp(check.completed_at) if check.completed_at else None,
        "output": {
            "title": check.title,
            "summary": check.summary,
            "text": check.text,
            "annotations_count": len(check.annotations),
            "annotations_url": f"{url}/annotations",
        },
        "check_suite": {"id": check.run.suite.number},
        "app": app_shape(links, check.run),
        "pull_requests": [_minimal_pull(links, pull) for pull in pulls],
    }


def _minimal_pull(links: Links, pull: PullRequest) -> dict[str, Any]:
    root = api_url(links, pull.repository)
    repo = {"id": pull.repository.identity.number, "url": root, "name": pull.repository.name}
    return {
        "url": f"{root}/pulls/{pull.number}",
        "id": pull.identity.number,
        "number": pull.number,
        "head": {"ref": pull.head, "sha": pull.head_sha, "repo": repo},
        "base": {"ref": pull.base, "sha": pull.base_sha, "repo": repo},
    }


def status_shape(links: Links, status: CommitStatus) -> dict[str, Any]:
    """Return a commit status."""
    return _simple_status(links, status) | {"creator": simple_user(links, status.creator)}


def _simple_status(links: Links, status: CommitStatus) -> dict[str, Any]:
    created = timestamp(status.created_at)
    return {
        "url": f"{api_url(links, status.repository)}/statuses/{status.sha}",
        "avatar_url": f"{links.web}/avatars/u/{status.creator.identity.number}?v=4",
        "id": status.identity.number,
        "node_id": status.id,
        "state": status.state,
        "description": status.description,
        "target_url": status.target_url,
        "context": status.context,
        "created_at": created,
        "updated_at": created,
    }


def combined_status(links: Links, repository: Repository, sha: str) -> dict[str, Any]:
    """Return all statuses of a commit as one; without any it is pending."""
    statuses = latest_statuses(repository, sha)
    words = {status.state for status in statuses}
    state = "failure" if words & {"error", "failure"} else "success" if words == {"success"} else "pending"
    url = f"{api_url(links, repository)}/commits/{sha}"
    return {
        "state": state,
        "statuses": [_simple_status(links, status) for status in statuses],
        "sha": sha,
        "total_count": len(statuses),
        "repository": minimal_repository(links, repository),
        "commit_url": url,
        "url": f"{url}/status",
    }


def job_shape(links: Links, check: CheckRun) -> dict[str, Any]:
    """Return a check run as the workflow job it is."""
    root = api_url(links, check.repository)
    created = timestamp(check.created_at)
    started = timestamp(check.started_at) if check.started_at else created
    finished = timestamp(check.completed_at) if check.completed_at else None
    return {
        "id": check.identity.number,
        "run_id": check.run.identity.number,
        "run_url": f"{root}/actions/runs/{check.run.identity.number}",
        "run_attempt": check.attempt,
        "node_id": check.id,
        "head_sha": check.sha,
        "head_branch": check.run.branch,
        "url": f"{root}/actions/jobs/{check.identity.number}",
        "html_url": job_url(links, check),
        "status": check.status,
        "conclusion": LATER.get(check.conclusion or "", check.conclusion),
        "created_at": created,
        "started_at": started,
        "completed_at": finished,
        "name": check.name,
        "steps": [_step(check, step) for step in check.steps],
        "check_run_url": f"{root}/check-runs/{check.identity.number}",
        "labels": ["ubuntu-latest"],
        "runner_id": 1,
        "runner_name": "local runner",
        "runner_group_id": 1,
        "runner_group_name": "Default",
        "workflow_name": check.run.name,
    }


def _step(check: CheckRun, step: Step) -> dict[str, Any]:
    started = timestamp(check.started_at) if check.started_at else None
    return {
        "name": step.name,
        "number": step.number,
        "status": "completed" if step.conclusion else "queued",
        "conclusion": step.conclusion,
        "started_at": started,
        "completed_at": timestamp(check.completed_at) if step.conclusion and check.completed_at else None,
    }


def annotation_shape(links: Links, check: CheckRun, entry: Annotation) -> dict[str, Any]:
    """Return what a check says about a line."""
    return {
        "path": entry.path,
        "start_line": entry.line,
        "end_line": entry.line,
        "start_column": None,
        "end_column": None,
        "annotation_level": entry.level,
        "title": entry.title,
        "message": entry.message,
        "raw_details": None,
        "blob_href": f"{web_url(links, check.repository)}/blob/{check.sha}/{entry.path}",
    }


def suite_shape(links: Links, run: WorkflowRun) -> dict[str, Any]:
    """Return a run as the suite of its checks."""
    url = f"{api_url(links, run.repository)}/check-suites/{run.suite.number}"
    pulls = [pull for pull in run.repository.pulls if pull.is_open and pull.head_sha == run.sha]
    conclusion = run_conclusion(run)
    return {
        "id": run.suite.number,
        "node_id": run.suite.node,
        "head_branch": run.branch,
        "head_sha": run.sha,
        "status": run_status(run),
        "conclusion": conclusion,
        "url": url,
        "before": None,
        "after": run.sha,
        "pull_requests": [_minimal_pull(links, pull) for pull in pulls],
        "app": app_shape(links, run),
        "repository": minimal_repository(links, run.repository),
        "created_at": timestamp(run.created_at),
        "updated_at": timestamp(run.created_at),
        "head_commit": _simple_commit(run),
        "latest_check_runs_count": len(latest_of(run)),
        "check_runs_url": f"{url}/check-runs",
    }


def _simple_commit(run: WorkflowRun) -> dict[str, Any]:
    commit = run.repository.git.commit(run.sha)
    people = {"name": commit.author.name, "email": commit.author.email}
    return {
        "id": commit.sha,
        "tree_id": commit.tree,
        "message": commit.message,
        "timestamp": commit.author.when,
        "author": people,
        "committer": people,
    }


def run_shape(links: Links, run: WorkflowRun) -> dict[str, Any]:
    """Return a workflow run."""
    root = api_url(links, run.repository)
    url = f"{root}/actions/runs/{run.identity.number}"
    commit = _simple_commit(run)
    created = timestamp(run.created_at)
    return {
        "id": run.identity.number,
        "name": run.name,
        "node_id": run.id,
        "check_suite_id": run.suite.number,
        "check_suite_node_id": run.suite.node,
        "head_branch": run.branch,
        "head_sha": run.sha,
        "path": f".github/workflows/{workflow_file(run)}",
        "display_title": commit["message"].partition("\n")[0],
        "run_number": run.number,
        "run_attempt": run.attempt,
        "event": run.event,
        "status": run_status(run),
        "conclusion": run_conclusion(run),
        "workflow_id": workflow_number(run),
        "url": url,
        "html_url": f"{web_url(links, run.repository)}/actions/runs/{run.identity.number}",
        "pull_requests": [],
        "created_at": created,
        "updated_at": created,
        "run_started_at": created,
        "actor": simple_user(links, run.actor),
        "triggering_actor": simple_user(links, run.actor),
        "jobs_url": f"{url}/jobs",
        "logs_url": f"{url}/logs",
        "check_suite_url": f"{root}/check-suites/{run.suite.number}",
        "artifacts_url": f"{url}/artifacts",
        "cancel_url": f"{url}/cancel",
        "rerun_url": f"{url}/rerun",
        "workflow_url": f"{root}/actions/workflows/{workflow_number(run)}",
        "head_commit": commit,
        "repository": minimal_repository(links, run.repository),
        "head_repository": minimal_repository(links, run.repository),
    }
