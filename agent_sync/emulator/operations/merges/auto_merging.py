"""Standing orders to merge: given, taken back, and carried out once nothing is missing."""

from agent_sync.emulator.operations.changes import record
from agent_sync.emulator.operations.merges.mergeability import MergeState, merge_obstacle, merge_state
from agent_sync.emulator.operations.merges.merging import merge_pull
from agent_sync.emulator.operations.merges.queueing import enqueue, entry_of
from agent_sync.emulator.operations.rights.access import require_role
from agent_sync.emulator.world.people import Viewer
from agent_sync.emulator.world.pulls import AutoMerge, MergeMethod, PullRequest
from agent_sync.emulator.world.refusal import Kind, Refused
from agent_sync.emulator.world.world import World


def enable(world: World, viewer: Viewer, pull: PullRequest, method: MergeMethod) -> None:
    """Order the merge of a pull request that cannot be merged yet."""
    require_role(viewer, pull.repository)
    if not pull.repository.rules.auto_merge:
        raise Refused(Kind.UNPROCESSABLE, "Auto merge is not allowed for this repository")
    if not pull.is_open:
        raise Refused(Kind.UNPROCESSABLE, "Can't enable auto-merge for this pull request")
    if merge_state(pull) is MergeState.CLEAN:
        raise Refused(Kind.UNPROCESSABLE, "Pull request Pull request is in clean status")
    pull.auto_merge = AutoMerge(viewer.user, method, world.clock.now())
    world.merge_orders.append(pull)
    record(world, pull, "auto_merge_enabled", by=viewer.user)


def disable(world: World, viewer: Viewer, pull: PullRequest) -> None:
    """Take the order back."""
    require_role(viewer, pull.repository)
    if pull.auto_merge is None:
        raise Refused(Kind.UNPROCESSABLE, "Can't disable auto-merge for this pull request.")
    pull.auto_merge = None
    record(world, pull, "auto_merge_disabled", by=viewer.user)


def carry_out(world: World) -> None:
    """Merge, or put into the queue, every ordered pull request that has nothing in its way any more."""
    world.merge_orders = [pull for pull in world.merge_orders if pull.is_open and pull.auto_merge]
    for pull in list(world.merge_orders):
        order = pull.auto_merge
        is_ready = merge_state(pull) in {MergeState.CLEAN, MergeState.UNSTABLE} and not merge_obstacle(pull)
        if order is None or not is_ready or entry_of(pull):
            continue
        by = Viewer(order.by)
        if pull.repository.rules.merge_queue:
            enqueue(world, by, pull)
        else:
            merge_pull(world, by, pull, method=order.method)
