"""`agent-sync reconcile`: compare everything that says something of the task, and repair what is ours."""

import json
from typing import Any

import click

from agent_sync.cli.console import working
from agent_sync.cli.here import context_here
from agent_sync.cli.telling import next_line
from agent_sync.context import Context
from agent_sync.reconcile.comparison import differences
from agent_sync.reconcile.difference import DOES, Difference
from agent_sync.reconcile.fleet_comparison import FLEET_DOES
from agent_sync.reconcile.fleet_repairing import Repaired, compare_all, repair_all
from agent_sync.reconcile.looking import look
from agent_sync.reconcile.repairing import repair
from agent_sync.task.claim.model import Claim
from agent_sync.task.decision.outside_text import one_line
from agent_sync.task.situation_here import situation_of

_COMPARED = "git, pull request, CI, issue, card, lease, record and work hook"


@click.command("reconcile")
@click.option("--all", "everywhere", is_flag=True, help="Every claim of the repository, whoever holds it.")
@click.option("--dry-run", is_flag=True, help="Compare, and only list what would be repaired.")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def command(*, everywhere: bool, dry_run: bool, as_json: bool) -> None:
    """Compare git, pull request, CI, issue, card, lease, record and work hook, and repair what is agent-sync's own.

    Every difference is one line. What a person chose (a card, an assignment, a base branch) is said and left as it is.
    Repairing twice changes nothing. The exit code is 0 with or without differences.

    With --all every claim of the repository is compared with its issue, pull request and card: claims that have expired
    are freed with a comment (never one made by hand, nor one with an open pull request), those that a wrong clock has
    dated in the future run from now, card and assignment of ended claims are cleared, and claim refs of closed issues
    are deleted.

    \b
    Examples:
      agent-sync reconcile --dry-run
      agent-sync reconcile --all
      agent-sync reconcile --json | jq '.differences[] | select(.remedy == "left")'
    """
    context = context_here(keeps_record=not dry_run)
    if everywhere:
        _reconcile_all(context, dry_run=dry_run, as_json=as_json)
        return
    claim = context.store.read()
    if claim is None:
        _show_unclaimed(context, as_json=as_json)
        return
    with working("comparing"):
        seen = look(context, claim)
        found = differences(seen)
        is_repaired = any(one.is_ours for one in found) and not dry_run
        if is_repaired:
            repair(context, seen, found)
        left = _left(context) if is_repaired else found
    rows = [_row(one, dry_run=dry_run, is_left=one in left) for one in found]
    if as_json:
        values = {"issue": claim.issue_number, "dry_run": dry_run, "requests": context.requests, "differences": rows}
        click.echo(json.dumps(values, ensure_ascii=False))
        return
    click.echo(f"Issue #{claim.issue_number}: {_COMPARED} compared; {_count(len(found))}.")
    for row in rows:
        click.echo(f"  {row['side']:<13} {row['says']} — {row['outcome']}")


def _reconcile_all(context: Context, *, dry_run: bool, as_json: bool) -> None:
    with working("comparing all claims"):
        compared = compare_all(context)
        found = compared.differences
        results = tuple(Repaired(one) for one in found) if dry_run else repair_all(context, found)
    rows = [_fleet_row(one, dry_run=dry_run) for one in results]
    if as_json:
        values = {"claims": compared.claims, "dry_run": dry_run, "requests": context.requests, "differences": rows}
        click.echo(json.dumps(values | {"reason": compared.reason}, ensure_ascii=False))
        return
    claims = f"{compared.claims} claim{'' if compared.claims == 1 else 's'}"
    click.echo(f"{claims} compared; {_count(len(found))}.")
    for row in rows:
        click.echo(f"  {'#' + str(row['issue']):<8} {row['says']} — {row['outcome']}")
    if compared.reason:
        click.echo(f"Not everything could be compared: {one_line(compared.reason, limit=300)}")


def _fleet_row(result: Repaired, *, dry_run: bool) -> dict[str, Any]:
    one = result.difference
    does = FLEET_DOES[one.remedy]
    outcome = does + (f" ({one.helps})" if one.helps else "")
    if one.is_ours:
        note = f"; {result.note}" if result.note else ""
        done = f"not repaired: {result.trouble}" if result.trouble else f"repaired ({does}){note}"
        outcome = f"would {does}" if dry_run else done
    values = {"issue": one.issue, "says": one.says, "remedy": one.remedy.value, "helps": one.helps}
    return values | {"repaired": result.is_done, "trouble": result.trouble, "outcome": outcome}


def _left(context: Context) -> tuple[Difference, ...]:
    """Return what differs after the repair; a claim that has ended differs from nothing."""
    claim: Claim | None = context.store.read()
    return differences(look(context, claim)) if claim else ()


def _row(one: Difference, *, dry_run: bool, is_left: bool) -> dict[str, Any]:
    does = DOES[one.remedy]
    if not one.is_ours:
        outcome = does + (f" ({one.helps})" if one.helps else "")
    elif dry_run:
        outcome = f"would {does}"
    else:
        outcome = f"not repaired; try `agent-sync sync` ({does})" if is_left else f"repaired ({does})"
    repaired = one.is_ours and not dry_run and not is_left
    values = {"side": one.side.value, "says": one.says, "remedy": one.remedy.value, "helps": one.helps}
    return values | {"repaired": repaired, "outcome": outcome}


def _count(number: int) -> str:
    return "everything agrees" if not number else f"{number} difference{'s' if number > 1 else ''}"


def _show_unclaimed(context: Context, *, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps({"issue": None, "differences": []}))
        return
    click.echo("No claim is held in this worktree: there is nothing to compare.")
    click.echo(next_line(situation_of(context, None)))
