"""`agent-sync guard-push`: what a pre-push hook of git asks before code leaves this clone."""

import sys

import click

from agent_sync.cli.here import context_here
from agent_sync.errors import AgentSyncError, Exit
from agent_sync.leases.fence import push_refusal


@click.command("guard-push")
@click.argument("remote", required=False)
@click.argument("url", required=False)
@click.pass_context
def command(ctx: click.Context, remote: str | None, url: str | None) -> None:
    """Refuse to push the claim's branch once its lease is lost; reads what git gives a pre-push hook.

    \b
    Example:
      echo "refs/heads/work 1a2b refs/heads/work 3c4d" | agent-sync guard-push origin
    """
    del url
    try:
        context = context_here()
        refusal = push_refusal(context, sys.stdin, remote=remote or context.remotes.push)
    except AgentSyncError as error:
        # A guard that cannot look is no reason to keep work from being saved.
        click.echo(f"agent-sync: the lease was not checked: {error}", err=True)
        return
    if refusal:
        click.echo(f"agent-sync: {refusal}", err=True)
        ctx.exit(Exit.LOST)
