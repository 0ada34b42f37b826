"""All hooks and claims as they were seen at one moment, and what follows for one hook: orphaned, expired, overdue."""

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime

from agent_sync.lazy_dataclasses import dataclass
from agent_sync.leases.claim_refs import claim_ref
from agent_sync.leases.model import LeaseState, Tip
from agent_sync.leases.refs.values import Where
from agent_sync.leases.results import EndedClaim, Unreadable
from agent_sync.leases.rules import ALLOWANCE_S, is_expired
from agent_sync.task.decision.outside_text import quoted
from agent_sync.work.hook.evidence import disagreements
from agent_sync.work.hook.model import WorkHook
from agent_sync.work.hook.names import WorkerName
from agent_sync.work.hook.states import ACTIVE, WAITING, WorkState
from agent_sync.work.take_decision import HookUnread, LeaseSeen

CLONE_ONLY = "holds for this clone only"


@dataclass(frozen=True)
class HookSeen:
    """One hook ref: its commit, and what hangs on it or why that is unknown."""

    name: WorkerName
    sha: str
    hook: WorkHook | None
    damage: str = ""
    is_too_new: bool = False
    # Not a matter of what hangs there: only whoever may write to the repository can change it.
    is_blocked: bool = False
    # What says something else than the values beside it, or than it said when it was given, in words.
    stray: tuple[str, ...] = ()

    @property
    def state(self) -> WorkState | HookUnread:
        """Where the work stands, as far as it can be read."""
        return self.hook.state if self.hook else HookUnread.UNREADABLE

    @property
    def tampering(self) -> tuple[str, ...]:
        """What shows that somebody else than agent-sync has written there; empty where everything fits."""
        return (*disagreements(self.hook), *self.stray) if self.hook else ()


@dataclass(frozen=True)
class HookCommit:
    """One commit of one hook's history; `hook` is None where its files cannot be read."""

    worker: WorkerName
    sha: str
    at: str
    message: str
    hook: WorkHook | None
    stray: tuple[str, ...] = ()
    # The commit before, which may not have been read.
    parent: str = ""


@dataclass(frozen=True)
class WorkView:
    """Every hook and claim, how far they hold, and whether this is only the last view that was fetched."""

    where: Where
    hooks: Mapping[WorkerName, HookSeen] = field(default_factory=dict)
    claims: Mapping[int, Tip | Unreadable] = field(default_factory=dict)
    trouble: str = ""
    allowance_s: float = ALLOWANCE_S
    # Only where all claims were looked at; of these, none but those of hooks is among the claims.
    ended: tuple[EndedClaim, ...] = ()

    @property
    def shas(self) -> dict[str, str]:
        """The commit of every hook and claim, by its ref."""
        claims = {claim_ref(issue): claim.sha for issue, claim in self.claims.items()}
        return claims | {name.ref: seen.sha for name, seen in self.hooks.items()}

    @property
    def notes(self) -> tuple[str, ...]:
        """What every reader of this view must know."""
        clone = (f"This {CLONE_ONLY}.",) if self.where is Where.CLONE else ()
        stale = (
            (f"The remote cannot be reached; this is the last fetched view. {self.trouble}",) if self.trouble else ()
        )
        return clone + stale


def lease_seen(view: WorkView, hook: WorkHook, *, worktree: str, now: datetime) -> LeaseSeen:
    """Tell how the claim of a hook's work stands, seen from one worktree."""
    tip = view.claims.get(hook.status.issue or 0)
    if isinstance(tip, Unreadable):
        return LeaseSeen.UNKNOWN
    if tip is None or tip.lease.state is not LeaseState.HELD:
        return LeaseSeen.MISSING
    if tip.lease.nonce != hook.status.nonce:
        return LeaseSeen.LOST
    if tip.lease.holder.worktree == worktree:
        return LeaseSeen.MINE
    if is_expired(tip.lease, now, view.allowance_s):
        return LeaseSeen.EXPIRED
    return LeaseSeen.WAITING if hook.state in WAITING else LeaseSeen.ELSEWHERE


def is_overdue(hook: WorkHook, now: datetime) -> bool:
    """Tell whether work is on the hook for longer than it may be."""
    deadline = hook.task.timeout if hook.task else None
    return hook.state in ACTIVE and deadline is not None and now > deadline


TAMPERED = "tampered"


def states_of(view: WorkView, seen: HookSeen, now: datetime) -> tuple[str, ...]:
    """Return everything that is true of a hook without being stored, tampering included."""
    derived = derived_states(view, seen.hook, now) if seen.hook else ("damaged",)
    return (*derived, TAMPERED) if seen.tampering else derived


def derived_states(view: WorkView, hook: WorkHook, now: datetime) -> tuple[str, ...]:
    """Return what is true of a hook without being stored: orphaned, expired, overdue."""
    found = []
    if hook.state in ACTIVE:
        match lease_seen(view, hook, worktree="", now=now):
            case LeaseSeen.LOST | LeaseSeen.MISSING:
                found.append("orphaned")
            case LeaseSeen.EXPIRED:
                found.append("expired")
            case _:
                pass
    return (*found, *(["overdue"] if is_overdue(hook, now) else []))


def holder_text(tip: Tip) -> str:
    """Name who holds a claim, for a person."""
    holder, phase = tip.lease.holder, tip.lease.phase
    who = f"{quoted(holder.agent or holder.user, limit=60)} on {quoted(holder.host, limit=60)}"
    return who + (f" ({quoted(phase, limit=60)})" if phase else "")
