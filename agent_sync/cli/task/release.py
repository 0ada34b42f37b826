"""`agent-sync release`: give the task back."""

import click

from agent_sync.cli.console import working
from agent_sync.cli.here import claim_here, context_here
from agent_sync.leases.refs.remote import CLAIMS
from agent_sync.leases.words import ended
from agent_sync.task.loop import acting_alone
from agent_sync.task.releasing import give_back


@click.command("release")
@click.option("--reason", default="", help="Why; kept in the log.")
@click.option("--force", is_flag=True, help="Even with an open pull request, or when GitHub cannot be reached.")
@click.option("--dry-run", is_flag=True, help="Only print what would be done.")
def command(*, reason: str, force: bool, dry_run: bool) -> None:
    """Give the task back: card to Todo, assignment removed, lease released, claim file deleted. The branch stays.

    If somebody else has taken the task over, only the claim file here is deleted.

    \b
    Examples:
      agent-sync release
      agent-sync release --reason "needs a decision first"
    """
    context = context_here()
    if dry_run:
        claim = claim_here(context)
        click.echo(f"would move the card of issue #{claim.issue_number} to {context.settings.board.ready}")
        click.echo("would clear Agent, take your assignment back (2 requests) and delete .agent-claim.json")
        if claim.lease and claim.may_act:
            click.echo(f"would release {CLAIMS}{claim.issue_number} ({claim.lease.where})")
        return
    with working("giving the task back"), acting_alone(context, "giving the task back"):
        claim = claim_here(context)
        given = give_back(context, claim, reason=reason, force=force)
    if given.gone_to:
        click.echo(f"Issue #{claim.issue_number} is {given.gone_to}. Only the claim file here was deleted.")
        return
    lease = f" {ended(claim.lease.where, remote=context.settings.git.remote)}" if claim.lease else ""
    click.echo(f"Issue #{claim.issue_number} was released. Branch {claim.branch} is unchanged.{lease}")
    if given.trouble:
        click.echo(f"The board was not updated: {given.trouble}", err=True)
