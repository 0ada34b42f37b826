"""What came of single gates and of a whole run."""

from datetime import datetime
from enum import StrEnum
from pathlib import Path

from agent_sync.gates.plan.plan import Skipped
from agent_sync.gates.status import Status
from agent_sync.lazy_dataclasses import dataclass


class JobOutcome(StrEnum):
    """How one gate ended; broken means that it could not be asked, which says nothing about the work."""

    PASSED = "Passed"
    FAILED = "Failed"
    BROKEN = "Could not run"
    SKIPPED = "Skipped"


@dataclass(frozen=True)
class Executed:
    """One program a gate has run to its end: what a receipt can vouch for."""

    command: str
    directory: str
    exit_code: int
    started_at: datetime
    completed_at: datetime
    output_hash: str


@dataclass(frozen=True)
class JobResult:
    """How one gate ended and where to read about it."""

    id: str
    outcome: JobOutcome
    message: str = ""
    seconds: float = 0.0
    log: Path | None = None
    # Where in the log the program's own output begins and ends.
    output: tuple[int, int] | None = None
    findings: tuple[Path, ...] = ()
    executed: Executed | None = None


@dataclass(frozen=True)
class RunResult:
    """How a run ended; everything a caller may want to say about it."""

    status: Status
    message: str
    console_log: Path | None = None
    error: str = ""
    results: tuple[JobResult, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    # How the gate definitions differ from the base's, and what else is to be said about them and the base.
    definitions: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    tree: str = ""
    key: str = ""
    seen: str = ""
    unchanged_since: str = ""
    base: str = ""

    @property
    def failed(self) -> tuple[JobResult, ...]:
        """The gates that failed."""
        return tuple(result for result in self.results if result.outcome is JobOutcome.FAILED)

    @property
    def broken(self) -> tuple[JobResult, ...]:
        """The gates that could not run."""
        return tuple(result for result in self.results if result.outcome is JobOutcome.BROKEN)


def overall(results: tuple[JobResult, ...], *, has_warnings: bool) -> Status:
    """Return how a run ended: a real failure outranks what could not run, which outranks a pass."""
    outcomes = {result.outcome for result in results}
    if JobOutcome.FAILED in outcomes:
        return Status.FAILED
    if JobOutcome.BROKEN in outcomes:
        return Status.INFRASTRUCTURE_ERROR
    return Status.PASSED_WITH_WARNINGS if has_warnings else Status.PASSED
