"""Reads every claim and work hook of the repository: one fetch from the remote, or what this clone knows."""

import json
from dataclasses import field
from pathlib import Path
from typing import Any

from agent_sync.context import Context
from agent_sync.errors import AgentSyncError
from agent_sync.lazy_dataclasses import dataclass
from agent_sync.leases.claim_refs import transport_here
from agent_sync.leases.ended import list_claims
from agent_sync.leases.model import LARGEST, Tip
from agent_sync.leases.refs.transports import CloneTransport, RemoteTransport
from agent_sync.leases.refs.values import CLAIMS, HOOKS, Blob, FileAt, RefTransport, TooLarge, Where
from agent_sync.leases.results import EndedClaim, Unreadable
from agent_sync.system import git_branches
from agent_sync.system.git import Remote
from agent_sync.task.claim.model import LARGEST_NUMBER, LONGEST_NAME, Claim
from agent_sync.task.decision.outside_text import one_line
from agent_sync.worktree import worktree

STATUS = "status.json"


@dataclass(frozen=True)
class WorktreeClaim:
    """A claim file in a worktree of this clone; `trouble` where it cannot be read."""

    root: str
    claim: Claim | None
    trouble: str = ""


@dataclass(frozen=True)
class FleetHook:
    """One work hook: its worker, and what its status says or why it cannot be read."""

    worker: str
    status: dict[str, Any] = field(default_factory=dict)
    trouble: str = ""


@dataclass(frozen=True)
class Fleet:
    """All that is held: on the remote or in this clone, and why only there."""

    where: Where
    reason: str
    held: tuple[Tip, ...]
    unreadable: tuple[Unreadable, ...]
    hooks: tuple[FleetHook, ...]
    here: tuple[WorktreeClaim, ...]
    # Why the remote, which has more, could not be asked.
    trouble: str = ""
    # As far back as their refs are kept.
    ended: tuple[EndedClaim, ...] = ()


def read_fleet(context: Context) -> Fleet:
    """Look at everything at once; offline, what the last look has left is better than nothing."""
    reach = _fetch(context)
    remote = context.remotes.base
    # What is known of a remote is read by its name alone, also where it is no longer configured.
    there, here = RemoteTransport(context.git, Remote(remote, "", "")), CloneTransport(context.git, remote)
    shared, own = list_claims(there, context.place), list_claims(here, context.place)
    hooks = work_hooks(there) or work_hooks(here)
    return Fleet(
        reach.where,
        reach.reason,
        tuple(sorted((*shared.tips, *own.tips), key=lambda tip: (tip.lease.issue, tip.where))),
        (*shared.unreadable, *own.unreadable),
        hooks,
        claims_here(context),
        reach.reason if reach.is_trouble else "",
        (*shared.ended, *own.ended),
    )


def claims_here(context: Context) -> tuple[WorktreeClaim, ...]:
    """Return the claim of every worktree of this clone; one that cannot be read is named with the reason."""
    found = []
    for root in git_branches.worktrees(context.git):
        # Of one that was deleted by hand git still knows, and the search would end in the worktree around it.
        place = worktree(root) if Path(root).is_dir() else None
        try:
            claim = context.store_at(place).read() if place else None
        except AgentSyncError as error:
            found.append(WorktreeClaim(root, None, str(error)))
        else:
            found += [WorktreeClaim(root, claim)] if claim else []
    return tuple(found)


def work_hooks(transport: RefTransport) -> tuple[FleetHook, ...]:
    """Return the work hooks that this clone knows, each with what its status.json says; one that is spoilt says why."""
    refs = transport.known(HOOKS)
    found = transport.read([FileAt(ref.sha, STATUS) for ref in refs], largest=LARGEST)
    names = (one_line(ref.name.removeprefix(HOOKS)) for ref in refs)
    return tuple(_work_hook(name, content) for name, content in zip(names, found, strict=True))


def _work_hook(name: str, content: Blob) -> FleetHook:
    match content:
        case None:
            return FleetHook(name, trouble=f"it has no {STATUS}")
        case TooLarge(size):
            return FleetHook(name, trouble=f"{STATUS} has {size} bytes, more than {LARGEST}")
        case bytes():
            pass
    try:
        values = json.loads(content)
    except (ValueError, RecursionError):
        return FleetHook(name, trouble=f"{STATUS} is not JSON")
    if not isinstance(values, dict):
        return FleetHook(name, trouble=f"{STATUS} holds no object")
    return FleetHook(
        name, {one_line(key): shown for key, value in values.items() if (shown := _shown_value(value)) is not None}
    )


def _shown_value(value: object) -> str | int | None:
    """Return a word or number of a status that can be shown; whatever else somebody put there is left out."""
    if isinstance(value, str):
        return one_line(value, limit=LONGEST_NAME)
    return value if isinstance(value, int) and abs(value) <= LARGEST_NUMBER else None


@dataclass(frozen=True)
class _Reach:
    """How far a look at all claims reaches, and why no further."""

    where: Where
    reason: str = ""
    is_trouble: bool = False


def _fetch(context: Context) -> _Reach:
    """Bring claims and work hooks up to date in one fetch."""
    transport = transport_here(context)
    # Not all that lies there: a rescue holds as many files as its worktree did.
    trouble = transport.fetch([CLAIMS, HOOKS])
    if trouble:
        return _Reach(Where.CLONE, f"{context.remotes.base} cannot be reached: {trouble}", is_trouble=True)
    return _Reach(transport.where, transport.reason)
