"""Finds refs of ended claims and old rescues, lists rescues, and prunes what nobody needs any more."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from agent_sync.context import Context
from agent_sync.errors import GitFailed
from agent_sync.lazy_dataclasses import dataclass
from agent_sync.leases.claim_refs import transport_here
from agent_sync.leases.pruning import DueRef, due_claim, is_claim_over, prune
from agent_sync.leases.refs.values import RESCUE, RefTransport, Where
from agent_sync.system import git_branches
from agent_sync.work.hook.names import issue_of_rescue
from agent_sync.work.hook.reading import look, look_at_all
from agent_sync.work.hook.states import ACTIVE
from agent_sync.work.hook.view import WorkView
from agent_sync.work.rescue import restore_command


@dataclass(frozen=True)
class Rescue:
    """Files that were not committed when work was paused: whose, since when, and whether work still waits for them."""

    ref: str
    sha: str
    issue: int
    kept_since: datetime
    is_needed: bool
    restore: str


@dataclass(frozen=True)
class Retained:
    """How long refs stay after their end."""

    claims: timedelta
    rescues: timedelta


@dataclass(frozen=True)
class Pruned:
    """The refs that are gone, or would be, and what every reader must know."""

    refs: tuple[DueRef, ...]
    notes: tuple[str, ...] = ()


def retained(context: Context) -> Retained:
    """Return what the settings say."""
    settings = context.settings
    return Retained(timedelta(days=settings.lease.keep_ended_days), timedelta(days=settings.worker.keep_rescue_days))


def rescues_here(context: Context) -> tuple[WorkView, tuple[Rescue, ...]]:
    """Return every rescue there is, the oldest first."""
    transport = transport_here(context)
    view = look(transport, context.settings.lease.allowance_s)
    _fetch_rescues(transport, view)
    return view, rescues_in(context, transport, view)


def prune_refs(context: Context, now: datetime, kept: Retained, *, dry_run: bool = False) -> Pruned:
    """Delete the refs of claims that ended long ago, and rescues that no work has needed for as long."""
    transport = transport_here(context)
    view = look_at_all(context, transport)
    if view.trouble:
        raise GitFailed(f"The remote cannot be reached: {view.trouble}.", attempted="pruning refs")
    _fetch_rescues(transport, view)
    found = due_refs(view, rescues_in(context, transport, view), now, kept)
    return Pruned(found if dry_run else prune(transport, found), view.notes)


def due_refs(view: WorkView, rescues: Iterable[Rescue], now: datetime, kept: Retained) -> tuple[DueRef, ...]:
    """Return what nobody needs any more, pure; a claim stays while files of its issue are kept under its epochs."""
    rescues = tuple(rescues)
    old = [one for one in rescues if not one.is_needed and now - one.kept_since >= kept.rescues]
    held_back = {one.issue for one in rescues} - {one.issue for one in old}
    at_work = {seen.hook.status.nonce for seen in view.hooks.values() if seen.hook and seen.hook.state in ACTIVE}
    ended = [
        due_claim(one)
        for one in sorted(view.ended, key=lambda one: one.issue)
        if is_claim_over(one, now, kept.claims) and one.issue not in held_back and one.nonce not in at_work
    ]
    # Rescues first: a claim that goes lets its epochs begin anew, and with them the names of its rescues.
    return (*(DueRef(one.ref, one.sha, one.kept_since, f"rescue of #{one.issue}") for one in old), *ended)


def rescues_in(context: Context, transport: RefTransport, view: WorkView) -> tuple[Rescue, ...]:
    """Return the rescues that this clone knows, the oldest first."""
    needed = {
        seen.hook.handoff.rescue_ref
        for seen in view.hooks.values()
        if seen.hook and seen.hook.handoff and seen.hook.state in ACTIVE
    }
    where, remote = view.where, context.settings.git.remote
    refs = [ref for ref in transport.known(RESCUE, with_kinds=True) if ref.kind == "commit"]
    times = git_branches.commit_times(context.git, [ref.sha for ref in refs])
    found = [
        Rescue(
            ref.name,
            ref.sha,
            issue,
            datetime.fromtimestamp(times.get(ref.sha, 0), UTC),
            ref.name in needed,
            restore_command(ref.name, ref.sha, where=where, remote=remote),
        )
        for ref in refs
        if (issue := issue_of_rescue(ref.name))
    ]
    return tuple(sorted(found, key=lambda one: (one.kept_since, one.ref)))


def _fetch_rescues(transport: RefTransport, view: WorkView) -> None:
    if not view.trouble and view.where is Where.REMOTE:
        trouble = transport.fetch([RESCUE])
        if trouble:
            raise GitFailed(f"The rescues could not be read: {trouble}.", attempted="reading refs")
