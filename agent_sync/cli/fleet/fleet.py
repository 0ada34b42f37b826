"""`agent-sync` and `agent-sync status --all`: every task of the repository, whoever holds it."""

import json
import sys
from datetime import datetime
from pathlib import Path
from typing import Any

import click

from agent_sync.cli.console import working
from agent_sync.cli.fleet.lanes import drawn, head_line, plain_lines
from agent_sync.cli.telling import situation_values
from agent_sync.context import Context
from agent_sync.fleet.look import seen_of
from agent_sync.fleet.projection import FleetView, as_json, project
from agent_sync.fleet.reading import Fleet, FleetHook, WorktreeClaim, read_fleet
from agent_sync.leases.model import Lease, Tip
from agent_sync.leases.refs.values import Where
from agent_sync.leases.results import Unreadable
from agent_sync.leases.rules import expires_at, is_dated_ahead, is_expired
from agent_sync.leases.words import dated_ahead, span, way_out
from agent_sync.system import clock
from agent_sync.task.decision.outside_text import one_line, quoted


def show_all(context: Context, *, as_json: bool) -> None:
    """Print the fleet in its lanes, and its work hooks; scripts get the leases behind it too."""
    with working("asking the remote and GitHub"):
        refs = read_fleet(context)
        seen = seen_of(context, refs)
    now = clock.now()
    view = project(seen, now)
    if as_json:
        click.echo(json.dumps(fleet_values(context, refs, view, now), ensure_ascii=False))
        return
    if not view.tasks and context.settings.project.number is None and not Path(context.place.settings_file).exists():
        click.echo("agent-sync is not set up in this repository.\nNext: agent-sync init")
        return
    if sys.stdout.isatty():
        _draw(view, now)
    else:
        for line in plain_lines(view, now):
            click.echo(line)
    for hook in refs.hooks:
        click.echo(_hook_line(hook))
    click.echo(_reach(context, refs))


def fleet_values(context: Context, refs: Fleet, view: FleetView, now: datetime) -> dict[str, Any]:
    """Return the fleet for programs: its tasks, and the leases and work hooks they were found in."""
    rows = rows_of(refs, now, allowance_s=context.settings.lease.allowance_s)
    for row in rows:
        row.update(_situation_columns(view, row["root"]))
    hooks = [{"worker": hook.worker, "status": hook.status, "trouble": hook.trouble} for hook in refs.hooks]
    return as_json(view) | {"where": refs.where.value, "reason": refs.reason, "claims": rows, "hooks": hooks}


def _draw(view: FleetView, now: datetime) -> None:
    from rich.console import Console

    console = Console(highlight=False)
    console.print(head_line(view), style="bold", markup=False)
    console.print(drawn(view, now))


def rows_of(seen: Fleet, now: datetime, *, allowance_s: float) -> list[dict[str, Any]]:
    """Return one row for every lease that is held and for every claim here without one, by issue."""
    rows = [_lease_row(tip, seen.here, now, allowance_s) for tip in seen.held]
    rows += [_unreadable_row(one) for one in seen.unreadable]
    shown = {row["root"] for row in rows}
    rows += [_local_row(one) for one in seen.here if one.root not in shown]
    return sorted(rows, key=lambda row: (row["issue"] or 0, row["root"] or ""))


def _situation_columns(view: FleetView, root: str | None) -> dict[str, Any]:
    """Return how the task of a worktree of this clone stands; of others only their lease is known."""
    task = next((task for task in view.tasks if root and task.worktree == root), None)
    if task is None or task.situation is None:
        return {}
    return {"situation": situation_values(task.situation), "next": task.next_command}


def _lease_row(tip: Tip, here: tuple[WorktreeClaim, ...], now: datetime, allowance_s: float) -> dict[str, Any]:
    lease = tip.lease
    own = next((one for one in here if _is_of(one, tip)), None)
    phase = own.claim.phase.value if own and own.claim else one_line(lease.phase, limit=40)
    is_ahead = is_dated_ahead(lease, now)
    ends = None if lease.mode == "manual" or is_ahead else expires_at(lease, now)
    age_s = max(0.0, (now - lease.acquired_at).total_seconds())
    return _row(
        issue=lease.issue,
        holder=_holder(lease),
        machine=one_line(lease.holder.host, limit=60),
        phase=phase,
        branch=one_line(lease.branch),
        epoch=lease.epoch,
        age=span(age_s),
        age_s=round(age_s),
        mode=lease.mode.value,
        expires_at=ends.isoformat() if ends else None,
        expired=is_expired(lease, now, allowance_s),
        expiry=dated_ahead(lease) if is_ahead else _expiry(ends, now, is_expired=is_expired(lease, now, allowance_s)),
        where=tip.where.value,
        root=own.root if own else None,
    )


def _holder(lease: Lease) -> str:
    """Return who holds a lease, for programs: in JSON every text is quoted already."""
    place = one_line(f"{lease.holder.user}@{lease.holder.host}")
    return f"{one_line(lease.holder.agent, limit=60)} ({place})" if lease.holder.agent else place


def _expiry(ends: datetime | None, now: datetime, *, is_expired: bool) -> str:
    if ends is None:
        return "never expires"
    return "EXPIRED" if is_expired else f"expires in {span((ends - now).total_seconds())}"


def _is_of(held: WorktreeClaim, tip: Tip) -> bool:
    claim = held.claim
    return bool(
        claim and claim.lease and claim.issue_number == tip.lease.issue and claim.lease.nonce == tip.lease.nonce
    )


def _local_row(held: WorktreeClaim) -> dict[str, Any]:
    claim = held.claim
    if claim is None:
        return _row(root=held.root, trouble=held.trouble)
    lost = f"lost to {one_line(claim.lease.lost_to)}" if claim.lease and claim.is_lost else ""
    lost = f"left on the hook of {quoted(claim.lease.left_on, limit=60)}" if claim.lease and claim.is_left else lost
    without = "" if claim.lease else "no lease"
    values = {"issue": claim.issue_number, "phase": claim.phase.value, "branch": claim.branch}
    return _row(**values, root=held.root, trouble=lost or without)


def _unreadable_row(one: Unreadable) -> dict[str, Any]:
    trouble = f"unreadable: {one_line(one.unknown.reason, limit=300)}"
    return _row(issue=one.issue, trouble=trouble, next=way_out(one.issue, one.unknown.doubt))


def _row(**values: Any) -> dict[str, Any]:
    empty = dict.fromkeys(("issue", "holder", "machine", "phase", "branch", "epoch", "age", "age_s", "mode"))
    rest = {"expires_at": None, "expired": False, "expiry": "", "where": None, "root": None, "trouble": ""}
    return {**empty, **rest, "situation": None, "next": "", **values}


def _hook_line(hook: FleetHook) -> str:
    if hook.trouble:
        return f"work hook {quoted(hook.worker, limit=60)}: unreadable: {hook.trouble}"
    state = hook.status.get("status") or hook.status.get("state") or "unknown"
    return f"work hook {quoted(hook.worker, limit=60)}: {quoted(str(state), limit=60)}"


def _reach(context: Context, seen: Fleet) -> str:
    if seen.where is Where.REMOTE:
        return f"From {context.remotes.base}, just now."
    return f"Only what this clone knows: {one_line(seen.reason, limit=300)}."
