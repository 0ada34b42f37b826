"""Finds what can be claimed now: ready on the board, and held by nobody, by the board's word and by the claim refs."""

from agent_sync.context import Context
from agent_sync.lazy_dataclasses import dataclass
from agent_sync.leases.claim_refs import transport_here
from agent_sync.leases.ended import list_claims
from agent_sync.leases.identity import worktree_id
from agent_sync.leases.model import Tip
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


def ready_tasks(
    context: Context, board: BoardSeen, *, limit_s: float = NETWORK_LIMIT, own: frozenset[str] | None = None
) -> ReadyTasks:
    """Return what can be claimed; the claim refs are asked, in one fetch, only where anything is ready at all."""
    free = free_issues(context, board)
    if not free:
        return ReadyTasks(elsewhere=board.elsewhere)
    held, trouble = held_issues(context, limit_s=limit_s, own=own)
    left = tuple(issue for issue in free if issue.number not in held)
    return ReadyTasks(left, len(free) - len(left), board.elsewhere, trouble)


def free_issues(context: Context, board: BoardSeen) -> list[BoardIssue]:
    """Return what can be claimed by the board's word alone, best first."""
    names = context.settings.board
    ordered = in_order(board.ready, board.priorities)
    return [issue for issue in ordered if is_ready(issue, ready=names.ready, skip_types=names.skip_types)]


ASSIGNED, HELD, BLOCKED = "assigned", "held by others", "blocked"
SPLIT, OTHER_TYPE = "with open sub-issues", "of types that are skipped"
# In the order in which they are counted.
WHY_NOT_READY = (ASSIGNED, HELD, BLOCKED, SPLIT, OTHER_TYPE)


def why_not_ready(issue: BoardIssue) -> str:
    """Return why an issue of the ready column cannot be claimed; empty for one that is closed or elsewhere."""
    if not issue.is_open or not issue.is_here:
        return ""
    if issue.open_blockers:
        return BLOCKED
    if issue.holder:
        return ASSIGNED if issue.assignees else HELD
    return SPLIT if issue.open_sub_issues else OTHER_TYPE


def held_issues(
    context: Context, *, limit_s: float = NETWORK_LIMIT, own: frozenset[str] | None = None, asks: bool = True
) -> tuple[frozenset[int], str]:
    """Return the issues that others hold, by one fetch of all claims, or as this clone last knew them, and why.

    `own` are worktrees that hold an issue themselves and so could claim it; without a word this one alone.
    """
    transport = transport_here(context, limit_s=limit_s)
    trouble = transport.fetch([CLAIMS]) if asks else ""
    own = frozenset({worktree_id(context.place)}) if own is None else own
    found = list_claims(transport, context.place)
    held = {tip.lease.issue for tip in found.tips if not _is_own(tip, own)}
    # A claim that cannot be read is never a free one.
    return frozenset(held | {one.issue for one in found.unreadable}), trouble


def _is_own(tip: Tip, own: frozenset[str]) -> bool:
    return tip.lease.holder.worktree in own and not tip.lease.phase.startswith(SLUNG)
