"""What was asked of the server, in order, for tests that count requests."""

import threading
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Entry:
    """One answered (or, with no status, dropped) request."""

    method: str
    path: str
    operation: str | None
    status: int | None
    ms: float


class Journal:
    """The requests so far; git traffic is kept apart because it is rarely what a test counts."""

    def __init__(self) -> None:
        self._entries: list[tuple[bool, Entry]] = []
        self._lock = threading.Lock()

    def add(self, entry: Entry, *, is_git: bool) -> None:
        """Note a request."""
        with self._lock:
            self._entries.append((is_git, entry))

    def clear(self) -> None:
        """Forget every request."""
        with self._lock:
            self._entries.clear()

    def entries(self, *, with_git: bool) -> list[dict[str, Any]]:
        """Return the requests as the control interface shows them."""
        with self._lock:
            return [asdict(entry) for is_git, entry in self._entries if with_git or not is_git]
