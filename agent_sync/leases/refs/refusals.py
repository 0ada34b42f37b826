"""Which remotes have said that they take no claim refs, and when; doctor's probe can prove them wrong."""

import hashlib
import json
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

from agent_sync.leases.refs.intents import LOCK_NAME, LOCK_WAIT
from agent_sync.system import files
from agent_sync.worktree import Place

# Rules of a server change; a day of claims in this clone alone is the most that an old one costs.
BELIEVED = timedelta(days=1)


class Refusals:
    """The refusals this clone has met, by address."""

    def __init__(self, place: Place) -> None:
        self._shared = Path(place.shared_dir)
        self._file = self._shared / "refusals.json"

    def since(self, address: str, now: datetime) -> datetime | None:
        """Return when a remote refused claim refs, if that is recent enough to believe."""
        try:
            at = datetime.fromisoformat(self._read()[_key(address)])
            return at if at <= now < at + BELIEVED else None
        except (KeyError, TypeError, ValueError, OverflowError):
            return None

    def remember(self, address: str, now: datetime) -> None:
        """Note that a remote refuses claim refs."""
        self._write(lambda known: known | {_key(address): now.isoformat()})

    def forget(self, address: str) -> None:
        """Note that a remote takes claim refs."""
        if _key(address) in self._read():
            self._write(lambda known: {key: at for key, at in known.items() if key != _key(address)})

    def _read(self) -> dict[str, str]:
        try:
            values = json.loads(files.read_own(self._file) or b"{}")
        except (files.NotPlain, ValueError):
            return {}
        return values if isinstance(values, dict) else {}

    def _write(self, changed: Callable[[dict[str, str]], dict[str, str]]) -> None:
        with files.locked(self._shared / LOCK_NAME, wait=LOCK_WAIT, doing="noting what the remote takes"):
            files.write_atomic(self._file, json.dumps(changed(self._read())).encode(), mode=0o600)


def _key(address: str) -> str:
    # An address may carry a password.
    return hashlib.sha256(address.encode(errors="surrogateescape")).hexdigest()[:16]
