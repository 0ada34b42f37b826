"""`agent-sync release`: give the task back."""

import click

from agent_sync.cli.console import working
from agent_sync.cli.here import claim_here, desk_here
from agent_sync.rounds import acting_alone
from agent_sync.taking import give_back


@click.command("release")
@click.option("--reason", default="", help="Why; kept in the log.")
@click.option("--force", is_flag=True, help="Even with an open pull request, or when GitHub cannot be reached.")
@click.option("--dry-run", is_flag=True, help="Only list what would be done.")
def command(*, reason: str, force: bool, dry_run: bool) -> None:
    """Give the task back: the card to Todo, the assignment taken back, the claim file deleted. The branch stays.

    \b
    Examples:
      agent-sync release
      agent-sync release --reason "needs a decision first"
    """
    desk = desk_here()
    if dry_run:
        claim = claim_here(desk)
        click.echo(f"would move the card of issue #{claim.issue_number} to {desk.settings.board.ready}")
        click.echo("would clear Agent, take your assignment back (2 requests) and delete .agent-claim.json")
        return
    with working("giving the task back"), acting_alone(desk, "giving the task back"):
        claim = claim_here(desk)
        trouble = give_back(desk, claim, reason=reason, force=force)
    click.echo(f"Issue #{claim.issue_number} is given back. Branch {claim.branch} stays as it is.")
    if trouble:
        click.echo(f"The board could not be told: {trouble}", err=True)
