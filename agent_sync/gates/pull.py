"""The gates' part in a stop, and whether a branch may become a pull request; they load only where configured."""

import contextlib
import os
from pathlib import Path
from typing import TYPE_CHECKING

from agent_sync.context import Context
from agent_sync.gateway.transport.remotes import base_branch
from agent_sync.hook_event import IDLE, EventPart, HookEvent
from agent_sync.quiet import answer as quiet
from agent_sync.system import git_history
from agent_sync.task.claim.store import tracked_refusal
from agent_sync.task.decision.facts import Branch, GateSeen, Trigger
from agent_sync.worktree import CLAIM_NAME, GATE_CONFIG, gate_root

if TYPE_CHECKING:
    from agent_sync.gates.answer import GateReply

NO_GATE = GateSeen("no_config", "No gate is configured.", may_open=True, is_configured=False)
# In these the gate has not looked at the work.
_UNDECIDED = frozenset({"interval_not_elapsed", "stop_hook_active", "invalid_input"})
_UNCONFIGURED = frozenset({"no_config", "stop_hook_disabled"})


def part(context: Context, event: HookEvent, _gate: object) -> EventPart:
    """Let the gates decide about a stop; their answer stands whatever becomes of the other parts."""
    root = gate_root(event.cwd, context.place.root)
    # Gates that are taken away later must be noticed, so their file is watched.
    watch = (quiet.sight_of([str(Path(root) / GATE_CONFIG)]),) if root else ()
    if not has_gates(context, event.cwd):
        return IDLE
    from agent_sync.gates.answer import gate

    reply = gate(context, event, deadline=context.settings.hooks.stop_deadline_s, verifies=True)
    tell_stderr(reply.notes)
    human = (reply.human,) if reply.human else ()
    return EventPart(was_idle=root is not None, watch=watch, human=human, gate=reply)


def tell_stderr(notes: tuple[str, ...]) -> None:
    """Write to standard error, which the client shows to nobody at exit code 0; one that is closed is no harm."""
    with contextlib.suppress(OSError):
        for line in notes:
            os.write(2, f"agent-sync: {line}\n".encode("utf-8", "replace"))


def refuse_committed_claim(context: Context, branch: str, commit: str) -> None:
    """Stop a branch whose newest commit has a claim file: everybody who checks it out would be told of a claim."""
    if context.git.holds(commit, CLAIM_NAME):
        raise tracked_refusal(CLAIM_NAME, where=f"branch {branch} contains it", first=f"git switch {branch}, ")


def branch_seen(context: Context, branch: str) -> Branch:
    """Return what this clone knows of the branch; one that a pull request must not be opened from is refused."""
    git = context.git
    head, is_current = git.head_of(branch), git.current_branch() == branch
    if head is None:
        return Branch(None, is_current)
    refuse_committed_claim(context, branch, head)
    base = base_ref(context)
    commits, template = git_history.own_commits(git, base, head), git_history.pull_template(git, base or head)
    return Branch(head, is_current, commits=commits, template=template)


def base_ref(context: Context) -> str:
    """Return the branch that the work is merged into, as this clone has last seen it; "" where it knows of none."""
    remote, base = context.remotes.base, base_branch(context)
    return f"refs/remotes/{remote}/{base}" if base and context.git.remote_head_of(remote, base) else ""


def pull_gate_root(context: Context) -> str | None:
    """Return the gates a pull request has to pass: the worktree's own, else those of where the work is done."""
    top = context.place.root
    return gate_root("", top) or gate_root(context.cwd, top)


def has_gates(context: Context, start: str) -> bool:
    """Tell whether there are gates, or should be: where the base has some, that they are gone is to be said."""
    if gate_root(start, context.place.root) is not None:
        return True
    from agent_sync.gates.definitions.gate_base import base_has_gates

    if not base_has_gates(context.git, Path(context.place.root).resolve(), start):
        return False
    from agent_sync.gates.definitions.which_definitions import gate_definitions

    found = gate_definitions(context, start)
    return found.root is not None or bool(found.news)


def gate_seen(context: Context) -> GateSeen:
    """Return what the gate says now, running what is missing; it never blocks from here."""
    root = pull_gate_root(context)
    if root is None and not has_gates(context, context.place.root):
        return NO_GATE
    from agent_sync.gates.answer import gate

    stop = HookEvent(Trigger.STOP, cwd=root or context.place.root)
    return _gate_seen(gate(context, stop, deadline=context.settings.gate.deadline_s, needs_pass=True))


def known_from(context: Context, reply: "GateReply") -> GateSeen | None:
    """Return what a stop's own gate run already tells, or None where it has not looked at what a PR needs."""
    is_about_pull = gate_root(context.cwd, context.place.root) == pull_gate_root(context)
    return _gate_seen(reply) if is_about_pull and reply.status not in _UNDECIDED else None


def _gate_seen(reply: "GateReply") -> GateSeen:
    return GateSeen(
        status=reply.status.value,
        message=reply.message,
        may_open=reply.may_open_pull,
        is_configured=reply.status not in _UNCONFIGURED,
        summary=reply.summary,
        passed=reply.passed,
    )
