"""`agent-sync push`: push the claim's branch."""

import click

from agent_sync.cli.console import working
from agent_sync.cli.here import claim_here, context_here
from agent_sync.context import Context
from agent_sync.errors import Refused, WrongState
from agent_sync.gates.pull import refuse_committed_claim
from agent_sync.leases.fence import push_or_refuse, refuse_shared_push
from agent_sync.leases.words import scope
from agent_sync.task.claim.model import Claim
from agent_sync.task.claim.phases import Phase
from agent_sync.task.loop import acting_alone


@click.command("push")
@click.option("--dry-run", is_flag=True, help="Only print what would be done.")
def command(*, dry_run: bool) -> None:
    """Push the claim's branch to the remote, fast-forward only, and the renewed lease with it in one go.

    Refuses with exit code 3 if the lease is lost; then neither of the two moves. So is a branch whose newest
    commit has the claim file, or whose pull request is merged, with exit code 1.

    \b
    Example:
      agent-sync push
    """
    context = context_here()
    with acting_alone(context, "pushing"):
        _push(context, dry_run=dry_run)


def _push(context: Context, *, dry_run: bool) -> None:
    claim = claim_here(context)
    head = context.git.head_of(claim.branch) if claim.branch else None
    if head is None:
        raise WrongState(
            f"Branch {claim.branch or '(none)'} does not exist in this clone.", helps="git switch -c BRANCH"
        )
    refuse_shared_push(context, claim.branch)
    refuse_committed_claim(context, claim.branch, head)
    _refuse_merged(claim)
    if dry_run:
        click.echo(f"would push {claim.branch} at {head[:12]} to {context.remotes.push}")
        return
    is_new = context.git.remote_head_of(context.remotes.push, claim.branch) != head
    with working(f"pushing {claim.branch}"):
        claim = push_or_refuse(context, claim, claim.branch, head)
    elsewhere = "" if context.git.current_branch() == claim.branch else _elsewhere(context, claim)
    said = (
        f"Pushed {claim.branch} at {head[:12]}"
        if is_new
        else f"Everything is already pushed: {claim.branch} is at {head[:12]}"
    )
    click.echo(f"{said}.{elsewhere}{_scope(context, claim) if is_new else ''}")


def _elsewhere(context: Context, claim: Claim) -> str:
    """Say that the branch that was pushed is not the one that is checked out."""
    current = context.git.current_branch()
    here = f"Branch {current}, which is checked out, was not pushed" if current else "HEAD is detached"
    return f" {here}; {claim.branch} is the claim's branch: git switch {claim.branch}"


def _refuse_merged(claim: Claim) -> None:
    """Stop where the pull request is known to be merged: nobody would see what came after it."""
    if claim.phase is Phase.MERGED_DETECTED and claim.pr_number:
        message = f"PR #{claim.pr_number} is merged: commits that are pushed to {claim.branch} now reach nobody."
        helps = "agent-sync done, which leaves them on their branch here; then claim an issue for what is left"
        raise Refused(message, attempted=f"pushing branch {claim.branch}", helps=helps)


def _scope(context: Context, claim: Claim) -> str:
    return " " + scope(claim.lease.where, remote=context.remotes.base) if claim.lease else ""
