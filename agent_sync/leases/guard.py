"""Guards a plain `git push`: the branch of a claim whose lease is lost stays where it is."""

from collections.abc import Iterable

from agent_sync.context import Context
from agent_sync.leases.fence import gone_to, remember, stopped
from agent_sync.task.decision.actions import LeaseLost, LeftOnHook

_FIELDS = 4


def push_refusal(context: Context, lines: Iterable[str], *, remote: str) -> str | None:
    """Return why git must not push what its pre-push hook was told of; only a lease that is certainly lost counts."""
    claim = context.store.read()
    if claim is None or claim.lease is None or remote != context.settings.git.remote:
        return None
    if f"refs/heads/{claim.branch}" not in pushed_refs(lines):
        return None
    found = stopped(context, claim)
    if not isinstance(found, LeaseLost | LeftOnHook):
        return None
    remember(context, claim, found)
    return (
        f"branch {claim.branch} was not pushed: issue #{claim.issue_number} is {gone_to(found)}. "
        "The commits stay here; see `agent-sync status`."
    )


def pushed_refs(lines: Iterable[str]) -> frozenset[str]:
    """Return the remote refs that a pre-push hook's input speaks of."""
    parts = (line.split() for line in lines)
    return frozenset(words[2] for words in parts if len(words) == _FIELDS)
