"""Decides about a stop before any gate runs: the reasons not to run, in their order; pure."""

from agent_sync.gates.status import Status
from agent_sync.lazy_dataclasses import dataclass
from agent_sync.quiet import wording

# So often the same unchanged work is sent back within one prompt.
MOST_BLOCKS = 3


@dataclass(frozen=True)
class Stop:
    """What is known about a stop, cheapest first; later fields mean nothing where an earlier one decides."""

    is_readable: bool = True
    is_active: bool = False
    is_nested: bool = False
    has_config: bool = True
    is_enabled: bool = True
    subagents: int = 0
    lock_holder: str | None = None
    seconds_left: float = 0.0
    has_unresolved: bool = False
    needs_pass: bool = False
    verify_active: bool = False


@dataclass(frozen=True)
class GateVerdict:
    """An answer that needs no run."""

    status: Status
    message: str


def verdict(stop: Stop) -> GateVerdict | None:
    """Return the answer to a stop, or None where the gates have to run."""
    if not stop.is_readable:
        return GateVerdict(Status.INVALID_INPUT, wording.INVALID_INPUT)
    if stop.is_active and not stop.needs_pass and not stop.verify_active:
        return GateVerdict(Status.STOP_HOOK_ACTIVE, wording.ACTIVE)
    if stop.is_nested:
        return GateVerdict(Status.STOP_HOOK_ACTIVE, wording.NESTED)
    if not stop.has_config:
        return GateVerdict(Status.NO_CONFIG, wording.NO_CONFIG)
    if not stop.is_enabled:
        return GateVerdict(Status.STOP_HOOK_DISABLED, wording.DISABLED)
    if stop.subagents:
        return GateVerdict(Status.LOCK_EXISTS, f"The gates wait: {stop.subagents} subagent(s) are still at work.")
    if stop.lock_holder is not None:
        return GateVerdict(Status.LOCK_EXISTS, f"A gauntlet run is already in progress ({stop.lock_holder}).")
    if stop.seconds_left > 0 and not stop.has_unresolved and not stop.needs_pass:
        return GateVerdict(Status.INTERVAL_NOT_ELAPSED, wording.interval(stop.seconds_left))
    return None
