"""Takes a task: the lease, then branch and claim file, then the mirrors on GitHub; and gives it back."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from agent_sync.context import Context
from agent_sync.errors import AgentSyncError, BadInput, ClaimUnsafe, Conflict, Refused
from agent_sync.gates.pull import refuse_committed_claim
from agent_sync.leases import fence
from agent_sync.leases.acquire import Ask, Hold, acquire, confirm, conflict, give_up, holder_known
from agent_sync.leases.model import Tip
from agent_sync.leases.note import keeper_of, mine_in, noted
from agent_sync.leases.words import scope
from agent_sync.record import keep as recording
from agent_sync.system import clock
from agent_sync.task.claim import exclude
from agent_sync.task.claim.model import Claim
from agent_sync.task.claim.phases import Phase
from agent_sync.task.claim.store import ClaimStore
from agent_sync.task.decision.board import card_change
from agent_sync.task.decision.claimable import agent_name, branch_name, objection, warnings
from agent_sync.task.decision.facts import Card, PullState
from agent_sync.task.decision.outside_text import one_line
from agent_sync.task.decision.tasks import Task
from agent_sync.worktree import CLAIM_NAME, Place, worktree


@dataclass(frozen=True)
class Wish:
    """How a task should be taken."""

    branch: str = ""
    in_worktree: bool = False
    take_over: bool = False
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


def unfinished_claim(context: Context) -> Claim | None:
    """Return a claim that a crash kept from being mirrored; stop where this worktree holds any other."""
    held = context.store.read()
    if held is None or held.is_unmirrored:
        return held
    message = f"This worktree already holds issue #{held.issue_number} (phase {held.phase})."
    raise BadInput(message, helps="agent-sync status, or `agent-sync claim ISSUE --worktree` for a second one")


def finish(context: Context, claim: Claim) -> Taken:
    """Mirror a claim on GitHub that a crash kept from being mirrored."""
    fence.must_hold(context, claim, attempted=f"telling GitHub of issue #{claim.issue_number}")
    task = context.gateway.task(claim.issue_number)
    # A lease that everybody sees is worth more than what the board still says of the former holder.
    checked(context, task, Wish(take_over=claim.lease is not None and claim.lease.where == "remote"))
    if claim.lease:
        keeper_of(context, claim.lease).confirm(mine_in(claim, claim.lease))
    mirrored, trouble = _mirrored(context, task, context.store, claim)
    found = _scope(context, mirrored)
    return Taken(mirrored, context.place.root, one_line(task.title), (), trouble, is_restored=True, scope=found)


def checked(context: Context, task: Task, wish: Wish) -> tuple[str, ...]:
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
    warned = checked(context, task, wish)
    refuse_twins(context, task.number)
    _refuse_carrier(context, wish.branch or branch_name(task.title, task.number), task)
    own = _own_agent(context, task)
    hold = _held(context, task, wish, own)
    lease = hold.tip.lease
    branch = wish.branch or lease.branch or branch_name(task.title, task.number)
    agent_id = own or lease.holder.agent or agent_name(task.viewer.login, clock.now())
    warned += _unlike_remote(context, branch) if hold.is_taken_over else ()
    is_restored = own is not None or hold.is_own
    claim = _first_claim(context, task, branch=branch, agent_id=agent_id, tip=hold.tip)
    try:
        place = _branched(context, branch, task, in_worktree=wish.in_worktree)
        claim = _with_pull(context, claim) if is_restored else claim
        store = context.store_at(place)
        warned += _kept_out(context, place)
        with store.locked() as token:
            store.create(token, claim)
    except AgentSyncError:
        if not (hold.is_own or wish.held):
            # What could not be begun must not keep others from it.
            give_up(context, hold.tip)
        raise
    confirm(context, hold.tip)
    context.memory.claimed(task.number, claim.agent_id)
    title = one_line(task.title)
    recording.attempt(
        context, lambda context: recording.begin_claim(recording.recorder_at(context, place), claim, title)
    )
    claim, trouble = _mirrored(context, task, store, claim)
    found = _scope(context, claim, hold.reason)
    return Taken(claim, place.root, one_line(task.title), warned, trouble, is_restored=is_restored, scope=found)


def _kept_out(context: Context, place: Place) -> tuple[str, ...]:
    """Keep the claim file out of commits; return a warning where git would take it all the same."""
    trouble = exclude.keep_out(place)
    if context.git_at(place).is_ignored(CLAIM_NAME):
        return ()
    return (f"git does not ignore {CLAIM_NAME} ({trouble or 'a .gitignore takes it in again'}): do not commit it",)


def _held(context: Context, task: Task, wish: Wish, own: str | None) -> Hold:
    """Get the lease, unless it was won already."""
    if wish.held:
        return Hold(wish.held)
    agent = own or agent_name(task.viewer.login, clock.now())
    branch = wish.branch or branch_name(task.title, task.number)
    return acquire(context, Ask(task.number, branch, agent, take_over=wish.take_over, agrees=wish.agrees))


def _scope(context: Context, claim: Claim, reason: str = "") -> str:
    return scope(claim.lease.where, remote=context.settings.git.remote, reason=reason) if claim.lease else ""


def _unlike_remote(context: Context, branch: str) -> tuple[str, ...]:
    """Return a warning where the branch is here already and not what the former holder has pushed."""
    here, remote = context.git.head_of(branch), context.settings.git.remote
    there = context.git.remote_head_of(remote, branch)
    if here is None or there is None or here == there:
        return ()
    return (f"branch {branch} is here at {here[:12]} and on {remote} at {there[:12]}: git pull {remote} {branch}",)


def refuse_twins(context: Context, number: int, *, but: str = "") -> None:
    """Stop where any worktree of this repository, `but` one, holds the very same issue."""
    for root in context.git.worktrees():
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
        lease=noted(tip),
    )


def _with_pull(context: Context, claim: Claim) -> Claim:
    """Find out how far a claim had come whose file was lost."""
    pull = context.gateway.branch_pull(claim.branch)
    if pull is None or pull.state is PullState.CLOSED:
        return claim
    status = context.settings.board.in_review
    changes = {"phase": Phase.PR_CREATED, "pr_number": pull.number, "status": status}
    return claim.model_copy(update=changes)


def _branched(context: Context, branch: str, task: Task, *, in_worktree: bool) -> Place:
    start = _refuse_carrier(context, branch, task)
    if not in_worktree:
        context.git.check_out(branch, start)
        return context.place
    root = Path(context.place.root)
    target = root.parent / f"{root.name}-{task.number}"
    context.git.add_worktree(str(target), branch, start)
    place = worktree(str(target))
    if place is None:
        raise BadInput(f"{target} is not a worktree.", attempted="making a worktree for the task")
    return place


def _refuse_carrier(context: Context, branch: str, task: Task) -> str | None:
    """Return what a new branch begins at; stop where it, or the branch that is here, would bring a claim file along."""
    start = context.git.start_of(branch, remote=context.settings.git.remote, default=task.default_branch)
    if start == "HEAD":
        # What is checked out here is asked about when the claim is written.
        return start
    is_new = start is not None and not start.endswith(f"/{branch}")
    refuse_committed_claim(context, task.default_branch if is_new else branch, start or f"refs/heads/{branch}")
    return start


def _mirrored(context: Context, task: Task, store: ClaimStore, claim: Claim) -> tuple[Claim, str]:
    """Assign and move the card; from here on trouble is told, and the claim stands."""
    change, board = card_change(task.card, status=claim.status, agent=claim.agent_id)
    try:
        trouble = context.gateway.claim_task(task, change)
    except AgentSyncError as error:
        return claim, str(error)
    trouble = trouble or board
    # Without any board there is nothing to be kept true, and nothing to complain about.
    has_board = context.settings.project.number is not None
    synced = {"refused_status": claim.status} if trouble or not has_board else {"last_synced_status": claim.status}
    with store.locked() as token:
        changed = claim.model_copy(update=synced | {"is_unmirrored": False})
        return store.save(token, seen=claim, changed=changed), trouble if has_board else ""
