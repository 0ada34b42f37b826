"""`agent-sync worker pause · clear · repair · rollback`: leaving work, and setting hooks right."""

import dataclasses
import json
from typing import TYPE_CHECKING

import click

from agent_sync.cli.console import working
from agent_sync.cli.here import context_here
from agent_sync.cli.work.worker_views import hook_values, named_worker, print_notes
from agent_sync.errors import Exit, WrongState
from agent_sync.system import clock
from agent_sync.task.decision.outside_text import quoted
from agent_sync.work.findings import REPAIR_TEXTS, Repair
from agent_sync.work.finishing import clear_hook
from agent_sync.work.forge import refresh_view
from agent_sync.work.handoff import HandoffNote, hand_off
from agent_sync.work.identity import required_worker
from agent_sync.work.repair import RepairResult, examine, repair as repair_all

if TYPE_CHECKING:
    from agent_sync.work.rollback import RolledBack

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
        raise WrongState("The remote cannot be reached, so nothing was repaired.", helps="agent-sync worker repair")
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


@click.command("rollback")
@click.argument("commit")
@click.argument("worker", required=False)
@click.option("--reason", default="", help="Why; kept on the hook and in its history.")
@click.option("--force", is_flag=True, help="Even while a session is at work on it, which then finds its claim lost.")
@click.option("--dry-run", is_flag=True, help="Only print what would be done.")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.pass_context
def rollback(
    ctx: click.Context, commit: str, worker: str | None, *, reason: str, force: bool, dry_run: bool, as_json: bool
) -> None:
    """Restore the state that the hook of WORKER had in COMMIT, as a new commit; nothing is deleted. For people only.

    Hook and claim change in one push: work that waited, was paused or in progress waits for the worker again; any other
    state ends the claim. The branch is only named, and never changed. `worker history` lists the commits.

    \b
    Examples:
      agent-sync worker history w1
      agent-sync worker rollback 1f3a9c27b0de w1 --dry-run
      agent-sync worker rollback 1f3a9c27b0de w1 --reason "the test server was down"
    """
    from agent_sync.work.rollback import roll_back

    context = context_here()
    with working("rolling the work back"):
        name = named_worker(context, worker, helps=f"agent-sync worker rollback {commit[:12]} w1")
        found = roll_back(context, commit, name, reason=reason, force=force, dry_run=dry_run)
    click.echo(json.dumps(_rolled_values(found))) if as_json else _tell_rolled(found, dry_run=dry_run)
    if dry_run:
        print_notes(found.notes)
        return
    context.log.write(
        clock.now(),
        "worker-rollback",
        worker=str(found.worker),
        commit=found.commit,
        forced=force,
        reason=reason or None,
    )
    print_notes(found.notes, refresh_view(context, asks_github=True))
    if found.trouble:
        click.echo(f"Rolled back, but GitHub was only partly updated: {found.trouble}", err=True)
        click.echo("  try: run the same command again", err=True)
    ctx.exit(Exit.PENDING if found.trouble else Exit.OK)


def _rolled_values(found: "RolledBack") -> dict[str, object]:
    more = {"commit": found.commit, "freed": list(found.freed), "repeated": found.is_repeat}
    return hook_values(found.worker, found.hook) | more | {"trouble": found.trouble, "notes": list(found.notes)}


def _tell_rolled(found: "RolledBack", *, dry_run: bool) -> None:
    hook, on = found.hook, f"on branch {quoted(found.hook.status.branch, limit=100)}"
    what, is_empty = (hook.task.id, False) if hook.task else ("its hook", True)
    state = "empty" if is_empty else f"{hook.state}{f' {on}' if found.waits else ''}"
    freed = " and ".join(f"#{number}" for number in found.freed)
    if dry_run:
        refs = " and ".join(found.refs)
        click.echo(
            f"would write {refs} in one push: {what} would be {state}" if refs else f"nothing to do: {what} is {state}"
        )
        return
    verb = "is already rolled back" if found.is_repeat else "was rolled back"
    waits = " The worker's next session takes it." if found.waits else ""
    click.echo(f"{found.worker} {verb} to {found.commit[:12]}: {what} is {state}.{waits}")
    if freed:
        click.echo(f"Issue {freed} can be claimed again.")


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


COMMANDS = (pause, clear, repair, rollback)
