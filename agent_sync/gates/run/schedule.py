"""Decides when gates run: parallel ones side by side up to a cap, the others one after the other beside them."""

import os
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

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

    def run(self, jobs: tuple[Job, ...]) -> tuple[JobResult, ...]:
        """Run all jobs; what was not launched any more is skipped with the reason."""
        beside = [job for job in jobs if self._is_parallel(job)]
        after = [job for job in jobs if not self._is_parallel(job)]
        with ThreadPoolExecutor(self._pace.cap, thread_name_prefix="gate") as pool:
            try:
                chain = pool.submit(self._one_after_the_other, after)
                futures: list[Future[JobResult]] = [pool.submit(self._one, job) for job in beside]
                found = [*chain.result(), *(future.result() for future in futures)]
            except BaseException:
                # Interrupted: what runs is ended, or leaving the pool would wait for it.
                self._stop.set()
                self._end_programs()
                raise
        by_id = {result.id: result for result in found}
        return tuple(by_id[job.id] for job in jobs)

    def _is_parallel(self, job: Job) -> bool:
        return self._pace.allow_parallel and job.gate.parallel

    def _one_after_the_other(self, jobs: list[Job]) -> list[JobResult]:
        return [self._one(job) for job in jobs]

    def _one(self, job: Job) -> JobResult:
        if self._stop.is_set():
            reason = f"fail_fast after {gate_name(self._stopped_by)}" if self._stopped_by else "interrupted"
            return JobResult(job.id, JobOutcome.SKIPPED, reason)
        result = self._perform(job)
        if isinstance(job.gate, GateCheck) and job.gate.fail_fast and result.outcome is not JobOutcome.PASSED:
            self._stopped_by = job.id
            self._stop.set()
        return result
