"""Takes a task: branch, claim file, then the mirrors on GitHub; and gives it back."""

from dataclasses import dataclass
from pathlib import Path

from agent_sync import clock, recording
from agent_sync.claim.model import Claim
from agent_sync.claim.phases import Phase
from agent_sync.claim.store import ClaimStore
from agent_sync.desk import Desk
from agent_sync.errors import AgentSyncError, BadInput, Conflict, Refused
from agent_sync.git import Git
from agent_sync.lifecycle.board import card_change
from agent_sync.lifecycle.claiming import agent_name, branch_name, objection, warnings
from agent_sync.lifecycle.facts import Card, PullState
from agent_sync.lifecycle.foreign import one_line
from agent_sync.lifecycle.tasks import Task
from agent_sync.place import Place, worktree
from agent_sync.recovery.recorder import Recorder


@dataclass(frozen=True)
class Wish:
    """How a task should be taken."""

    branch: str = ""
    in_worktree: bool = False
    take_over: bool = False


@dataclass(frozen=True)
class Taken:
    """What came of it: the claim, where it is held, and what was not quite right."""

    claim: Claim
    root: str
    title: str
    warnings: tuple[str, ...]
    trouble: str
    is_restored: bool


def unfinished_claim(desk: Desk) -> Claim | None:
    """Return a claim that a crash kept from being mirrored; stop where this worktree holds any other."""
    held = desk.store.read()
    if held is None or held.is_unmirrored:
        return held
    message = f"This worktree already holds issue #{held.issue_number} (phase {held.phase})."
    raise BadInput(message, helps="agent-sync status, or `agent-sync claim ISSUE --worktree` for a second one")


def finish(desk: Desk, claim: Claim) -> Taken:
    """Mirror a claim on GitHub that a crash kept from being mirrored."""
    task = desk.gateway.task(claim.issue_number)
    checked(desk, task, Wish())
    mirrored, trouble = _mirrored(desk, task, desk.store, claim)
    return Taken(mirrored, desk.place.root, one_line(task.title), (), trouble, is_restored=True)


def checked(desk: Desk, task: Task, wish: Wish) -> tuple[str, ...]:
    """Return the warnings about a task that may be taken; raise what stands against it."""
    found = objection(task, own_ids=desk.memory.own_ids(), take_over=wish.take_over)
    if found:
        error = Conflict if found.is_lost else Refused
        raise error(found.reason, attempted=f"claiming issue #{task.number}", helps=found.helps)
    if _own_agent(desk, task):
        return ()
    return warnings(task, ready=desk.settings.board.ready)


def take(desk: Desk, task: Task, wish: Wish) -> Taken:
    """Take the task: what is local first, so that a crash leaves a claim that the next stop mirrors."""
    noted = checked(desk, task, wish)
    _refuse_twins(desk, task.number)
    own = _own_agent(desk, task)
    agent_id = own or agent_name(task.viewer.login, clock.now())
    branch = wish.branch or branch_name(task.title, task.number)
    place = _branched(desk, branch, task, in_worktree=wish.in_worktree)
    claim = _first_claim(desk, task, branch=branch, agent_id=agent_id)
    if own:
        claim = _with_pull(desk, claim)
    store = ClaimStore(place)
    with store.locked() as token:
        store.create(token, claim)
    desk.memory.claimed(task.number, agent_id)
    recording.attempt(desk, lambda _: recording.begin_claim(_recorder(desk, place), claim, one_line(task.title)))
    claim, trouble = _mirrored(desk, task, store, claim)
    return Taken(claim, place.root, one_line(task.title), noted, trouble, is_restored=own is not None)


def _refuse_twins(desk: Desk, number: int) -> None:
    """Stop where any worktree of this repository holds the very same issue."""
    for root in desk.git.worktrees():
        place = worktree(root)
        held = ClaimStore(place).read() if place else None
        if held and held.issue_number == number:
            raise Conflict(f"Issue #{number} is held in {root}.", helps=f"cd {root}")


def _recorder(desk: Desk, place: Place) -> Recorder:
    """Return the recorder of the worktree the claim is held in, which may be a new one."""
    if place.root == desk.place.root:
        return desk.recorder
    return Recorder(place, desk.settings, desk.environment, Git(place.root, desk.processes, desk.environment))


def give_back(desk: Desk, claim: Claim, *, reason: str, force: bool) -> str:
    """Give the task back: board, assignment, then the file; return what was wrong with the board."""
    try:
        trouble = _unmirrored(desk, claim, reason=reason, force=force)
    except AgentSyncError as error:
        if not force:
            raise
        trouble = str(error)
    why = f"the claim was given back{': ' + reason if reason else ''}"
    recording.attempt(desk, lambda desk: recording.abandon(desk, why))
    with desk.store.locked() as token:
        desk.store.delete(token, claim)
    return trouble


def _own_agent(desk: Desk, task: Task) -> str | None:
    """Return the name under which this very clone holds the task on the board already."""
    agent = task.card.agent if isinstance(task.card, Card) else None
    return agent if agent and agent == desk.memory.agent_of(task.number) else None


def _first_claim(desk: Desk, task: Task, *, branch: str, agent_id: str) -> Claim:
    item = task.card.item_id if isinstance(task.card, Card) else ""
    return Claim(
        schema_version=1,
        item_id=item,
        issue_number=task.number,
        branch=branch,
        agent_id=agent_id,
        phase=Phase.CODING,
        status=desk.settings.board.in_progress,
        is_unmirrored=True,
    )


def _with_pull(desk: Desk, claim: Claim) -> Claim:
    """Find out how far a claim had come whose file was lost."""
    pull = desk.gateway.branch_pull(claim.branch)
    if pull is None or pull.state is PullState.CLOSED:
        return claim
    status = desk.settings.board.in_review
    changes = {"phase": Phase.PR_CREATED, "pr_number": pull.number, "status": status}
    return claim.model_copy(update=changes)


def _branched(desk: Desk, branch: str, task: Task, *, in_worktree: bool) -> Place:
    start = desk.git.start_of(branch, remote=desk.settings.git.remote, default=task.default_branch)
    if not in_worktree:
        desk.git.check_out(branch, start)
        return desk.place
    root = Path(desk.place.root)
    target = root.parent / f"{root.name}-{task.number}"
    desk.git.add_worktree(str(target), branch, start)
    place = worktree(str(target))
    if place is None:
        raise BadInput(f"{target} is not a worktree.", attempted="making a worktree for the task")
    return place


def _mirrored(desk: Desk, task: Task, store: ClaimStore, claim: Claim) -> tuple[Claim, str]:
    """Assign and move the card; from here on trouble is told, and the claim stands."""
    change, board = card_change(task.card, status=claim.status, agent=claim.agent_id)
    try:
        trouble = desk.gateway.claim_task(task, change)
    except AgentSyncError as error:
        return claim, str(error)
    trouble = trouble or board
    # Without any board there is nothing to be kept true, and nothing to complain about.
    has_board = desk.settings.project.number is not None
    synced = {"refused_status": claim.status} if trouble or not has_board else {"last_synced_status": claim.status}
    with store.locked() as token:
        changed = claim.model_copy(update=synced | {"is_unmirrored": False})
        return store.save(token, seen=claim, changed=changed), trouble if has_board else ""


def _unmirrored(desk: Desk, claim: Claim, *, reason: str, force: bool) -> str:
    task = desk.gateway.task(claim.issue_number)
    if not force and claim.pr_number and desk.gateway.pull(claim.pr_number, with_checks=False).state is PullState.OPEN:
        message = f"PR #{claim.pr_number} is open."
        helps = "merge or close it first; see `agent-sync release --help`"
        raise Refused(message, attempted=f"giving issue #{claim.issue_number} back", helps=helps)
    holder = task.card.agent if isinstance(task.card, Card) else None
    if not task.is_open or holder not in {None, claim.agent_id}:
        return f"Issue #{task.number} is {'held by ' + one_line(holder) if holder else 'closed'}; it was left as it is."
    change, trouble = card_change(task.card, status=desk.settings.board.ready, agent="")
    desk.log.write(clock.now(), "release", issue=claim.issue_number, reason=reason or None)
    return desk.gateway.release_task(task, change) or trouble
