"""Deletes refs of ours that nobody needs any more, each only if it still is what was judged."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from agent_sync.errors import GitFailed
from agent_sync.lazy_dataclasses import dataclass
from agent_sync.leases.claim_refs import claim_ref
from agent_sync.leases.refs.compare_and_swap import RefChange, RefOrder, Swapped, SwapPlan, Tried, compare_and_swap
from agent_sync.leases.refs.values import RefTransport
from agent_sync.leases.results import EndedClaim
from agent_sync.leases.rules import heard_of_at

ATTEMPTS = 3
# Of a push that is refused because one of its refs has moved, all are tried again: not too many at once.
MOST_AT_ONCE = 50


@dataclass(frozen=True)
class DueRef:
    """A ref whose time is over: where it is at, since when nobody needs it, and what it was, for people."""

    ref: str
    sha: str
    since: datetime
    what: str


def is_claim_over(claim: EndedClaim, now: datetime, kept: timedelta) -> bool:
    """Tell whether a claim ended so long ago that its ref may go: a later claim then begins at epoch 1."""
    return now - heard_of_at(claim.at, now) >= kept


def due_claim(claim: EndedClaim) -> DueRef:
    """Return an ended claim as a ref to be pruned."""
    return DueRef(claim_ref(claim.issue), claim.sha, claim.at, f"claim of #{claim.issue}, {claim.state}")


def prune(transport: RefTransport, due: Sequence[DueRef]) -> tuple[DueRef, ...]:
    """Delete the refs that still are what was judged; return those that are gone."""
    found: list[DueRef] = []
    for start in range(0, len(due), MOST_AT_ONCE):
        part = tuple(due[start : start + MOST_AT_ONCE])
        done = compare_and_swap(transport, _Deletion(part))
        found += done.value if isinstance(done, Swapped) else done
    return tuple(found)


@dataclass(frozen=True)
class _Deletion(RefOrder[dict[str, str], tuple[DueRef, ...], tuple[DueRef, ...]]):
    """The deletion of some refs, all at once; whichever has moved meanwhile is somebody's again and stays."""

    due: tuple[DueRef, ...]

    def first_look(self, transport: RefTransport) -> dict[str, str]:
        """Return what was judged just now."""
        return self._known(transport)

    def look(self, transport: RefTransport) -> dict[str, str]:
        """Read the refs again."""
        trouble = transport.fetch([one.ref for one in self.due])
        if trouble:
            raise GitFailed(f"The remote cannot be reached: {trouble}.", attempted="pruning refs")
        return self._known(transport)

    def decide(
        self, seen: dict[str, str], tried: Tried[tuple[DueRef, ...]] | None
    ) -> SwapPlan[tuple[DueRef, ...]] | tuple[DueRef, ...]:
        """Return what to delete; what is gone already after an answer that was lost is deleted."""
        left = tuple(one for one in self.due if seen.get(one.ref) == one.sha)
        gone = tuple(one for one in self.due if tried and one.ref not in seen)
        if not left:
            return gone
        if tried and tried.number == ATTEMPTS:
            raise GitFailed(f"The refs could not be deleted: {tried.pushed.text}.", attempted="pruning refs")
        return SwapPlan((*gone, *left), tuple(RefChange(one.ref, one.sha, "") for one in left))

    def _known(self, transport: RefTransport) -> dict[str, str]:
        return {ref.name: ref.sha for one in self.due for ref in transport.known(one.ref) if ref.name == one.ref}
