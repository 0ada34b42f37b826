"""The hourly budget GitHub reports in every answer; it is counted, and never enforced without a fault."""

from dataclasses import dataclass, field

from agent_sync.emulator.world.identity import Clock

HOURLY = 5000
HOUR = 3600
RESOURCES = ("core", "graphql", "search")


@dataclass
class Budget:
    """How much of one resource was used in the running hour."""

    reset: int = 0
    used: int = 0


@dataclass
class Limits:
    """The budgets of all resources."""

    clock: Clock
    budgets: dict[str, Budget] = field(default_factory=lambda: {name: Budget() for name in RESOURCES})

    def spend(self, resource: str, points: int = 1) -> None:
        """Count one request."""
        self._current(resource).used += points

    def _current(self, resource: str) -> Budget:
        budget, now = self.budgets[resource], int(self.clock.now().timestamp())
        if now >= budget.reset:
            budget.reset, budget.used = now + HOUR, 0
        return budget

    def report(self, resource: str) -> dict[str, int]:
        """Return a budget as `/rate_limit` shows it."""
        budget = self._current(resource)
        left = max(0, HOURLY - budget.used)
        return {"limit": HOURLY, "used": budget.used, "remaining": left, "reset": budget.reset}

    def headers(self, resource: str, *, exhausted: bool = False) -> dict[str, str]:
        """Return the headers that go with an answer."""
        report = self.report(resource)
        if exhausted:
            report |= {"remaining": 0, "used": HOURLY}
        shown = {f"x-ratelimit-{name}": str(value) for name, value in report.items()}
        return shown | {"x-ratelimit-resource": resource}
