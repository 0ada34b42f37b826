"""What the watchers of a clone's worktrees have to do with each other: little where there is but one."""

from datetime import datetime
from pathlib import Path

from agent_sync.context import Context
from agent_sync.system import files
from agent_sync.task.claim.model import Claim
from agent_sync.worktree import WATCHER_LOCK, Place, claimed_roots


def is_watched(place: Place) -> bool:
    """Tell whether a watcher looks at the pull request of a worktree in time, so that nobody needs to ask beside it."""
    with files.locked_if_free(Path(place.state_dir) / WATCHER_LOCK) as is_free:
        return not is_free


def shared_look(context: Context, claim: Claim) -> datetime | None:
    """Return when a look that the watchers share found nothing new; a claim alone is asked for by itself."""
    if len(claimed_roots(context.place)) <= 1:
        return None
    from agent_sync.task.shared_looks import unmoved_at

    return unmoved_at(context, claim)
