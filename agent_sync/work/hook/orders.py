"""Carries out orders to hooks and claims: look, decide, write all at once, and decide again if others were faster."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Generic, TypeVar

from agent_sync.context import Context
from agent_sync.errors import GitFailed
from agent_sync.leases.model import Lease
from agent_sync.leases.refs.objects import write_commit, write_files
from agent_sync.leases.refs.remote import Pushed, RefUpdate, Verdict
from agent_sync.leases.refs.stores import Branch
from agent_sync.system import clock
from agent_sync.system.git import Git
from agent_sync.work.hook.layout import readable_files
from agent_sync.work.hook.moves import Moved
from agent_sync.work.hook.reading import look, ref_here
from agent_sync.work.hook.shelf import CloneShelf, RemoteShelf, clone_shelf_after_refusal, shelf_for
from agent_sync.work.hook.sight import Sight

ATTEMPTS = 5
PAUSE_S = 0.1
T = TypeVar("T")


@dataclass(frozen=True)
class Step:
    """One ref and what it becomes: a claim, a hook, or a commit that is written already."""

    ref: str
    old: str
    content: Lease | Moved | str
    parent: str = ""


@dataclass(frozen=True)
class Order(Generic[T]):
    """What is to be written, all or nothing, and what is true then; without steps it is true already."""

    value: T
    steps: tuple[Step, ...] = ()
    branch: Branch = None


@dataclass(frozen=True)
class Done(Generic[T]):
    """What came of an order: its value, what was seen before, and the commits that were written by ref."""

    value: T
    sight: Sight
    shas: dict[str, str]


Decide = Callable[[Sight, datetime], Order[T]]
Shelves = RemoteShelf | CloneShelf


def carry_out(context: Context, decide: Decide[T], *, issue: int | None = None, dry_run: bool = False) -> Done[T]:
    """Decide from what is there and write it; whoever loses a race decides again from what is there then."""
    shelf = shelf_for(context, clock.now())
    trouble = Pushed(Verdict.SILENT)
    written: list[RefUpdate] = []
    for attempt in range(ATTEMPTS):
        sight = _looked(shelf, issue, doubtful=bool(written))
        order = decide(sight, clock.now())
        if dry_run or not order.steps:
            return Done(order.value, sight, {})
        written = [_written(context.git, step, clock.now()) for step in order.steps]
        trouble = shelf.swap(written, order.branch)
        if trouble.verdict is Verdict.LANDED or (trouble.verdict is Verdict.SILENT and _is_in(shelf, issue, written)):
            return Done(order.value, sight, {update.ref: update.new for update in written})
        if trouble.verdict is Verdict.BRANCH_REFUSED or (order.branch and attempt):
            # A branch that was refused twice is not a matter of who was faster.
            break
        if not attempt:
            shelf = _after_trouble(context, shelf, trouble, written[0].new)
        time.sleep(PAUSE_S * attempt)
    raise GitFailed(
        f"It could not be written: {trouble.text or 'other writers were faster on every attempt'}.",
        helps="agent-sync worker list, then the same command",
    )


def _looked(shelf: Shelves, issue: int | None, *, doubtful: bool) -> Sight:
    sight = look(shelf, issue=issue)
    if sight.trouble:
        known = "it is unknown whether the change was written" if doubtful else "nothing was written"
        message = f"The remote cannot be reached, so {known}: {sight.trouble}."
        raise GitFailed(message, attempted="reading the work hooks", helps="agent-sync doctor")
    return sight


def _written(git: Git, step: Step, now: datetime) -> RefUpdate:
    match step.content:
        case str(sha):
            return RefUpdate(step.ref, step.old, sha)
        case Lease() as lease:
            return RefUpdate(step.ref, step.old, write_commit(git, lease, step.parent))
        case Moved(hook, message):
            when = int(now.timestamp())
            return RefUpdate(step.ref, step.old, write_files(git, readable_files(hook), f"{message}\n", step.old, when))


def _is_in(shelf: Shelves, issue: int | None, written: list[RefUpdate]) -> bool:
    """Tell whether a change whose answer was lost is there all the same; only reading the refs can tell."""
    if shelf.update(issue):
        return False
    return all(ref_here(shelf, update.ref) == update.new for update in written[:2])


def _after_trouble(context: Context, shelf: Shelves, trouble: Pushed, commit: str) -> Shelves:
    """Go on where refs are taken: a remote that takes none of ours leaves this clone."""
    if isinstance(shelf, RemoteShelf) and trouble.verdict is Verdict.REJECTED and shelf.refuses(commit):
        return clone_shelf_after_refusal(context, shelf, clock.now())
    return shelf
