"""`agent-sync status`: claim, recovery record, branch, PR, CI, issue and card side by side."""

import dataclasses
import json
import sys
import time

import click

from agent_sync.cli.console import working
from agent_sync.cli.fleet.fleet import show_all
from agent_sync.cli.here import context_here, for_reader
from agent_sync.cli.record.hook_views import RecordView, record_seen
from agent_sync.cli.telling import next_line, situation_values
from agent_sync.clients import agent_here
from agent_sync.context import Context
from agent_sync.errors import AgentSyncError
from agent_sync.events.parts.briefing import head_line
from agent_sync.lazy_dataclasses import dataclass
from agent_sync.leases.fence import LeaseStop, known_loss, lease_stop
from agent_sync.leases.words import lease_line
from agent_sync.reconcile.side_by_side import Row, rows
from agent_sync.task.claim.model import Claim
from agent_sync.task.claim.phases import Phase
from agent_sync.task.decision.drift.comparing import issue_of
from agent_sync.task.decision.facts import Branch, IssueSeen, Pull, Watched
from agent_sync.task.decision.next_step import next_step
from agent_sync.task.decision.situation import Known
from agent_sync.task.situation_here import pull_beside, situation_of

OK, BAD = "✓", "✗"
_WATCHING = "Watching; interrupt to stop."
_NOT_WATCHED = "Not watched from inside a session: hooks look while it is idle."


@dataclass(frozen=True)
class StatusAnswers:
    """What GitHub and the lease were asked, and what kept them from answering."""

    rows: tuple[Row, ...] = ()
    pull: Pull | None = None
    issue: IssueSeen | None = None
    lease: LeaseStop | None = None
    trouble: str = ""


@click.command("status")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.option("--watch", is_flag=True, help="Look again and again until interrupted; inside a session once.")
@click.option("--all", "everywhere", is_flag=True, help="Every task of the repository, in four lanes.")
@click.option("--offline", is_flag=True, help="Only what is known here, without asking GitHub.")
def command(*, as_json: bool, watch: bool, everywhere: bool, offline: bool) -> None:
    """Show claim, recovery record, branch, pull request, CI, issue and card side by side, and mark what disagrees.

    \b
    Examples:
      agent-sync status
      agent-sync status --json | jq .claim.phase
      agent-sync status --all
      agent-sync status --all --json | jq '.tasks[] | select(.lane == "needs_you")'
    """
    if everywhere:
        _show_fleet(context_here(keeps_record=False), as_json=as_json, watches=watch)
        return
    context = context_here()
    # A tool call of an agent would never end.
    is_watching = watch and not agent_here(context.environment)
    instead_of_watch = _WATCHING if is_watching else _NOT_WATCHED if watch else ""
    while True:
        _show(context, as_json=as_json, offline=offline, instead_of_watch=instead_of_watch)
        if not is_watching:
            return
        sys.stdout.flush()
        time.sleep(max(5.0, context.settings.checks.backoff_s))
        context = context_here()


def _show_fleet(context: Context, *, as_json: bool, watches: bool) -> None:
    if not watches or agent_here(context.environment):
        show_all(context, as_json=as_json)
        return
    from agent_sync.cli.fleet.watch import watch

    watch(context, everywhere=True, as_values=as_json)


def _show(context: Context, *, as_json: bool, offline: bool, instead_of_watch: str) -> None:
    claim = context.store.read()
    recorded = record_seen(context)
    if claim is None:
        _show_unclaimed(context, recorded, as_json=as_json)
        return
    asked = _ask_github(context, claim, offline=offline)
    stands = situation_of(context, claim, Known(pull=asked.pull, issue=asked.issue, lease=asked.lease))
    lease = lease_line(claim.lease, asked.lease, remote=context.remotes.base)
    if as_json:
        values = {"claim": json.loads(claim.to_json()), "rows": [dataclasses.asdict(row) for row in asked.rows]}
        seen = {"next": next_step(stands).command, "trouble": asked.trouble, "lease": lease, "record": recorded.values}
        click.echo(json.dumps(values | seen | {"situation": situation_values(stands)}))
        return
    click.echo(for_reader(context, head_line(claim, stands)))
    if lease:
        click.echo(f"  {'lease':<13} {lease}")
    for line in recorded.lines:
        click.echo(line)
    _draw(asked.rows) if sys.stdout.isatty() else _print(asked.rows)
    if asked.trouble:
        click.echo(f"GitHub could not be asked: {asked.trouble}", err=True)
    click.echo(next_line(stands, instead_of_watch=instead_of_watch))


def _show_unclaimed(context: Context, recorded: RecordView, *, as_json: bool) -> None:
    stands = situation_of(context, None)
    if as_json:
        values = {"claim": None, "record": recorded.values, "next": next_step(stands).command}
        click.echo(json.dumps(values | {"situation": situation_values(stands)}))
        return
    click.echo("No claim is held in this worktree.")
    for line in recorded.lines:
        click.echo(line)
    click.echo(next_line(stands))


def _ask_github(context: Context, claim: Claim, *, offline: bool) -> StatusAnswers:
    if offline:
        return StatusAnswers(lease=known_loss(claim))
    lease = lease_stop(context, claim, looks_again=True)
    branch = Branch(
        context.git.head_of(claim.branch) if claim.branch else None, context.git.current_branch() == claim.branch
    )
    pull, own = None, None
    try:
        with working("asking GitHub"):
            if claim.phase is Phase.CODING and claim.branch and not claim.pr_number:
                beside = pull_beside(context, claim)
                pull, own = beside.pull, beside.pull if beside.is_own else None
            if claim.pr_number:
                number, issue = claim.pr_number, claim.issue_number
                pull = context.gateway.pull(number, with_checks=True, issue=issue, watched=Watched(branch=claim.branch))
                own = pull
            task = context.gateway.task(claim.issue_number)
    except AgentSyncError as error:
        return StatusAnswers(pull=own, lease=lease, trouble=str(error))
    return StatusAnswers(rows(claim, branch, task, pull), own, issue_of(task), lease)


def _print(found: tuple[Row, ...]) -> None:
    for row in found:
        note = f"   {BAD} {row.disagrees}" if row.disagrees else ""
        click.echo(f"  {row.name:<13} {row.says}{note}")


def _draw(found: tuple[Row, ...]) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    table = Table("", "", "says", "but", show_lines=False)
    for row in found:
        mark = f"[red]{BAD}[/red]" if row.disagrees else f"[green]{OK}[/green]"
        table.add_row(mark, row.name, escape(row.says), escape(row.disagrees))
    Console().print(table)
