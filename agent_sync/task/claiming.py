"""Takes a task: the lease, then branch and claim file, then the mirrors on GitHub; and gives it back."""

from collections.abc import Callable

from agent_sync.context import Context
from agent_sync.errors import AgentSyncError, BadInput, ClaimUnsafe, Conflict, Refused
from agent_sync.lazy_dataclasses import dataclass
from agent_sync.leases import fence
from agent_sync.leases.acquire import AcquiredLease, LeaseWish, acquire, confirm, conflict, give_up, holder_known
from agent_sync.leases.model import Tip
from agent_sync.leases.words import scope
from agent_sync.record import keep as recording
from agent_sync.system import clock, git_branches
from agent_sync.task.branching import (
    BranchPlan,
    base_of,
    branch_that_goes_on,
    fetch_start,
    link_branch,
    make_branch,
    new_branch,
    refuse_carrier,
    unlike_remote,
    usual_name,
)
from agent_sync.task.claim import exclude
from agent_sync.task.claim.model import Claim
from agent_sync.task.claim.phases import Phase
from agent_sync.task.claim.store import ClaimStore
from agent_sync.task.contributing import is_onlooker, onlooker_note, refuse_unseen_claim
from agent_sync.task.decision.claimable import agent_name, objection, warnings
from agent_sync.task.decision.decide import card_change
from agent_sync.task.decision.facts import Card, NoCard, PullState
from agent_sync.task.decision.issue_brief import IssueBrief
from agent_sync.task.decision.outside_text import one_line
from agent_sync.task.decision.tasks import Task
from agent_sync.task.issue_notes import keep_brief
from agent_sync.worktree import CLAIM_NAME, Place, worktree


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


def other_claim(held: Claim) -> BadInput:
    """Return why nothing else can be claimed in a worktree that holds this."""
    message = f"This worktree already holds issue #{held.issue_number} (phase {held.phase})."
    return BadInput(message, helps="agent-sync status, or `agent-sync claim ISSUE --worktree` for a second one")


def held_already(context: Context, held: Claim) -> Taken:
    """Return a claim that is held here and that GitHub knows of: whoever asks again has it, at no request."""
    fence.refuse(context, held, fence.known_loss(held), attempted=f"claiming issue #{held.issue_number}")
    found = _scope(context, held)
    return Taken(held, context.place.root, "", (), "", is_restored=False, scope=found, is_held_already=True)


def finish(context: Context, claim: Claim) -> Taken:
    """Mirror a claim on GitHub that a crash kept from being mirrored."""
    fence.must_hold(context, claim, attempted=f"telling GitHub of issue #{claim.issue_number}")
    task = context.gateway.task(claim.issue_number)
    # A lease that everybody sees is worth more than what the board still says of the former holder.
    claim_warnings(context, task, Wish(take_over=claim.lease is not None and claim.lease.where == "remote"))
    if claim.lease:
        fence.keeper_of(context, claim.lease).confirm(fence.proof_in(claim, claim.lease))
    mirrored, trouble = _mirror(context, task, context.store, claim)
    found = _scope(context, mirrored)
    title, brief = one_line(task.title), keep_brief(context, task.brief)
    return Taken(mirrored, context.place.root, title, (), trouble, is_restored=True, scope=found, brief=brief)


def claim_warnings(context: Context, task: Task, wish: Wish) -> tuple[str, ...]:
    """Return the warnings about a task that may be taken; raise what stands against it."""
    found = objection(task, own_ids=context.memory.own_ids(), take_over=wish.take_over)
    if found:
        error = Conflict if found.is_lost else Refused
        lease = holder_known(context, task.number) if found.is_lost else None
        if lease:
            raise conflict(lease)
        raise error(found.reason, attempted=f"claiming issue #{task.number}", helps=found.helps)
    if _own_agent(context, task):
        return ()
    return warnings(task, ready=context.settings.board.ready)


def take(context: Context, task: Task, wish: Wish) -> Taken:
    """Take the task: the lease first, then what is local, so that a crash leaves a claim that the next stop mirrors."""
    warned = claim_warnings(context, task, wish)
    warned += (onlooker_note(context),) if is_onlooker(context, task) else ()
    refuse_twins(context, task.number)
    own = _own_agent(context, task)
    plan = _branch_plan(context, task, wish, own)
    refuse_carrier(context, plan, task)
    hold = _acquire_lease(context, task, wish, own, plan.name)
    lease = hold.tip.lease
    if hold.is_own or hold.is_taken_over:
        plan = branch_that_goes_on(context, task, wish.branch or lease.branch or plan.name)
    elif wish.take_over and not wish.held:
        # It was free after all: the work is new and starts from the server's base too.
        fetch_start(context, base_of(context, task), plan.name)
    branch = plan.name
    warned += plan.notes
    agent_id = own or lease.holder.agent or agent_name(task.viewer.login, clock.now())
    warned += unlike_remote(context, branch) if hold.is_taken_over else ()
    is_restored = own is not None or hold.is_own
    claim = _first_claim(context, task, branch=branch, agent_id=agent_id, tip=hold.tip)
    try:
        place = make_branch(context, plan, task, in_worktree=wish.in_worktree)
        claim = _with_pull(context, claim) if is_restored else claim
        store = context.store_at(place)
        warned += _keep_out_of_git(context, place)
        with store.locked() as token:
            store.create(token, claim)
    except AgentSyncError:
        if not (hold.is_own or wish.held):
            # What could not be begun must not keep others from it.
            give_up(context, hold.tip)
        raise
    confirm(context, hold.tip)
    context.memory.remember_claim(task.number, claim.agent_id)
    title = one_line(task.title)
    recording.attempt(context, lambda context: _begin_record(context, place, claim, title))
    claim, trouble = _mirror(context, task, store, claim)
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


def _branch_plan(context: Context, task: Task, wish: Wish, own: str | None) -> BranchPlan:
    """Return the branch to work on; work that this clone or a worker's hook has begun continues where it is."""
    begun = wish.held.lease.branch if wish.held else ""
    if own or begun:
        return branch_that_goes_on(context, task, wish.branch or begun or usual_name(context, task))
    # A take-over that is refused must leave no trace, and one that succeeds has a branch already.
    return new_branch(context, task, wish.branch, fetches=not wish.take_over)


def _acquire_lease(context: Context, task: Task, wish: Wish, own: str | None, branch: str) -> AcquiredLease:
    """Get the lease, unless it was won already."""
    if wish.held:
        return AcquiredLease(wish.held)
    refuse_unseen_claim(context, task, local=wish.local)
    agent = own or agent_name(task.viewer.login, clock.now())
    asked = LeaseWish(task.number, branch, agent, take_over=wish.take_over, local=wish.local, agrees=wish.agrees)
    return acquire(context, asked)


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


def _mirror(context: Context, task: Task, store: ClaimStore, claim: Claim) -> tuple[Claim, str]:
    """Assign and move the card; from here on trouble is told, and the claim stands."""
    if is_onlooker(context, task):
        with store.locked() as token:
            noted = {"is_unmirrored": False, "refused_status": claim.status, "refused_at": clock.now()}
            return store.save(token, seen=claim, changed=claim.model_copy(update=noted)), ""
    card, unlisted = _card_to_move(context, task)
    change, board = card_change(card, status=claim.status, agent=claim.agent_id)
    try:
        trouble = context.gateway.claim_task(task, change)
    except AgentSyncError as error:
        return claim, str(error)
    trouble = trouble or unlisted or board
    item = card.item_id if isinstance(card, Card) else claim.item_id
    # Without any board there is nothing to be kept true, and nothing to complain about.
    has_board = context.settings.project.number is not None
    refused = {"refused_status": claim.status, "refused_at": clock.now()}
    synced = refused if trouble or not has_board else {"last_synced_status": claim.status}
    with store.locked() as token:
        changed = claim.model_copy(update=synced | {"is_unmirrored": False, "item_id": item})
        return store.save(token, seen=claim, changed=changed), trouble if has_board else ""


def _card_to_move(context: Context, task: Task) -> tuple[Card | NoCard, str]:
    """Return the task's card, put on the board where it is missing there, or what kept it from that."""
    card = task.card
    if isinstance(card, Card) or not (card.project_id and context.settings.project.add_issues):
        return card, ""
    try:
        return context.gateway.add_card(task.issue_id, card.project_id), ""
    except AgentSyncError as error:
        return card, str(error)
