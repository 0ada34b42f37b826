"""Finds the command that moves a task: here, in another worktree of this machine, or from afar."""

import shlex

from agent_sync.fleet.seen import Session
from agent_sync.fleet.standing import Standing
from agent_sync.fleet.view import Lane
from agent_sync.leases.model import LeaseMode
from agent_sync.leases.rules import is_dated_ahead
from agent_sync.task.decision import situations as s
from agent_sync.task.decision.drift import drift_situations as d
from agent_sync.task.decision.facts import Pull
from agent_sync.task.decision.next_step import next_step

FOLLOW = "agent-sync watch"
DOCTOR = "agent-sync doctor"


def command_for(standing: Standing, lane: Lane, root: str) -> str:
    """Return what a person types; every task has something."""
    if lane is Lane.WORKING and _is_agents(standing):
        # Its unfinished work is not for a person to hand off.
        return FOLLOW
    return _on_github(standing, lane) or (
        _here(standing, root) if standing.is_here else _from_afar(standing, lane, root)
    )


def _is_agents(standing: Standing) -> bool:
    lease = standing.held.lease
    return standing.session is Session.ALIVE or (lease is not None and lease.mode is LeaseMode.AUTO)


def _here(standing: Standing, root: str) -> str:
    """Return the next step of a worktree of this machine, which may be another one than the reader's."""
    assert standing.held.here  # noqa: S101  # asked before
    stands, place = standing.stands, standing.held.here.root
    command = next_step(stands).command if stands else DOCTOR
    return _at(place, root, command or "agent-sync status")


def _at(place: str, root: str, command: str) -> str:
    return command if place == root else f"cd {shlex.quote(place)} && {command}"


def _on_github(standing: Standing, lane: Lane) -> str:
    """Return what is done on GitHub itself, from wherever one is."""
    pull, stands = standing.pull, standing.stands
    if pull is None or lane is Lane.WORKING:
        return ""
    if lane is Lane.NEEDS_YOU and isinstance(stands, s.AwaitingMerge | s.MergeBlocked):
        return _review_or_merge(standing, stands, pull)
    if isinstance(stands, s.ApprovalNeeded) or (lane is Lane.WAITING and isinstance(stands, s.MergeBlocked)):
        return _open(pull)
    return ""


def _review_or_merge(standing: Standing, stands: s.Situation, pull: Pull) -> str:
    if standing.viewer in pull.conversation.requested:
        return f"gh pr review {shlex.quote(pull.url)}"
    if pull.is_draft:
        return f"gh pr ready {shlex.quote(pull.url)}"
    return f"gh pr merge {shlex.quote(pull.url)}" if isinstance(stands, s.AwaitingMerge) else _open(pull)


def _from_afar(standing: Standing, lane: Lane, root: str) -> str:
    """Return what helps a task whose worktree is on another machine, or gone."""
    if lane is not Lane.NEEDS_YOU:
        return FOLLOW
    if standing.held.trouble:
        return standing.held.helps or DOCTOR
    issue, pull = standing.issue, standing.pull
    match standing.stands:
        case s.AwaitingConsent() if issue:
            return f"gh issue close {shlex.quote(issue.url)}"
        case d.IssueClosed() | d.IssueGone():
            return f"agent-sync release {standing.held.issue} --force"
        case s.ClosedUnmerged() | d.BranchDeleted() if pull:
            return f"gh pr reopen {shlex.quote(pull.url)}"
        case _:
            held, lease = standing.held, standing.held.lease
            if held.gone:
                return _at(held.home or root, root, f"agent-sync claim {held.issue}")
            if lease and is_dated_ahead(lease, standing.now):
                return "agent-sync reconcile --all"
            return _open(pull) if pull else _take(standing)


def _take(standing: Standing) -> str:
    """Return how a claim is had that its holder seems to have left."""
    number, lease = standing.held.issue, standing.held.lease
    if lease and lease.mode is LeaseMode.AUTO and not isinstance(standing.stands, s.OnHook):
        return f"agent-sync claim {number} --take-over"
    return f"agent-sync release {number} --force"


def _open(pull: Pull) -> str:
    return f"gh pr view --web {shlex.quote(pull.url)}"
