"""Sleeps for a watcher, with next to nothing loaded, and then becomes the next look: the same process all the time.

A script of its own, started by its path. Its words: when the next look is due and when watching ends, by the system's
monotonic clock; whose child it must stay; each claim file with how it lay; behind `--`, the command of the next look.
"""

import os
import select
import signal
import sys
import time

PAUSE = 1.0
STDERR = 2


def is_orphaned(parent: int) -> bool:
    """Tell whether the session is gone: nobody could be woken any more, and the next session's watcher waits."""
    reader = select.poll()
    reader.register(STDERR, 0)
    return os.getppid() != parent or any(event & (select.POLLERR | select.POLLHUP) for _, event in reader.poll(0))


def sleep(due: float, parent: int, watched: "list[tuple[str, str]]") -> bool:
    """Sleep until the next look is due, or a claim file was edited; False where nobody is left to wake."""
    from agent_sync.quiet.answer import state_of

    while (left := due - time.monotonic()) > 0 and all(state_of(path) == state for path, state in watched):
        if is_orphaned(parent):
            return False
        time.sleep(min(PAUSE, left))
    return True


def main(words: "list[str]") -> None:
    """Sleep as the words say, and look again."""
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    due, until, parent = float(words[0]), float(words[1]), int(words[2])
    cut = words.index("--")
    is_needed = sleep(min(due, until), parent, list(zip(words[3:cut:2], words[4:cut:2], strict=True)))
    if is_needed and time.monotonic() < until:
        os.execv(words[cut + 1], words[cut + 1 :])  # noqa: S606  # this very program again
    os._exit(0)


if __name__ == "__main__":
    # Nothing but this package is looked for beside the standard library.
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
    main(sys.argv[1:])
