"""`agent-sync worker`: work hooks, where work hangs until it is done."""

import copy
import dataclasses
import json
import sys
from datetime import timedelta
from functools import partial

import click

from agent_sync.cli.console import working
from agent_sync.cli.here import context_here
from agent_sync.cli.issue_numbers import issue_number
from agent_sync.cli.task.issue_brief import brief_values, tell_brief
from agent_sync.cli.work import worker_care, worker_endings, worker_views
from agent_sync.cli.work.worker_views import hook_values, print_notes
from agent_sync.context import Context
from agent_sync.errors import BadInput, Exit, Refused
from agent_sync.lazy_patterns import pattern
from agent_sync.leases.claim_refs import claim_ref
from agent_sync.system import clock
from agent_sync.task.decision.outside_text import quoted
from agent_sync.work.forge import refresh_view
from agent_sync.work.hook.model import JsonObject
from agent_sync.work.hook.states import WorkState
from agent_sync.work.identity import bound_worker
from agent_sync.work.sling import Sling, Slung, sling as slung_to
from agent_sync.work.take import Begun, take as taken_from
from agent_sync.work.take_decision import TakeVerdict

_DURATION = pattern(r"([1-9][0-9]{0,5})([smhd])")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}
_VERBS = {TakeVerdict.START: "Started", TakeVerdict.RESUME: "Resumed", TakeVerdict.RESTART: "Restarted"}


@click.group("worker")
def command() -> None:
    """Assign (sling) work to workers, take it, pause it, give results: it stays on the hook until it is done."""


@command.command("sling")
@click.argument("issue")
@click.argument("worker")
@click.option("--type", "kind", default="code", show_default=True, help="What kind of task it is.")
@click.option("--tool", "tools", multiple=True, help="A tool the worker needs; three to five, may be repeated.")
@click.option("--timeout", default="", help="How long it may take: 90m, 2h, 1d.")
@click.option("--input", "given", default="", help="More input for the task, as a JSON object.")
@click.option("--force", is_flag=True, help="Even if it is blocked, has open sub-issues, or is out of attempts.")
@click.option("--dry-run", is_flag=True, help="Only print what would be done.")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def sling(
    issue: str,
    worker: str,
    *,
    kind: str,
    tools: tuple[str, ...],
    timeout: str,
    given: str,
    force: bool,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Hang ISSUE on the hook of WORKER (`pool/worker`, or a bare name): claim and hook change together or not at all.

    Refuses what is closed, blocked or taken, an epic with open sub-issues, and a worker with work on its hook. Starts
    no process: the worker's next session finds the work and starts it.

    \b
    Examples:
      agent-sync worker sling 42 w1
      agent-sync worker sling 42 docs/w2 --type validate --tool git --tool pytest --tool ruff --timeout 2h
      agent-sync worker sling 42 w1 --dry-run
    """
    context = context_here()
    wish = Sling(_number(issue), worker, kind, tools, _duration(timeout), _object(given), force)
    with working(f"slinging #{wish.issue}"):
        done = slung_to(context, wish, dry_run=dry_run)
    result = done.value
    if as_json:
        values = hook_values(result.worker, result.hook) | {"repeated": result.is_repeat, "dryRun": dry_run}
        click.echo(json.dumps(values | {"notes": [*done.view.notes, *result.notes]}))
    else:
        _tell_slung(result, dry_run=dry_run)
    if dry_run:
        print_notes(done.view.notes, result.notes)
        return
    context.log.write(clock.now(), "sling", issue=wish.issue, worker=str(result.worker), requests=context.requests)
    print_notes(done.view.notes, result.notes, refresh_view(context, asks_github=True))


def _tell_slung(result: Slung, *, dry_run: bool) -> None:
    task = result.hook.task.id if result.hook.task else ""
    if dry_run:
        issue = result.hook.status.issue or 0
        click.echo(f"would write {claim_ref(issue)} and {result.worker.ref} in one push: {task} to {result.worker}")
    elif result.is_repeat:
        click.echo(f"{task} is already on the hook of {result.worker}.")
    else:
        click.echo(f"Slung {task} to {result.worker}. The worker's next session will start it.")


@command.command("take")
@click.option("--worker", "name", default="", help="The worker; default: AGENT_SYNC_WORKER, or the one used before.")
@click.option("--yes", is_flag=True, help="A human agrees to a branch that is not named after the issue.")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.pass_context
def take(ctx: click.Context, *, name: str, yes: bool, as_json: bool) -> None:
    """Take the work on this worker's hook: branch, claim file, board, assignment.

    Hook and claim are moved before any work begins. Work that was paused, put back, or whose claim has expired in
    another worktree is resumed from the commits on its branch. Taking the same work again changes nothing. Exit code 8:
    the work is yours, but GitHub is not fully updated yet; run it again.

    \b
    Examples:
      agent-sync worker take --worker w1
      AGENT_SYNC_WORKER=docs/w2 agent-sync worker take
    """
    context = context_here()
    said = bound_worker(context, flag=name)
    if not said:
        click.echo("warning: this session is not bound to a worker, so it has no work hook.", err=True)
        click.echo("  try: agent-sync worker take --worker pool/worker", err=True)
        ctx.exit(Exit.OK)
    # Only here: the views need none of it.
    from agent_sync.cli.asking import agrees_here
    from agent_sync.task.loop import acting_alone

    with working("taking the work"), acting_alone(context, "taking work"):
        begun = taken_from(context, said, partial(agrees_here, yes=yes))
    _refuse_blocked(context, begun)
    click.echo(json.dumps(_values(begun))) if as_json else _tell_taken(begun)
    print_notes(begun.notes, refresh_view(context, asks_github=True))
    trouble = begun.local.trouble if begun.local else ""
    if trouble:
        click.echo(f"Taken, but GitHub was only partly updated: {trouble}", err=True)
    _log_taken(context, begun)
    ctx.exit(Exit.PENDING if trouble else Exit.OK)


def _refuse_blocked(context: Context, begun: Begun) -> None:
    """Stop where something is in the way of the work: nothing was taken, which is no success."""
    work = begun.work
    if work.hook and work.hook.state is WorkState.BLOCKED:
        print_notes(begun.notes, refresh_view(context, asks_github=True))
        reason = work.decision.reason[:1].upper() + work.decision.reason[1:]
        message = f"{reason}; the work stays on the hook of {work.worker}."
        raise Refused(message, attempted=f"taking from {work.worker}", helps="agent-sync worker list")


def _log_taken(context: Context, begun: Begun) -> None:
    issue = begun.work.hook.status.issue if begun.work.hook else None
    context.log.write(
        clock.now(), "take", worker=str(begun.work.worker), issue=issue, verdict=begun.work.decision.verdict
    )


def _values(begun: Begun) -> dict[str, object]:
    work = begun.work
    lease = work.tip.lease if work.tip else None
    return {
        "worker": str(work.worker),
        "verdict": work.decision.verdict.value,
        "reason": work.decision.reason,
        "hook": hook_values(work.worker, work.hook) if work.hook else None,
        "lease": {"epoch": lease.epoch, "nonce": lease.nonce, "sha": work.tip.sha} if lease and work.tip else None,
        "issue": brief_values(begun.local.brief) if begun.local and begun.local.brief else None,
        "onBranch": dataclasses.asdict(work.on_branch),
        "restore": begun.restore,
        "notes": list(begun.notes),
    }


def _tell_taken(begun: Begun) -> None:
    work = begun.work
    if not work.runs or work.hook is None or work.hook.task is None:
        click.echo(f"{work.worker}: {work.decision.reason}.")
        return
    verb, branch = _VERBS[work.decision.verdict], quoted(work.on_branch.name, limit=100)
    click.echo(f"{verb} {work.hook.task.id} on branch {branch}: {work.decision.reason}.")
    if work.on_branch.commits:
        click.echo(work.on_branch.text)
    if work.hook.handoff:
        click.echo(f"Resume point: {quoted(work.hook.handoff.resume_point or 'the last commit', limit=1000)}")
    if begun.local and begun.local.claim.pr_number:
        click.echo(f"Its pull request is #{begun.local.claim.pr_number}.")
    tell_brief(begun.local.brief if begun.local else None)
    if begun.restore:
        click.echo(f"What was not committed is kept; restore it with: {begun.restore}")


def _number(text: str) -> int:
    helps = "agent-sync worker sling 42 w1"
    number = issue_number(text, helps=helps)
    if number is None:
        raise BadInput(f"{text!r} is not an issue number.", helps=helps)
    return number


def _duration(text: str) -> timedelta | None:
    found = _DURATION.fullmatch(text)
    if text and not found:
        raise BadInput(f"{text!r} is not a duration.", helps="--timeout 90m, 2h or 1d")
    return timedelta(**{_UNITS[found[2]]: int(found[1])}) if found else None


def _object(text: str) -> JsonObject | None:
    if not text:
        return None
    try:
        values = json.loads(sys.stdin.read() if text == "-" else text)
    except (ValueError, RecursionError) as error:
        raise BadInput(f"--input is not JSON: {error}.", helps='--input \'{"path": "src"}\'') from error
    if not isinstance(values, dict):
        raise BadInput("--input is not a JSON object.", helps='--input \'{"path": "src"}\'')
    return values


for _module in (worker_views, worker_care, worker_endings):
    for _command in _module.COMMANDS:
        command.add_command(_command)
# The name of 0.1.0: it keeps working and is not listed.
_handoff = copy.copy(worker_care.pause)
_handoff.hidden = True
command.add_command(_handoff, "handoff")
