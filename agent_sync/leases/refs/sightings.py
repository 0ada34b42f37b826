"""When a lease that is dated in the future was first seen here: its own time says nothing, and ours has to do."""

import json
from datetime import datetime
from pathlib import Path

from agent_sync.leases.model import Tip
from agent_sync.leases.refs.intents import LOCK_NAME, LOCK_WAIT
from agent_sync.system import files
from agent_sync.worktree import Place

FILE_NAME = "sightings.json"
KEPT = 100


class Sightings:
    """What this clone has seen of holders whose clocks are wrong."""

    def __init__(self, place: Place) -> None:
        self._shared = Path(place.shared_dir)
        self._file = self._shared / FILE_NAME

    def first(self, tip: Tip, now: datetime) -> datetime:
        """Return since when a claim ref is known to stand where it stands; now, if this is the first look."""
        known = self._read()
        try:
            at = datetime.fromisoformat(known[tip.sha])
            if at <= now:
                return at
        except (KeyError, TypeError, ValueError):
            pass
        others = {sha: when for sha, when in known.items() if sha != tip.sha}
        content = json.dumps(dict(list(others.items())[1 - KEPT :]) | {tip.sha: now.isoformat()}).encode()
        with files.locked(self._shared / LOCK_NAME, wait=LOCK_WAIT, doing="noting what was seen"):
            files.write_atomic(self._file, content, mode=0o600)
        return now

    def _read(self) -> dict[str, str]:
        try:
            values = json.loads(files.read_own(self._file) or b"{}")
        except (files.NotPlain, ValueError, RecursionError):
            return {}
        return values if isinstance(values, dict) else {}
