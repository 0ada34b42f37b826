"""Suites of checks: starting a workflow run before it has a check, and how far a suite is."""

import re
from dataclasses import dataclass

from agent_sync.emulator.operations.rights.access import require_role
from agent_sync.emulator.world.checks import ACTIONS_APP, CheckRun, WorkflowRun
from agent_sync.emulator.world.people import Viewer
from agent_sync.emulator.world.refusal import Kind, Refused
from agent_sync.emulator.world.repositories import Repository
from agent_sync.emulator.world.world import World

WORKFLOW = "CI"
WAITING = "action_required"
PASSING = frozenset({"success", "neutral", "skipped"})


@dataclass(frozen=True)
class Origin:
    """Where a check comes from; what is left out may be anything."""

    workflow: str | None = None
    event: str | None = None
    app: str = ACTIONS_APP

    def fits(self, run: WorkflowRun) -> bool:
        """Say whether a run is of this origin."""
        return run.app == self.app and self.workflow in {None, run.name} and self.event in {None, run.event}


def start_run(world: World, viewer: Viewer, repository: Repository, sha: str, origin: Origin) -> WorkflowRun:
    """Start a run of a workflow, or a suite of another application, without any check."""
    require_role(viewer, repository)
    branch = next((name for name, tip in repository.known_branches.items() if tip == sha), None)
    usual = "push" if branch == repository.default_branch else "pull_request"
    run = WorkflowRun(
        identity=world.identify("WFR"), suite=world.identify("CS"), repository=repository, sha=sha, branch=branch,
        name=origin.workflow or WORKFLOW, event=origin.event or usual, number=len(repository.runs) + 1, attempt=1,
        actor=viewer.user, created_at=world.clock.now(), app=origin.app,
    )  # fmt: skip
    repository.runs.append(run)
    return world.register(run.id, run)


def run_of(repository: Repository, sha: str, origin: Origin) -> WorkflowRun | None:
    """Return the newest run of an origin on a commit."""
    return next((run for run in reversed(repository.runs) if run.sha == sha and origin.fits(run)), None)


def runs_on(repository: Repository, sha: str) -> list[WorkflowRun]:
    """Return every suite of a commit, oldest first."""
    return [run for run in repository.runs if run.sha == sha]


def latest_of(run: WorkflowRun) -> list[CheckRun]:
    """Return the newest check of each name in a run."""
    return list({check.name: check for check in run.checks}.values())


def run_status(run: WorkflowRun) -> str:
    """Return how far a run is: what was said of it, or what its checks add up to."""
    if run.status is not None:
        return run.status
    words = {check.status for check in latest_of(run)}
    if words == {"completed"}:
        return "completed"
    return "queued" if words <= {"queued"} else "in_progress"


def run_conclusion(run: WorkflowRun) -> str | None:
    """Return how a run ended, once it has."""
    if run_status(run) != "completed":
        return None
    if run.conclusion is not None:
        return run.conclusion
    words = [check.conclusion for check in latest_of(run)]
    for word in ("failure", "timed_out", "cancelled", WAITING):
        if word in words:
            return word
    return "success" if all(word in PASSING for word in words) else "failure"


def approve_run(viewer: Viewer, run: WorkflowRun) -> None:
    """Let a run start that has waited for somebody to approve it."""
    require_role(viewer, run.repository)
    if run_conclusion(run) != WAITING:
        raise Refused(Kind.FORBIDDEN, "This workflow run is not waiting for approval")
    run.status, run.conclusion = "queued", None


def workflow_file(run: WorkflowRun) -> str:
    """Return the file that describes the workflow."""
    return f"{re.sub(r'[^a-z0-9]+', '-', run.name.lower()).strip('-') or 'workflow'}.yml"


def workflow_number(run: WorkflowRun) -> int:
    """Return the number of the workflow: workflows are counted as they first run."""
    names = list(dict.fromkeys(entry.name for entry in run.repository.runs if entry.is_workflow))
    return names.index(run.name) + 1 if run.name in names else 1
