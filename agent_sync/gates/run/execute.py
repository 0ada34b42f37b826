"""Runs the gates: takes the lock, decides whether there is anything to run, runs it, and puts it on record."""

import shutil
from dataclasses import replace
from functools import partial
from pathlib import Path

from agent_sync.context import Context
from agent_sync.errors import AgentSyncError
from agent_sync.gates.config.model import LoadedProject
from agent_sync.gates.config.project import load_project
from agent_sync.gates.definitions.which_definitions import GateDefinitions, gate_definitions
from agent_sync.gates.memory import passes, state as states
from agent_sync.gates.memory.failures import Failure, keep_failure, take_failure
from agent_sync.gates.memory.passes import Pass
from agent_sync.gates.memory.state import GateState
from agent_sync.gates.plan import snapshot as snapshots
from agent_sync.gates.plan.changes import WantedChanges
from agent_sync.gates.plan.plan import Skipped, gate_name
from agent_sync.gates.plan.prepare import Prepared, RunOptions, StopAttempt, prepare
from agent_sync.gates.plan.repo import Repo
from agent_sync.gates.plan.snapshot import Snapshot
from agent_sync.gates.reviews.cooling import Cooling
from agent_sync.gates.run import clean, lock, receipts
from agent_sync.gates.run.console import Listener, Silence, opened
from agent_sync.gates.run.jobs import originals, run_jobs
from agent_sync.gates.run.logs import LogDir
from agent_sync.gates.run.report import MOST_NAMED, run_message, summary
from agent_sync.gates.run.results import JobOutcome, JobResult, RunResult, overall
from agent_sync.gates.status import Status
from agent_sync.quiet import wording
from agent_sync.system import clock, git_history
from agent_sync.system.masking import masked, secrets_of

PASSES = frozenset({Status.PASSED, Status.PASSED_WITH_WARNINGS})


def execute_run(
    context: Context,
    root: Path,
    options: RunOptions | None = None,
    listener: Listener | None = None,
    *,
    definitions: GateDefinitions | None = None,
) -> RunResult:
    """Run the gates of the project at `root`; trouble becomes a status, nothing is printed and nothing exits."""
    try:
        found = definitions or gate_definitions(context, str(root))
        result = _run_defined(context, found, options or RunOptions(WantedChanges(working=True)), listener or Silence())
        return replace(result, definitions=found.changes, remarks=result.remarks or found.remarks)
    except AgentSyncError as error:
        return RunResult(Status.ERROR, error.happened, error=str(error))
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        message = f"The gates could not run: {where}{error.strerror or error}."
        return RunResult(Status.INFRASTRUCTURE_ERROR, message, error=message)
    except Exception as error:  # noqa: BLE001  # a caller that may not fail relies on it
        message = f"The gates failed unexpectedly: {type(error).__name__}: {masked(str(error))}"
        return RunResult(Status.ERROR, message, error=message)


def _run_defined(context: Context, found: GateDefinitions, options: RunOptions, listener: Listener) -> RunResult:
    if found.root is None:
        return RunResult(Status.NO_CONFIG, wording.NO_CONFIG)
    loaded = load_project(found.root, found.directory)
    return _unusable_config(loaded) if loaded.errors else _alone(context, loaded, options, listener, definitions=found)


def _unusable_config(loaded: LoadedProject) -> RunResult:
    lines = [str(problem) for problem in loaded.errors]
    more = f" (and {len(lines) - 1} more)" if len(lines) > 1 else ""
    return RunResult(Status.ERROR, f"The gates' configuration cannot be used: {lines[0]}{more}", error="\n".join(lines))


def _alone(
    context: Context, loaded: LoadedProject, options: RunOptions, listener: Listener, *, definitions: GateDefinitions
) -> RunResult:
    logs = LogDir(loaded.project.log_dir)
    repo = Repo(context.git, context.place, loaded.project.root)
    logs.make(repo)
    with lock.alone(context.place, logs.path) as is_alone:
        if not is_alone:
            who = lock.holder(logs.path) or "another process"
            return RunResult(Status.LOCK_EXISTS, f"A gauntlet run is already in progress ({who}).")
        prepared = prepare(context, repo, loaded, options, definitions=definitions)
        return _without_running(context, prepared, options) or _run(context, prepared, options, listener)


def _without_running(context: Context, prepared: Prepared, options: RunOptions) -> RunResult | None:
    """Return the answer where no gate has to run."""
    told = partial(_told, prepared)
    if options.is_full and not (prepared.changes.files and prepared.plan.jobs):
        # Nothing is left that could fail: a session that had failed is over, and so are its retries.
        _archive(prepared, with_state=prepared.is_rerun)
    if not prepared.changes.files:
        return told(Status.NO_CHANGES, wording.no_changes(prepared.changes.base.name))
    if not prepared.plan.jobs:
        return told(Status.NO_APPLICABLE_GATES, _why_none(prepared.plan.skipped))
    if options.attempt and prepared.failed_runs > prepared.project.max_retries:
        message = (
            "The retry limit was exceeded, and the work has not changed since. A human should look; "
            "`agent-sync gate run` runs the gates again."
        )
        return told(Status.RETRY_LIMIT_EXCEEDED, message)
    if prepared.is_rerun and options.attempt:
        return _failed_just_now(context, prepared, options.attempt)
    if prepared.is_rerun or options.again or not prepared.key:
        return None
    passed = passes.recall(context.place, prepared.key)
    if passed is None:
        return None
    result = told(Status(passed.status), wording.unchanged(passed.at))
    results = tuple(JobResult(job_id, JobOutcome.PASSED) for job_id in passed.jobs)
    return replace(result, results=results, warnings=passed.warnings, tree=passed.tree, unchanged_since=passed.at)


def _failed_just_now(context: Context, prepared: Prepared, attempt: StopAttempt) -> RunResult | None:
    """Return the failure of a command that the agent typed in this turn; the last retry is always a run."""
    known = take_failure(context.place, key=prepared.key, session=attempt.session)
    if known is None or prepared.failed_runs >= prepared.project.max_retries:
        return None
    counted = replace(
        prepared.state,
        failed_runs=prepared.failed_runs + 1,
        failed_tree=prepared.snapshot.tree,
        failed_turn=attempt.turn,
    )
    states.write(prepared.logs.path, counted)
    return replace(_told(prepared, Status.FAILED, known.message), results=known.results, console_log=known.console_log)


def _why_none(skipped: tuple[Skipped, ...]) -> str:
    if not skipped:
        return "No applicable gates: none matched the changed files."
    left_out = "; ".join(f"{gate_name(one.id)}, {one.reason}" for one in skipped)
    return f"No applicable gates: none that matches the changed files runs here. Skipped: {left_out}."


def _told(prepared: Prepared, status: Status, message: str) -> RunResult:
    return RunResult(
        status,
        message,
        skipped=prepared.plan.skipped,
        notes=prepared.notes,
        definitions=prepared.definitions,
        remarks=prepared.remarks,
        key=prepared.key,
        seen=prepared.snapshot.tree,
        base=prepared.changes.base.name,
    )


def _archive(prepared: Prepared, *, with_state: bool = False) -> bool:
    return clean.clean(prepared.logs, prepared.repo, keep=prepared.project.max_previous_logs, with_state=with_state)


def _run(context: Context, prepared: Prepared, options: RunOptions, listener: Listener) -> RunResult:
    number = prepared.logs.next_run()
    console_log = prepared.logs.console(number)
    listener.planned(prepared.plan.jobs)
    if not prepared.is_rerun:
        shutil.rmtree(originals(context), ignore_errors=True)
    cooling = Cooling(prepared.state.unhealthy, clock.now())
    receipts.note_began(context)
    secrets = secrets_of(context.environment)
    with opened(console_log, listener, secrets) as console:
        results = run_jobs(context, prepared, options, number=number, console=console, cooling=cooling)
        warnings = _skipped_findings(prepared, secrets)
        status = _within_retries(overall(results, has_warnings=bool(warnings)), prepared, options)
        result = replace(
            _told(prepared, status, run_message(results, status, warnings=len(warnings))),
            console_log=console_log,
            results=results,
            warnings=warnings,
        )
        for line in summary(result):
            console.say(line)
    receipts.note_ended(context, prepared, result, is_full=options.is_full)
    if result.status is Status.FAILED and options.session and prepared.key:
        known = Failure(prepared.key, options.session, result.message, console_log, results)
        keep_failure(context.place, known)
    states.write(prepared.logs.path, _record(prepared, options, result, number=number, cooling=cooling))
    return _put_on_record(context, prepared, options, result)


def _skipped_findings(prepared: Prepared, secrets: tuple[str, ...]) -> tuple[str, ...]:
    """Return what reviewers found and the agent decided to skip."""
    if not prepared.logs.reviews():
        return ()
    from agent_sync.gates.reviews.reviews import skipped_findings

    return skipped_findings(prepared.logs, secrets)


def _within_retries(status: Status, prepared: Prepared, options: RunOptions) -> Status:
    """Turn the last failure that is allowed into the end of the retries."""
    is_last = options.attempt is not None and prepared.failed_runs >= prepared.project.max_retries
    return Status.RETRY_LIMIT_EXCEEDED if status is Status.FAILED and is_last else status


def _record(prepared: Prepared, options: RunOptions, result: RunResult, *, number: int, cooling: Cooling) -> GateState:
    """Return what is put on record about a run; a partial one neither clears nor adds up failures."""
    repo, base = prepared.repo, prepared.changes.base.commit
    head = repo.head()
    has_failed = result.status in {Status.FAILED, Status.RETRY_LIMIT_EXCEEDED}
    counts = has_failed and options.attempt is not None
    status = result.status.value
    if not options.is_full and not has_failed and prepared.is_rerun:
        status = prepared.state.status or Status.FAILED.value
    if result.status is Status.INFRASTRUCTURE_ERROR and prepared.is_rerun:
        status = prepared.state.status or Status.FAILED.value
    return GateState(
        completed_at=clock.now(),
        branch=repo.branch(),
        commit=head,
        working_tree_ref=prepared.snapshot.tree,
        status=status,
        # The logs of a pass are moved aside, so whatever is found later comes from a run that was killed.
        run=0 if result.status in PASSES and options.is_full else number,
        failed_runs=prepared.failed_runs + (1 if counts else 0),
        failed_tree=prepared.snapshot.tree if counts else prepared.state.counted_tree,
        failed_turn=options.attempt.turn if counts and options.attempt else prepared.state.failed_turn,
        merge_base=prepared.changes.merge_base,
        was_in_base=bool(base and git_history.has_merged(repo.git, base, head)),
        is_partial=not options.is_full,
        unhealthy=cooling.unhealthy(),
        others=prepared.state.others,
    )


def _changed_meanwhile(prepared: Prepared, after: Snapshot) -> str:
    """Say which files make a pass the pass of nothing that still is."""
    names = prepared.repo.changed(prepared.snapshot.tree, after.tree, after.variables)
    shown = ", ".join(repr(name) for name in names[:MOST_NAMED]) + (" …" if len(names) > MOST_NAMED else "")
    return f"Files changed while the gates ran: {shown}. What gates write belongs into .gitignore."


def _put_on_record(context: Context, prepared: Prepared, options: RunOptions, result: RunResult) -> RunResult:
    """Remember a pass of the whole work, and move its logs aside."""
    snapshots.prune(prepared.repo)
    if result.status not in PASSES or not options.is_full:
        return result
    after = snapshots.take_again(prepared.repo, prepared.logs.path, prepared.snapshot)
    if after.tree != prepared.snapshot.tree:
        result = replace(result, notes=(*result.notes, _changed_meanwhile(prepared, after)))
    elif prepared.key:
        result = replace(result, tree=after.tree)
        ran = tuple(one.id for one in result.results if one.outcome is JobOutcome.PASSED)
        at = clock.now().isoformat(timespec="seconds").replace("+00:00", "Z")
        passes.remember(context.place, prepared.key, Pass(after.tree, at, result.status, ran, result.warnings))
    _archive(prepared)
    moved = prepared.logs.path / clean.PREVIOUS / result.console_log.name if result.console_log else None
    return replace(result, console_log=moved if moved and moved.exists() else None)
