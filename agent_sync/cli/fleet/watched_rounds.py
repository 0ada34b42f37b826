"""Plays rounds over the fleet again and again, each in a process of its own, so that the one that stays is small."""

import json
import sys
import time
from collections.abc import Iterator
from dataclasses import field, replace
from pathlib import Path
from typing import Any

from agent_sync.context import Context
from agent_sync.fleet.view import FleetView, view_of
from agent_sync.lazy_dataclasses import dataclass
from agent_sync.quiet import answer as quiet
from agent_sync.system import clock
from agent_sync.worktree import CLAIM_NAME

# A round that hangs is given up: the next one may succeed.
LONGEST_ROUND_S = 600.0
AFTER_TROUBLE_S = 30.0
_STEP_S = 1.0


@dataclass(frozen=True)
class RoundSeen:
    """What a round has printed: the fleet, of what a person is told, what went wrong, and when to look again."""

    view: FleetView
    values: dict[str, Any] = field(default_factory=dict)
    told: tuple[int, ...] = ()
    troubles: tuple[str, ...] = ()
    pause_s: float = AFTER_TROUBLE_S


def watched_rounds(context: Context, *, everywhere: bool) -> Iterator[RoundSeen]:
    """Return round after round; while there is a pause or trouble, with what was seen before."""
    before: RoundSeen | None = None
    while True:
        played = _played(context, everywhere=everywhere)
        if before and not played.values:
            view = replace(before.view, stale_reason=played.view.stale_reason)
            played = replace(before, view=view, told=(), troubles=(), pause_s=played.pause_s)
        elif before and played.view.paused_until:
            view = replace(before.view, paused_until=played.view.paused_until)
            played = replace(played, view=view)
        yield played
        before = played if played.values else before


def wait(context: Context, view: FleetView, seconds: float) -> bool:
    """Wait; tell whether a claim file of this machine has changed meanwhile, which is worth a look at once."""
    roots = {context.place.root, *(task.worktree for task in view.tasks if task.worktree)}
    files = [str(Path(root) / CLAIM_NAME) for root in sorted(roots)]
    due, before = time.monotonic() + seconds, quiet.sight_of(files)
    while (left := due - time.monotonic()) > 0:
        time.sleep(min(_STEP_S, left))
        if quiet.sight_of(files) != before:
            return True
    return False


def _played(context: Context, *, everywhere: bool) -> RoundSeen:
    # Without -P the repository's own directory could stand in for this package.
    command = [sys.executable, "-P", "-m", "agent_sync", "watch", "--once", "--json"]
    command += ["--all"] if everywhere else []
    try:
        done = context.processes.run(
            command, directory=context.place.root, environment=context.environment, timeout=LONGEST_ROUND_S
        )
    except (OSError, TimeoutError) as error:
        return _failed(str(error))
    try:
        values = json.loads(done.stdout)
        view, told, troubles = view_of(values), tuple(values["told"]), tuple(values["troubles"])
        return RoundSeen(view, values, told, troubles, float(values["look_again_s"]))
    except (ValueError, KeyError, TypeError):
        return _failed(next(iter(done.stderr.splitlines()), f"it ended with {done.status}"))


def _failed(reason: str) -> RoundSeen:
    return RoundSeen(FleetView("", (), clock.now(), stale_reason=f"the last round failed: {reason}"))
