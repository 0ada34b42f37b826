"""What can come of an order about a lease: won, lost, or not to be told."""

from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from agent_sync.lazy_dataclasses import dataclass
from agent_sync.leases.model import Holder, LeaseMode, LeaseState, Tip
from agent_sync.leases.refs.values import Where


class Doubt(StrEnum):
    """Why the holder of an issue is unknown."""

    UNREACHABLE = "unreachable"  # the ref could not be read
    UNWRITTEN = "unwritten"  # the ref can be read and has not moved, but it could not be written
    REFUSED = "refused"  # the remote takes no refs of this kind at all
    BLOCKED = "blocked"  # another ref bears the name of this one's folder, or lies below this one
    UNREADABLE = "unreadable"  # the ref holds something that is not a claim
    TOO_NEW = "too-new"  # the ref holds a claim of a newer agent-sync
    VANISHED = "vanished"  # the ref of a held lease is gone
    RACED = "raced"  # another push was faster, and it was not asked whose


@dataclass(frozen=True)
class Won:
    """The lease is the caller's, as it asked; `tip` is what the ref holds."""

    tip: Tip


@dataclass(frozen=True)
class NotHeld:
    """The lease is not, or no longer, the caller's; `tip` says whose it is, or that it has ended."""

    tip: Tip


@dataclass(frozen=True)
class Unknown:
    """The holder of the lease is unknown, which never means that it is free."""

    doubt: Doubt
    reason: str
    # A push of ours went out, and may have arrived or still arrive.
    is_sent: bool = False

    @property
    def refused(self) -> bool:
        """Whether the remote takes no claim refs, so that only this clone can keep leases."""
        return self.doubt is Doubt.REFUSED


@dataclass(frozen=True)
class BranchRefused:
    """The lease is the caller's, but the branch could not be pushed; the reason is git's."""

    reason: str


@dataclass(frozen=True)
class Unreadable:
    """A claim ref in a listing whose content cannot be used; its issue is not free."""

    issue: int
    sha: str
    unknown: Unknown


class EndedClaim(NamedTuple):
    """A claim that was given back or whose work is done: its ref, how and when it ended, and whose holding it was."""

    issue: int
    sha: str
    state: LeaseState
    nonce: str
    at: datetime
    where: Where


@dataclass(frozen=True)
class Listing:
    """Every claim ref there is: those that are held, those that cannot be read, and those that have ended."""

    tips: tuple[Tip, ...] = ()
    unreadable: tuple[Unreadable, ...] = ()
    ended: tuple[EndedClaim, ...] = ()


LeaseOutcome = Won | NotHeld | Unknown
ClaimSeen = Tip | Unknown | None


@dataclass(frozen=True)
class LeaseRequest:
    """What whoever wants an issue says about itself."""

    holder: Holder
    now: datetime
    ttl_s: float
    mode: LeaseMode = LeaseMode.AUTO
    branch: str = ""
    pr: int | None = None
    phase: str = ""
    # Why an earlier holding ends with this one, for whoever reads the ref's history.
    note: str = ""
    # Whether the agent is another one than the last holder, so that its name must differ.
    is_new_agent: bool = False


@dataclass(frozen=True)
class LeaseChange:
    """What a renewal changes beside the time; None keeps what is there."""

    now: datetime
    branch: str | None = None
    pr: int | None = None
    phase: str | None = None
    session: str | None = None
    mode: LeaseMode | None = None
