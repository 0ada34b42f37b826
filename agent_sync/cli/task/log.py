"""`agent-sync log`: what was done, newest last."""

import json
from typing import Any

import click

from agent_sync.cli.here import place_here
from agent_sync.system.masking import Log

_SHOWN_APART = ("at", "what")


@click.command("log")
@click.option("--json", "as_json", is_flag=True, help="One JSON object per line, as it was written.")
@click.option("-n", "--last", default=50, show_default=True, help="How many records; 0 means all.")
def command(*, as_json: bool, last: int) -> None:
    """Show what agent-sync did in this repository, newest last.

    \b
    Examples:
      agent-sync log
      agent-sync log --json --last 0 | jq .requests
    """
    records = list(Log(place_here()).records())[-last:]
    for record in records:
        click.echo(json.dumps(record) if as_json else log_line(record))
    if not records and not as_json:
        click.echo("The log is empty.")


def log_line(record: dict[str, Any]) -> str:
    """Return one record as people read it."""
    rest = "  ".join(f"{key}={value}" for key, value in record.items() if key not in _SHOWN_APART)
    return f"{str(record.get('at', ''))[:19]}  {record.get('what', '?'):<16}  {rest}"
