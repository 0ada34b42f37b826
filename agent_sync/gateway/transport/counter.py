"""Counts requests."""

from dataclasses import dataclass


@dataclass
class Counter:
    """How many requests have gone out, repeated ones included."""

    requests: int = 0

    def add(self) -> None:
        """Count one."""
        self.requests += 1
