"""Tells where git pushes to another repository than the one whose issues are worked on."""

from agent_sync.context import Context
from agent_sync.errors import BadConfig, Refused
from agent_sync.gateway.transport.address import address_of, repository_of


def refuse_fork(context: Context, push_url: str, issue: int) -> None:
    """Stop where nobody who works on an issue would see its claim, because git pushes to a fork."""
    if context.settings.lease.where == "clone":
        return
    try:
        issues = address_of(context)[0].full_name
        pushes = repository_of(push_url, remote=context.settings.git.remote).full_name
    except BadConfig:
        return
    if issues.casefold() == pushes.casefold():
        return
    message = f"Issue #{issue} is of {issues}, and git pushes to {pushes}, where nobody looks for claims."
    helps = f"agent-sync claim {issue} --local for this clone only, or push to {issues} where you may"
    raise Refused(message, attempted=f"claiming issue #{issue}", helps=helps)
