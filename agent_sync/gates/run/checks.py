"""Runs a check: one shell command, its output streamed to its log however much it is, without secrets."""

import hashlib
import os
import shutil
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

from agent_sync.gates.config.model import GateCheck
from agent_sync.gates.plan.plan import Job
from agent_sync.gates.run.context import NO_TIME, Run
from agent_sync.gates.run.masked_log import masked_into
from agent_sync.gates.run.results import Executed, JobOutcome, JobResult
from agent_sync.lazy_patterns import pattern
from agent_sync.system import clock, files
from agent_sync.system.masking import masked

# What a shell reports of a program that was ended at its time limit.
TIMED_OUT = 124
LARGEST_INSTRUCTIONS = 100_000
# The last words a log is read for, by people and by other tools.
_WORDS = {
    JobOutcome.PASSED: "pass",
    JobOutcome.FAILED: "fail",
    JobOutcome.BROKEN: "error",
    JobOutcome.SKIPPED: "skipped",
}

_WORD = pattern(r"[A-Za-z0-9_./+-]+")
_ASSIGNMENT = pattern(r"[A-Za-z_][A-Za-z0-9_]*=")
_PLAIN_BRANCH = pattern(r"[A-Za-z0-9._/-]+")
# Words the shell itself understands.
_SHELL_WORDS = """
. : [ ! { ( if for while until case test cd echo printf true false exit export set unset eval exec trap ulimit umask
wait command type read readonly shift times source local return alias break continue pwd hash kill getopts jobs bg fg
function select time let declare typeset
"""
_SHELL = frozenset(_SHELL_WORDS.split())


def run_check(job: Job, check: GateCheck, run: Run) -> JobResult:
    """Run one check and write its log."""
    began = time.monotonic()
    command = _with_base((run.is_rerun and check.rerun_command) or check.command, run.base)
    directory = run.project.root / job.directory
    log = run.logs.check(run.stems[job.id], run.number)
    with log.open("wb") as output:
        _write_line(output, f"[{datetime.now(UTC).isoformat(timespec='seconds')}] Starting {job.id}")
        _write_line(output, masked(f"Command: {command}\nDirectory: {directory}\n", run.secrets))
        begins_at, started = output.tell(), clock.now()
        with masked_into(output, run.secrets) as pipe:
            outcome, message, status = _run_command(command, directory, check, run=run, output=pipe)
        ended = clock.now()
        output.seek(0, os.SEEK_END)
        ends_at = output.tell()
        _write_line(output, f"\nResult: {_WORDS[outcome]} - {message}")
        if outcome is JobOutcome.FAILED:
            _write_line(output, masked(_advice(check), run.secrets))
    ran = None
    if status is not None:
        said = _hash_of(log, begins_at, ends_at)
        ran = Executed(command, str(directory), status, started, ended, said)
    took = time.monotonic() - began
    return JobResult(job.id, outcome, message, took, log, output=(begins_at, ends_at), executed=ran)


def _hash_of(log: Path, start: int, end: int) -> str:
    """Return the hash of what the log keeps of the program's output, without our lines around it."""
    found = hashlib.sha256()
    with log.open("rb") as file:
        file.seek(start)
        while (left := end - file.tell()) > 0 and (block := file.read(min(left, 1 << 20))):
            found.update(block)
    return found.hexdigest()


def _run_command(
    command: str, directory: Path, check: GateCheck, *, run: Run, output: IO[bytes]
) -> tuple[JobOutcome, str, int | None]:
    """Run the command; the third value is its exit status, None where it did not run to an end."""
    if not directory.is_dir():
        return JobOutcome.BROKEN, f"the directory {directory} does not exist", None
    missing = _missing_program(command, directory, run.environment)
    if missing:
        return JobOutcome.BROKEN, f"{missing} is not installed, or not on PATH", None
    limit, is_own = run.limit(check.timeout)
    if limit is not None and limit <= 0:
        return JobOutcome.BROKEN, NO_TIME, None
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
            (JobOutcome.FAILED, f"Timed out after {limit:g} s", TIMED_OUT)
            if is_own
            else (JobOutcome.BROKEN, NO_TIME, None)
        )
    except OSError as error:
        return JobOutcome.BROKEN, f"the shell could not be started: {error.strerror}", None
    return (*_outcome_of(status), status)


def _outcome_of(status: int) -> tuple[JobOutcome, str]:
    if status == 0:
        return JobOutcome.PASSED, "Exited with code 0"
    if status < 0:
        return JobOutcome.FAILED, f"Ended by signal {-status}"
    return JobOutcome.FAILED, f"Exited with code {status}"


def _advice(check: GateCheck) -> str:
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


def _write_line(output: IO[bytes], text: str) -> None:
    """Write a line of ours at once, so that it stands before what the program writes."""
    if text:
        output.write(text.encode("utf-8", "surrogateescape") + b"\n")
        output.flush()


def _missing_program(command: str, directory: Path, environment: Mapping[str, str]) -> str:
    """Return the program a command begins with if it certainly cannot be run; nothing in any doubt."""
    word = _first_word(command)
    if not word or word in _SHELL or not _WORD.fullmatch(word):
        return ""
    if "/" in word:
        found = directory / word
        return "" if found.is_file() and os.access(found, os.X_OK) else word
    return "" if shutil.which(word, path=environment.get("PATH", os.defpath)) else word


def _with_base(command: str, base: str) -> str:
    """Put the base branch in; a name that means something to the shell is left to the variable of that name."""
    return command.replace("${BASE_BRANCH}", base) if _PLAIN_BRANCH.fullmatch(base) else command


def _first_word(command: str) -> str:
    lines = [line.strip() for line in command.splitlines()]
    words = " ".join(line for line in lines if line and not line.startswith("#")).split()
    for word in words:
        if not _ASSIGNMENT.match(word):
            return word.rstrip(";")
        # A value in quotes may hold spaces: then the next word is not known.
        if "'" in word or '"' in word or "`" in word or "$" in word:
            return ""
    return ""
