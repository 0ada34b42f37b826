"""Finds what can be claimed now: ready on the board, and held by nobody, by the board's word and by the claim refs."""

from agent_sync.context import Context
from agent_sync.lazy_dataclasses import dataclass
from agent_sync.leases.claim_refs import known_claims, transport_here
from agent_sync.leases.identity import worktree_id
from agent_sync.leases.model import LeaseState, Tip
from agent_sync.leases.refs.values import CLAIMS
from agent_sync.leases.rules import SLUNG
from agent_sync.system.git import NETWORK_LIMIT
from agent_sync.task.decision.tasks import BoardIssue, BoardSeen, in_order, is_ready


@dataclass(frozen=True)
class ReadyTasks:
    """What can be claimed, best first; what was left out, and what kept us from knowing who holds what."""

    issues: tuple[BoardIssue, ...] = ()
    held: int = 0
    elsewhere: int = 0
    trouble: str = ""

    @property
    def left_out(self) -> str:
        """What a list of them does not show, as a sentence; empty where it shows everything."""
        held = f"{self.held} held by others" if self.held else ""
        elsewhere = f"{self.elsewhere} of other repositories" if self.elsewhere else ""
        parts = " and ".join(filter(None, [held, elsewhere]))
        return f"Left out: {parts}." if parts else ""


def ready_tasks(context: Context, board: BoardSeen, *, limit_s: float = NETWORK_LIMIT) -> ReadyTasks:
    """Return what can be claimed; the claim refs are asked, in one fetch, only where anything is ready at all."""
    free = free_issues(context, board)
    if not free:
        return ReadyTasks(elsewhere=board.elsewhere)
    held, trouble = held_issues(context, limit_s=limit_s)
    left = tuple(issue for issue in free if issue.number not in held)
    return ReadyTasks(left, len(free) - len(left), board.elsewhere, trouble)


def free_issues(context: Context, board: BoardSeen) -> list[BoardIssue]:
    """Return what can be claimed by the board's word alone, best first."""
    names = context.settings.board
    ordered = in_order(board.ready, board.priorities)
    return [issue for issue in ordered if is_ready(issue, ready=names.ready, skip_types=names.skip_types)]


def held_issues(context: Context, *, limit_s: float = NETWORK_LIMIT) -> tuple[frozenset[int], str]:
    """Return the issues that others hold, by one fetch of all claims, or as this clone last knew them, and why."""
    transport = transport_here(context, limit_s=limit_s)
    trouble = transport.fetch([CLAIMS])
    own = worktree_id(context.place)
    found = known_claims(transport)
    # A claim that cannot be read is never a free one.
    held = {one.lease.issue if isinstance(one, Tip) else one.issue for one in found if not _is_free(one, own)}
    return frozenset(held), trouble


def _is_free(claim: object, own: str) -> bool:
    """Tell whether this worktree could claim an issue: nobody holds it, or it does so itself."""
    if not isinstance(claim, Tip):
        return False
    lease = claim.lease
    is_own = lease.holder.worktree == own and not lease.phase.startswith(SLUNG)
    return lease.state is not LeaseState.HELD or is_own
