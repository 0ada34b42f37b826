"""Takes a task: the lease, then branch and claim file, then the mirrors on GitHub; and gives it back."""

import os
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from functools import partial
from pathlib import Path

from agent_sync.context import Context
from agent_sync.errors import AgentSyncError, ClaimUnsafe, Conflict, LockHeld, NotClaimable, Refused, WrongState
from agent_sync.gateway.transport.remotes import refuse_shared_branch
from agent_sync.lazy_dataclasses import dataclass
from agent_sync.leases import fence, rules
from agent_sync.leases.acquire import AcquiredLease, LeaseWish, acquire, confirm, conflict, give_up, holder_known
from agent_sync.leases.identity import (
    Home,
    drop_reservation,
    home_here,
    move_in,
    reservations,
    reserve,
    reserved,
)
from agent_sync.leases.model import Lease, LeaseState, Tip
from agent_sync.leases.orders import Race
from agent_sync.leases.words import scope
from agent_sync.record import keep as recording
from agent_sync.system import clock, files, git_branches
from agent_sync.task.branching import (
    BranchPlan,
    NamedBranch,
    base_of,
    branch_that_goes_on,
    bring_up_to_date,
    fetch_start,
    free_branch,
    link_branch,
    make_branch,
    new_branch,
    new_root,
    refuse_carrier,
    refuse_named_branch,
    usual_name,
)
from agent_sync.task.claim import exclude
from agent_sync.task.claim.model import Claim
from agent_sync.task.claim.phases import Phase
from agent_sync.task.contributing import is_onlooker, onlooker_note, refuse_unseen_claim
from agent_sync.task.decision.actions import LeaseUnknown
from agent_sync.task.decision.claimable import agent_name, login_of, objection, warnings
from agent_sync.task.decision.decide import card_change
from agent_sync.task.decision.facts import Card, NoCard, PullState
from agent_sync.task.decision.issue_brief import IssueBrief
from agent_sync.task.decision.needs import own_status
from agent_sync.task.decision.outside_text import one_line
from agent_sync.task.decision.tasks import Person, Task
from agent_sync.task.issue_notes import keep_brief
from agent_sync.worktree import CLAIM_NAME, CLAIMING_LOCK, Place, worktree

# How long a command waits for another one that claims the same issue from this clone.
CLAIM_WAIT = 60.0
# A claim that gave a sign of life so long ago is looked at before it is called held.
LOOK_AFTER_S = 60.0


@dataclass(frozen=True)
class Wish:
    """How a task should be taken."""

    branch: str = ""
    in_worktree: bool = False
    take_over: bool = False
    # The user's word that a claim which only this clone sees will do.
    local: bool = False
    # Whether a human agrees to a question; asked only where the rules want one.
    agrees: Callable[[str], bool] = lambda _question: False
    # A lease that was won already, together with something else.
    held: Tip | None = None
    # What a lost race is worth; where any issue will do, another process of this clone is not waited for.
    race: Race = Race.FOR_THIS


@dataclass(frozen=True)
class Taken:
    """What came of it: the claim, where it is held, and what was not quite right."""

    claim: Claim
    root: str
    title: str
    warnings: tuple[str, ...]
    trouble: str
    is_restored: bool
    # For whom the claim holds, as a sentence.
    scope: str = ""
    # What people wrote about the issue, without secrets.
    brief: IssueBrief | None = None
    is_held_already: bool = False


def other_claim(held: Claim) -> WrongState:
    """Return why nothing else can be claimed in a worktree that holds this."""
    message = f"This worktree already holds issue #{held.issue_number} (phase {held.phase})."
    return WrongState(message, helps="agent-sync status, or `agent-sync claim ISSUE --worktree` for a second one")


def held_already(context: Context, held: Claim) -> Taken:
    """Return a claim that is held here and that GitHub knows of; one that was not heard of for a while is looked at."""
    is_old = held.lease and clock.now() - held.lease.renewed_at > timedelta(seconds=LOOK_AFTER_S)
    found = fence.known_loss(held) or (fence.lease_stop(context, held) if is_old else None)
    notes: tuple[str, ...] = ()
    if isinstance(found, LeaseUnknown):
        notes, found = (f"whether it is still held here could not be checked: {found.reason}",), None
    fence.refuse(context, held, found, attempted=f"claiming issue #{held.issue_number}")
    where = _scope(context, held)
    return Taken(held, context.place.root, "", notes, "", is_restored=False, scope=where, is_held_already=True)


def finish(context: Context, claim: Claim) -> Taken:
    """Mirror a claim on GitHub that a crash kept from being mirrored."""
    fence.must_hold(context, claim, attempted=_mirroring(claim))
    task = context.gateway.task(claim.issue_number)
    # A lease that everybody sees is worth more than what the board still says of the former holder.
    claim_warnings(context, task, Wish(take_over=claim.lease is not None and claim.lease.where == "remote"))
    if claim.lease:
        fence.keeper_of(context, claim.lease).confirm(fence.proof_in(claim, claim.lease))
    mirrored, trouble = _mirror(context, context, task, claim)
    drop_reservation(context.place, claim.issue_number)
    found = _scope(context, mirrored)
    title, brief = one_line(task.title), keep_brief(context, task.brief)
    return Taken(mirrored, context.place.root, title, (), trouble, is_restored=True, scope=found, brief=brief)


def claim_warnings(context: Context, task: Task, wish: Wish) -> tuple[str, ...]:
    """Return the warnings about a task that may be taken; raise what stands against it."""
    found = objection(task, own_ids=context.memory.own_ids(), take_over=wish.take_over)
    if found:
        error = Conflict if found.is_lost else NotClaimable
        lease = holder_known(context, task.number) if found.is_lost else None
        if lease:
            raise conflict(lease)
        raise error(found.reason, attempted=f"claiming issue #{task.number}", helps=found.helps)
    if _own_agent(context, task):
        return ()
    return warnings(task, ready=context.settings.board.ready)


def take(context: Context, task: Task, wish: Wish) -> Taken:
    """Take the task: the lease first, then what is local, so that a crash leaves a claim that the next stop mirrors."""
    number, wait = task.number, CLAIM_WAIT if wish.race is Race.FOR_THIS else 0
    lock = Path(context.place.shared_dir) / CLAIMING_LOCK
    with files.locked(lock, wait=wait, doing=f"claiming issue #{number}", number=number):
        warned = claim_warnings(context, task, wish)
        warned += (onlooker_note(context),) if is_onlooker(context, task) else ()
        begun = _begun_elsewhere(context, number) if wish.in_worktree else None
        if begun:
            return finish(*begun)
        refuse_twins(context, number)
        _refuse_begun(context, number, in_worktree=wish.in_worktree)
        home = _home(context, number, in_worktree=wish.in_worktree)
        try:
            return _take(context, task, wish, home, warned)
        except (Conflict, Refused):
            # Nothing was begun, or it was given up.
            drop_reservation(context.place, number)
            raise


def _home(context: Context, number: int, *, in_worktree: bool) -> Home:
    """Return the worktree that will hold an issue; one that an earlier run has not come to make is made now."""
    if not in_worktree:
        return home_here(context.place)
    begun = reserved(context.place, number)
    if begun and (not os.path.lexists(begun.root) or _is_worktree(context, begun.root)):
        return begun
    return reserve(context.place, number, new_root(context, number))


def _refuse_begun(context: Context, number: int, *, in_worktree: bool) -> None:
    """Stop where a killed claim has made another worktree for the issue: there it can be finished."""
    begun = reserved(context.place, number)
    if begun and not in_worktree and begun.root != context.place.root and _is_worktree(context, begun.root):
        helps = f"cd {begun.root}, then agent-sync claim {number}"
        raise Conflict(f"Issue #{number} is held in {begun.root}, whose claim was cut off.", helps=helps)


def unfinished(context: Context) -> tuple[int, ...]:
    """Return the issues that killed claims of this clone have left without a finished worktree."""
    return tuple(number for number in reservations(context.place) if not _is_claiming(context, number))


def _is_claiming(context: Context, number: int) -> bool:
    try:
        with files.locked(Path(context.place.shared_dir) / CLAIMING_LOCK, wait=0, doing="", number=number):
            return False
    except LockHeld:
        return True


def _begun_elsewhere(context: Context, number: int) -> tuple[Context, Claim] | None:
    """Return the claim that a killed run has written into a new worktree, and GitHub has not heard of."""
    home = reserved(context.place, number)
    place = worktree(home.root) if home and os.path.lexists(home.root) else None
    held = _held_at(context, place) if place and home and place.root == home.root else None
    is_begun = held and held.issue_number == number and held.is_unmirrored
    return (context.at(place), held) if place and held and is_begun else None


def _is_worktree(context: Context, root: str) -> bool:
    """Tell whether a path is the root of a worktree of this clone."""
    place = worktree(root) if os.path.lexists(root) else None
    return place is not None and place.root == root and place.common_dir == context.place.common_dir


def _take(context: Context, task: Task, wish: Wish, home: Home, warned: tuple[str, ...]) -> Taken:
    own, number = _own_agent(context, task), task.number
    plan = _first_plan(context, task, wish)
    refuse_carrier(context, plan, task)
    if plan.start is None:
        free_branch(context, plan.name, home.root)
    asked_at = time.monotonic()
    hold = _acquire_lease(context, task, wish, home, plan.name)
    is_restored = own is not None or hold.is_own
    lease = hold.tip.lease
    try:
        plan = _branch_plan(context, task, wish, hold, plan)
        refuse_shared_branch(
            context,
            plan.name,
            default=task.default_branch,
            attempted=f"claiming issue #{number}",
            helps=f"agent-sync release {number}, then claim it again",
        )
        place = make_branch(context, plan, task, home.root)
        if place.root != context.place.root:
            move_in(home, place)
        claim = _first_claim(context, task, branch=plan.name, agent_id=lease.holder.agent or own or "", tip=hold.tip)
        claim = _with_pull(context, claim) if is_restored or hold.is_taken_over else claim
        store = context.store_at(place)
        warned += plan.notes
        warned += _keep_out_of_git(context, place)
        with store.locked() as token:
            store.create(token, claim)
    except AgentSyncError:
        if not (hold.is_own or hold.was_begun or wish.held):
            # What could not be begun must not keep others from it.
            give_up(context, hold.tip)
        raise
    there = context.at(place)
    confirm(there, hold.tip)
    context.memory.remember_claim(task.number, claim.agent_id)
    title = one_line(task.title)
    recording.attempt(context, lambda context: _begin_record(context, place, claim, title))
    claim, trouble = _mirror(context, there, task, claim, former=hold.former, looked_at=asked_at)
    drop_reservation(context.place, task.number)
    if plan.name != lease.branch and claim.lease:
        # The name was taken on the server: others read the branch from the lease.
        fence.keeper_of(there, claim.lease).renew(fence.proof_in(claim, claim.lease), fence.change_of(claim))
    if plan.start and not is_restored:
        link_branch(context, task, plan, claim)
    found = _scope(context, claim, hold.reason)
    brief = keep_brief(context, task.brief, place)
    return Taken(claim, place.root, title, warned, trouble, is_restored=is_restored, scope=found, brief=brief)


def _begin_record(context: Context, place: Place, claim: Claim, title: str) -> None:
    recording.begin_claim(recording.recorder_at(context, place), claim, title)
    if place is not context.place:
        # The command's own end looks at the worktree it was typed in: commits over there count from now on.
        recording.catch_up(context.at(place))


def _keep_out_of_git(context: Context, place: Place) -> tuple[str, ...]:
    """Keep the claim file out of commits; return a warning where git would take it all the same."""
    trouble = exclude.keep_out(place)
    if exclude.is_kept_out(place) or context.git_at(place).is_ignored(CLAIM_NAME):
        return ()
    return (f"git does not ignore {CLAIM_NAME} ({trouble or 'a .gitignore takes it in again'}): do not commit it",)


def _first_plan(context: Context, task: Task, wish: Wish) -> BranchPlan:
    """Return the branch to work on, as far as this clone knows: a claim that is refused leaves no trace."""
    begun = wish.held.lease.branch if wish.held else ""
    if begun or _own_agent(context, task):
        return branch_that_goes_on(context, task, wish.branch or begun or usual_name(context, task))
    return new_branch(context, task, wish.branch, fetches=False)


def _branch_plan(context: Context, task: Task, wish: Wish, hold: AcquiredLease, first: BranchPlan) -> BranchPlan:
    """Return the branch to work on, now that the issue is ours and the server can be asked."""
    if wish.held:
        return first
    base, name = base_of(context, task), wish.branch or hold.tip.lease.branch or first.name
    if hold.is_own or hold.is_taken_over:
        if not context.git.head_of(name):
            fetch_start(context, base, name)
        trouble = bring_up_to_date(context, name)
        plan = branch_that_goes_on(context, task, name)
        return replace(plan, notes=(trouble,)) if trouble else plan
    return first if _own_agent(context, task) else new_branch(context, task, wish.branch)


def _acquire_lease(context: Context, task: Task, wish: Wish, home: Home, branch: str) -> AcquiredLease:
    """Get the lease, unless it was won already."""
    if wish.held:
        return AcquiredLease(wish.held)
    refuse_unseen_claim(context, task, local=wish.local)
    asked = LeaseWish(
        task.number,
        branch,
        _own_agent(context, task) or agent_name(task.viewer.login, task.number, clock.now()),
        home,
        take_over=wish.take_over,
        local=wish.local,
        agrees=wish.agrees,
        is_left=partial(_is_left, context),
        check_branch=partial(_check_branch, context, task, wish),
        race=wish.race,
    )
    return acquire(context, asked)


def _check_branch(context: Context, task: Task, wish: Wish, lease: Lease) -> None:
    helps = f"a person may free it: agent-sync release {task.number} --force"
    refuse_named_branch(context, task, NamedBranch(lease.branch, lease.acquired_at, helps), wish.agrees)


def _is_left(context: Context, lease: Lease) -> bool:
    """Tell whether a lease was got by this clone for a worktree that was never made, or is gone."""
    if fence.home_of(context, lease):
        return False
    begun = reserved(context.place, lease.issue)
    return (begun is not None and begun.id == lease.holder.worktree) or fence.is_left_behind(context, lease)


def _scope(context: Context, claim: Claim, reason: str = "") -> str:
    return scope(claim.lease.where, remote=context.remotes.base, reason=reason) if claim.lease else ""


def refuse_twins(context: Context, number: int, *, but: str = "") -> None:
    """Stop where any worktree of this repository, `but` one, holds the very same issue."""
    for root in git_branches.worktrees(context.git):
        place = worktree(root)
        held = _held_at(context, place) if place and place.root != but else None
        if held and held.issue_number == number:
            raise Conflict(f"Issue #{number} is held in {root}.", helps=f"cd {root}")


def _held_at(context: Context, place: Place) -> Claim | None:
    """Return the claim of a worktree; a file that is not the user's own holds nothing."""
    try:
        return context.store_at(place).read()
    except ClaimUnsafe:
        return None


def _own_agent(context: Context, task: Task) -> str | None:
    """Return the name under which this very clone holds the task on the board already."""
    agent = task.card.agent if isinstance(task.card, Card) else None
    return agent if agent and agent == context.memory.agent_of(task.number) else None


def _first_claim(context: Context, task: Task, *, branch: str, agent_id: str, tip: Tip) -> Claim:
    item = task.card.item_id if isinstance(task.card, Card) else ""
    return Claim(
        schema_version=1,
        item_id=item,
        issue_number=task.number,
        branch=branch,
        agent_id=agent_id,
        phase=Phase.CODING,
        status=context.settings.board.in_progress,
        own_status=own_status(context.settings.board.in_progress),
        is_unmirrored=True,
        lease=fence.lease_note(tip),
    )


def _with_pull(context: Context, claim: Claim) -> Claim:
    """Find out how far a claim had come whose file was lost."""
    pull = context.gateway.branch_pull(claim.branch)
    if pull is None or pull.state is PullState.CLOSED:
        return claim
    status = context.settings.board.in_review
    changes = {"phase": Phase.PR_CREATED, "pr_number": pull.number, "status": status}
    return claim.model_copy(update=changes)


def _mirror(  # noqa: PLR0913  # everything that others see of a claim
    context: Context,
    there: Context,
    task: Task,
    claim: Claim,
    *,
    former: Lease | None = None,
    looked_at: float | None = None,
) -> tuple[Claim, str]:
    """Assign and move the card of a claim that is held `there`; from here on trouble is returned, and the claim stands.

    `looked_at` is when the lease was last known to be held; after a while that is asked again, before and after.
    """
    store = there.store
    if looked_at is not None and fence.is_held_up(claim, looked_at):
        fence.must_hold(there, claim, attempted=_mirroring(claim))
    if is_onlooker(context, task):
        with store.locked() as token:
            noted = {"is_unmirrored": False, "refused_status": claim.status, "refused_at": clock.now()}
            return store.save(token, seen=claim, changed=claim.model_copy(update=noted)), ""
    card, unlisted = _card_to_move(context, task)
    change, board = card_change(card, status=claim.status, agent=claim.agent_id)
    sent_at = time.monotonic()
    try:
        trouble = context.gateway.claim_task(task, change, former=_former_assignee(task, former))
    except AgentSyncError as error:
        return claim, str(error)
    if fence.is_held_up(claim, sent_at):
        _undo_if_lost(context, there, task, card, claim)
    trouble = trouble or unlisted or board
    item = card.item_id if isinstance(card, Card) else claim.item_id
    # Without any board there is nothing to be kept true, and nothing to complain about.
    has_board = context.settings.project.number is not None
    refused = {"refused_status": claim.status, "refused_at": clock.now()}
    synced = refused if trouble or not has_board else {"last_synced_status": claim.status}
    with store.locked() as token:
        changed = claim.model_copy(update=synced | {"is_unmirrored": False, "item_id": item})
        return store.save(token, seen=claim, changed=changed), trouble if has_board else ""


def _mirroring(claim: Claim) -> str:
    return f"telling GitHub of issue #{claim.issue_number}"


def _undo_if_lost(context: Context, there: Context, task: Task, card: Card | NoCard, claim: Claim) -> None:
    """Give card and assignment back to the holder where the lease was lost while they were written."""
    if claim.lease is None:
        return
    seen = fence.keeper_of(there, claim.lease).read(claim.issue_number)
    if not isinstance(seen, Tip) or rules.is_mine(seen.lease, claim.lease.nonce):
        return
    holder = seen.lease.holder.agent if seen.lease.state is LeaseState.HELD else ""
    change, _ = card_change(card, status="", agent=holder)
    is_other = login_of(holder).casefold() != task.viewer.login.casefold()
    mine = replace(task, assignees=(task.viewer.login,) if is_other else ())
    context.gateway.release_task(mine, change)
    fence.must_hold(there, claim, attempted=_mirroring(claim))


def _former_assignee(task: Task, former: Lease | None) -> Person | None:
    """Return the person whose agent held the issue before, if that is another one and still assigned."""
    login = login_of(former.holder.agent).casefold() if former else ""
    if not login or login == task.viewer.login.casefold():
        return None
    return next((Person(name, id_) for name, id_ in task.assignee_ids if name.casefold() == login), None)


def _card_to_move(context: Context, task: Task) -> tuple[Card | NoCard, str]:
    """Return the task's card, put on the board where it is missing there, or what kept it from that."""
    card = task.card
    if isinstance(card, Card) or not (card.project_id and context.settings.project.add_issues):
        return card, ""
    try:
        return context.gateway.add_card(task.issue_id, card.project_id), ""
    except AgentSyncError as error:
        return card, str(error)
