"""Says since when a task is in its situation: the newest moment that explains it, never the age of the claim alone."""

from datetime import datetime

from agent_sync.fleet.standing import Standing
from agent_sync.task.decision import situations as s
from agent_sync.task.decision.claims_seen import PullMoments


def since(standing: Standing) -> datetime | None:
    """Return since when a task stands as it does; None where nothing tells."""
    moments = standing.issue.moments if standing.issue and standing.pull else PullMoments()
    here, lease = standing.held.here, standing.held.lease
    claimed = lease.acquired_at if lease else None
    renewed = lease.renewed_at if lease else None
    match standing.stands:
        case s.CIFailed() | s.CIStuck() | s.ApprovalNeeded():
            return _newest(moments.checked, moments.pushed)
        case s.Watching() | s.InMergeQueue():
            return _newest(moments.pushed, moments.opened)
        case s.ChangesRequested() | s.ThreadsOpen():
            return _newest(moments.reviewed, moments.pushed)
        case s.Conflicting() | s.BehindBase() | s.Ejected():
            return _newest(moments.pushed, moments.opened)
        case s.AwaitingMerge() | s.MergeBlocked():
            return _newest(moments.checked, moments.reviewed, moments.pushed, moments.opened)
        case s.AwaitingConsent() | s.ClosedUnmerged() | s.Closing() | s.NotClosed():
            return _newest(moments.ended) or renewed
        case s.WaitingForHuman() | s.Crashed():
            return (here.waits_since if here else None) or renewed
        case s.OnHook() | s.Lost():
            return renewed
        case _:
            return _newest(here.waits_since if here else None) or claimed


def _newest(*moments: datetime | None) -> datetime | None:
    return max((at for at in moments if at), default=None)
