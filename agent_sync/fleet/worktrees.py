"""Looks at the tasks in the worktrees of this machine: claim file, record, session, and the last sign of work."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from agent_sync.context import Context
from agent_sync.errors import AgentSyncError
from agent_sync.fleet.reading import WorktreeClaim
from agent_sync.fleet.seen import Session, WorktreeSeen
from agent_sync.record.crash.owner import SystemProcesses, owner_standing
from agent_sync.record.disk.recorder import task_summary, workspace_of
from agent_sync.record.keep import with_session_end
from agent_sync.record.machine.model import Record
from agent_sync.record.machine.states import CLAIM_TO_CLOSE, TERMINAL, OwnerStanding
from agent_sync.record.page.next_steps import record_seen_of
from agent_sync.system import clock
from agent_sync.task.claim.model import Claim
from agent_sync.task.decision.facts import Pull
from agent_sync.task.situation_here import is_branch_ahead, is_head_here
from agent_sync.worktree import GATE_LOG_DIR, GATE_STATE, HOOK_STAMP, SPOOL, Place, worktree


def seen_in(context: Context, found: WorktreeClaim) -> WorktreeSeen:
    """Return the task of one worktree of this clone, or of another one on this machine."""
    place = worktree(found.root)
    if place is None or found.claim is None:
        return WorktreeSeen(found.root, trouble=found.trouble or "the worktree is gone")
    there = context.at(place)
    record = _record(there)
    return WorktreeSeen(
        root=found.root,
        claim=found.claim,
        record=record_seen_of(record) if record else None,
        title=record.description if record else "",
        session=_session(record),
        session_id=record.owner.session_id or "" if record else "",
        last_sign=_last_sign(place, record),
        waits_since=_waits_since(record),
    )


def with_branch(context: Context, seen: WorktreeSeen, pull: Pull | None) -> WorktreeSeen:
    """Add what git knows of the branch here and the pull request's head, each way."""
    place, claim = worktree(seen.root), seen.claim
    if place is None or claim is None:
        return seen
    there = context.at(place)
    is_ahead, is_here = is_branch_ahead(there, claim, pull), is_head_here(there, claim, pull)
    return replace(seen, is_ahead=is_ahead, is_head_here=is_here)


def claims_of_other_clones(context: Context) -> Iterator[WorktreeClaim]:
    """Return the claims that other clones on this machine have, as the records in the user's home name them."""
    home = context.recorder.home
    if home is None:
        return
    own = workspace_of(context.place)
    for workspace in home.workspaces():
        for task in home.tasks(workspace) if workspace != own else ():
            summary = task_summary(home.store(workspace, task))
            root = summary.get("worktree")
            if summary.get("outcome") in set(TERMINAL) or not isinstance(root, str):
                continue
            claim = _claim_at(context, root)
            if claim:
                yield WorktreeClaim(root, claim)


def _claim_at(context: Context, root: str) -> Claim | None:
    place = worktree(root)
    try:
        return context.store_at(place).read() if place else None
    except AgentSyncError:
        return None


def _record(context: Context) -> Record | None:
    """Return the record of a claim; one that cannot be read says nothing, and other commands say why."""
    try:
        found = context.recorder.current()
    except (AgentSyncError, OSError):
        return None
    if found is None or found.record.template != CLAIM_TO_CLOSE:
        return None
    # A session that has just ended may not be in the record yet.
    return with_session_end(context, found.record, clock.now())


def _session(record: Record | None) -> Session:
    """Tell whether the session that works on a task lives; of whoever types commands nothing is known."""
    if record is None or not record.owner.session_id:
        return Session.UNKNOWN
    if record.owner.has_left:
        return Session.ENDED
    match owner_standing(record.owner, SystemProcesses()):
        case OwnerStanding.ALIVE:
            return Session.ALIVE
        case OwnerStanding.GONE | OwnerStanding.OTHER_BOOT:
            return Session.ENDED
        case OwnerStanding.OTHER_HOST | OwnerStanding.UNKNOWN:
            return Session.UNKNOWN


def _last_sign(place: Place, record: Record | None) -> datetime | None:
    """Return when a hook, git, the gates or the record last noted something; the newest counts."""
    state = Path(place.state_dir)
    noted = [*state.glob(f"{HOOK_STAMP}*"), *state.glob(f"{SPOOL}*")]
    noted += [Path(place.git_dir) / "logs" / "HEAD", Path(place.root) / GATE_LOG_DIR / GATE_STATE]
    signs = [_changed_at(file) for file in noted]
    if record:
        signs += [event.timestamp for event in record.history[-1:]]
        signs += [point.created_at for point in record.checkpoints[-1:]]
    return max((at for at in signs if at), default=None)


def _changed_at(file: Path) -> datetime | None:
    try:
        return datetime.fromtimestamp(file.stat().st_mtime, tz=UTC)
    except (OSError, ValueError, OverflowError):
        return None


def _waits_since(record: Record | None) -> datetime | None:
    """Return when the record came into the state it is in."""
    if record is None:
        return None
    moves = [event for event in record.history if event.to_state is record.state and event.from_state != record.state]
    return moves[-1].timestamp if moves else None
