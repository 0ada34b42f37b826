"""Keeps a copy of a run's console text, and tells whoever listens how the run goes."""

import contextlib
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Protocol

from agent_sync.gates.plan.plan import Job, Skipped
from agent_sync.gates.run.report import progress, shown_output, skipped_line
from agent_sync.gates.run.results import JobResult
from agent_sync.system.masking import masked


class Listener(Protocol):
    """Someone who wants to know how a run goes; called from several threads, one at a time."""

    def planned(self, jobs: tuple[Job, ...]) -> None:
        """Hear what will run."""

    def started(self, job: Job) -> None:
        """Hear that a gate starts."""

    def ended(self, result: JobResult) -> None:
        """Hear how a gate ended."""

    def printed(self, line: str) -> None:
        """Hear anything else."""


class Silence:
    """A listener that does nothing: hooks have one."""

    def planned(self, jobs: tuple[Job, ...]) -> None:
        """Ignore it."""

    def started(self, job: Job) -> None:
        """Ignore it."""

    def ended(self, result: JobResult) -> None:
        """Ignore it."""

    def printed(self, line: str) -> None:
        """Ignore it."""


class Console:
    """The console's text of one run, in its file and to its listener."""

    def __init__(self, file: IO[str], listener: Listener, secrets: tuple[str, ...]) -> None:
        self._file = file
        self._secrets = secrets
        self._listener = listener
        self._lock = threading.Lock()

    def started(self, job: Job) -> None:
        """Tell that a gate starts."""
        with self._lock:
            self._listener.started(job)

    def ended(self, result: JobResult) -> None:
        """Tell how a gate ended."""
        with self._lock:
            self._keep(progress(result))
            self._listener.ended(result)
            for line in shown_output(result):
                self._keep(line)
                self._listener.printed(line)

    def skipped(self, one: Skipped) -> None:
        """Tell that a gate does not run."""
        self.say(skipped_line(one.id, one.reason))

    def say(self, line: str) -> None:
        """Tell anything else."""
        with self._lock:
            self._keep(line)
            self._listener.printed(line)

    def _keep(self, line: str) -> None:
        # A full disk costs the copy, not the run.
        with contextlib.suppress(OSError):
            self._file.write(masked(line, self._secrets) + "\n")
            self._file.flush()


@contextlib.contextmanager
def opened(path: Path, listener: Listener, secrets: tuple[str, ...] = ()) -> Iterator[Console]:
    """Begin the console's text of a run; a file of that name is never overwritten."""
    file = path.open("x", encoding="utf-8", errors="replace")
    try:
        yield Console(file, listener, secrets)
    finally:
        with contextlib.suppress(OSError):
            file.close()
