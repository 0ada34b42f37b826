"""`agent-sync board`: the board in columns."""

import dataclasses
import json
import sys

import click

from agent_sync.cli.console import working
from agent_sync.cli.here import context_here, refuse_without_board
from agent_sync.task.contributing import naming_fork
from agent_sync.task.decision.outside_text import one_line
from agent_sync.task.decision.tasks import BoardColumn, BoardIssue

SHOWN, IN_JSON = 20, 50


@click.command("board")
@click.option("--json", "as_json", is_flag=True, help="As a JSON list, 50 issues per column unless -n says otherwise.")
@click.option("-n", "--limit", default=None, type=click.IntRange(min=0), help="How many per column; 0 means all.  [20]")
def command(*, as_json: bool, limit: int | None) -> None:
    """Show the board, column by column, as it orders them; issues of other repositories as owner/name#n.

    \b
    Examples:
      agent-sync board
      agent-sync board --json
    """
    context = context_here()
    refuse_without_board(context)
    with working("reading the board"), naming_fork(context):
        columns = context.gateway.board_columns(limit if limit is not None else IN_JSON if as_json else SHOWN)
    if as_json:
        click.echo(json.dumps([dataclasses.asdict(issue) for column in columns for issue in column.issues]))
        for column in columns:
            if len(column.issues) < column.count:
                click.echo(f"note: {_cut(column)}", err=True)
    elif sys.stdout.isatty():
        _draw(columns)
    else:
        _print(columns)


def _cut(column: BoardColumn) -> str:
    return f"{column.count - len(column.issues)} more in {one_line(column.name)}; -n 0 lists all"


def _print(columns: tuple[BoardColumn, ...]) -> None:
    for column in columns:
        click.echo(f"{one_line(column.name)} ({column.count})")
        for issue in column.issues:
            click.echo(f"  {_cell(issue)}")


def _draw(columns: tuple[BoardColumn, ...]) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    table = Table(show_lines=False, expand=True)
    for column in columns:
        table.add_column(f"{escape(one_line(column.name))} ({column.count})", ratio=1)
    for row in range(max((len(column.issues) for column in columns), default=0)):
        cells = (column.issues[row] if row < len(column.issues) else None for column in columns)
        table.add_row(*(escape(_cell(issue)) if issue else "" for issue in cells))
    Console().print(table)


def _cell(issue: BoardIssue) -> str:
    marks = f" · {one_line(issue.holder, limit=30)}" if issue.holder else ""
    blocked = " · blocked" if issue.open_blockers else ""
    priority = f" [{issue.priority}]" if issue.priority else ""
    return f"{one_line(issue.name)}{priority} {one_line(issue.title, limit=60)}{marks}{blocked}"
