"""Says who holds a lease, since when and until when; names come from other machines and are made harmless."""

from datetime import datetime

from agent_sync.leases import rules
from agent_sync.leases.identity import holder_machine
from agent_sync.leases.model import Holder, Lease, LeaseMode, LeaseState
from agent_sync.leases.refs.transports import RemoteTransport
from agent_sync.leases.refs.values import RefTransport, Where
from agent_sync.leases.results import Doubt
from agent_sync.system import clock
from agent_sync.task.claim.model import LeaseNote
from agent_sync.task.decision.actions import LeaseLost, LeaseUnknown, LeftOnHook
from agent_sync.task.decision.claimable import login_of
from agent_sync.task.decision.outside_text import quoted

MINUTE, HOUR, DAY = 60, 3600, 86_400
_UNITS = ((DAY, "d"), (HOUR, "h"), (MINUTE, "min"))


def holder_name(lease: Lease) -> str:
    """Return who holds a lease as people read it, and the machine where that is another one."""
    there = "" if is_this_machine(lease.holder) else f" on {quoted(lease.holder.host, limit=60)}"
    return f"{quoted(agent_label(lease.holder), limit=120)}{there}"


def agent_label(holder: Holder) -> str:
    """Return the agent of a lease as login/directory or pool/worker; of an older lease its name on the board."""
    name = holder.agent or holder.user
    is_worker = "/" in holder.agent
    return f"{login_of(name) or name}/{holder.directory}" if holder.directory and not is_worker else name


def is_this_machine(holder: Holder) -> bool:
    """Tell whether a lease is held on this machine."""
    return holder.host == holder_machine()[0]


def held_by(lease: Lease) -> str:
    """Return who holds a lease, since when, on which branch and until when."""
    branch = f" on branch {quoted(lease.branch)}" if lease.branch else ""
    if lease.state is not LeaseState.HELD:
        left = moment(rules.heard_of_at(lease.renewed_at, clock.now()))
        did = "finished" if lease.state is LeaseState.DONE else "released"
        where = f" (branch {quoted(lease.branch)})" if lease.branch else ""
        return f"{holder_name(lease)}, who {did} it at {left}{where}"
    since = moment(rules.heard_of_at(lease.acquired_at, clock.now()))
    return f"{holder_name(lease)} since {since}{branch}; {expiry(lease)}"


def expiry(lease: Lease) -> str:
    """Return until when a lease lasts if nobody renews it."""
    if lease.mode is LeaseMode.MANUAL:
        return "it was claimed by hand and never expires"
    if rules.is_dated_ahead(lease, clock.now()):
        return dated_ahead(lease)
    return f"it expires at {moment(rules.expires_at(lease, clock.now()))} unless it is renewed"


def dated_ahead(lease: Lease) -> str:
    """Return that a wrong clock has dated a lease, which says nothing of when it runs out."""
    return f"its last renewal is dated {moment(lease.renewed_at)}, in the future"


def redating(issue: int) -> str:
    """Return what ends a lease that is dated in the future."""
    return f"agent-sync reconcile --all; a person: agent-sync release {issue} --force"


def blocked_text(transport: RefTransport, above: str) -> str:
    """Say which ref is in the way of ours, and how whoever may write there removes it."""
    remedy = f"remove it with `git update-ref -d {above}`"
    if isinstance(transport, RemoteTransport):
        remedy = f"whoever may write to the repository removes it with `git push {transport.remote.name} :{above}`"
    return f"The ref {above} is in the way of every ref below it: {remedy}."


def way_out(issue: int, doubt: Doubt) -> str:
    """Return the command that makes a claim ref usable again; empty where none of ours does."""
    match doubt:
        case Doubt.UNREADABLE:
            return f"agent-sync release {issue} --force"
        case Doubt.TOO_NEW:
            return "pipx upgrade agent-sync-github"
        case Doubt.BLOCKED:
            return "remove that ref, then the same command"
        case _:
            return ""


def moment(at: datetime) -> str:
    """Return a moment to the minute."""
    return at.strftime("%Y-%m-%d %H:%M UTC")


def span(seconds: float) -> str:
    """Return a length of time in its largest unit."""
    left = max(0, int(seconds))
    return next((f"{left // size} {unit}" for size, unit in _UNITS if left >= size), f"{left} s")


def release_text(where: str, *, remote: str) -> str:
    """Return for whom a lease was given back."""
    whom = f"everyone who uses {remote}" if Where(where) is Where.REMOTE else "this clone only"
    return f"Its lease was released for {whom}."


def scope(where: str, *, remote: str, reason: str = "") -> str:
    """Return for whom a claim holds."""
    if Where(where) is Where.REMOTE:
        return f"The claim holds for everyone who uses {remote}."
    return f"The claim holds for this clone only{f': {reason}' if reason else ''}."


def lease_line(lease: LeaseNote | None, found: LeaseLost | LeaseUnknown | LeftOnHook | None, *, remote: str) -> str:
    """Return for whom a claim's lease holds, its mode, age and end; `found` is what a look at its ref came to."""
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
            return f"{scope(lease.where, remote=remote)} {_age_and_end(lease, clock.now())}"


def _age_and_end(lease: LeaseNote, now: datetime) -> str:
    renewed_at = rules.heard_of_at(lease.renewed_at, now)
    age = (now - renewed_at).total_seconds()
    ends = "never expires (claimed by hand)" if lease.mode == "manual" else f"expires in {span(lease.ttl_s - age)}"
    return f"Epoch {lease.epoch}, renewed {span(age)} ago ({moment(renewed_at)}), {ends}."
