"""Trouble on order: which requests fail, and how."""

import threading
from dataclasses import asdict, dataclass
from typing import Any

PLAIN_FAULTS = (
    "secondary_limit",
    "primary_limit",
    "drop_before",
    "drop_after_apply",
    "garbage",
    "truncate",
    "resource_limits",
    "timed_out",
)


@dataclass(frozen=True)
class Request:
    """What a fault can recognise a request by; `plain_path` is the path without an Enterprise prefix."""

    method: str
    path: str
    plain_path: str
    operation: str | None


@dataclass
class Fault:
    """One order of trouble, good for a number of requests."""

    kind: str
    times: int
    method: str | None = None
    path: str | None = None
    operation: str | None = None

    def matches(self, request: Request) -> bool:
        """Say whether this order is meant for a request."""
        paths = (request.path, request.plain_path)
        return (
            (self.method is None or self.method.upper() == request.method)
            and (self.operation is None or self.operation == request.operation)
            and (self.path is None or any(path.startswith(self.path) for path in paths))
        )


class UnknownFaultError(ValueError):
    """An order of trouble that makes no sense."""


class FaultList:
    """The orders of trouble, first match first."""

    def __init__(self) -> None:
        self._orders: list[Fault] = []
        self._lock = threading.Lock()

    def add(self, order: dict[str, Any]) -> None:
        """Append an order as the control interface receives it."""
        kind = str(order.get("fault", ""))
        _check_kind(kind)
        match = order.get("match") or {}
        if not isinstance(match, dict) or not set(match) <= {"method", "path", "operation"}:
            raise UnknownFaultError("match takes method, path and operation")
        with self._lock:
            self._orders.append(Fault(kind, int(order.get("times", 1)), **match))

    def left(self) -> list[dict[str, Any]]:
        """Return the orders that no request has used up yet."""
        with self._lock:
            return [asdict(order) for order in self._orders]

    def clear(self) -> None:
        """Forget every order."""
        with self._lock:
            self._orders.clear()

    def take(self, request: Request) -> str | None:
        """Return the trouble meant for a request, using one of its times up."""
        with self._lock:
            order = next((order for order in self._orders if order.matches(request)), None)
            if order is None:
                return None
            order.times -= 1
            if order.times <= 0:
                self._orders.remove(order)
            return order.kind


def _check_kind(kind: str) -> None:
    name, _, amount = kind.partition(":")
    try:
        timed = (name == "status" and int(amount) > 0) or (name == "delay" and float(amount) >= 0)
        known = kind in PLAIN_FAULTS or timed
    except ValueError:
        known = False
    if not known:
        raise UnknownFaultError(f"unknown fault {kind!r}; known: status:CODE, delay:SECONDS, {', '.join(PLAIN_FAULTS)}")
