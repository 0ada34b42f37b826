import threading
from pathlib import Path

import pytest

from agent_sync.gates.config.model import GateCheck
from agent_sync.gates.plan.plan import Job
from agent_sync.gates.run.results import JobOutcome, JobResult
from agent_sync.gates.run.schedule import Pace, Schedule


def job(name, *, parallel):
    return Job(f"check:.:{name}", GateCheck(name, Path(name), "true", parallel=parallel), ".", ".")


def scheduled(jobs, perform, *, cap=4, end_programs=lambda: None):
    return Schedule(Pace(cap), perform, end_programs=end_programs).run(tuple(jobs))


def passed(one):
    return JobResult(one.id, JobOutcome.PASSED)


@pytest.mark.parametrize("cap", [1, 2, 50])
def test_results_keep_the_order_of_the_jobs(cap):
    """However many run at a time, every job has its result, in the order the jobs were given."""
    jobs = [job(f"g{number}", parallel=bool(number % 3)) for number in range(20)]
    assert [result.id for result in scheduled(jobs, passed, cap=cap)] == [one.id for one in jobs]
    assert scheduled([], passed, cap=cap) == ()


def test_no_more_run_at_a_time_than_may():
    """Parallel gates run side by side, as many as the cap allows and never more."""
    meeting = threading.Barrier(3, timeout=20)
    running, most, lock = [], [], threading.Lock()

    def perform(one):
        with lock:
            running.append(one)
            most.append(len(running))
        # Goes on only when three are here.
        meeting.wait()
        with lock:
            running.remove(one)
        return passed(one)

    scheduled([job(f"g{number}", parallel=True) for number in range(8)] + [job("last", parallel=False)], perform, cap=3)
    assert max(most) == 3


def test_an_error_ends_what_runs_and_is_raised():
    """What goes wrong in one job is raised by the run, after the programs of the others were ended."""
    ended = threading.Event()

    def perform(one):
        if one.gate.name == "bad":
            raise OSError("no such disk")
        # Waits until somebody ends it.
        assert ended.wait(20)
        return passed(one)

    with pytest.raises(OSError, match="no such disk"):
        scheduled([job("good", parallel=True), job("bad", parallel=True)], perform, end_programs=ended.set)
    assert ended.is_set()
