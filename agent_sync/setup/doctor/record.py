"""Checks of the recovery record: its home, its key, whether it is as agent-sync wrote it, and what wakes it."""

import os
from collections.abc import Iterator
from pathlib import Path

from agent_sync.context import Context
from agent_sync.errors import AgentSyncError, BadKey
from agent_sync.record.disk.recorder import Home
from agent_sync.record.disk.store import OpenRecord
from agent_sync.record.receipts import keys
from agent_sync.record.receipts.integrity import BrokenAt, ChangedOutside, Intact, Restored
from agent_sync.setup.doctor.result import Result, fail, ok, skip, warn
from agent_sync.setup.githooks.reach import Reach, reachable


def check_record(context: Context) -> Iterator[Result]:
    """Return every result about the record."""
    try:
        home = context.recorder.home
    except AgentSyncError as error:
        yield fail("record home", error.happened, error.helps)
        return
    if home is None:
        yield skip("record home", "no recovery record is kept: it is off, or there is no home")
        return
    yield _home(home)
    yield _key(context)
    yield from _active(context)
    yield _git_hook(context)


def _home(home: Home) -> Result:
    """Look at the nearest directory that is there: nothing is made."""
    nearest = home.root
    while not os.path.lexists(nearest) and nearest != nearest.parent:
        nearest = nearest.parent
    if not nearest.is_dir() or not os.access(nearest, os.W_OK | os.X_OK):
        return fail("record home", f"{home.root} cannot be written", f"ls -ld {nearest}")
    return ok("record home", f"{home.root}{'' if nearest == home.root else ' (not made yet)'}")


def _key(context: Context) -> Result:
    """Check the key without making one."""
    at = keys.key_files(context.environment)
    there = [path for path in (at.master, at.backup, at.account) if os.path.lexists(path)]
    if not there:
        return ok("record key", "none yet; it is made with the first task or receipt")
    if at.master in there and at.account not in there:
        return warn("record key", f"{at.account} is missing; the next receipt writes it", f"ls -l {at.directory}")
    try:
        # With both files there this only reads, and a key that is lost is not made anew.
        keys.obtain(context.environment)
    except BadKey as error:
        return fail("record key", error.happened, error.helps or f"ls -l {at.directory}")
    return ok("record key", f"{at.master} is there and private")


def _active(context: Context) -> Iterator[Result]:
    try:
        found = context.recorder.current()
        if found is None:
            yield ok("record", "no task is recorded here")
            return
        yield _integrity(found)
        copies = found.store.damaged_copies()
    except (AgentSyncError, OSError) as error:
        yield fail("record", str(error), "agent-sync record recover")
        return
    if copies:
        says = f"{len(copies)} damaged copies were kept: {', '.join(path.name for path in copies)}"
        yield warn("record copies", says, f"ls -l {found.store.directory}")


def _integrity(opened: OpenRecord) -> Result:
    store, record = opened
    says = f"{record.task_id} is {record.state}"
    match store.integrity(record):
        case Intact():
            return ok("record", f"{says}; its record is intact")
        case ChangedOutside():
            return warn("record", f"{says}; hook.json was changed outside agent-sync", "agent-sync record status")
        case Restored(file=file):
            return warn(
                "record", f"{says}; {file} is damaged: the version before it is used", "agent-sync record status"
            )
        case BrokenAt(seq=seq):
            return fail("record", f"{says}; its history is broken at event {seq}", "agent-sync record export")


def _git_hook(context: Context) -> Result:
    try:
        found = reachable(context.git, context.place)
    except (AgentSyncError, OSError) as error:
        return warn("git hook", str(error), "agent-sync record install")
    match found:
        case Reach.REACHED:
            return ok("git hook", found.value)
        case Reach.ABSENT:
            return ok("git hook", "not installed: commits are found at the next event (agent-sync record install)")
        case Reach.UNREACHED | Reach.UNPROVEN:
            return warn("git hook", found.value, f"ls -l {Path(context.place.common_dir, 'hooks')}")
