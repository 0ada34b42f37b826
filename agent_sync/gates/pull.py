"""Asks whether a branch may become a pull request; the quality gate itself loads only where one is configured."""

import json
from typing import TYPE_CHECKING

from agent_sync.context import Context
from agent_sync.task.claim.store import tracked
from agent_sync.task.decision.facts import GateSeen
from agent_sync.worktree import CLAIM_NAME, gate_root

if TYPE_CHECKING:
    from agent_sync.gates.answer import GateReply

NO_GATE = GateSeen("no_config", "No gate is configured.", may_open=True, is_configured=False)
# In these the gate has not looked at the work.
_UNDECIDED = frozenset({"interval_not_elapsed", "stop_hook_active", "invalid_input"})
_UNCONFIGURED = frozenset({"no_config", "stop_hook_disabled"})


def refuse_committed_claim(context: Context, branch: str, commit: str) -> None:
    """Stop a branch whose newest commit has a claim file: everybody who checks it out would be told of a claim."""
    if context.git.holds(commit, CLAIM_NAME):
        raise tracked(CLAIM_NAME, where=f"branch {branch} contains it", first=f"git switch {branch}, ")


def pull_gate_root(context: Context) -> str | None:
    """Return the gates a pull request has to pass: the worktree's own, else those of where the work is done."""
    top = context.place.root
    return gate_root("", top) or gate_root(context.cwd, top)


def has_gates(context: Context, start: str) -> bool:
    """Tell whether there are gates, or should be: where the base has some, that they are gone is to be said."""
    if gate_root(start, context.place.root) is not None:
        return True
    from agent_sync.gates.definitions.which_definitions import gate_definitions

    found = gate_definitions(context, start)
    return found.root is not None or bool(found.said)


def gate_seen(context: Context) -> GateSeen:
    """Return what the gate says now, running what is missing; it never blocks from here."""
    root = pull_gate_root(context)
    if root is None and not has_gates(context, context.place.root):
        return NO_GATE
    from agent_sync.gates.answer import gate

    here = json.dumps({"cwd": root or context.place.root}).encode()
    return _seen(gate(context, here, deadline=context.settings.gate.deadline_s, needs_pass=True))


def known_from(context: Context, reply: "GateReply") -> GateSeen | None:
    """Return what a stop's own gate run already tells, or None where it has not looked at what a PR needs."""
    is_about_pull = gate_root(context.cwd, context.place.root) == pull_gate_root(context)
    return _seen(reply) if is_about_pull and reply.status not in _UNDECIDED else None


def _seen(reply: "GateReply") -> GateSeen:
    return GateSeen(
        status=reply.status.value,
        message=reply.message,
        may_open=reply.may_open_pull,
        is_configured=reply.status not in _UNCONFIGURED,
        summary=reply.summary,
    )
