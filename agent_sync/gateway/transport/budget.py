"""What GitHub says it still grants this token in the running hour, read from the headers of an answer."""

from collections.abc import Mapping
from datetime import UTC, datetime

from agent_sync.lazy_dataclasses import dataclass


@dataclass(frozen=True)
class ApiBudget:
    """How many points are left, of how many, and when the next hour begins."""

    left: int
    limit: int
    resets_at: datetime


def budget_in(headers: Mapping[str, str]) -> ApiBudget | None:
    """Return the budget that an answer states; None where it states none."""
    try:
        resets_at = datetime.fromtimestamp(int(headers["x-ratelimit-reset"]), tz=UTC)
        return ApiBudget(int(headers["x-ratelimit-remaining"]), int(headers["x-ratelimit-limit"]), resets_at)
    except (KeyError, ValueError, OverflowError, OSError):
        return None
