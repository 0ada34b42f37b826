"""Reads why checks failed: asks GitHub for each failed job, and keeps whole logs in private files."""

import hashlib
import re
from pathlib import Path

from agent_sync.context import Context
from agent_sync.errors import AgentSyncError, RateLimited
from agent_sync.system import files
from agent_sync.system.masking import masked, secrets_of
from agent_sync.task.decision.feedback.checks import CheckRun
from agent_sync.task.failures.failure import Failure, JobOutput
from agent_sync.task.failures.infrastructure import infrastructure_pattern
from agent_sync.task.failures.log_text import failing_tail, log_lines

# Each costs four requests; more than these say little more.
MOST_JOBS = 3
MOST_ANNOTATIONS = 10
LONGEST_ANNOTATION = 4000
LOGS = "ci-logs"
KEPT_LOGS = 20


def read_failures(context: Context, sha: str, checks: tuple[CheckRun, ...]) -> tuple[Failure, ...]:
    """Return what is known of the first failed checks; one whose log cannot be read says why."""
    return tuple(_read(context, sha, check) for check in checks[:MOST_JOBS])


def _read(context: Context, sha: str, check: CheckRun) -> Failure:
    try:
        output = context.gateway.failed_job(check.url)
    except RateLimited:
        raise
    except AgentSyncError as error:
        return Failure(check.name, check.url, note=masked(error.happened))
    return _failure(context, sha, check, output)


def _failure(context: Context, sha: str, check: CheckRun, output: JobOutput) -> Failure:
    secrets = secrets_of(context.environment)
    lines = tuple(masked(line, secrets) for line in log_lines(output.log))
    tail = failing_tail(lines, output.step)
    annotations = tuple(masked(text[:LONGEST_ANNOTATION], secrets) for text in output.annotations[:MOST_ANNOTATIONS])
    return Failure(
        name=check.name,
        url=check.url,
        step=output.step,
        annotations=annotations,
        tail=tail,
        lines=len(lines),
        path=_keep_log(context, sha, check, lines),
        infrastructure=infrastructure_pattern((*annotations, *tail)),
    )


def _keep_log(context: Context, sha: str, check: CheckRun, lines: tuple[str, ...]) -> str:
    """Write the whole log where only the user can read it; where that fails the agent has the end of it anyway."""
    name = re.sub(r"[^A-Za-z0-9]+", "-", check.name).strip("-")[:40] or "check"
    mark = hashlib.sha256(f"{check.url}\n{check.name}".encode()).hexdigest()[:8]
    directory = Path(context.place.state_dir) / LOGS
    file = directory / f"{sha[:12]}-{name}-{mark}.log"
    try:
        files.state_directory(directory)
        files.write_atomic(file, "".join(f"{line}\n" for line in lines).encode("utf-8", "replace"))
        _prune(directory)
    except (OSError, AgentSyncError):
        return ""
    return str(file)


def _prune(directory: Path) -> None:
    logs = sorted(directory.glob("*.log"), key=lambda log: log.stat().st_mtime)
    for log in logs[:-KEPT_LOGS]:
        files.delete(log)
