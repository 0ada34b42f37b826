"""Says in one line how a claim's lease stands."""

from agent_sync import clock
from agent_sync.claim.model import Claim
from agent_sync.desk import Desk
from agent_sync.leases.rules import heard_of_at
from agent_sync.leasing.fence import stopped
from agent_sync.leasing.words import moment, scope, span
from agent_sync.lifecycle.actions import LeaseLost, LeaseUnknown


def lease_line(desk: Desk, claim: Claim, *, offline: bool) -> str:
    """Return for whom the lease holds, its mode, age and end, after a look at its ref unless that is not wanted."""
    lease = claim.lease
    if lease is None:
        return ""
    match stopped(desk, claim) if not offline or claim.is_lost else None:
        case LeaseLost(lost_to):
            return f"LOST: the issue is held by {lost_to}. Nothing will be written to GitHub from here."
        case LeaseUnknown(reason):
            return f"unknown: {reason} Nothing will be written to GitHub until this is resolved."
        case None:
            now = clock.now()
            renewed_at = heard_of_at(lease.renewed_at, now)
            age = (now - renewed_at).total_seconds()
            left = lease.ttl_s - age
            ends = "never expires (claimed by hand)" if lease.mode == "manual" else f"expires in {span(left)}"
            known = scope(lease.where, remote=desk.settings.git.remote)
            return f"{known} Epoch {lease.epoch}, renewed {span(age)} ago ({moment(renewed_at)}), {ends}."
