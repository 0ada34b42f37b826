"""A process that writes the claim once each time it is told to, in a child that can be traced and killed."""

import os
import signal
import sys

from agent_sync.claim.phases import Phase
from agent_sync.claim.store import ClaimStore
from agent_sync.place import worktree


def write_once(root: str) -> None:
    """Save the claim with its next phase."""
    place = worktree(root)
    assert place
    store = ClaimStore(place)
    with store.locked() as token:
        seen = store.read()
        assert seen
        store.save(
            token, seen=seen, changed=seen.model_copy(update={"phase": Phase.READY_FOR_PR, "summary": "x" * 5000})
        )


def say(text: str) -> None:
    """Print at once."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def main() -> None:
    """Fork a child per line on stdin: it says its pid, waits for a signal, writes, and ends."""
    root = sys.argv[1]
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
    for _ in sys.stdin:
        child = os.fork()
        if child == 0:
            say(str(os.getpid()))
            signal.sigwait({signal.SIGUSR1})
            write_once(root)
            os._exit(0)
        os.waitpid(child, 0)
        say("ended")


main()
