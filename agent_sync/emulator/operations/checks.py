"""Check runs, commit statuses, their rollup, and re-running jobs."""

from dataclasses import dataclass

from agent_sync.emulator.operations.access import require_role
from agent_sync.emulator.world.checks import CONCLUSIONS, STATUS_STATES, STATUSES, CheckRun, CommitStatus, WorkflowRun
from agent_sync.emulator.world.people import User, Viewer
from agent_sync.emulator.world.refusal import Kind, Refused, invalid
from agent_sync.emulator.world.repositories import Repository
from agent_sync.emulator.world.world import World

PASSING = frozenset({"success", "neutral", "skipped"})
WORKFLOW = "CI"


@dataclass(frozen=True)
class Rollup:
    """The newest check per name and status per context on one commit, and their sum; no state means none."""

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


def add_check(world: World, viewer: Viewer, repository: Repository, sha: str, new: NewCheck) -> CheckRun:
    """Report a check on a commit."""
    require_role(viewer, repository)
    _check_words(new.status, new.conclusion)
    full = _commit(repository, sha)
    status = "completed" if new.conclusion else new.status
    now = world.clock.now()
    run = _run_for(world, viewer.user, repository, full)
    check = CheckRun(
        identity=world.identify("CR"), repository=repository, run=run, sha=full, name=new.name, status=status,
        conclusion=new.conclusion, started_at=now, completed_at=now if status == "completed" else None,
        required=new.required, details_url=new.details_url, external_id=new.external_id, title=new.title,
        summary=new.summary, text=new.text, log=new.log, attempt=run.attempt,
    )  # fmt: skip
    if new.required:
        repository.required_checks.add(new.name)
    return _store(world, run, check)


def _store(world: World, run: WorkflowRun, check: CheckRun) -> CheckRun:
    run.checks.append(check)
    check.repository.checks.setdefault(check.sha, []).append(check)
    return world.register(check.id, check)


def _run_for(world: World, user: User, repository: Repository, sha: str) -> WorkflowRun:
    known = next((run for run in repository.runs if run.sha == sha), None)
    if known:
        return known
    branch = next((name for name, tip in repository.known_branches.items() if tip == sha), None)
    run = WorkflowRun(
        identity=world.identify("WFR"), suite=world.identify("CS"), repository=repository, sha=sha,
        branch=branch, name=WORKFLOW, event="push" if branch == repository.default_branch else "pull_request",
        number=len(repository.runs) + 1, attempt=1, actor=user, created_at=world.clock.now(),
    )  # fmt: skip
    repository.runs.append(run)
    return world.register(run.id, run)


def update_check(
    world: World, viewer: Viewer, check: CheckRun, *, status: str | None = None, conclusion: str | None = None
) -> None:
    """Change how far a check has come; a conclusion completes it."""
    require_role(viewer, check.repository)
    _check_words(status or check.status, conclusion)
    check.status = "completed" if conclusion else status or check.status
    check.conclusion = conclusion or (check.conclusion if check.status == "completed" else None)
    check.completed_at = world.clock.now() if check.status == "completed" else None


def rerun(world: World, viewer: Viewer, check: CheckRun) -> CheckRun:
    """Run a finished job again: a new, queued check of the same name takes its place."""
    require_role(viewer, check.repository)
    if check.status != "completed":
        raise Refused(Kind.FORBIDDEN, "This workflow run is already running")
    check.run.attempt += 1
    again = CheckRun(
        identity=world.identify("CR"), repository=check.repository, run=check.run, sha=check.sha,
        name=check.name, status="queued", conclusion=None, started_at=world.clock.now(), completed_at=None,
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
    """Return the newest check of each name on a commit."""
    return list({check.name: check for check in repository.checks.get(sha, [])}.values())


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
    """Return the log of a job; one that was never given a log has the frame every log has."""
    start = f"{check.started_at:%Y-%m-%dT%H:%M:%S}.0000000Z"
    text = check.log or f"Run {check.name}\nconclusion: {check.conclusion or check.status}"
    return "".join(f"{start} {line}\n" for line in text.splitlines())


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
