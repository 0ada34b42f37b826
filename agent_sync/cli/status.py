"""`agent-sync status`: the claim held here and its next step."""

import json

import click

from agent_sync.claim.store import ClaimStore
from agent_sync.cli.here import place_here
from agent_sync.hooks.briefing import held


@click.command("status")
@click.option("--json", "as_json", is_flag=True, help="The claim as JSON.")
def command(*, as_json: bool) -> None:
    """Show the claim held in this worktree and its next step.

    \b
    Example:
      agent-sync status
    """
    claim = ClaimStore(place_here()).read()
    if as_json:
        click.echo(json.dumps({"claim": json.loads(claim.to_json()) if claim else None}))
    else:
        click.echo(held(claim) if claim else "No claim is held in this worktree.")
