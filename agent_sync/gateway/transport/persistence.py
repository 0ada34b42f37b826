"""Drives the retry policy: waits, tries again, gives up, within one patience for the whole run."""

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from tenacity import RetryCallState, Retrying

from agent_sync.gateway.transport.policy import wait_before_next
from agent_sync.gateway.transport.trouble import FailedRequest, Kind, Trouble

T = TypeVar("T")
Sleep = Callable[[float], None]
# A limit that says "now" is not believed twice a second.
LEAST_LIMIT_WAIT_S = 1.0


@dataclass
class Patience:
    """How many seconds of rate limits may still be waited out, in all, by one gateway."""

    left_s: float
    sleep: Sleep = time.sleep

    def persist(self, attempt: Callable[[], T], *, is_write: bool) -> T:
        """Call `attempt` until it succeeds or the policy gives up; then its failure is raised."""
        next_try = _NextTry(self, is_write=is_write)
        return Retrying(retry=next_try.is_due, wait=next_try.wait, sleep=self.sleep)(attempt)

    def spend(self, wait_s: float) -> float | None:
        """Take a wait out of what is left; None where it does not fit."""
        wait_s = max(wait_s, LEAST_LIMIT_WAIT_S)
        if wait_s > self.left_s:
            return None
        self.left_s -= wait_s
        return wait_s


@dataclass
class _NextTry:
    patience: Patience
    is_write: bool
    wait_s: float | None = None

    def is_due(self, state: RetryCallState) -> bool:
        failed = state.outcome.exception() if state.outcome else None
        if not isinstance(failed, FailedRequest):
            return False
        self.wait_s = self._wait_after(failed.trouble, state.attempt_number)
        return self.wait_s is not None

    def wait(self, _state: RetryCallState) -> float:
        return self.wait_s or 0.0

    def _wait_after(self, trouble: Trouble, attempt: int) -> float | None:
        wait_s = wait_before_next(trouble, attempt, is_write=self.is_write)
        if wait_s is None or trouble.kind is Kind.LIMITED:
            return None if wait_s is None else self.patience.spend(wait_s)
        # Jitter, so that several sessions do not come back at the same moment.
        return wait_s * random.uniform(0.5, 1.0)  # noqa: S311  # nothing secret
