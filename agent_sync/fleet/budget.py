"""One API budget for all processes of a machine: a reserve stays for people, and looks come no faster than it bears."""

import json
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from agent_sync.gateway.transport.budget import ApiBudget
from agent_sync.lazy_dataclasses import dataclass
from agent_sync.record.disk.recorder import atlas_home
from agent_sync.system import files
from agent_sync.system.disk import AfterPowerCut

BUDGET_FILE = "budget.json"
BUDGET_LOCK = "budget.lock"
_LOCK_WAIT = 5.0
_MOST_TOKENS = 20


def paused_until(budget: ApiBudget | None, reserve: int, now: datetime) -> datetime | None:
    """Return until when only people may ask: what is left is their reserve, and the hour is not over."""
    if budget is None or budget.resets_at <= now or budget.left > reserve:
        return None
    return budget.resets_at


def pause_s(budget: ApiBudget | None, reserve: int, cost: int, now: datetime, *, least_s: float) -> float:
    """Return how long to wait between two looks of a cost, so that the reserve outlasts the hour."""
    if budget is None or budget.resets_at <= now:
        return least_s
    left_s = (budget.resets_at - now).total_seconds()
    looks = (budget.left - reserve) / max(1, cost)
    return left_s if looks < 1 else max(least_s, left_s / looks)


def cost_of(before: ApiBudget | None, after: ApiBudget | None, requests: int) -> int:
    """Return what a round has cost: what the budget lost meanwhile, whoever spent it, and at least the requests."""
    if before is None or after is None or before.resets_at != after.resets_at:
        return max(1, requests)
    return max(1, requests, before.left - after.left)


@dataclass(frozen=True)
class SharedBudget:
    """What any process of this machine was last told about one token's budget."""

    directory: Path
    key: str

    @classmethod
    def at(cls, environment: Mapping[str, str], key: str) -> "SharedBudget":
        """Return where the budget of a token is noted, in the user's own directory."""
        return cls(atlas_home(environment), key)

    def read(self) -> ApiBudget | None:
        """Return what was last noted; what cannot be read says nothing."""
        try:
            noted = self._noted()[self.key]
            resets_at = datetime.fromisoformat(noted["resets_at"])
            return ApiBudget(int(noted["left"]), int(noted["limit"]), resets_at) if resets_at.tzinfo else None
        except (KeyError, TypeError, ValueError, OverflowError):
            return None

    def note(self, budget: ApiBudget | None) -> None:
        """Note what an answer has stated, for every process that asks with the same token."""
        if budget is None:
            return
        values = {"left": budget.left, "limit": budget.limit, "resets_at": budget.resets_at.isoformat()}
        with files.locked(self.directory / BUDGET_LOCK, wait=_LOCK_WAIT, doing="noting the API budget"):
            others = [(key, noted) for key, noted in self._noted().items() if key != self.key]
            kept = dict(others[1 - _MOST_TOKENS :]) | {self.key: values}
            files.write_atomic(self.directory / BUDGET_FILE, json.dumps(kept).encode(), after_cut=AfterPowerCut.ANY)

    def _noted(self) -> dict[str, Any]:
        try:
            values = json.loads(files.read_own(self.directory / BUDGET_FILE) or b"{}")
        except (files.NotPlain, ValueError, RecursionError):
            return {}
        return values if isinstance(values, dict) else {}
