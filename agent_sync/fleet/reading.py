"""Reads every claim and work hook of the repository: one fetch from the remote, or what this clone knows."""

import json
from dataclasses import dataclass, field
from typing import Any

from agent_sync.context import Context
from agent_sync.errors import AgentSyncError
from agent_sync.leases.keeper import CloneKeeper, keeper_for
from agent_sync.leases.model import LARGEST, Tip, Where
from agent_sync.leases.refs.blobs import Blob, TooLarge, read_blobs
from agent_sync.leases.refs.objects import tips_below
from agent_sync.leases.refs.remote import CLAIMS, TRACKING, fetch_refs, refspecs
from agent_sync.leases.results import Unreadable
from agent_sync.system import clock
from agent_sync.system.bounds import LARGEST_NUMBER, LONGEST_NAME
from agent_sync.task.claim.model import Claim
from agent_sync.task.decision.outside_text import one_line
from agent_sync.worktree import worktree

STATUS = "status.json"
ROOT = CLAIMS.removesuffix("claims/")


@dataclass(frozen=True)
class Held:
    """A claim file in a worktree of this clone; `trouble` where it cannot be read."""

    root: str
    claim: Claim | None
    trouble: str = ""


@dataclass(frozen=True)
class WorkHook:
    """One work hook: its worker, and what its status says or why it cannot be read."""

    worker: str
    status: dict[str, Any] = field(default_factory=dict)
    trouble: str = ""


@dataclass(frozen=True)
class Fleet:
    """All that is held: on the remote or in this clone, and why only there."""

    where: Where
    reason: str
    tips: tuple[Tip, ...]
    unreadable: tuple[Unreadable, ...]
    hooks: tuple[WorkHook, ...]
    here: tuple[Held, ...]


def fleet(context: Context) -> Fleet:
    """Look at everything at once; offline, what the last look has left is better than nothing."""
    where, reason = _fetched(context)
    known = f"{TRACKING}{context.settings.git.remote}/"
    found = [*tips_below(context.git, f"{known}claims/", Where.REMOTE), *tips_below(context.git, CLAIMS, Where.CLONE)]
    tips = {(tip.lease.issue, tip.where): tip for tip in found if isinstance(tip, Tip)}
    unreadable = tuple(one for one in found if isinstance(one, Unreadable))
    hooks = work_hooks(context, f"{known}hooks/") or work_hooks(context, f"{ROOT}hooks/")
    return Fleet(where, reason, tuple(tips[key] for key in sorted(tips)), unreadable, hooks, held_here(context))


def held_here(context: Context) -> tuple[Held, ...]:
    """Return the claim of every worktree of this clone; one that cannot be read is named with the reason."""
    found = []
    for root in context.git.worktrees():
        place = worktree(root)
        try:
            claim = context.store_at(place).read() if place else None
        except AgentSyncError as error:
            found.append(Held(root, None, str(error)))
        else:
            found += [Held(root, claim)] if claim else []
    return tuple(found)


def work_hooks(context: Context, prefix: str) -> tuple[WorkHook, ...]:
    """Return the work hooks below a prefix, each with what its status.json says; one that is spoilt says why."""
    listed = context.git.ask("for-each-ref", "--format=%(refname) %(objectname)", prefix).stdout
    # Not by lines: a ref's name may hold what Unicode calls the end of one.
    refs = [line.rsplit(" ", 1) for line in listed.split("\n")[:-1]]
    found = read_blobs(context.git, [f"{sha}:{STATUS}" for _, sha in refs], largest=LARGEST)
    names = (one_line(ref.removeprefix(prefix)) for ref, _ in refs)
    return tuple(_work_hook(name, content) for name, content in zip(names, found, strict=True))


def _work_hook(name: str, content: Blob) -> WorkHook:
    match content:
        case None:
            return WorkHook(name, trouble=f"it has no {STATUS}")
        case TooLarge(size):
            return WorkHook(name, trouble=f"{STATUS} has {size} bytes, more than {LARGEST}")
        case bytes():
            pass
    try:
        values = json.loads(content)
    except (ValueError, RecursionError):
        return WorkHook(name, trouble=f"{STATUS} is not JSON")
    if not isinstance(values, dict):
        return WorkHook(name, trouble=f"{STATUS} holds no object")
    return WorkHook(name, {one_line(key): said for key, value in values.items() if (said := _said(value)) is not None})


def _said(value: object) -> str | int | None:
    """Return a word or number of a status that can be shown; whatever else somebody put there is left out."""
    if isinstance(value, str):
        return one_line(value, limit=LONGEST_NAME)
    return value if isinstance(value, int) and abs(value) <= LARGEST_NUMBER else None


def _fetched(context: Context) -> tuple[Where, str]:
    """Bring claims and work hooks up to date in one fetch; return how far that reaches, and why no further."""
    remote = context.settings.git.remote
    keeper = keeper_for(context.git, context.place, context.settings, clock.now())
    if isinstance(keeper, CloneKeeper):
        return Where.CLONE, keeper.reason
    # Not all that lies there: a rescue holds as many files as its worktree did.
    specs = [spec for kind in ("claims/", "hooks/") for spec in refspecs(ROOT + kind, f"{TRACKING}{remote}/{kind}")]
    trouble = fetch_refs(context.git, keeper.address, specs)
    return (Where.CLONE, f"{remote} cannot be reached: {trouble}") if trouble else (Where.REMOTE, "")
