"""What is about to be pushed, on disk before it is: after a kill or a lost answer it tells what was ours."""

import json
from collections.abc import Callable
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path

from agent_sync.lazy_dataclasses import dataclass
from agent_sync.leases.identity import known_worktree_id
from agent_sync.system import files
from agent_sync.system.disk import AfterPowerCut
from agent_sync.worktree import LEASE_INTENTS, LEASE_LOCK, Place

LOCK_WAIT = 5.0


class Verb(StrEnum):
    """What an order does to a lease."""

    ACQUIRE = "acquire"
    TAKE_OVER = "take-over"
    RENEW = "renew"
    RELEASE = "release"
    FINISH = "finish"


BEGINNINGS = frozenset({Verb.ACQUIRE, Verb.TAKE_OVER})


@dataclass(frozen=True)
class Intent:
    """One push as it was meant: the ref from `old` (empty: must not exist) to `new`."""

    issue: int
    ref: str
    verb: Verb
    nonce: str
    epoch: int
    old: str
    new: str


class Intents:
    """The intents of one worktree, kept where a removed worktree cannot take them along."""

    def __init__(self, place: Place, worktree: str) -> None:
        self._shared = Path(place.shared_dir)
        self._worktree = worktree

    def pending(self, issue: int) -> Intent | None:
        """Return what was last meant for an issue and never settled; one that cannot be read says nothing."""
        try:
            values = json.loads(files.read_own(self._file(issue)) or b"null")
            return Intent(**(values | {"verb": Verb(values["verb"])}))
        except (files.NotPlain, ValueError, TypeError, KeyError, RecursionError):
            return None

    def record(self, intent: Intent) -> None:
        """Write an intent down so that it survives a power cut."""
        content = json.dumps(asdict(intent), sort_keys=True).encode()
        self._under_lock(lambda: files.write_atomic(self._file(intent.issue), content, mode=0o600))

    def settle(self, issue: int) -> None:
        """Forget an intent whose outcome is known; one that a power cut brings back tells what the ref tells too."""
        if self._file(issue).exists():
            self._under_lock(lambda: files.delete(self._file(issue), after_cut=AfterPowerCut.EITHER))

    def _under_lock(self, act: Callable[[], None]) -> None:
        with files.locked(self._shared / LEASE_LOCK, wait=LOCK_WAIT, doing="noting what is pushed"):
            files.state_directory(self._shared / LEASE_INTENTS)
            act()

    def _file(self, issue: int) -> Path:
        return self._shared / LEASE_INTENTS / f"{issue}-{self._worktree}.json"


def pending_here(place: Place, issue: int) -> Intent | None:
    """Return what a worktree last meant for an issue and never settled, without leaving a trace."""
    worktree = known_worktree_id(place)
    return Intents(place, worktree).pending(issue) if worktree else None
