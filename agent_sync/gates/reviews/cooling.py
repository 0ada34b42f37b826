"""Remembers which reviewers have said that they are used up."""

import threading
from datetime import datetime, timedelta
from typing import Any

COOLING = timedelta(hours=1)


class Cooling:
    """Reviewers that said they are used up; they are left alone for a while."""

    def __init__(self, unhealthy: dict[str, Any], now: datetime) -> None:
        self._now = now
        self._lock = threading.Lock()
        self._marked = {name: value for name, value in unhealthy.items() if self._is_fresh(value)}

    def is_cooling(self, name: str) -> bool:
        """Tell whether a reviewer is left alone."""
        with self._lock:
            return name in self._marked

    def mark(self, name: str, reason: str) -> None:
        """Leave a reviewer alone from now on."""
        with self._lock:
            self._marked[name] = {"marked_at": self._now.isoformat().replace("+00:00", "Z"), "reason": reason}

    def unhealthy(self) -> dict[str, Any]:
        """Return what is put on record."""
        with self._lock:
            return dict(self._marked)

    def _is_fresh(self, value: object) -> bool:
        try:
            marked = datetime.fromisoformat(value["marked_at"])  # type: ignore[index]  # checked by trying
            return self._now - COOLING < marked <= self._now
        except (TypeError, KeyError, ValueError):
            return False
