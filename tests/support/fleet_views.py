"""Fleets to project: leases, worktrees and issues as a look would find them."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

from support.claims import NOW, claim

from agent_sync.fleet.projection import FleetTask, FleetView, project
from agent_sync.fleet.seen import FleetSeen, HeldTask, Session, WorktreeSeen
from agent_sync.leases.model import Holder, Lease, LeaseMode, LeaseState
from agent_sync.task.decision.claims_seen import ClaimedIssue, ClaimsSeen
from agent_sync.task.decision.facts import Pull

ROOT = "/home/octo/demo"


def lease(issue: int = 42, *, minutes_ago: float = 5, **fields: Any) -> Lease:
    """Return a lease that another machine renewed a while ago."""
    at = NOW - timedelta(minutes=minutes_ago)
    holder = Holder(host="vm", user="octo", worktree="w", session=fields.pop("session", ""), agent="octo-1")
    values: dict[str, Any] = {"mode": LeaseMode.AUTO, "branch": f"claude/x-{issue}", "phase": "coding"}
    times = {"acquired_at": at, "renewed_at": at, "ttl_s": 3600.0}
    held = {"issue": issue, "holder": holder, "epoch": 1, "nonce": "0" * 32, "state": LeaseState.HELD}
    return Lease(**(values | times | held | fields))


def here(**fields: Any) -> WorktreeSeen:
    """Return a worktree in which a session is at work."""
    known: dict[str, Any] = {"claim": claim(), "session": Session.ALIVE, "last_sign": NOW - timedelta(minutes=1)}
    return WorktreeSeen(ROOT, **(known | fields))


def issue(number: int = 42, *, pull: Pull | None = None, **fields: Any) -> ClaimedIssue:
    """Return an open issue of the viewer's."""
    known: dict[str, Any] = {"assignees": ("octo",), "pull_author": "octo" if pull else ""}
    url = f"https://github.com/octo/demo/issues/{number}"
    return ClaimedIssue(number, f"Task {number}", url, **({"is_open": True} | known | fields), pull=pull)


def fleet(*held: HeldTask, issues: tuple[ClaimedIssue, ...] = (), **fields: Any) -> FleetSeen:
    """Return a fleet that was looked at just now; without issues GitHub was not asked."""
    github = ClaimsSeen("octo", issues) if issues else None
    seen = FleetSeen("octo/demo", NOW, held, github, root=ROOT)
    return replace(seen, **fields)


def view(*held: HeldTask, issues: tuple[ClaimedIssue, ...] = (), **fields: Any) -> FleetView:
    """Return what is shown of a fleet."""
    return project(fleet(*held, issues=issues, **fields), NOW)


def shown(held: HeldTask, *, issues: tuple[ClaimedIssue, ...] = (), **fields: Any) -> FleetTask:
    """Return the one task of a fleet."""
    (task,) = view(held, issues=issues, **fields).tasks
    return task
