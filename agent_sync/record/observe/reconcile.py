"""Adds the checkpoints that commits, pushes and the passing of time ask for; doing it again changes nothing."""

import os
from collections.abc import Iterator
from datetime import datetime

from agent_sync.record.machine.checkpoint import interval_due, is_wanted, known_keys
from agent_sync.record.machine.model import Record
from agent_sync.record.machine.states import TERMINAL, Trigger
from agent_sync.record.observe.commits import Commit
from agent_sync.record.observe.moment import Randomness, What, noted
from agent_sync.record.observe.observed import Observation, observed
from agent_sync.record.observe.pushes import Push
from agent_sync.settings import Settings
from agent_sync.system.git import Git
from agent_sync.worktree import Place

_SHORT = 7
_REMOTES = "refs/remotes/"


def reconciled(  # noqa: PLR0913  # the record, the world, and what only the caller knows
    record: Record,
    git: Git,
    place: Place,
    settings: Settings,
    now: datetime,
    *,
    is_at_work: bool = True,
    randomness: Randomness = os.urandom,
) -> Record:
    """Return the record with what git has seen since; the very same record where that is nothing.

    The first time the present state of the repository is the start: nothing from before the task is reported. A push
    to a bare address leaves no trace in a clone and so gets no checkpoint. While nobody is at work the mere passing
    of time is no progress.
    """
    if record.state in TERMINAL:
        return record
    seen = observed(record, git, place)
    wanted = tuple(what for what in _happened(seen, git) if is_wanted(what.trigger, settings.record))
    fresh = tuple(what for what in wanted if what.key not in known_keys(record))
    after = noted(record, git, fresh, now, randomness)
    if is_at_work and interval_due(after, settings.record, now):
        after = noted(after, git, (What(Trigger.INTERVAL, f"Periodic checkpoint at {now:%H:%M:%S}"),), now, randomness)
    return after if after.reflogs == seen.reflogs else after.model_copy(update={"reflogs": seen.reflogs})


def _happened(seen: Observation, git: Git) -> Iterator[What]:
    """Yield what happened in a telling order: a push comes right after the commit it brought."""
    remotes = tuple(git.ask("remote").stdout.split()) if seen.pushes else ()
    by_commit: dict[str, list[Push]] = {}
    for push in seen.pushes:
        by_commit.setdefault(push.sha, []).append(push)
    for commit in seen.commits:
        yield _commit(commit)
        yield from (_push(push, remotes) for push in by_commit.pop(commit.sha, ()))
    yield from (_push(push, remotes) for pushes in by_commit.values() for push in pushes)


def _commit(commit: Commit) -> What:
    return What(Trigger.COMMIT, f"Commit: {commit.subject}", f"{Trigger.COMMIT}:{commit.sha}", commit.sha)


def _push(push: Push, remotes: tuple[str, ...]) -> What:
    name = push.ref.removeprefix(_REMOTES)
    # Both names may hold slashes, so only the clone's own list tells where one ends.
    remote = max((remote for remote in remotes if name.startswith(f"{remote}/")), key=len, default=name.split("/")[0])
    description = f"Push: {name[len(remote) + 1 :]} → {remote} {push.sha[:_SHORT]}"
    return What(Trigger.PUSH, description, f"{Trigger.PUSH}:{push.sha}:{push.ref}", push.sha)
