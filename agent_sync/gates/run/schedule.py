"""Decides when gates run: parallel ones side by side up to a cap, the others one after the other beside them."""

import os
import threading
from collections import deque
from collections.abc import Callable

from agent_sync.gates.config.model import GateCheck
from agent_sync.gates.plan.plan import Job, gate_name
from agent_sync.gates.run.results import JobOutcome, JobResult
from agent_sync.lazy_dataclasses import dataclass

LEAST_CAP = 4
Perform = Callable[[Job], JobResult]


@dataclass(frozen=True)
class Pace:
    """How many gates may run at a time, and whether any may run side by side at all."""

    cap: int
    allow_parallel: bool = True


def default_cap() -> int:
    """Return how many gates run at a time where nobody says."""
    return max(LEAST_CAP, os.cpu_count() or 1)


class Schedule:
    """Runs jobs, keeps their order in the results, and stops launching when a gate says so."""

    def __init__(self, pace: Pace, perform: Perform, *, end_programs: Callable[[], None]) -> None:
        self._pace = pace
        self._perform = perform
        self._end_programs = end_programs
        self._stopped_by = ""
        self._stop = threading.Event()
        self._found: dict[str, JobResult] = {}
        self._errors: list[BaseException] = []

    def run(self, jobs: tuple[Job, ...]) -> tuple[JobResult, ...]:
        """Run all jobs; what was not launched any more is skipped with the reason."""
        after = [job for job in jobs if not self._is_parallel(job)]
        turns = deque([after, *([job] for job in jobs if self._is_parallel(job))])
        count = min(self._pace.cap, len(turns))
        threads = [threading.Thread(target=self._work, args=(turns,), name=f"gate-{number}") for number in range(count)]
        try:
            for thread in threads:
                thread.start()
            _wait_for(threads)
        except BaseException:
            # Interrupted: what runs is ended, or we would wait for it.
            self._end_early()
            _wait_for(threads)
            raise
        if self._errors:
            raise self._errors[0]
        return tuple(self._found[job.id] for job in jobs)

    def _work(self, turns: deque[list[Job]]) -> None:
        """Do what is still to be done, one turn at a time, beside others that do so."""
        while True:
            try:
                turn = turns.popleft()
            except IndexError:
                return
            try:
                for job in turn:
                    self._found[job.id] = self._one(job)
            except BaseException as error:  # noqa: BLE001  # raised again by whoever waits
                self._errors.append(error)
                self._end_early()

    def _end_early(self) -> None:
        self._stop.set()
        self._end_programs()

    def _is_parallel(self, job: Job) -> bool:
        return self._pace.allow_parallel and job.gate.parallel

    def _one(self, job: Job) -> JobResult:
        if self._stop.is_set():
            reason = f"fail_fast after {gate_name(self._stopped_by)}" if self._stopped_by else "interrupted"
            return JobResult(job.id, JobOutcome.SKIPPED, reason)
        result = self._perform(job)
        if isinstance(job.gate, GateCheck) and job.gate.fail_fast and result.outcome is not JobOutcome.PASSED:
            self._stopped_by = job.id
            self._stop.set()
        return result


def _wait_for(threads: list[threading.Thread]) -> None:
    for thread in threads:
        if thread.ident is not None:
            thread.join()
