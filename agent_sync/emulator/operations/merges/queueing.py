"""The merge queue: in, out again with a reason, and the commit its checks run on."""

from agent_sync.emulator.operations.changes import record
from agent_sync.emulator.operations.merges.mergeability import is_mergeable, merge_obstacle
from agent_sync.emulator.operations.refs import HEADS, after_ref_changes
from agent_sync.emulator.operations.rights.access import require_role
from agent_sync.emulator.world.bare import Author
from agent_sync.emulator.world.identity import timestamp
from agent_sync.emulator.world.people import Viewer
from agent_sync.emulator.world.pulls import PullRequest, QueueEntry
from agent_sync.emulator.world.refusal import Kind, Refused
from agent_sync.emulator.world.world import World

MANUAL = "manual"


def entry_of(pull: PullRequest) -> QueueEntry | None:
    """Return a pull request's place in the queue, if it has one."""
    return next((entry for entry in pull.repository.queue if entry.pull is pull), None)


def position(entry: QueueEntry) -> int:
    """Return the place in the queue, counted from one."""
    return entry.pull.repository.queue.index(entry) + 1


def enqueue(world: World, viewer: Viewer, pull: PullRequest, *, jump: bool = False) -> QueueEntry:
    """Put a pull request into the queue of its base branch."""
    require_role(viewer, pull.repository)
    _refuse_unfit(pull)
    known = entry_of(pull)
    if known:
        raise Refused(Kind.UNPROCESSABLE, "Pull request is already in the queue")
    entry = QueueEntry(
        identity=world.identify("MQE"), pull=pull, by=viewer.user, enqueued_at=world.clock.now(),
        head_sha=_group_commit(world, viewer, pull), base_sha=pull.base_sha, jump=jump,
    )  # fmt: skip
    pull.repository.queue.insert(0 if jump else len(pull.repository.queue), entry)
    world.register(entry.id, entry)
    record(world, pull, "added_to_merge_queue", by=viewer.user)
    return entry


def _refuse_unfit(pull: PullRequest) -> None:
    if not pull.repository.rules.merge_queue:
        raise Refused(Kind.UNPROCESSABLE, "Merge queue is not enabled for this branch")
    if not pull.is_open or pull.draft or not is_mergeable(pull):
        raise Refused(Kind.UNPROCESSABLE, "Pull request is not mergeable")
    obstacle = merge_obstacle(pull)
    if obstacle:
        raise Refused(Kind.UNPROCESSABLE, obstacle)


def _group_commit(world: World, viewer: Viewer, pull: PullRequest) -> str:
    git, user = pull.repository.git, viewer.user
    author = Author(user.name, user.email, timestamp(world.clock.now()))
    tree = git.merged_tree(pull.base_sha, pull.head_sha) or ""
    text = f"Merge pull request #{pull.number} into {pull.base}\n"
    sha = git.write_commit(tree, [pull.base_sha, pull.head_sha], text, author=author)
    git.set_ref(_branch(pull), sha, old=None)
    after_ref_changes(world, pull.repository, by=user)
    return sha


def _branch(pull: PullRequest) -> str:
    return f"{HEADS}gh-readonly-queue/{pull.base}/pr-{pull.number}-{pull.base_sha}"


def dequeue(world: World, viewer: Viewer, pull: PullRequest, *, reason: str = MANUAL) -> QueueEntry:
    """Take a pull request out of the queue again; it stays open, and its history says why."""
    require_role(viewer, pull.repository)
    entry = leave_queue(pull)
    if entry is None:
        raise Refused(Kind.UNPROCESSABLE, "Pull request is not in the merge queue")
    record(world, pull, "removed_from_merge_queue", by=viewer.user, subject=reason, commit=entry.head_sha)
    return entry


def leave_queue(pull: PullRequest) -> QueueEntry | None:
    """Remove a pull request's entry, if there is one; a merge does this without a word."""
    entry = entry_of(pull)
    if entry:
        pull.repository.queue.remove(entry)
        for name in pull.repository.git.refs(f"{HEADS}gh-readonly-queue/{pull.base}/"):
            if f"/pr-{pull.number}-" in name:
                pull.repository.git.set_ref(name, None, old=None)
    return entry
