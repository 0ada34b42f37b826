"""The states of a work hook and the one table of moves between them; whatever is not in it is refused."""

from enum import StrEnum

from agent_sync.errors import IllegalHookMove


class WorkState(StrEnum):
    """Where the work on a hook stands, as status.json says it."""

    EMPTY = "EMPTY"
    PENDING = "PENDING"
    IN_PROGRESS = "IN_PROGRESS"
    HANDED_OFF = "HANDED_OFF"
    BLOCKED = "BLOCKED"
    COMPLETE = "COMPLETE"
    FAILED = "FAILED"
    CANCELLED = "CANCELLED"


class HookMove(StrEnum):
    """What can be done with a hook."""

    SLING = "sling"
    START = "start"
    HAND_OFF = "hand off"
    BLOCK = "block"
    COMPLETE = "complete"
    FAIL = "fail"
    REQUEUE = "requeue"
    CANCEL = "cancel"
    CLEAR = "clear"


MOVES: dict[WorkState, dict[HookMove, WorkState]] = {
    WorkState.EMPTY: {HookMove.SLING: WorkState.PENDING},
    WorkState.PENDING: {
        HookMove.START: WorkState.IN_PROGRESS,
        HookMove.BLOCK: WorkState.BLOCKED,
        HookMove.CANCEL: WorkState.CANCELLED,
    },
    WorkState.IN_PROGRESS: {
        # Started anew after a crash; the table says that it may be, `take_decision` says when.
        HookMove.START: WorkState.IN_PROGRESS,
        HookMove.HAND_OFF: WorkState.HANDED_OFF,
        HookMove.COMPLETE: WorkState.COMPLETE,
        HookMove.FAIL: WorkState.FAILED,
        HookMove.REQUEUE: WorkState.PENDING,
        HookMove.CANCEL: WorkState.CANCELLED,
    },
    WorkState.HANDED_OFF: {
        HookMove.START: WorkState.IN_PROGRESS,
        # A session that runs for a moment after its handoff replaces it.
        HookMove.HAND_OFF: WorkState.HANDED_OFF,
        # Merged and closed in the moment between.
        HookMove.COMPLETE: WorkState.COMPLETE,
        HookMove.BLOCK: WorkState.BLOCKED,
        HookMove.REQUEUE: WorkState.PENDING,
        HookMove.CANCEL: WorkState.CANCELLED,
    },
    WorkState.BLOCKED: {HookMove.START: WorkState.IN_PROGRESS, HookMove.CANCEL: WorkState.CANCELLED},
    WorkState.COMPLETE: {HookMove.SLING: WorkState.PENDING, HookMove.CLEAR: WorkState.EMPTY},
    WorkState.FAILED: {HookMove.SLING: WorkState.PENDING, HookMove.CLEAR: WorkState.EMPTY},
    WorkState.CANCELLED: {HookMove.SLING: WorkState.PENDING, HookMove.CLEAR: WorkState.EMPTY},
}
TERMINAL = frozenset({WorkState.COMPLETE, WorkState.FAILED, WorkState.CANCELLED})
# Work that waits for somebody to begin or continue it.
WAITING = frozenset({WorkState.PENDING, WorkState.HANDED_OFF, WorkState.BLOCKED})
ACTIVE = WAITING | {WorkState.IN_PROGRESS}


def state_after(state: WorkState, move: HookMove) -> WorkState:
    """Return where a move leads; refuse one the state does not allow."""
    allowed = MOVES[state]
    if move not in allowed:
        shown = ", ".join(allowed) or "nothing"
        message = f"A hook in state {state} cannot {move}; it can: {shown}."
        raise IllegalHookMove(message, helps="agent-sync worker list")
    return allowed[move]
