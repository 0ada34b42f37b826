"""Runs a check: one shell command, its output streamed to its log however much it is, without secrets."""

import hashlib
import os
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

from agent_sync.gates.config.model import Check
from agent_sync.gates.plan.plan import Job
from agent_sync.gates.run.commands import missing_program, with_base
from agent_sync.gates.run.context import NO_TIME, Run
from agent_sync.gates.run.masked_log import masked_into
from agent_sync.gates.run.results import Executed, JobResult, Outcome
from agent_sync.system import clock, files
from agent_sync.system.masking import masked

# What a shell reports of a program that was ended at its time limit.
TIMED_OUT = 124
LARGEST_INSTRUCTIONS = 100_000
# The last words a log is read for, by people and by other tools.
_WORDS = {Outcome.PASSED: "pass", Outcome.FAILED: "fail", Outcome.BROKEN: "error", Outcome.SKIPPED: "skipped"}


def run_check(job: Job, check: Check, run: Run) -> JobResult:
    """Run one check and write its log."""
    began = time.monotonic()
    command = with_base((run.is_rerun and check.rerun_command) or check.command, run.base)
    directory = run.project.root / job.directory
    log = run.logs.check(run.stems[job.id], run.number)
    with log.open("wb") as output:
        _say(output, f"[{datetime.now(UTC).isoformat(timespec='seconds')}] Starting {job.id}")
        _say(output, masked(f"Command: {command}\nDirectory: {directory}\n", run.secrets))
        begins_at, started = output.tell(), clock.now()
        with masked_into(output, run.secrets) as pipe:
            outcome, message, status = _executed(command, directory, check, run=run, output=pipe)
        ended = clock.now()
        output.seek(0, os.SEEK_END)
        ends_at = output.tell()
        _say(output, f"\nResult: {_WORDS[outcome]} - {message}")
        if outcome is Outcome.FAILED:
            _say(output, masked(_advice(check), run.secrets))
    ran = None
    if status is not None:
        said = _hash_of(log, begins_at, ends_at)
        ran = Executed(command, str(directory), status, started, ended, said)
    return JobResult(job.id, outcome, message, time.monotonic() - began, log, executed=ran)


def _hash_of(log: Path, start: int, end: int) -> str:
    """Return the hash of what the log keeps of the program's output, without our lines around it."""
    found = hashlib.sha256()
    with log.open("rb") as file:
        file.seek(start)
        while (left := end - file.tell()) > 0 and (block := file.read(min(left, 1 << 20))):
            found.update(block)
    return found.hexdigest()


def _executed(
    command: str, directory: Path, check: Check, *, run: Run, output: IO[bytes]
) -> tuple[Outcome, str, int | None]:
    """Run the command; the third value is its exit status, None where it did not run to an end."""
    if not directory.is_dir():
        return Outcome.BROKEN, f"the directory {directory} does not exist", None
    missing = missing_program(command, directory, run.environment)
    if missing:
        return Outcome.BROKEN, f"{missing} is not installed, or not on PATH", None
    limit, is_own = run.limit(check.timeout)
    if limit is not None and limit <= 0:
        return Outcome.BROKEN, NO_TIME, None
    try:
        status = run.processes.stream(
            ["sh", "-c", command],
            directory=str(directory),
            environment={**run.environment, "BASE_BRANCH": run.base},
            output=output,
            timeout=limit,
            watch=run.watchman,
        )
    except TimeoutError:
        return (
            (Outcome.FAILED, f"Timed out after {limit:g} s", TIMED_OUT) if is_own else (Outcome.BROKEN, NO_TIME, None)
        )
    except OSError as error:
        return Outcome.BROKEN, f"the shell could not be started: {error.strerror}", None
    return (*_judged(status), status)


def _judged(status: int) -> tuple[Outcome, str]:
    if status == 0:
        return Outcome.PASSED, "Exited with code 0"
    if status < 0:
        return Outcome.FAILED, f"Ended by signal {-status}"
    return Outcome.FAILED, f"Exited with code {status}"


def _advice(check: Check) -> str:
    if check.fix_with_skill:
        return f"\n--- Fix Skill: {check.fix_with_skill} ---"
    if check.fix_instructions is None:
        return ""
    try:
        content = files.read_plain(check.fix_instructions) or b""
        text = content.decode("utf-8", "replace")[:LARGEST_INSTRUCTIONS]
    except (files.NotPlain, OSError) as error:
        text = f"({check.fix_instructions} cannot be read: {error})"
    return f"\n--- Fix Instructions ---\n{text}"


def _say(output: IO[bytes], text: str) -> None:
    """Write a line of ours at once, so that it stands before what the program writes."""
    if text:
        output.write(text.encode("utf-8", "surrogateescape") + b"\n")
        output.flush()
