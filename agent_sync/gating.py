"""Asks the quality gate whether a pull request may be opened; the gate itself loads only where one is configured."""

from typing import TYPE_CHECKING

from agent_sync.desk import Desk
from agent_sync.lifecycle.facts import GateSeen
from agent_sync.place import gate_root

if TYPE_CHECKING:
    from agent_sync.gauntlet.gate import GateReply

NO_GATE = GateSeen("no_config", "No gate is configured.", may_open=True, is_configured=False)
# In these the gate has not looked at the work.
_UNDECIDED = frozenset({"interval_not_elapsed", "stop_hook_active", "invalid_input"})
_UNCONFIGURED = frozenset({"no_config", "stop_hook_disabled"})


def gate_seen(desk: Desk) -> GateSeen:
    """Return what the gate says now, running what is missing; it never blocks from here."""
    if gate_root("", desk.place.root) is None:
        return NO_GATE
    from agent_sync.gauntlet.gate import gate

    return _seen(gate(desk, b"{}", deadline=desk.settings.gate.deadline_s, needs_pass=True))


def known_from(reply: "GateReply") -> GateSeen | None:
    """Return what a stop's own gate run already tells, or None where it has not looked."""
    return None if reply.status in _UNDECIDED else _seen(reply)


def _seen(reply: "GateReply") -> GateSeen:
    return GateSeen(
        status=reply.status.value,
        message=reply.message,
        may_open=reply.may_open_pull,
        is_configured=reply.status not in _UNCONFIGURED,
        summary=reply.summary,
    )
