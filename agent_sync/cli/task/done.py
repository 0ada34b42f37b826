"""`agent-sync done`: record a human's consent to close the issue."""

import click

from agent_sync.cli.here import claim_here, context_here, is_session, refuse_agent
from agent_sync.cli.task.sync import sync_and_report
from agent_sync.clients import agent_here
from agent_sync.context import Context
from agent_sync.errors import Exit, Refused
from agent_sync.leases.fence import known_loss, refuse
from agent_sync.system import clock
from agent_sync.task.claim.model import Claim
from agent_sync.task.claim.phases import Phase
from agent_sync.task.decision import messages
from agent_sync.task.decision.actions import Consented
from agent_sync.task.decision.decide import is_merge_of
from agent_sync.task.decision.evolve import evolve
from agent_sync.task.decision.facts import Pull, PullState
from agent_sync.task.loop import acting_alone


@click.command("done")
@click.option(
    "--unmerged", "--yes", "unmerged", is_flag=True, help="A human closes the issue although its PR is not merged."
)
@click.option("--now", is_flag=True, help="Close at once, also inside a Claude Code session.")
@click.option("--later", is_flag=True, help="Only record the consent; the next stop or `agent-sync sync` closes.")
@click.option("--dry-run", is_flag=True, help="Only list what would be done.")
def command(*, unmerged: bool, now: bool, later: bool, dry_run: bool) -> None:
    """Record a human's consent, close the issue, move the card and delete the claim file.

    This is for people. Agents ask; a wake-up is not consent. Inside a Claude Code session the issue is closed when the
    turn ends. With --unmerged, which an agent may not give, the pull request stays as it is. Exit code 8: the consent
    is recorded, and the issue is not closed yet.

    \b
    Examples:
      agent-sync done
      agent-sync done --unmerged
    """
    context = context_here()
    if unmerged:
        refuse_agent(context.environment, "close an issue whose work is not merged", attempted="recording consent")
    with acting_alone(context, "recording consent"):
        claim = claim_here(context)
        refuse(context, claim, known_loss(claim), attempted="recording consent")
        if not unmerged:
            _refuse_unmerged(context, claim)
        if not dry_run:
            with context.store.locked() as token:
                context.store.save(token, seen=claim, changed=evolve(claim, Consented(even_unmerged=unmerged)))
            context.log.write(clock.now(), "done", issue=claim.issue_number, even_unmerged=unmerged)
    if dry_run:
        click.echo(f"would set the phase of issue #{claim.issue_number} to done")
        click.echo("would comment, close the issue, move the card to Done, clear Agent (2 requests), delete the file")
        return
    if unmerged and claim.pr_number and claim.phase is not Phase.MERGED_DETECTED:
        click.echo(f"PR #{claim.pr_number} is not merged by this, and stays open if it is open.")
    if now or not (later or is_session(context)):
        sync_and_report(context)
        if context.store.read():
            click.get_current_context().exit(Exit.PENDING)
    else:
        click.echo(f"Consent recorded: issue #{claim.issue_number} will be closed when this turn ends.")


def _refuse_unmerged(context: Context, claim: Claim) -> None:
    """What is known to be merged needs no question; otherwise GitHub is asked."""
    if claim.phase is Phase.MERGED_DETECTED:
        return
    pull = _pull(context, claim)
    if pull is None or not is_merge_of(claim, pull):
        raise Refused(messages.not_merged(claim, pull).text, helps=_helps(context, pull))


def _helps(context: Context, pull: Pull | None) -> str:
    """Return how the work gets merged: by a person, or after a handoff where there is nothing to merge."""
    if pull is None or pull.state is not PullState.OPEN:
        return "agent-sync handoff"
    import shutil

    if agent_here(context.environment) or shutil.which("gh", path=context.environment.get("PATH")) is None:
        return f"a human merges {pull.url}, then agent-sync done"
    return f"gh pr merge {pull.url}"


def _pull(context: Context, claim: Claim) -> Pull | None:
    if claim.pr_number:
        return context.gateway.pull(claim.pr_number, with_checks=False)
    return context.gateway.branch_pull(claim.branch) if claim.branch else None
