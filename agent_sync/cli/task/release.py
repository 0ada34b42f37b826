"""`agent-sync release`: give the task back."""

import click

from agent_sync.cli.console import working
from agent_sync.cli.here import claim_here, context_here
from agent_sync.cli.issue_numbers import issue_number
from agent_sync.context import Context
from agent_sync.errors import BadInput
from agent_sync.leases.claim_refs import claim_ref
from agent_sync.leases.fence import worker_of
from agent_sync.leases.words import holder_name, release_text
from agent_sync.system.git import LONGEST_BRANCH
from agent_sync.task.claim.model import Claim
from agent_sync.task.decision.outside_text import one_line
from agent_sync.task.freeing import Stuck, free, stuck_issue
from agent_sync.task.loop import acting_alone
from agent_sync.task.releasing import LeftClaim, give_back, left_claim

_EXAMPLE = "agent-sync release 42 --force"


@click.command("release")
@click.argument("issue", required=False)
@click.option("--reason", default="", help="Why; kept in the log, and for a claim of somebody else on the issue.")
@click.option("--force", is_flag=True, help="Even with an open pull request, or when GitHub cannot be reached.")
@click.option("--dry-run", is_flag=True, help="Only print what would be done.")
def command(issue: str | None, *, reason: str, force: bool, dry_run: bool) -> None:
    """Give the task back: card to Todo, assignment removed, lease released, claim file deleted. The branch stays.

    Work from a worker's hook is taken off that hook in the same push.

    If somebody else has taken the task over, only the claim file here is deleted. ISSUE also releases a claim of this
    clone whose claim file or worktree is gone. With ISSUE and --force a person frees a claim that its holder left, also
    one made by hand; the holder finds it lost, and the issue gets a comment.

    \b
    Examples:
      agent-sync release
      agent-sync release --reason "needs a decision first"
      agent-sync release 42 --force --reason "the machine is gone"
    """
    context = context_here()
    number = _number(issue)
    held = context.store.read() if number else None
    if number is None or (held and held.issue_number == number):
        _release(context, None, reason=reason, force=force, dry_run=dry_run)
        return
    left = left_claim(context, number)
    if left:
        _release(context, left, reason=reason, force=force, dry_run=dry_run)
    else:
        _free(context, number, reason=reason, force=force, dry_run=dry_run)


def _release(context: Context, left: LeftClaim | None, *, reason: str, force: bool, dry_run: bool) -> None:
    """Release the claim of this worktree, or one of this clone that has lost its file."""
    if dry_run:
        _tell_plan(context, left.claim if left else claim_here(context), has_file=left is None)
        return
    with working("giving the task back"), acting_alone(context, "giving the task back"):
        claim = left.claim if left else claim_here(context)
        given = give_back(context, claim, reason=reason, force=force, is_here=left is None or left.is_here)
    if given.gone_to:
        only = "only the claim file here was deleted" if left is None else "nothing was changed"
        click.echo(f"Issue #{claim.issue_number} is {given.gone_to}; {only}.")
    else:
        lease = f" {release_text(claim.lease.where, remote=context.remotes.base)}" if claim.lease else ""
        click.echo(f"Issue #{claim.issue_number} was released.{lease}")
    click.echo(_checkout(context, claim))
    if given.trouble:
        click.echo(f"The board was not updated: {given.trouble}", err=True)


def _tell_plan(context: Context, claim: Claim, *, has_file: bool) -> None:
    file = " and delete .agent-claim.json" if has_file else ""
    click.echo(f"would move the card of issue #{claim.issue_number} to {context.settings.board.ready}")
    click.echo(f"would clear Agent, take your assignment back (2 requests){file}")
    if claim.lease and claim.may_act:
        hook = f" and take it off the hook of {worker_of(claim)}, in one push" if worker_of(claim) else ""
        click.echo(f"would release {claim_ref(claim.issue_number)} ({claim.lease.where}){hook}")


def _checkout(context: Context, claim: Claim) -> str:
    """Say which branch is checked out: the claim's stays as it is."""
    current = one_line(context.git.current_branch() or "", limit=LONGEST_BRANCH)
    if current == claim.branch or not claim.branch:
        return f"You are still on branch {current}." if current else "HEAD is detached."
    here = f"you are on branch {current}" if current else "HEAD is detached"
    return f"Branch {claim.branch} is unchanged; {here}."


def _number(issue: str | None) -> int | None:
    number = issue_number(issue or "", helps=_EXAMPLE)
    if issue and number is None:
        raise BadInput(f"{one_line(issue)!r} is not the number of an issue.", helps=_EXAMPLE)
    return number


def _free(context: Context, number: int, *, reason: str, force: bool, dry_run: bool) -> None:
    """Free a claim that is not of this worktree."""
    if not force:
        message = f"Issue #{number} is not held in this worktree; to free it takes --force."
        raise BadInput(message, helps=f"agent-sync release {number} --force")
    with working(f"freeing issue #{number}"):
        if dry_run:
            _tell_freeing(context, stuck_issue(context, number))
            return
        freed = free(context, number, reason=reason)
    click.echo(f"Issue #{number} was freed; {freed.was}.")
    for line in freed.stays:
        click.echo(one_line(line, limit=300))
    if freed.trouble:
        click.echo(f"GitHub was only partly updated: {freed.trouble}", err=True)


def _tell_freeing(context: Context, found: Stuck) -> None:
    number = found.task.number
    if found.unreadable:
        click.echo(f"would replace {claim_ref(number)}, which cannot be read (1 push)")
    elif found.tip and found.is_held:
        click.echo(f"would release {claim_ref(number)} of {holder_name(found.tip.lease)} (2 pushes)")
    click.echo(f"would move the card of issue #{number} to {context.settings.board.ready}, clear Agent,")
    click.echo("take the holder's assignment back and comment on the issue (2 requests)")
