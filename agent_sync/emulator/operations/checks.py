"""Check runs, commit statuses, their rollup, and re-running jobs."""

from dataclasses import dataclass
from datetime import datetime

from agent_sync.emulator.operations.check_suites import PASSING, Origin, run_of, start_run
from agent_sync.emulator.operations.rights.access import require_role
from agent_sync.emulator.world.checks import (
    CONCLUSIONS,
    STATUS_STATES,
    STATUSES,
    Annotation,
    CheckRun,
    CommitStatus,
    Step,
    WorkflowRun,
)
from agent_sync.emulator.world.people import Viewer
from agent_sync.emulator.world.refusal import Kind, Refused, invalid
from agent_sync.emulator.world.repositories import Repository
from agent_sync.emulator.world.world import World

ANYWHERE = Origin()


@dataclass(frozen=True)
class Rollup:
    """The newest check per name and run, and status per context, on one commit, and their sum; no state means none."""

    state: str | None
    checks: tuple[CheckRun, ...]
    statuses: tuple[CommitStatus, ...]


@dataclass(frozen=True, kw_only=True)
class NewCheck:
    """What a check is to look like."""

    name: str
    status: str = "queued"
    conclusion: str | None = None
    required: bool = False
    log: str = ""
    details_url: str | None = None
    external_id: str = ""
    title: str | None = None
    summary: str | None = None
    text: str | None = None
    steps: tuple[Step, ...] = ()
    annotations: tuple[Annotation, ...] = ()
    origin: Origin = ANYWHERE


def add_check(world: World, viewer: Viewer, repository: Repository, sha: str, new: NewCheck) -> CheckRun:
    """Report a check on a commit."""
    require_role(viewer, repository)
    _check_words(new.status, new.conclusion)
    full = _commit(repository, sha)
    status = "completed" if new.conclusion else new.status
    now = world.clock.now()
    run = run_of(repository, full, new.origin) or start_run(world, viewer, repository, full, new.origin)
    if run.status == "queued":
        run.status = "in_progress"
    check = CheckRun(
        identity=world.identify("CR"), repository=repository, run=run, sha=full, name=new.name, status=status,
        conclusion=new.conclusion, created_at=now, started_at=_started(status, now),
        completed_at=now if status == "completed" else None,
        required=new.required, details_url=new.details_url, external_id=new.external_id, title=new.title,
        summary=new.summary, text=new.text, log=new.log, attempt=run.attempt, steps=new.steps,
        annotations=new.annotations,
    )  # fmt: skip
    if new.required:
        repository.required_checks.add(new.name)
    return _store(world, run, check)


def _started(status: str, now: datetime) -> datetime | None:
    return None if status == "queued" else now


def _store(world: World, run: WorkflowRun, check: CheckRun) -> CheckRun:
    run.checks.append(check)
    check.repository.checks.setdefault(check.sha, []).append(check)
    return world.register(check.id, check)


def update_check(
    world: World, viewer: Viewer, check: CheckRun, *, status: str | None = None, conclusion: str | None = None
) -> None:
    """Change how far a check has come; a conclusion completes it."""
    require_role(viewer, check.repository)
    _check_words(status or check.status, conclusion)
    check.status = "completed" if conclusion else status or check.status
    check.conclusion = conclusion or (check.conclusion if check.status == "completed" else None)
    now = world.clock.now()
    check.started_at = check.started_at or _started(check.status, now)
    check.completed_at = now if check.status == "completed" else None


def rerun(world: World, viewer: Viewer, check: CheckRun) -> CheckRun:
    """Run a finished job again: a new, queued check of the same name takes its place."""
    require_role(viewer, check.repository)
    if check.status != "completed":
        raise Refused(Kind.FORBIDDEN, "This workflow run is already running")
    check.run.attempt += 1
    check.run.status = check.run.conclusion = None
    again = CheckRun(
        identity=world.identify("CR"), repository=check.repository, run=check.run, sha=check.sha,
        name=check.name, status="queued", conclusion=None, created_at=world.clock.now(), started_at=None,
        completed_at=None,
        required=check.required, details_url=check.details_url, attempt=check.run.attempt,
    )  # fmt: skip
    return _store(world, check.run, again)


def add_status(
    world: World,
    viewer: Viewer,
    repository: Repository,
    sha: str,
    *,
    context: str,
    state: str,
    description: str | None = None,
    target_url: str | None = None,
) -> CommitStatus:
    """Post a status to a commit."""
    require_role(viewer, repository)
    if state not in STATUS_STATES:
        raise invalid("Status", "state", code="custom", message="state is not included in the list")
    status = CommitStatus(
        identity=world.identify("SC"), repository=repository, sha=_commit(repository, sha), context=context,
        state=state, description=description, target_url=target_url, creator=viewer.user,
        created_at=world.clock.now(),
    )  # fmt: skip
    repository.statuses.setdefault(status.sha, []).append(status)
    return world.register(status.id, status)


def latest_checks(repository: Repository, sha: str) -> list[CheckRun]:
    """Return the newest check of each name and run on a commit: two workflows may use the same name."""
    found = repository.checks.get(sha, [])
    return list({(check.run.identity.number, check.name): check for check in found}.values())


def latest_statuses(repository: Repository, sha: str) -> list[CommitStatus]:
    """Return the newest status of each context on a commit."""
    return list({status.context: status for status in repository.statuses.get(sha, [])}.values())


def rollup(repository: Repository, sha: str) -> Rollup:
    """Sum up everything reported on a commit."""
    checks, statuses = latest_checks(repository, sha), latest_statuses(repository, sha)
    words = [_word(check) for check in checks] + [status.state.upper() for status in statuses]
    worst = next((word for word in ("ERROR", "FAILURE", "PENDING", "SUCCESS") if word in words), None)
    return Rollup(worst, tuple(checks), tuple(statuses))


def job_log(check: CheckRun) -> str:
    """Return the log of a job, step after step; one that was never given a log has the frame every log has."""
    start = f"{check.started_at or check.created_at:%Y-%m-%dT%H:%M:%S}.0000000Z"
    usual = f"Run {check.name}\nconclusion: {check.conclusion or check.status}"
    text = check.log or "\n".join(_step_log(step) for step in check.steps) or usual
    return "".join(f"{start} {line}\n" for line in text.splitlines())


def _step_log(step: Step) -> str:
    failed = "\n##[error]Process completed with exit code 1." if step.conclusion == "failure" else ""
    return f"##[group]Run {step.name}\n##[endgroup]\n{step.log.rstrip()}{failed}"


def _word(check: CheckRun) -> str:
    if check.status != "completed":
        return "PENDING"
    return "SUCCESS" if check.conclusion in PASSING else "FAILURE"


def _check_words(status: str, conclusion: str | None) -> None:
    if status not in STATUSES:
        raise invalid("CheckRun", "status", message=f"status must be one of {', '.join(STATUSES)}")
    if conclusion is not None and conclusion not in CONCLUSIONS:
        raise invalid("CheckRun", "conclusion", message=f"conclusion must be one of {', '.join(CONCLUSIONS)}")
    if status == "completed" and conclusion is None:
        raise invalid("CheckRun", "conclusion", code="missing_field")


def _commit(repository: Repository, sha: str) -> str:
    found = repository.git.resolve(sha)
    if found is None:
        raise Refused(Kind.UNPROCESSABLE, f"No commit found for SHA: {sha}")
    return found
