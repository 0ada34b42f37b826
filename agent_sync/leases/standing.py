"""Says in one line how a claim's lease stands."""

from agent_sync.context import Context
from agent_sync.leases.fence import Stop
from agent_sync.leases.rules import heard_of_at
from agent_sync.leases.words import moment, scope, span
from agent_sync.system import clock
from agent_sync.task.claim.model import Claim
from agent_sync.task.decision.actions import LeaseLost, LeaseUnknown, LeftOnHook


def lease_line(context: Context, claim: Claim, found: Stop | None) -> str:
    """Return for whom the lease holds, its mode, age and end; `found` is what a look at its ref came to."""
    lease = claim.lease
    if lease is None:
        return ""
    match found:
        case LeaseLost(lost_to):
            return f"LOST: the issue is held by {lost_to}. Nothing more will be written to GitHub from here."
        case LeftOnHook(worker):
            return f"left on the hook of {worker}, where the next session takes it."
        case LeaseUnknown(reason):
            return f"unknown: {reason} Nothing will be written to GitHub until it can be checked."
        case None:
            now = clock.now()
            renewed_at = heard_of_at(lease.renewed_at, now)
            age = (now - renewed_at).total_seconds()
            left = lease.ttl_s - age
            ends = "never expires (claimed by hand)" if lease.mode == "manual" else f"expires in {span(left)}"
            known = scope(lease.where, remote=context.settings.git.remote)
            return f"{known} Epoch {lease.epoch}, renewed {span(age)} ago ({moment(renewed_at)}), {ends}."
