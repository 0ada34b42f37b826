"""`agent-sync ledger`: tasks, convoys and evidence, from the work hooks' history."""

import sys

import click

from agent_sync.cli.console import working
from agent_sync.cli.here import context_here
from agent_sync.cli.work.worker_views import print_notes
from agent_sync.task.decision.outside_text import one_line
from agent_sync.work.forge import lines, refresh_view
from agent_sync.work.ledger import read_ledger
from agent_sync.work.ledger_rows import LedgerKind, LedgerRow


@click.command("ledger")
@click.option("--format", "form", type=click.Choice(["jsonl", "table"]), help="Default: a table on a terminal.")
@click.option("--kind", type=click.Choice([kind.value for kind in LedgerKind]), default="tasks", show_default=True)
@click.option("--json", "as_json", is_flag=True, help="The same as --format jsonl.")
def command(*, form: str | None, kind: str, as_json: bool) -> None:
    """List every task, convoy or result that the work hooks have ever seen, from their history.

    \b
    Examples:
      agent-sync ledger
      agent-sync ledger --format jsonl
      agent-sync ledger --kind evidence --format jsonl | jq 'select(.verified | not)'
    """
    context = context_here()
    with working("reading the histories"):
        found = read_ledger(context, LedgerKind(kind))
    if as_json or form == "jsonl" or (form is None and not sys.stdout.isatty()):
        click.echo(lines(found.rows).decode(), nl=False)
    else:
        for row in found.rows:
            click.echo(_line(row))
        if not found.rows:
            click.echo(f"No {kind} yet.")
    print_notes(found.notes, refresh_view(context, asks_github=True))


def _line(row: LedgerRow) -> str:
    name, said = str(row.get("id") or row.get("taskId")), str(row["status"])
    match row:
        case {"progress": {"closed": closed, "total": total}}:
            more = f"{closed} of {total} closed  {one_line(str(row['title']))}"
        case {"verified": verified}:
            more = f"{'✓ verified' if verified else '✗ ' + '; '.join(row['disagreements'])}  {row['worker']}"
        case _:
            title = one_line(str(row["title"]))
            mark = "✗ tampered  " if row.get("tampering") else ""
            more = f"{row['hook_status']:<11}  {mark}{row['assignee']}  {len(row['attempts'])} attempts  {title}"
    return f"{name:<20} {said:<12} {more}"
