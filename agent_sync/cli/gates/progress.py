"""Shows how a run of gates goes: moving on a terminal, line by line in a pipe, not at all for JSON."""

import contextlib
from collections.abc import Iterator
from typing import Any

from agent_sync.cli.ending import harmless, say
from agent_sync.gates.plan.plan import Job, gate_name
from agent_sync.gates.run.console import Listener, Silence
from agent_sync.gates.run.report import progress
from agent_sync.gates.run.results import JobOutcome, JobResult

_COLOURS = {
    JobOutcome.PASSED: "green",
    JobOutcome.FAILED: "red",
    JobOutcome.BROKEN: "yellow",
    JobOutcome.SKIPPED: "bright_black",
}
_MARKS = {JobOutcome.PASSED: "✓", JobOutcome.FAILED: "✗", JobOutcome.BROKEN: "!", JobOutcome.SKIPPED: "-"}


class Lines:
    """One line per gate, as it ends."""

    def planned(self, jobs: tuple[Job, ...]) -> None:
        """Say how much will run."""
        say(f"{len(jobs)} gate{'' if len(jobs) == 1 else 's'} to run")

    def started(self, job: Job) -> None:
        """Say nothing: in a pipe only ends matter."""

    def ended(self, result: JobResult) -> None:
        """Print the gate's line."""
        say(f"{_MARKS[result.outcome]} {progress(result)}")

    def printed(self, line: str) -> None:
        """Print the line."""
        say(line)


class Moving(Lines):
    """The same lines in colour, above one that shows what runs now."""

    def __init__(self, console: Any, status: Any) -> None:
        self._console = console
        self._status = status
        self._running: list[str] = []

    def planned(self, jobs: tuple[Job, ...]) -> None:
        """Say how much will run."""
        self._console.print(f"{len(jobs)} gate{'' if len(jobs) == 1 else 's'} to run", highlight=False)

    def started(self, job: Job) -> None:
        """Show the gate among those that run."""
        self._running.append(gate_name(job.id))
        self._show()

    def ended(self, result: JobResult) -> None:
        """Print the gate's line and take it off."""
        if (name := gate_name(result.id)) in self._running:
            self._running.remove(name)
        line = harmless(f"{_MARKS[result.outcome]} {progress(result)}")
        self._console.print(line, style=_COLOURS[result.outcome], markup=False, highlight=False, soft_wrap=True)
        self._show()

    def printed(self, line: str) -> None:
        """Print the line."""
        self._console.print(harmless(line), markup=False, highlight=False, soft_wrap=True)

    def _show(self) -> None:
        self._status.update("running " + harmless(", ".join(self._running)).replace("[", "\\["))


@contextlib.contextmanager
def listener(*, is_silent: bool, is_terminal: bool) -> Iterator[Listener]:
    """Return the listener that fits where the output goes."""
    if is_silent:
        yield Silence()
    elif not is_terminal:
        yield Lines()
    else:
        from rich.console import Console

        console = Console()
        with console.status("looking at what changed") as status:
            yield Moving(console, status)
