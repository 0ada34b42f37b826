"""Remembers, per clone, what the user approved of what the repository's files ask for: by digest of key and value."""

import hashlib
import json
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Any

from agent_sync.lazy_dataclasses import dataclass
from agent_sync.system import files
from agent_sync.worktree import Place, trust_file

LOCK_WAIT = 5.0
MOST = 500
MOST_NAMED = 8


@dataclass(frozen=True)
class ApprovalRequest:
    """One thing a file of the repository asks for that only the user may decide."""

    key: str
    value: Any
    source: str
    why: str
    # The variable a settings file of the checkout has put into the environment; "" for a key of a file.
    variable: str = ""

    @property
    def digest(self) -> str:
        """What an approval is remembered by: any other value needs another one."""
        canonical = json.dumps([self.key, self.value], sort_keys=True, ensure_ascii=True, default=str)
        return hashlib.sha256(canonical.encode()).hexdigest()


class Approvals:
    """The approvals of one clone, in its git directory, where no checkout can write."""

    def __init__(self, place: Place) -> None:
        self._file = Path(trust_file(place))

    def holds(self, asked: ApprovalRequest) -> bool:
        """Tell whether the user approved this very value."""
        return asked.digest in self._read()

    def add(self, asked: Iterable[ApprovalRequest], now: datetime) -> None:
        """Remember that the user approved these."""
        new = {one.digest: {"key": one.key, "at": now.isoformat(timespec="seconds")} for one in asked}
        if not new:
            return
        with files.locked(self._lock, wait=LOCK_WAIT, doing="remembering an approval"):
            kept = list((self._read() | new).items())[-MOST:]
            files.write_atomic(self._file, json.dumps(dict(kept), indent=2).encode())

    def revoke(self) -> int:
        """Forget every approval; return how many there were."""
        with files.locked(self._lock, wait=LOCK_WAIT, doing="revoking approvals"):
            count = len(self._read())
            files.delete(self._file)
        return count

    @property
    def _lock(self) -> Path:
        return self._file.with_suffix(".lock")

    def _read(self) -> dict[str, Any]:
        """Return the approvals; a file that cannot be used approves nothing."""
        try:
            values = json.loads(files.read_own(self._file) or b"{}")
        except (files.NotPlain, ValueError, RecursionError):
            return {}
        return values if isinstance(values, dict) else {}


def held_back_line(held_back: tuple[ApprovalRequest, ...]) -> str:
    """Say in one line what the repository's files ask for in vain, and how to allow it."""
    names = list(dict.fromkeys(printable(one.key) for one in held_back))
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    sources = " and ".join(dict.fromkeys(one.source for one in held_back))
    return (
        f"agent-sync ignores {', '.join(names[:MOST_NAMED])}{more} in {sources}: you have not approved this. "
        "`agent-sync trust --show` lists it, `agent-sync trust` allows it."
    )


def printable(text: str, *, limit: int = 60) -> str:
    """Return a name or value that a stranger wrote as one harmless line."""
    return "".join(char if char.isascii() and char.isprintable() and char != "`" else "?" for char in text[:limit])
