"""A process that writes the claim once each time it is told to, in a child that can be traced and killed."""

import sys

from support.traced import serve

from agent_sync.task.claim.phases import Phase
from agent_sync.task.claim.store import ClaimStore
from agent_sync.worktree import worktree

CHANGES = {
    "handoff": {"phase": Phase.READY_FOR_PR, "summary": "x" * 5000},
    "consent": {"phase": Phase.DONE, "close_unmerged": True},
}


def write_once(root: str, change: str) -> int:
    """Save the claim with its next phase."""
    place = worktree(root)
    assert place
    store = ClaimStore(place, lambda: False)
    with store.locked() as token:
        seen = store.read()
        assert seen
        store.save(token, seen=seen, changed=seen.model_copy(update=CHANGES[change]))
    return 0


serve(lambda: write_once(sys.argv[1], sys.argv[2]))
