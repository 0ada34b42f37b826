"""`agent-sync board`: the board in columns."""

import dataclasses
import json
import sys
from collections import defaultdict

import click

from agent_sync.cli.console import working
from agent_sync.cli.here import context_here, refuse_without_board
from agent_sync.task.decision.outside_text import one_line
from agent_sync.task.decision.tasks import BoardIssue

NO_STATUS = "No status"


@click.command("board")
@click.option("--json", "as_json", is_flag=True, help="Every issue as JSON.")
@click.option("-n", "--limit", default=20, show_default=True, help="How many per column; 0 means all.")
def command(*, as_json: bool, limit: int) -> None:
    """Show the board, column by column.

    \b
    Examples:
      agent-sync board
      agent-sync board --json
    """
    context = context_here()
    refuse_without_board(context)
    with working("reading the board"):
        issues = list(context.gateway.board_issues())
    if as_json:
        click.echo(json.dumps([dataclasses.asdict(issue) for issue in issues]))
        return
    columns: dict[str, list[BoardIssue]] = defaultdict(list)
    for issue in issues:
        columns[issue.status or NO_STATUS].append(issue)
    shown = {name: column[: limit or None] for name, column in columns.items()}
    if sys.stdout.isatty():
        _draw(columns, shown)
    else:
        _print(columns, shown)


def _print(columns: dict[str, list[BoardIssue]], shown: dict[str, list[BoardIssue]]) -> None:
    for name, issues in shown.items():
        click.echo(f"{one_line(name)} ({len(columns[name])})")
        for issue in issues:
            click.echo(f"  {_cell(issue)}")


def _draw(columns: dict[str, list[BoardIssue]], shown: dict[str, list[BoardIssue]]) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    table = Table(show_lines=False, expand=True)
    for name, issues in columns.items():
        table.add_column(f"{escape(one_line(name))} ({len(issues)})", ratio=1)
    for row in range(max(map(len, shown.values()), default=0)):
        cells = (issues[row] if row < len(issues) else None for issues in shown.values())
        table.add_row(*(escape(_cell(issue)) if issue else "" for issue in cells))
    Console().print(table)


def _cell(issue: BoardIssue) -> str:
    holder = issue.agent or ", ".join(issue.assignees)
    marks = f" · {one_line(holder, limit=30)}" if holder else ""
    blocked = " · blocked" if issue.open_blockers else ""
    priority = f" [{issue.priority}]" if issue.priority else ""
    return f"#{issue.number}{priority} {one_line(issue.title, limit=60)}{marks}{blocked}"
