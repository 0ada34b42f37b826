"""Answers "does a watcher run already?", which is all that another one would find out; loads next to nothing."""

import os
import sys
import time

from agent_sync.quiet.answer import cwd_in, process_dir, session_in
from agent_sync.worktree import WATCHER_LOCK, Place, other_places, place_of

# The command, the event and `--rewake`: more is said to the next look of a watcher, which finds its own locks held.
_WORDS = 3
_PAUSE = 0.001


def are_watched(raw: bytes) -> bool:
    """Tell whether watchers certainly run for all worktrees that an event is about: then no other is needed."""
    cwd, session = cwd_in(raw), session_in(raw)
    where = place_of([cwd or "", process_dir()], os.environ.get("CLAUDE_PROJECT_DIR", ""))
    if cwd is None or session is None or where is None or len(sys.argv) > _WORDS:
        return False
    return all(_is_watched(other) for other in [where, *other_places(where, session)])


def _is_watched(where: Place) -> bool:
    """Tell whether a watcher runs; whoever only asks that holds its lock too, for a moment."""
    if not _is_held(where):
        return False
    time.sleep(_PAUSE)
    return _is_held(where)


def _is_held(where: Place) -> bool:
    """Tell whether somebody holds the lock of a worktree's watcher."""
    import fcntl

    try:
        descriptor = os.open(os.path.join(where.state_dir, WATCHER_LOCK), os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False
