"""`agent-sync worker list · status · show · history · rescues`: what hangs or hung on which hook."""

import dataclasses
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import click

from agent_sync.cli.console import working
from agent_sync.cli.here import context_here
from agent_sync.context import Context
from agent_sync.errors import BadInput, Exit
from agent_sync.fleet.reading import claims_here
from agent_sync.leases.model import Tip
from agent_sync.leases.results import Unreadable
from agent_sync.leases.words import span
from agent_sync.system import clock
from agent_sync.task.decision.outside_text import escaped, one_line, quoted
from agent_sync.work.forge import refresh_view
from agent_sync.work.hook.model import WorkHook
from agent_sync.work.hook.names import WorkerName, worker_named
from agent_sync.work.hook.reading import view_here
from agent_sync.work.hook.view import HookCommit, HookSeen, WorkView, holder_text, states_of
from agent_sync.work.housekeeping import rescues_here
from agent_sync.work.identity import bound_worker


def fetch_view(context: Context) -> WorkView:
    """Fetch and return all hooks and claims."""
    with working("reading the work hooks"):
        return view_here(context)


def print_notes(*groups: tuple[str, ...]) -> None:
    """Print what every reader must know, on stderr so that it never mixes with values."""
    for note in dict.fromkeys(note for group in groups for note in group):
        click.echo(f"note: {note}", err=True)


def hook_values(name: WorkerName, hook: WorkHook) -> dict[str, Any]:
    """Return everything on a hook as JSON values."""
    parts = {"task": hook.task, "ctx": hook.context, "result": hook.result, "handoff": hook.handoff}
    return {
        "worker": str(name),
        "status": hook.status.values(),
        **{key: part.values() if part else None for key, part in parts.items()},
        "attempts": [one.values() for one in hook.attempts],
    }


@click.command("list")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def listing(*, as_json: bool) -> None:
    """List all hooks: worker, state, task with its title, pull request, age, and what is wrong; asks GitHub nothing.

    \b
    Examples:
      agent-sync worker list
      agent-sync worker list --json | jq '.hooks[] | select(.computed != [])'
    """
    context = context_here()
    view, now = fetch_view(context), clock.now()
    pulls = _pulls_here(context)
    rows = [_row(view, seen, now, pulls) for _, seen in sorted(view.hooks.items())]
    if as_json:
        click.echo(json.dumps({"hooks": rows, "where": view.where, "notes": list(view.notes)}))
    else:
        for row in rows:
            click.echo(_line(row))
        if not rows:
            click.echo("No worker has a hook yet. Next: agent-sync worker sling ISSUE WORKER")
    print_notes(view.notes, refresh_view(context))


@click.command("status")
@click.argument("worker", required=False)
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def status(worker: str | None, *, as_json: bool) -> None:
    """Show the state of WORKER's work in one line (default: this session's worker).

    \b
    Examples:
      agent-sync worker status w1
      agent-sync worker status --json
    """
    context = context_here()
    view, seen = _hook_of_worker(context, worker)
    row = _row(view, seen, clock.now(), _pulls_here(context))
    click.echo(json.dumps(row | {"where": view.where, "notes": list(view.notes)}) if as_json else _line(row))
    print_notes(view.notes, refresh_view(context))


@click.command("show")
@click.argument("worker", required=False)
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.pass_context
def show(ctx: click.Context, worker: str | None, *, as_json: bool) -> None:
    """Show everything on the hook of WORKER; hashes are recomputed, and mismatches are marked (exit code 1).

    \b
    Examples:
      agent-sync worker show w1
      agent-sync worker show docs/w2 --json
    """
    context = context_here()
    view, seen = _hook_of_worker(context, worker)
    wrong = seen.tampering if seen.hook else (seen.damage,)
    values = hook_values(seen.name, seen.hook) if seen.hook else {"worker": str(seen.name), "damage": seen.damage}
    row = _row(view, seen, clock.now(), _pulls_here(context))
    checked = {
        "verified": not wrong,
        "disagreements": list(wrong),
        "computed": row["computed"],
        "holder": row["holder"],
    }
    if as_json:
        click.echo(json.dumps(values | checked | {"where": view.where, "notes": list(view.notes)}))
    else:
        click.echo(_line(row))
        for key, value in values.items():
            if value and key != "worker":
                shown = json.dumps(value, ensure_ascii=False, sort_keys=True)
                click.echo(f"  {key}: {escaped(shown, limit=10 * len(shown))}")
        for text in wrong:
            click.echo(f"  ✗ {text}")
    print_notes(view.notes, refresh_view(context))
    ctx.exit(Exit.FAILED if wrong else Exit.OK)


@click.command("history")
@click.argument("worker", required=False)
@click.option("-n", "most", type=click.IntRange(min=1), default=20, show_default=True, help="How many states to list.")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def states(worker: str | None, *, most: int, as_json: bool) -> None:
    """List the states that the hook of WORKER has been in, the newest first (default: this session's worker).

    Each line has the commit, for `worker rollback`, then time, state, what was done, branch, and who did it.

    \b
    Examples:
      agent-sync worker history w1
      agent-sync worker history w1 -n 3 --json | jq -r '.states[].commit'
    """
    from agent_sync.work.rollback import hook_history

    context = context_here()
    with working("reading the history"):
        found = hook_history(context, named_worker(context, worker, helps="agent-sync worker history w1"))
    rows = [_state_row(one) for one in found.states[:most]]
    if as_json:
        values = {"worker": str(found.worker), "states": rows, "left": len(found.states) - len(rows)}
        click.echo(json.dumps(values | {"where": found.where, "notes": list(found.notes)}))
    else:
        for row in rows:
            click.echo(_state_line(row))
    left = len(found.states) - len(rows)
    older = (
        (f"{left} older {'states are' if left > 1 else 'state is'} not shown: -n {len(found.states)}",) if left else ()
    )
    print_notes(found.notes, older)


def _state_row(one: HookCommit) -> dict[str, Any]:
    hook = one.hook
    return {
        "commit": one.sha,
        "at": one.at,
        "state": hook.state.value if hook else "UNREADABLE",
        "message": one_line(one.message.partition("\n")[0]),
        "task": hook.task.id if hook and hook.task else None,
        "issue": hook.status.issue if hook else None,
        "branch": hook.status.branch if hook else "",
        "by": hook.status.by if hook else "",
        "reason": hook.status.reason if hook else "",
    }


def _state_line(row: dict[str, Any]) -> str:
    at = datetime.fromisoformat(row["at"]).astimezone(UTC)
    parts = [f"{row['commit'][:12]}  {at:%Y-%m-%d %H:%M} UTC  {row['state']:<11}", row["message"]]
    parts += [one_line(row["branch"]), f"by {one_line(row['by'])}" if row["by"] else ""]
    return "  ".join(filter(None, parts))


@click.command("rescues")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def rescues(*, as_json: bool) -> None:
    """List the files that were not committed when work was paused, with the command that restores each.

    \b
    Examples:
      agent-sync worker rescues
      agent-sync worker rescues --json | jq -r '.rescues[].restore'
    """
    context = context_here()
    with working("reading the rescues"):
        view, found = rescues_here(context)
    if as_json:
        rows = [dataclasses.asdict(one) | {"kept_since": one.kept_since.isoformat()} for one in found]
        click.echo(json.dumps({"rescues": rows, "where": view.where, "notes": list(view.notes)}))
    else:
        for one in found:
            needed = "needed by paused work" if one.is_needed else "not needed by any work"
            click.echo(f"#{one.issue}  {one.kept_since:%Y-%m-%d %H:%M} UTC  {needed}\n  {one.restore}")
        if not found:
            click.echo("Nothing is kept.")
    print_notes(view.notes)


def named_worker(context: Context, worker: str | None, *, helps: str) -> str:
    """Return the worker that is named, or this session's."""
    said = worker or bound_worker(context)
    if not said:
        raise BadInput("Which worker?", helps=f"{helps}, or agent-sync worker list")
    return said


def _hook_of_worker(context: Context, worker: str | None) -> tuple[WorkView, HookSeen]:
    said = named_worker(context, worker, helps="agent-sync worker status w1")
    view = fetch_view(context)
    name = worker_named(said, view.hooks)
    seen = view.hooks.get(name)
    if seen is None:
        raise BadInput(f"{name} has no hook.", helps="agent-sync worker list")
    return view, seen


def _pulls_here(context: Context) -> dict[str, int]:
    """Return the pull requests of the claims in this clone by their nonces: a claim's ref learns of one later."""
    claims = (found.claim for found in claims_here(context))
    return {claim.lease.nonce: claim.pr_number for claim in claims if claim and claim.lease and claim.pr_number}


def _row(view: WorkView, seen: HookSeen, now: datetime, pulls: Mapping[str, int]) -> dict[str, Any]:
    hook = seen.hook
    if hook is None:
        return {
            "worker": str(seen.name),
            "state": "UNREADABLE",
            "computed": list(states_of(view, seen, now)),
            "reason": seen.damage,
        } | _NOBODY
    tip = view.claims.get(hook.status.issue or 0)
    return {
        "worker": str(seen.name),
        "state": hook.state.value,
        "task": hook.task.id if hook.task else None,
        "title": _title(hook),
        "pr": _pull(hook, tip) or pulls.get(hook.status.nonce),
        "issue": hook.status.issue,
        "since": hook.status.since.isoformat(),
        "ageS": max(0, int((now - hook.status.since).total_seconds())),
        "attempt": len(hook.attempts),
        "computed": list(states_of(view, seen, now)),
        "reason": hook.status.reason,
        "holder": holder_text(tip) if isinstance(tip, Tip) else None,
        "resumePoint": hook.handoff.resume_point if hook.handoff else None,
    }


_NOBODY: dict[str, Any] = dict.fromkeys(("task", "title", "pr", "issue", "since", "ageS", "holder"))


def _title(hook: WorkHook) -> str | None:
    """Return the issue's title as it was when the work was slung: nobody needs to be asked."""
    title = hook.task.input.get("title") if hook.task else None
    return one_line(title, limit=200) if isinstance(title, str) else None


def _pull(hook: WorkHook, tip: Tip | Unreadable | None) -> int | None:
    """Return the pull request of the work, as its result or its claim names it."""
    if hook.result and hook.result.evidence.pull_request:
        return hook.result.evidence.pull_request
    is_its_claim = isinstance(tip, Tip) and tip.lease.nonce == hook.status.nonce
    return tip.lease.pr if isinstance(tip, Tip) and is_its_claim else None


def _line(row: dict[str, Any]) -> str:
    parts = [f"{row['worker']:<20} {row['state']:<11}", row["task"] or "", quoted(row["title"]) if row["title"] else ""]
    parts += [f"PR #{row['pr']}" if row["pr"] else "", f"{span(row['ageS'])} old" if row["since"] else ""]
    parts += [", ".join(row["computed"])]
    return "  ".join(part for part in [*parts, one_line(row["reason"])] if part).rstrip()


COMMANDS = (listing, status, show, states, rescues)
