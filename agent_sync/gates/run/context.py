"""One run in progress: what every gate of it needs."""

import time
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path

from agent_sync.gates.config.model import GateProject
from agent_sync.gates.plan.differences import Differences
from agent_sync.gates.run.logs import LogDir
from agent_sync.gates.run.watchman import Watchman
from agent_sync.lazy_dataclasses import dataclass
from agent_sync.system.masking import secrets_of
from agent_sync.system.processes import Processes

NO_TIME = "the gate's time was used up"


@dataclass(frozen=True)
class Run:
    """The project, the place for logs, the programs, and the time that is left."""

    project: GateProject
    logs: LogDir
    number: int
    stems: Mapping[str, str]
    processes: Processes
    watchman: Watchman
    environment: Mapping[str, str]
    base: str
    differences: Differences
    originals: Path
    is_rerun: bool = False
    deadline: float | None = None

    @cached_property
    def secrets(self) -> tuple[str, ...]:
        """The values of the environment that no log may hold."""
        return secrets_of(self.environment)

    def left(self) -> float | None:
        """Return how many seconds of the whole run are left; None where there is no limit."""
        return None if self.deadline is None else self.deadline - time.monotonic()

    def limit(self, own: float | None) -> tuple[float | None, bool]:
        """Return a gate's time limit, and whether it is its own rather than the run's."""
        left = self.left()
        if left is None:
            return own, True
        if own is None or left < own:
            return max(left, 0.0), False
        return own, True
