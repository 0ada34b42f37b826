"""Looks at a whole fleet: one fetch of refs, one request for a hundred claims, one for the board, and this machine."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime

from agent_sync.context import Context
from agent_sync.errors import AgentSyncError, RateLimited
from agent_sync.fleet.reading import Fleet, WorktreeClaim, read_fleet
from agent_sync.fleet.ready import WHY_NOT_READY, free_issues, why_not_ready
from agent_sync.fleet.seen import FleetSeen, HeldTask, WorktreeSeen
from agent_sync.fleet.worktrees import claims_of_other_clones, seen_in, with_branch
from agent_sync.gateway.transport.address import address_of
from agent_sync.lazy_dataclasses import dataclass
from agent_sync.leases.fence import home_of, is_left_behind
from agent_sync.leases.identity import known_worktree_id
from agent_sync.leases.model import Lease, LeaseState, Tip
from agent_sync.leases.words import way_out
from agent_sync.system import clock
from agent_sync.task.decision.claims_seen import ClaimAsked, ClaimsSeen
from agent_sync.task.decision.feedback.reviews import Wake
from agent_sync.task.decision.tasks import BoardIssue, BoardSeen


@dataclass(frozen=True)
class _Asked:
    """What GitHub answered, and what kept it from answering."""

    claims: ClaimsSeen | None = None
    board: BoardSeen | None = None
    trouble: str = ""
    paused_until: datetime | None = None


def look(context: Context, *, everywhere: bool = True, asks_github: bool = True) -> FleetSeen:
    """Return everything that the view of the fleet is made of; what cannot be had is said, never left out."""
    return seen_of(context, read_fleet(context), everywhere=everywhere, asks_github=asks_github)


def seen_of(context: Context, fleet: Fleet, *, everywhere: bool = True, asks_github: bool = True) -> FleetSeen:
    """Return the fleet whose refs were read, or this clone's part of it, with what GitHub and this machine know."""
    held = _held(context, fleet)
    if not everywhere:
        own = {one.root for one in fleet.here}
        held = [one for one in held if one.here and one.here.root in own]
    questions = [_question(one) for one in held if one.issue]
    asked = _ask_github(context, questions) if asks_github else _Asked()
    held = [_with_branch(context, one, asked.claims) for one in held]
    ready, note = _ready(context, asked.board, held)
    settings = context.settings
    return FleetSeen(
        repository=_repository(context),
        looked_at=clock.now(),
        held=tuple(held),
        github=asked.claims,
        ready=ready,
        board_note=note,
        finished=tuple(one.at for one in fleet.ended if one.state is LeaseState.DONE),
        paused_until=asked.paused_until,
        stale_reason="; ".join(filter(None, [fleet.trouble, asked.trouble])),
        root=context.place.root,
        wake=Wake(settings.reviews.wake),
        remote=context.remotes.base,
        allowance_s=settings.lease.allowance_s,
        quiet_s=settings.fleet.quiet_s,
        merges_itself=bool(settings.pr.auto_merge),
    )


def _repository(context: Context) -> str:
    try:
        return address_of(context)[0].full_name
    except AgentSyncError:
        return ""


def _held(context: Context, fleet: Fleet) -> list[HeldTask]:
    """Return one task for every lease that is held, every claim here that has none, and every ref beyond reading."""
    tips = list(fleet.held)
    places = [*fleet.here, *_of_this_repository(claims_of_other_clones(context), tips)]
    by_nonce = {_nonce(one): one for one in places if _nonce(one)}
    own = context.memory.own_ids(), known_worktree_id(context.place)
    held = []
    for lease in (tip.lease for tip in tips):
        found = by_nonce.get(lease.nonce)
        is_ours = lease.holder.agent in own[0] or lease.holder.worktree == own[1]
        held.append(held_task(context, lease, found) if found or is_ours else HeldTask(lease.issue, lease))
    held += [
        HeldTask(one.issue, trouble=one.unknown.reason, helps=way_out(one.issue, one.unknown.doubt))
        for one in fleet.unreadable
    ]
    shown = {tip.lease.nonce for tip in tips}
    held += [
        _without_lease(context, one, tips) for one in places if _nonce(one) not in shown and not _is_left(one, tips)
    ]
    return held


def held_task(context: Context, lease: Lease, found: WorktreeClaim | None = None) -> HeldTask:
    """Return the task of a lease; of one that this clone got and has no claim file for, say what is gone."""
    if found or not is_left_behind(context, lease):
        return HeldTask(lease.issue, lease, _seen(context, found))
    home = home_of(context, lease)
    return HeldTask(lease.issue, lease, gone=f"its {'claim file' if home else 'worktree'} is gone", home=home)


def _without_lease(context: Context, found: WorktreeClaim, tips: list[Tip]) -> HeldTask:
    """Return a claim that has no lease, or whose issue is held by somebody else now."""
    issue = found.claim.issue_number if found.claim else 0
    tip = next((tip for tip in tips if tip.lease.issue == issue), None)
    return HeldTask(issue, tip.lease if tip else None, _seen(context, found))


def _is_left(found: WorktreeClaim, tips: list[Tip]) -> bool:
    """Tell whether a claim was left on a hook that has a row of its own."""
    claim = found.claim
    return bool(claim and claim.is_left and any(tip.lease.issue == claim.issue_number for tip in tips))


def _of_this_repository(found: Iterable[WorktreeClaim], tips: list[Tip]) -> list[WorktreeClaim]:
    known = {tip.lease.nonce for tip in tips}
    return [one for one in found if _nonce(one) in known]


def _nonce(found: WorktreeClaim) -> str:
    return found.claim.lease.nonce if found.claim and found.claim.lease else ""


def _seen(context: Context, found: WorktreeClaim | None) -> WorktreeSeen | None:
    return seen_in(context, found) if found else None


def _question(held: HeldTask) -> ClaimAsked:
    """Return what to ask of a claim; of one on this machine, its own file knows the pull request."""
    claim, lease = held.here.claim if held.here else None, held.lease
    if claim:
        return ClaimAsked(held.issue, claim.pr_number)
    return ClaimAsked(held.issue, lease.pr if lease else None, lease.branch if lease else "")


def _with_branch(context: Context, held: HeldTask, claims: ClaimsSeen | None) -> HeldTask:
    if held.here is None:
        return held
    issue = claims.issue(held.issue) if claims else None
    return replace(held, here=with_branch(context, held.here, issue.pull if issue else None))


def _ask_github(context: Context, questions: list[ClaimAsked]) -> _Asked:
    """Ask for the claims and the board: two requests for a hundred claims."""
    asked = _Asked()
    try:
        if questions:
            asked = replace(asked, claims=context.gateway.claims(questions))
        if context.settings.project.number is not None:
            asked = replace(asked, board=context.gateway.board())
    except RateLimited as limit:
        return replace(asked, trouble=str(limit), paused_until=limit.until)
    except AgentSyncError as error:
        return replace(asked, trouble=f"GitHub could not be asked: {error.happened}")
    return asked


def _ready(context: Context, board: BoardSeen | None, held: list[HeldTask]) -> tuple[tuple[BoardIssue, ...], str]:
    """Return what can be claimed now, best first, and a sentence that counts the rest of the column."""
    if board is None:
        return (), "" if context.settings.project.number else "No board is configured."
    free = free_issues(context, board)
    taken = {one.issue for one in held}
    ready = tuple(issue for issue in free if issue.number not in taken)
    others = Counter(why_not_ready(issue) for issue in board.ready if issue.number not in taken and issue not in free)
    others["of other repositories"] = board.elsewhere
    parts = ", ".join(f"{others[why]} {why}" for why in (*WHY_NOT_READY, "of other repositories") if others[why])
    return ready, f"Also in {context.settings.board.ready}: {parts}." if parts else ""
