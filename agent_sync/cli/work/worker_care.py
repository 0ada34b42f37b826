"""`agent-sync worker pause · result · clear · repair`: leaving, finishing and repairing work."""

import dataclasses
import json
import sys
from pathlib import Path

import click

from agent_sync.cli.console import working
from agent_sync.cli.here import context_here
from agent_sync.cli.work.worker_views import hook_values, print_notes
from agent_sync.errors import BadInput, BadUsage, Exit
from agent_sync.system import clock
from agent_sync.work.findings import REPAIR_TEXTS, Repair
from agent_sync.work.finishing import (
    FinishedWork,
    GivenResult,
    clear_hook,
    failed_result,
    finish_work,
    parse_result,
)
from agent_sync.work.forge import refresh_view
from agent_sync.work.handoff import HandoffNote, hand_off
from agent_sync.work.identity import required_worker
from agent_sync.work.repair import RepairResult, examine, repair as repair_all

LARGEST = 1 << 20
MOST_SHOWN = 10


@click.command("pause")
@click.option("--worker", "name", default="", help="The worker; default: AGENT_SYNC_WORKER, or the one used before.")
@click.option("--reason", default="context_limit", show_default=True, help="Why this session ends.")
@click.option("--resume-point", default="", help="Where the next session should continue.")
@click.option("--summary", default="", help="What is done so far.")
@click.option("--next", "steps", multiple=True, help="A next step; may be repeated.")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def pause(*, name: str, reason: str, resume_point: str, summary: str, steps: tuple[str, ...], as_json: bool) -> None:
    """Pause the work for the next session, before the context runs out (`agent-sync handoff` finishes it).

    Pushes the branch, keeps what is not committed as a rescue ref without touching the worktree, and reads the hook
    back before it reports success. If it fails, do not end the session.

    \b
    Examples:
      agent-sync worker pause --resume-point "write the test for the empty cache"
      agent-sync worker pause --reason context_limit --summary "Lock added" --next "Run the tests" --next "Docs"
    """
    context = context_here()
    with working("pausing the work"):
        handed = hand_off(
            context, required_worker(context, flag=name), HandoffNote(reason, resume_point, summary, steps)
        )
    handoff = handed.handoff
    if as_json:
        values = {"worker": str(handed.worker), "handoff": handoff.values(), "repeated": handed.is_repeat}
        click.echo(json.dumps(values | {"notes": list(handed.notes)}))
    else:
        click.echo(
            f"Paused for the next session of {handed.worker}: branch {handoff.branch} at {handoff.head_sha[:12]}."
        )
        if handoff.rescue_ref:
            shown = ", ".join(handoff.files[:MOST_SHOWN]) + (" …" if len(handoff.files) > MOST_SHOWN else "")
            click.echo(f"Not committed, kept in {handoff.rescue_ref}: {shown}")
    context.log.write(clock.now(), "worker-handoff", worker=str(handed.worker), count=handoff.count)
    print_notes(handed.notes, refresh_view(context))


@click.command("result")
@click.option("--worker", "name", default="", help="The worker; default: AGENT_SYNC_WORKER, or the one used before.")
@click.option("--file", "file", default="", help="A result.json; `-` reads it from stdin.")
@click.option("--output", default="", help="The output, as a JSON object.")
@click.option("--fail", "code", default="", help="Report a failure with this error code.")
@click.option("--message", default="", help="Why it failed.")
@click.option("--recoverable", is_flag=True, help="The work can be tried again.")
@click.option("--open-issues", is_flag=True, help="File discovered work as issues.")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.pass_context
def result(
    ctx: click.Context,
    *,
    name: str,
    file: str,
    output: str,
    code: str,
    message: str,
    recoverable: bool,
    open_issues: bool,
    as_json: bool,
) -> None:
    """Give the result of the work; the evidence (hashes, commit, tree, PR) is computed here.

    A recoverable failure releases the claim; the third one, or a permanent one, asks a human by label and comment.

    \b
    Examples:
      agent-sync worker result --output '{"remediationPatch": "cache.py"}'
      agent-sync worker result --file result.json --open-issues
      agent-sync worker result --fail E_FLAKY --message "The test server was down" --recoverable
    """
    context = context_here()
    given = _result_from(file, output, code, message, recoverable=recoverable)
    with working("giving the result"):
        finished = finish_work(context, required_worker(context, flag=name), given, open_issues=open_issues)
    click.echo(json.dumps(_finished_values(finished))) if as_json else _tell_finished(finished)
    context.log.write(clock.now(), "worker-result", worker=str(finished.worker), state=finished.hook.state)
    print_notes(finished.notes, refresh_view(context))
    if finished.trouble:
        click.echo(f"The result is saved, but GitHub was only partly updated: {finished.trouble}", err=True)
        click.echo("  try: run the same command again", err=True)
    ctx.exit(Exit.PENDING if finished.trouble else Exit.OK)


@click.command("clear")
@click.argument("worker")
@click.option("--dry-run", is_flag=True, help="Only print what would be done.")
def clear(worker: str, *, dry_run: bool) -> None:
    """Take work that is complete, failed or cancelled off the hook of WORKER; its history stays.

    \b
    Example:
      agent-sync worker clear w1
    """
    context = context_here()
    with working("clearing the hook"):
        done = clear_hook(context, worker, dry_run=dry_run)
    task = done.before.task.id if done.before and done.before.task else ""
    verb = "would clear" if dry_run else "Cleared"
    click.echo(f"{verb} {task} from {done.worker}." if task else f"{done.worker} has no work.")
    print_notes(done.notes, () if dry_run else refresh_view(context))


@click.command("repair")
@click.option("--apply", "is_applied", is_flag=True, help="Apply the repairs (default: list them).")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.pass_context
def repair(ctx: click.Context, *, is_applied: bool, as_json: bool) -> None:
    """List what is wrong with work hooks and claims and how to repair it; --apply repairs it.

    \b
    Examples:
      agent-sync worker repair
      agent-sync worker repair --apply
    """
    context = context_here()
    with working("reading the work hooks"):
        view, found = examine(context)
    if view.trouble and is_applied:
        raise BadInput("The remote cannot be reached, so nothing was repaired.", helps="agent-sync worker repair")
    repaired = repair_all(context, found) if is_applied else tuple(RepairResult(one, is_done=False) for one in found)
    if as_json:
        rows = [_repair_values(one) for one in repaired]
        click.echo(json.dumps({"findings": rows, "applied": is_applied, "notes": list(view.notes)}))
    else:
        for one in repaired:
            click.echo(_repair_line(one, is_applied=is_applied))
        click.echo(_repair_summary(repaired, is_applied=is_applied))
    print_notes(view.notes, refresh_view(context))
    ctx.exit(Exit.FAILED if any(one.trouble for one in repaired) else Exit.OK)


def _result_from(file: str, output: str, code: str, message: str, *, recoverable: bool) -> GivenResult:
    if sum(map(bool, (file, output, code))) > 1:
        raise BadUsage("Use only one of --file, --output and --fail.", helps="agent-sync worker result --help")
    if code:
        return failed_result(code, message, recoverable=recoverable)
    if message or recoverable:
        raise BadUsage("--message and --recoverable need --fail.", helps="agent-sync worker result --help")
    if file:
        return parse_result(_content(file))
    return parse_result(json.dumps({"output": _json_value(output)})) if output else GivenResult()


def _json_value(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadInput(f"--output is not JSON: {error}.", helps='--output \'{"mpkPath": "out.mpk"}\'') from error


def _content(file: str) -> str:
    if file == "-":
        return sys.stdin.read(LARGEST)
    try:
        return Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{file} cannot be read: {error}.", helps="agent-sync worker result --help") from error


def _finished_values(finished: FinishedWork) -> dict[str, object]:
    more = {"escalated": finished.escalated, "filed": list(finished.filed), "trouble": finished.trouble}
    values = hook_values(finished.worker, finished.hook) | more
    return values | {"repeated": finished.is_repeat, "notes": list(finished.notes)}


def _tell_finished(finished: FinishedWork) -> None:
    task = finished.hook.task.id if finished.hook.task else ""
    already = " already" if finished.is_repeat else ""
    click.echo(f"{task} is {finished.hook.state}{already} on the hook of {finished.worker}.")
    if finished.escalated:
        click.echo(f"A human was asked: {finished.escalated}.")
    elif finished.hook.result and finished.hook.result.error:
        click.echo("To try again: agent-sync worker sling ISSUE WORKER")
    if finished.filed:
        click.echo("Filed: " + ", ".join(f"#{number}" for number in finished.filed))


def _repair_values(result: RepairResult) -> dict[str, object]:
    values = dataclasses.asdict(result.finding)
    worker = str(result.finding.worker) if result.finding.worker else None
    # The name that the field had in 0.1.0.
    values["mending"] = values.pop("repair")
    return values | {"worker": worker, "done": result.is_done, "trouble": result.trouble}


def _repair_line(result: RepairResult, *, is_applied: bool) -> str:
    finding = result.finding
    where = str(finding.worker) if finding.worker else f"#{finding.issue}"
    what = REPAIR_TEXTS[finding.repair]
    if finding.repair is Repair.TELL:
        return f"{where}: {finding.kind}: {finding.reason}. → {what}"
    if result.trouble:
        return f"{where}: {finding.kind}: {finding.reason}. → not done: {result.trouble}"
    if is_applied and not result.is_done:
        return f"{where}: {finding.kind}: {finding.reason}. → already resolved"
    return f"{where}: {finding.kind}: {finding.reason}. → {'done: ' if is_applied else 'would '}{what}"


def _repair_summary(results: tuple[RepairResult, ...], *, is_applied: bool) -> str:
    if not results:
        return "Nothing is wrong."
    open_ones = [one for one in results if one.finding.repair is not Repair.TELL and not one.is_done]
    return "" if is_applied or not open_ones else "Next: agent-sync worker repair --apply"


COMMANDS = (pause, result, clear, repair)
