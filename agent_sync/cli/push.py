"""`agent-sync push`: push the claim's branch."""

import click

from agent_sync.cli.console import working
from agent_sync.cli.here import claim_here, desk_here
from agent_sync.errors import BadInput


@click.command("push")
@click.option("--dry-run", is_flag=True, help="Only list what would be done.")
def command(*, dry_run: bool) -> None:
    """Push the claim's branch to the remote, fast-forward only.

    \b
    Example:
      agent-sync push
    """
    desk = desk_here()
    claim = claim_here(desk)
    head = desk.git.head_of(claim.branch) if claim.branch else None
    if head is None:
        raise BadInput(f"Branch {claim.branch or '(none)'} is not here.", helps="git switch -c BRANCH")
    if dry_run:
        click.echo(f"would push {claim.branch} at {head[:12]} to {desk.settings.git.remote}")
        return
    with working(f"pushing {claim.branch}"):
        desk.git.push(desk.settings.git.remote, claim.branch, head)
    click.echo(f"Pushed {claim.branch} at {head[:12]}.")
