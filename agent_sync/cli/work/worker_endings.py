"""`agent-sync worker result · cancel`: how work on a hook ends."""

import json
import sys
from pathlib import Path

import click

from agent_sync.cli.console import working
from agent_sync.cli.here import context_here
from agent_sync.cli.work.worker_views import hook_values, print_notes
from agent_sync.errors import BadInput, BadUsage, Exit
from agent_sync.system import clock
from agent_sync.work.endings.cancelling import CancelledWork, cancel_work
from agent_sync.work.finishing import FinishedWork, GivenResult, failed_result, finish_work, parse_result
from agent_sync.work.forge import refresh_view
from agent_sync.work.hook.states import WorkState
from agent_sync.work.identity import required_worker

LARGEST = 1 << 20


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
    """Give the result of work without a pull request; the evidence (hashes, commit, tree) is computed here.

    The tree must be clean: the commit is pushed first, then the hook is COMPLETE and this worktree is free. Work with a
    pull request needs no result: its hook is complete once that is merged and closed. A recoverable failure releases
    the claim; the third one, or a permanent one, asks a human by label and comment.

    \b
    Examples:
      agent-sync worker result --output '{"remediationPatch": "cache.py"}'
      agent-sync worker result --file result.json --open-issues
      agent-sync worker result --fail E_FLAKY --message "The test server was down" --recoverable
    """
    context = context_here()
    given = _result_from(file, output, code, message, recoverable=recoverable)
    with working("giving the result"):
        finished = finish_work(
            context,
            required_worker(context, flag=name),
            given,
            open_issues=open_issues,
            given_in=_path_below(context.place.root, file),
        )
    click.echo(json.dumps(_finished_values(finished))) if as_json else _tell_finished(finished)
    context.log.write(clock.now(), "worker-result", worker=str(finished.worker), state=finished.hook.state)
    print_notes(finished.notes, refresh_view(context, asks_github=True))
    if finished.trouble:
        click.echo(f"The result is saved, but GitHub was only partly updated: {finished.trouble}", err=True)
        click.echo("  try: run the same command again", err=True)
    ctx.exit(Exit.PENDING if finished.trouble else Exit.OK)


@click.command("cancel")
@click.argument("worker")
@click.option("--reason", default="", help="Why; kept on the hook and in its history.")
@click.option("--force", is_flag=True, help="Even while the work is under way; only a person may, and it is recorded.")
@click.option("--dry-run", is_flag=True, help="Only print what would be done.")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.pass_context
def cancel(ctx: click.Context, worker: str, *, reason: str, force: bool, dry_run: bool, as_json: bool) -> None:
    """Take the work off the hook of WORKER and give its issue back, in one push; the history stays.

    For whoever has slung it, and for a person at a terminal. Work that a session is at is refused without --force; with
    it that session finds its claim lost, keeps its files, and the issue gets a comment.

    \b
    Examples:
      agent-sync worker cancel w1 --reason "not needed any more"
      agent-sync worker cancel docs/w2 --force --reason "the machine is gone"
    """
    context = context_here()
    with working("cancelling the work"):
        cancelled = cancel_work(context, worker, reason, force=force, dry_run=dry_run)
    click.echo(json.dumps(_cancelled_values(cancelled))) if as_json else _tell_cancelled(cancelled, dry_run=dry_run)
    if dry_run:
        print_notes(cancelled.notes)
        return
    context.log.write(clock.now(), "worker-cancel", worker=str(cancelled.worker), forced=force, reason=reason or None)
    print_notes(cancelled.notes, refresh_view(context, asks_github=True))
    if cancelled.trouble:
        click.echo(f"Cancelled, but GitHub was only partly updated: {cancelled.trouble}", err=True)
        click.echo("  try: run the same command again", err=True)
    ctx.exit(Exit.PENDING if cancelled.trouble else Exit.OK)


def _cancelled_values(cancelled: CancelledWork) -> dict[str, object]:
    values = hook_values(cancelled.worker, cancelled.hook) | {"repeated": cancelled.is_repeat}
    return values | {"trouble": cancelled.trouble, "notes": list(cancelled.notes)}


def _tell_cancelled(cancelled: CancelledWork, *, dry_run: bool) -> None:
    task, issue = cancelled.hook.task.id if cancelled.hook.task else "", cancelled.hook.status.issue
    if dry_run:
        click.echo(f"would take {task} off the hook of {cancelled.worker} and give issue #{issue} back, in one push")
        return
    already = " already" if cancelled.is_repeat else ""
    click.echo(f"{task} is{already} cancelled; {cancelled.worker} is free, and issue #{issue} can be claimed again.")


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


def _path_below(root: str, file: str) -> str:
    """Return the path of the result's own file in the worktree; empty where it lies elsewhere."""
    if not file or file == "-":
        return ""
    path = Path(file).resolve()
    return str(path.relative_to(root)) if path.is_relative_to(root) else ""


def _finished_values(finished: FinishedWork) -> dict[str, object]:
    more = {"escalated": finished.escalated, "filed": list(finished.filed), "trouble": finished.trouble}
    values = hook_values(finished.worker, finished.hook) | more
    return values | {"repeated": finished.is_repeat, "notes": list(finished.notes)}


def _tell_finished(finished: FinishedWork) -> None:
    task = finished.hook.task.id if finished.hook.task else ""
    already = " already" if finished.is_repeat else ""
    free = " This worktree is free for the next task." if finished.hook.state is WorkState.COMPLETE else ""
    click.echo(f"{task} is {finished.hook.state}{already} on the hook of {finished.worker}.{free}")
    if finished.escalated:
        click.echo(f"A human was asked: {finished.escalated}.")
    elif finished.hook.result and finished.hook.result.error:
        click.echo("To try again: agent-sync worker sling ISSUE WORKER")
    if finished.filed:
        click.echo("Filed: " + ", ".join(f"#{number}" for number in finished.filed))


COMMANDS = (result, cancel)
