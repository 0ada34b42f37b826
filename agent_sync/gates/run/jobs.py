"""Runs the jobs of one run, each so that its trouble is its own."""

from functools import partial
from pathlib import Path

from agent_sync.context import Context
from agent_sync.gates.config.model import GateCheck, Review
from agent_sync.gates.plan.differences import Differences
from agent_sync.gates.plan.plan import Job
from agent_sync.gates.plan.prepare import Prepared, RunOptions
from agent_sync.gates.reviews.cooling import Cooling
from agent_sync.gates.run.checks import run_check
from agent_sync.gates.run.console import Console
from agent_sync.gates.run.context import Run
from agent_sync.gates.run.logs import stems
from agent_sync.gates.run.results import JobOutcome, JobResult
from agent_sync.gates.run.schedule import Pace, Schedule, default_cap
from agent_sync.gates.run.watchman import watching
from agent_sync.system.masking import masked
from agent_sync.worktree import GATE_REVIEWS


def run_jobs(  # noqa: PLR0913  # everything a run is made of meets here
    context: Context, prepared: Prepared, options: RunOptions, *, number: int, console: Console, cooling: Cooling
) -> tuple[JobResult, ...]:
    """Run what is planned, and tell the console."""
    jobs = prepared.plan.jobs
    variables = prepared.snapshot.variables
    for one in prepared.plan.skipped:
        console.skipped(one)
    with watching() as watchman:
        run = Run(
            project=prepared.project,
            logs=prepared.logs,
            number=number,
            stems=stems(job.id for job in jobs),
            processes=context.processes,
            watchman=watchman,
            environment=context.environment,
            base=prepared.changes.base.name,
            differences=Differences(prepared.repo, prepared.changes.before, prepared.changes.after, variables),
            originals=originals(context),
            is_rerun=prepared.is_rerun,
            deadline=options.deadline,
        )
        pace = Pace(context.settings.gate.parallel or default_cap(), prepared.project.allow_parallel)
        perform = partial(_perform, run=run, console=console, cooling=cooling)
        return Schedule(pace, perform, end_programs=context.processes.end_all).run(jobs)


def originals(context: Context) -> Path:
    """Return where our own copies of reviewers' findings are, out of reach of the agent's edits."""
    return Path(context.place.state_dir) / GATE_REVIEWS


def _perform(job: Job, *, run: Run, console: Console, cooling: Cooling) -> JobResult:
    """Run one gate; trouble of ours with it is not a failure of the work."""
    console.started(job)
    try:
        gate = job.gate
        result = run_check(job, gate, run) if isinstance(gate, GateCheck) else _review(job, gate, run, cooling)
    except Exception as error:  # noqa: BLE001  # one gate's trouble is not another's
        text = (error.strerror if isinstance(error, OSError) else "") or str(error) or type(error).__name__
        result = JobResult(job.id, JobOutcome.BROKEN, masked(text, run.secrets))
    console.ended(result)
    return result


def _review(job: Job, review: Review, run: Run, cooling: Cooling) -> JobResult:
    from agent_sync.gates.reviews.reviews import run_review

    return run_review(job, review, run, cooling)
